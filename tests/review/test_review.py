"""A memory change as its reviewer sees it: every fact, every doubt, and nothing that acts by itself."""

from __future__ import annotations

import json
from typing import Any

from gitmem.git.objects import Span
from gitmem.memory.facts import parse
from gitmem.review.fact_diff import Op, compare
from gitmem.review.forges.github import GitHub
from gitmem.review.review import find_similar_facts
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, promote, record_log

GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "team/memory"}
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def start(repo: Repo, text: str = "# Memory\n\n## Decisions\n\n- The API listens on port 8080.\n- old\n") -> None:
    repo.commit("start", {"MEMORY.md": text})


def review(repo: Repo, span: str = "main..HEAD", *options: str) -> tuple[int, dict[str, Any]]:
    done = repo.mem("review", span, "--format", "json", *options, check=False, env=GITHUB)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def topic(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")


def test_a_promotion_is_reviewed_with_its_source_link_and_its_verdict(repo: Repo) -> None:
    start(repo)
    record_log(repo)
    topic(repo)
    promote(repo)
    code, found = review(repo)
    head = repo.git("rev-parse", "HEAD").strip()
    assert code == 0 and found["verdict"] == "clean" and found["notes"] == []
    (change,) = found["changes"]
    assert (change["op"], change["text"], change["author"]) == ("promoted", FACT, "Test <test@example.com>")
    url = f"https://github.com/team/memory/blob/{head}/{DAY}?plain=1#L5-L6"
    assert change["sources"][0]["url"] == url
    assert [(row["state"], row["text"]) for row in found["provenance"]] == [("promoted", FACT)]
    text = repo.mem("review", "main..HEAD", env=GITHUB).stdout
    assert "### Memory review: all checks hold" in text and f"[`{DAY}#L5-L6`]({url})" in text


def test_every_kind_of_change_has_its_section(repo: Repo) -> None:
    old = "- gone\n- The port is 80 here\n- over <!-- mem until=2020-01-01 -->\n- moves on\n"
    start(repo, f"# Memory\n\n{old}")
    topic(repo)
    repo.commit("x", {"MEMORY.md": "# Memory\n\n- The port is 81 here\n- new\n", "memory/note.md": "- moves on\n"})
    _, found = review(repo)
    assert sorted(row["op"] for row in found["changes"]) == ["added", "changed", "expired", "moved", "removed"]
    text = repo.mem("review", "main..HEAD", check=False).stdout
    for title in ("Added", "Changed", "Removed", "Moved", "Expired", "Sizes", "Provenance"):
        assert f"#### {title}\n" in text
    assert "`The port is 80 here` → `The port is 81 here`" in text


def test_an_agents_line_without_a_promotion_fails_the_review(repo: Repo) -> None:
    start(repo)
    topic(repo)
    repo.commit("x\n\nMemory-Agent: codex", {"MEMORY.md": repo.read("MEMORY.md") + "- its own\n"})
    code, found = review(repo)
    assert code == 1 and found["provenance"][0]["state"] == "agent" and found["verdict"] == "failed"
    assert (
        "::error title=review/unrecorded,file=MEMORY.md,line=7"
        in repo.mem("review", "main..HEAD", "--format", "github", check=False).stdout
    )


def test_a_source_that_is_not_there_fails_the_review(repo: Repo) -> None:
    start(repo)
    topic(repo)
    promote(repo, span=Span(DAY, 1, 1, "12" * 20))
    code, found = review(repo)
    assert code == 1 and found["provenance"][0]["state"] == "broken"
    assert found["provenance"][0]["message"].startswith("source-missing")


def test_contradictions_and_repeats_are_named_once(repo: Repo) -> None:
    start(repo)
    topic(repo)
    repo.commit(
        "x", {"MEMORY.md": repo.read("MEMORY.md") + "- The API listens on port 9090.\n", "memory/n.md": "# n\n"}
    )
    _, found = review(repo)
    (rival,) = found["rivals"]
    assert rival["kind"] == "contradiction" and rival["other"]["line"] == 5
    old = {"MEMORY.md": list(parse("- 결제 서버는 서울 리전에 둔다.\n".encode()).facts)}
    new = {
        "MEMORY.md": list(parse("- 결제 서버는 서울 리전에 둔다.\n- 결제 서버는 서울 리전에 둔다!\n".encode()).facts)
    }
    changes = compare(old, new, __import__("datetime").date(2026, 1, 1))
    assert [c.op for c in changes] == [Op.ADDED]
    found_rivals = find_similar_facts(changes, [("MEMORY.md", fact) for fact in new["MEMORY.md"]])
    assert [(r.contradicts, r.other_line) for r in found_rivals] == [(False, 1)]


def test_a_secret_that_was_added_and_removed_is_found_and_never_shown(repo: Repo) -> None:
    start(repo)
    topic(repo)
    repo.commit("oops", {"memory/n.md": f"- the token is {SECRET}\n"})
    repo.commit("gone", {"memory/n.md": "- nothing\n"})
    for form in ("md", "json", "sarif", "github"):
        done = repo.mem("review", "main..HEAD", "--format", form, check=False)
        assert done.returncode == 1 and SECRET not in done.stdout + done.stderr and "token" in done.stdout, form
    json.loads(repo.mem("review", "main..HEAD", "--format", "sarif", check=False).stdout)


def test_a_secret_in_a_fact_is_masked_in_every_form(repo: Repo) -> None:
    start(repo, f"# Memory\n\n- the key is {SECRET}\n")
    topic(repo)
    repo.commit("less", {"MEMORY.md": "# Memory\n\n- x\n"})
    for form in ("md", "json", "sarif", "github"):
        assert SECRET not in repo.mem("review", "main..HEAD", "--format", form, check=False).stdout


def test_a_fact_cannot_write_markup_into_the_review(repo: Repo) -> None:
    start(repo)
    topic(repo)
    evil = "`` @team [x](docs/a.md) --> | ::set-output name=a::b"
    repo.commit("x", {"MEMORY.md": repo.read("MEMORY.md") + f"- {evil}\n", "memory/$(touch x)\n::error::.md": "- y\n"})
    text = repo.mem("review", "main..HEAD", check=False, env=GITHUB).stdout
    assert f"``` {evil} ```" in text
    assert not any(line.startswith("::") for line in text.split("\n"))
    out = repo.mem("review", "main..HEAD", "--format", "github", check=False).stdout
    assert not [line for line in out.split("\n") if line.startswith("::error::.md")]


def test_sizes_over_budget_warn_and_do_not_fail(repo: Repo) -> None:
    start(repo, "# Memory\n\n" + "".join(f"- prose {n} is about {n * 7}\n" for n in range(210)))
    topic(repo)
    repo.commit("x", {"MEMORY.md": repo.read("MEMORY.md") + "- one more thing\n"})
    code, found = review(repo)
    assert code == 0 and found["sizes"] == [
        {"path": "MEMORY.md", "lines": 213, "budget": 200, "bytes": len(repo.read("MEMORY.md").encode()), "over": True}
    ]


def test_search_that_got_worse_is_said(repo: Repo) -> None:
    row = {"query": "which port does the API use", "relevant": [{"path": "MEMORY.md", "start_line": 5, "end_line": 5}]}
    repo.commit("tests", {"memory/tests.jsonl": json.dumps(row) + "\n"})
    start(repo)
    topic(repo)
    repo.commit("x", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- nothing\n- old\n"})
    _, found = review(repo)
    assert found["recall"] == {
        "questions": 1, "before": 1.0, "after": 0.0, "gained": [], "lost": ["which port does the API use"],
    }  # fmt: skip


def test_a_review_of_nothing_is_clean(repo: Repo) -> None:
    start(repo)
    code, found = review(repo, "HEAD..HEAD")
    assert code == 0 and found["changes"] == [] and "no fact changes" in repo.mem("review", "HEAD..HEAD").stdout
    assert GitHub("s", "a", "o/n").lines("c", "p", 1, 1) == "s/o/n/blob/c/p?plain=1#L1"


def test_prose_an_agent_writes_into_memory_fails_too_and_the_heading_of_a_promotion_does_not(repo: Repo) -> None:
    start(repo)
    record_log(repo)
    topic(repo)
    repo.write("MEMORY.md", repo.read("MEMORY.md") + "\n## New\n\n")
    promote(repo)
    code, found = review(repo)
    assert code == 0 and [row["state"] for row in found["provenance"]] == ["promoted", "promoted"]
    text = repo.read("MEMORY.md").replace("# Memory\n", "# Memory\n\nAlways read this first.\n")
    repo.commit("prose\n\nMemory-Agent: codex", {"MEMORY.md": text})
    code, found = review(repo)
    assert code == 1 and found["provenance"][0]["state"] == "agent"


def test_a42_a_change_that_empties_paths_hides_no_fact_and_is_shown_first(repo: Repo) -> None:
    settings = '[memory]\npaths = ["notes/*.md"]\n'
    repo.commit("start", {"MEMORY.md": "- one\n", ".gitmem.toml": settings, "notes/a.md": "- The port is 8080.\n"})
    topic(repo)
    repo.commit("x", {".gitmem.toml": "[memory]\npaths = []\n", "notes/a.md": "- The port is 9090.\n"})
    _, found = review(repo)
    assert [(row["op"], row["path"]) for row in found["changes"]] == [("changed", "notes/a.md")]
    (row,) = found["settings"]
    assert (row["path"], row["what"]) == (".gitmem.toml", "changed") and "paths 'notes/*.md'" in row["loosened"]
    text = repo.mem("review", "main..HEAD", check=False).stdout
    first = text.index("#### Changes what memory is checked by")
    assert first == text.index("####") and "**loosened** `.gitmem.toml`" in text and "all checks hold" not in text
    assert (
        "::warning title=review/settings-changed,file=.gitmem.toml"
        in repo.mem("review", "main..HEAD", "--format", "github", check=False).stdout
    )


def test_a42_owners_hooks_workflows_and_exceptions_are_shown_first(repo: Repo) -> None:
    start(repo)
    repo.commit("owners", {".github/CODEOWNERS": "* @team\n", "memory/.gitattributes": "*.md text\n"})
    topic(repo)
    (repo.path / ".github/CODEOWNERS").unlink()
    names = [".pre-commit-config.yaml", ".github/workflows/memory.yml", ".gitmem-allow.toml", ".husky/pre-commit"]
    repo.commit("x", {**dict.fromkeys(names, ""), "memory/.gitattributes": "", "src/app.py": ""})
    _, found = review(repo)
    assert {row["path"]: row["what"] for row in found["settings"]} == {
        ".github/CODEOWNERS": "removed", "memory/.gitattributes": "changed", **dict.fromkeys(names, "added"),
    }  # fmt: skip
