"""`edit`, `forget`, `revert`: one commit that says so, and what was taken back does not return."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from gitmem.git.objects import Span
from gitmem.git.opening import open_repository
from gitmem.memory.fact import Fact, fact_id, text_hash
from gitmem.provenance.facts_of_source import By, Evidence, Selector, comes_from
from gitmem.provenance.ledger import read_ledger, rejections
from gitmem.provenance.trailers import AGENT, parse, values
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, LOG, promote, record_log

EASY = "They are easier to debug."


def trailers(repo: Repo, rev: str = "HEAD") -> list[tuple[str, str]]:
    return parse(repo.git("log", "-1", "--format=%B", rev))


def two_facts(repo: Repo) -> str:
    blob = record_log(repo)
    promote(repo)
    promote(repo, EASY, span=Span(DAY, 6, 6, blob), meta="")
    return blob


def refused(repo: Repo) -> tuple[frozenset[str], tuple[Span, ...]]:
    opened = open_repository(repo.path, {"PATH": "/usr/bin:/bin"})
    try:
        found = rejections(opened, read_ledger(opened, ["HEAD"]))
        return found.hashes, found.spans
    finally:
        opened.close()


def test_edit_commits_one_corrected_fact_whose_source_still_verifies(repo: Repo) -> None:
    blob = two_facts(repo)
    done = json.loads(repo.mem("edit", "MEMORY.md:5", "PoC phase 1 uses SSE.", "--reason", "decided", "--json").stdout)
    assert done["commit"] == repo.git("rev-parse", "HEAD").strip()
    assert f"- PoC phase 1 uses SSE. <!-- mem type=decision src={DAY}#L5-L6@{blob[:12]} -->" in repo.read("MEMORY.md")
    rows = trailers(repo)
    span = f"{DAY}#L5-L6@{blob[:12]}"
    assert values(rows, "Memory-Reason") == ["decided"]
    assert values(rows, "Memory-Source") == [f"{span} -> MEMORY.md sha256:{text_hash('PoC phase 1 uses SSE.')}"]
    assert values(rows, "Memory-Rejected") == [f"{span} -> MEMORY.md sha256:{text_hash(FACT)}"]
    assert repo.mem("verify", check=False).returncode == 0
    assert refused(repo)[0] == {text_hash(FACT)}


def test_editing_back_lifts_the_refusal(repo: Repo) -> None:
    two_facts(repo)
    repo.mem("edit", "MEMORY.md:5", "PoC phase 1 uses SSE.", "--reason", "decided")
    repo.mem("edit", "MEMORY.md:5", FACT, "--reason", "undecided")
    assert refused(repo)[0] == {text_hash("PoC phase 1 uses SSE.")}


def test_forget_removes_one_fact_and_its_message_does_not_repeat_it(repo: Repo) -> None:
    two_facts(repo)
    repo.mem("forget", "MEMORY.md:5", "--reason", "she asked us to")
    assert FACT not in repo.read("MEMORY.md") and EASY in repo.read("MEMORY.md")
    assert "webhooks" not in repo.git("log", "-1", "--format=%B")
    hashes, spans = refused(repo)
    assert hashes == {text_hash(FACT)} and [(s.path, s.start_line, s.end_line) for s in spans] == [(DAY, 5, 6)]


NESTED = "# Memory\n\n- We use Postgres 16\n  because of partitions\n  - child: on Linux\n- We use Git\n"


@pytest.mark.parametrize("line", [3, 4])
@pytest.mark.parametrize(
    ("words", "after"),
    [
        (("edit", "We use SSE"), "- We use SSE\n  - child: on Linux\n"),
        (
            ("edit", "--until", "2030-01-01"),
            "- We use Postgres 16\n  because of partitions <!-- mem until=2030-01-01 -->\n  - child: on Linux\n",
        ),
        (("forget",), ""),
        (("forget", "--everywhere"), ""),
    ],
)
def test_any_line_of_a_fact_names_all_of_it(repo: Repo, line: int, words: tuple[str, ...], after: str) -> None:
    repo.commit("start", {"MEMORY.md": NESTED})
    repo.mem(words[0], f"MEMORY.md:{line}", *words[1:], "--reason", "x")
    assert repo.read("MEMORY.md") == f"# Memory\n\n{after}- We use Git\n"


@pytest.mark.parametrize(
    ("words", "after"),
    [(("edit", "child: on BSD"), "  - child: on BSD\n"), (("forget",), ""), (("forget", "--everywhere"), "")],
)
def test_a_nested_item_is_a_fact_of_its_own(repo: Repo, words: tuple[str, ...], after: str) -> None:
    repo.commit("start", {"MEMORY.md": NESTED})
    repo.mem(words[0], "MEMORY.md:5", *words[1:], "--reason", "x")
    assert repo.read("MEMORY.md") == NESTED.replace("  - child: on Linux\n", after)


def test_a_line_that_says_nothing_is_no_fact(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- We use Git\n\n  - on Linux\n"})
    for line in (1, 2, 4):
        for command in ("forget", "edit"):
            words = ["We use SSE"] if command == "edit" else []
            done = repo.mem(command, f"MEMORY.md:{line}", *words, "--reason", "x", check=False)
            assert done.returncode == 3 and f"there is no fact on MEMORY.md:{line}" in done.stderr


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Never push\nwithout approval.\n", "Push with care.\n"),
        ("Never push\r\nwithout it. <!-- mem a=b -->\r\nNext.\r\n", "Push with care. <!-- mem a=b -->\r\nNext.\r\n"),
        ("> Never push\n> without approval.", "> Push with care."),
        ("3. Never push\n   without approval.\n", "3. Push with care.\n"),
    ],
)
def test_an_edit_replaces_a_statement_of_any_form(repo: Repo, before: str, after: str) -> None:
    repo.commit("start", {"MEMORY.md": before.encode()})
    repo.mem("edit", "MEMORY.md:2", "Push with care.", "--reason", "x")
    assert (repo.path / "MEMORY.md").read_bytes() == after.encode()


@pytest.mark.parametrize("text", ["# Push with care", "| a | b |", "***"])
def test_a_text_that_would_be_something_else_as_markdown_is_no_fact(repo: Repo, text: str) -> None:
    repo.commit("start", {"MEMORY.md": "Never push\nwithout approval.\n"})
    done = repo.mem("edit", "MEMORY.md:1", text, "--reason", "x", check=False)
    assert done.returncode == 2 and "as Markdown" in done.stderr
    assert repo.git("log", "--format=%s") == "start\n"


@pytest.mark.parametrize("words", [("edit", "other"), ("edit", "--pin")])
def test_a_fenced_block_is_changed_in_an_editor(repo: Repo, words: tuple[str, ...]) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n```\nmake run\n```\n"})
    done = repo.mem(words[0], "MEMORY.md:4", *words[1:], "--reason", "x", check=False)
    assert done.returncode == 2 and "in an editor" in done.stderr
    repo.mem("forget", "MEMORY.md:4", "--reason", "x")
    assert repo.read("MEMORY.md") == "# Memory\n\n"


def test_the_same_words_below_two_headings_are_two_facts(repo: Repo) -> None:
    text = "# Memory\n\n## Mill\n\n- Oil is changed in May.\n\n## Press\n\n- Oil is changed in June.\n"
    repo.commit("start", {"MEMORY.md": text})
    repo.mem("edit", "MEMORY.md:9", "Oil is changed in May.", "--reason", "x")
    assert repo.read("MEMORY.md") == text.replace("June", "May")
    fact = json.loads(repo.mem("forget", "MEMORY.md:9", "--reason", "x", "--json").stdout)["facts"][0]
    assert (fact["line"], fact["end_line"], fact["trail"]) == (9, 9, ["Memory", "Press"])
    assert repo.read("MEMORY.md") == text.replace("- Oil is changed in June.\n", "")


def test_forget_says_which_facts_go_with_one(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": NESTED})
    said = "with the 1 fact below it (line 5)"
    assert said in repo.mem("forget", "MEMORY.md:3", "--reason", "x", "--dry-run").stderr
    assert said in repo.mem("forget", "MEMORY.md:3", "--reason", "x").stderr
    assert repo.read("MEMORY.md") == "# Memory\n\n- We use Git\n"
    assert refused(repo)[0] == {text_hash("We use Postgres 16 because of partitions"), text_hash("child: on Linux")}
    assert "below" not in repo.mem("forget", "MEMORY.md:3", "--reason", "x").stderr


def test_forget_names_the_lines_that_still_say_it(repo: Repo) -> None:
    """Its source lines, and whatever else repeats its words."""
    two_facts(repo)
    repo.commit("note", {"memory/sessions/2026-02-06-talk.md": f"# Talk\n\n- so: {FACT}\n"})
    done = repo.mem("forget", "MEMORY.md:5", "--reason", "she asked us to")
    assert f"still written in {DAY}:5, {DAY}:6, memory/sessions/2026-02-06-talk.md:3" in done.stderr
    assert "Memory-Rewrite" in done.stderr


def test_other_staged_and_unstaged_work_stays_as_it_was(repo: Repo) -> None:
    two_facts(repo)
    repo.write("other.txt", "staged")
    repo.git("add", "other.txt")
    repo.write("other.txt", "staged, then edited")
    repo.mem("forget", "MEMORY.md:5", "--reason", "x")
    assert repo.git("show", "--name-only", "--format=", "HEAD").split() == ["MEMORY.md"]
    assert repo.git("status", "--porcelain").strip() == "AM other.txt"


def test_uncommitted_edits_of_the_file_are_not_swept_in(repo: Repo) -> None:
    two_facts(repo)
    head = repo.git("rev-parse", "HEAD")
    repo.write("MEMORY.md", repo.read("MEMORY.md") + "- mine\n")
    done = repo.mem("forget", "MEMORY.md:5", "--reason", "x", check=False)
    assert done.returncode == 3 and "not committed" in done.stderr
    assert repo.git("rev-parse", "HEAD") == head


def test_a_hook_that_refuses_leaves_the_file_as_it_was(repo: Repo) -> None:
    two_facts(repo)
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho no thanks >&2\nexit 1\n")
    hook.chmod(0o755)
    before = repo.read("MEMORY.md")
    done = repo.mem("forget", "MEMORY.md:5", "--reason", "x", check=False)
    assert done.returncode == 3 and "no thanks" in done.stderr
    assert repo.read("MEMORY.md") == before and repo.git("status", "--porcelain") == ""


def test_in_the_middle_of_a_merge_nothing_is_committed(repo: Repo) -> None:
    two_facts(repo)
    (repo.path / ".git/MERGE_HEAD").write_text(repo.git("rev-parse", "HEAD"))
    assert repo.mem("forget", "MEMORY.md:5", "--reason", "x", check=False).returncode == 3


def test_a_new_text_with_a_secret_is_refused(repo: Repo) -> None:
    two_facts(repo)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = repo.mem("edit", "MEMORY.md:5", f"token {secret}", "--reason", "x", check=False)
    assert done.returncode == 1 and secret not in done.stdout + done.stderr
    done = repo.mem("forget", "MEMORY.md:5", "--reason", f"it held {secret}", check=False)
    assert done.returncode == 1 and secret not in repo.git("log", "--format=%B")


@pytest.mark.parametrize("args", [("MEMORY.md:1",), ("MEMORY.md:99",), ("NOPE.md:1",), ("../x:1",)])
def test_a_place_without_a_fact_is_refused(repo: Repo, args: tuple[str, ...]) -> None:
    two_facts(repo)
    assert repo.mem("forget", *args, "--reason", "x", check=False).returncode == 3


def revert(repo: Repo, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("revert", *args, "--json").stdout)["facts"]
    return found


def test_revert_by_source_takes_all_its_facts_in_one_commit(repo: Repo) -> None:
    two_facts(repo)
    repo.commit("mine", {"MEMORY.md": repo.read("MEMORY.md") + "- mine\n"})
    count = int(repo.git("rev-list", "--count", "HEAD"))
    assert [item["text"] for item in revert(repo, "--source", DAY)] == [FACT, EASY]
    assert int(repo.git("rev-list", "--count", "HEAD")) == count + 1
    assert repo.read("MEMORY.md").rstrip().endswith("- mine") and FACT not in repo.read("MEMORY.md")
    assert repo.git("log", "-1", "--format=%s").strip() == f"memory: revert 2 facts from source {DAY}"
    assert refused(repo)[0] == {text_hash(FACT), text_hash(EASY)}


def test_revert_by_lines_takes_only_what_they_gave(repo: Repo) -> None:
    two_facts(repo)
    assert [item["text"] for item in revert(repo, "--source", f"{DAY}:5", "--dry-run")] == [FACT]
    assert [item["text"] for item in revert(repo, "--source", f"{DAY}:6-9", "--dry-run")] == [FACT, EASY]
    assert FACT in repo.read("MEMORY.md")
    assert revert(repo, "--source", f"{DAY}:1-2") == []


def test_revert_by_commit_knows_promotions_hand_additions_and_log_lines(repo: Repo) -> None:
    two_facts(repo)
    log = repo.git("rev-list", "--reverse", "HEAD").split()[0]
    hand = repo.commit("mine", {"MEMORY.md": repo.read("MEMORY.md") + "- mine\n"})
    texts = lambda rev: [item["text"] for item in revert(repo, "--commit", rev, "--dry-run")]  # noqa: E731
    assert texts("HEAD~1") == [EASY] and texts(hand) == ["mine"] and texts(log) == [FACT, EASY]


def test_revert_by_agent_knows_its_logs_its_promotions_and_its_own_lines(repo: Repo) -> None:
    blob = record_log(repo, "memory/2026-02-05.codex.md")
    promote(repo, EASY, span=Span("memory/2026-02-05.codex.md", 6, 6, blob), trailers=())
    record_log(repo, text=LOG + "- x\n")
    promote(repo, trailers=(("Memory-Agent", "codex"),))
    repo.commit("own\n\nMemory-Agent: codex\n", {"MEMORY.md": repo.read("MEMORY.md") + "- its own\n"})
    repo.commit("mine", {"MEMORY.md": repo.read("MEMORY.md") + "- mine\n"})
    assert [item["text"] for item in revert(repo, "--agent", "codex")] == [EASY, FACT, "its own"]
    assert "- mine" in repo.read("MEMORY.md")


def test_a_korean_agent_is_one_agent_however_its_name_is_spelled(repo: Repo) -> None:
    typed, split = "클로드", unicodedata.normalize("NFD", "클로드")
    blob = record_log(repo, f"memory/2026-02-05.{typed}.md")
    promote(repo, EASY, span=Span(f"memory/2026-02-05.{typed}.md", 6, 6, blob), trailers=())
    repo.commit(f"own\n\nMemory-Agent: {split}\n", {"MEMORY.md": repo.read("MEMORY.md") + "- its own\n"})
    for name in (typed, split):
        assert [item["text"] for item in revert(repo, "--agent", name, "--dry-run")] == [EASY, "its own"]


def test_revert_by_origin_and_by_session(repo: Repo) -> None:
    path = "memory/sessions/s-17.md"
    blob = record_log(repo, path)
    promote(repo, EASY, span=Span(path, 6, 6, blob), meta="origin=web ")
    assert [item["text"] for item in revert(repo, "--origin", "web", "--dry-run")] == [EASY]
    assert [item["text"] for item in revert(repo, "--session", "s-17", "--dry-run")] == [EASY]
    assert revert(repo, "--origin", "tool", "--dry-run") == []


@pytest.mark.parametrize("origin", ["origin=Web ", "origin=user origin=web "])
def test_revert_by_origin_finds_every_spelling_of_it(repo: Repo, origin: str) -> None:
    blob = record_log(repo)
    promote(repo, EASY, span=Span(DAY, 6, 6, blob), meta=origin)
    assert [item["text"] for item in revert(repo, "--origin", "WEB", "--dry-run")] == [EASY]
    assert revert(repo, "--origin", "user", "--dry-run") == []


def test_revert_gives_back_what_the_bad_fact_had_superseded(repo: Repo) -> None:
    repo.commit("good", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- We use REST.\n"})
    record_log(repo)
    new = f"- {FACT}"
    promote(repo, meta=f"supersedes={text_hash('We use REST.')[:12]} ")
    text = repo.read("MEMORY.md").replace("- We use REST.\n", "")
    repo.write("MEMORY.md", text)
    repo.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert new in repo.read("MEMORY.md")
    assert revert(repo, "--source", DAY)[0]["restored"] == "We use REST."
    assert repo.read("MEMORY.md") == "# Memory\n\n## Decisions\n\n- We use REST.\n"


def test_git_revert_of_a_promotion_is_a_refusal_too(repo: Repo) -> None:
    two_facts(repo)
    repo.git("revert", "--no-edit", "HEAD")
    assert refused(repo)[0] == {text_hash(EASY)}


def test_a_revert_of_nothing_is_done_and_says_so(repo: Repo) -> None:
    two_facts(repo)
    done = repo.mem("revert", "--agent", "nobody")
    assert done.returncode == 0 and "no fact comes from agent nobody" in done.stderr
    assert repo.mem("revert", check=False).returncode == 2
    assert repo.mem("revert", "--agent", "a", "--origin", "b", check=False).returncode == 2


def test_what_was_forgotten_is_not_promoted_again_though_its_log_grows_and_is_read_anew(repo: Repo) -> None:
    log = "# 2026-02-05\n\n- Decided: backups are kept for 30 days.\n"
    repo.commit("log", {DAY: log, "MEMORY.md": "# Memory\n"})
    repo.mem("promote")
    line = next(n for n, text in enumerate(repo.read("MEMORY.md").split("\n"), 1) if "30 days" in text)
    repo.mem("forget", f"MEMORY.md:{line}", "--reason", "it is 40")
    repo.commit("more", {DAY: log + "- Decided: releases go out on Tuesday.\n"})
    repo.mem("promote", "--since", "2020-01-01")
    assert "Tuesday" in repo.read("MEMORY.md") and "30 days" not in repo.read("MEMORY.md")


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        (Selector(By.SOURCE, "memory/2026-03-01.md"), True),
        (Selector(By.SOURCE, "memory/2026-03-01.md", (4, 9)), True),
        (Selector(By.SOURCE, "memory/2026-03-01.md", (6, 9)), False),
        (Selector(By.SOURCE, "memory/2026-03-02.md"), False),
        (Selector(By.ORIGIN, "Web"), True),
        (Selector(By.AGENT, "promoter"), True),
        (Selector(By.AGENT, "writer"), True),
        (Selector(By.AGENT, "nobody"), False),
        (Selector(By.SESSION, "abc"), True),
        (Selector(By.COMMIT, "c0ffee"), True),
    ],
    ids=str,
)
def test_what_a_selector_names_is_decided_without_git(selector: Selector, chosen: bool) -> None:
    fact = Fact(
        "Deploys on Tuesdays", fact_id("Deploys on Tuesdays"), 2, meta=(("origin", "web"), ("session", "abc")), end=3
    )
    digest = text_hash(fact.text)
    span = Span("memory/2026-03-01.md", 4, 5, "b10b")
    evidence = Evidence(
        {digest: [span]},
        promotions={digest: [(AGENT, "promoter")]},
        writers={fact.id: [(AGENT, "writer")]},
        added={"memory/2026-03-01.md": frozenset(["- deploys happen on Tuesdays"])},
        blobs={"b10b": ["", "", "", "- deploys happen on Tuesdays", "- other"]},
    )
    assert comes_from(selector, fact, evidence) is chosen
