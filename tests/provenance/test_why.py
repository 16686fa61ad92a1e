"""`git mem why` finds the source of a line whatever happened to it since."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.git.objects import Span
from gitmem.git.opening import open_repository
from gitmem.memory.fact import text_hash
from gitmem.provenance.cited_sources import file_meta
from gitmem.provenance.ledger import matching_commits
from gitmem.provenance.why import _until_promoted
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, LOG, promote, record_log

KEYS = [
    "path",
    "line",
    "end_line",
    "text",
    "trail",
    "commit",
    "author",
    "date",
    "agent",
    "reason",
    "reviewers",
    "model",
    "session",
    "turn",
    "sources",
]
KEYS += ["support", "problem", "edited", "amended_by", "supersedes"]
SOURCE_KEYS = ["path", "start_line", "end_line", "blob", "text", "verified", "moved"]
SOURCE_TEXT = "- PoC phase 1 uses REST webhooks.\n- They are easier to debug."


def why(repo: Repo, place: str, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(repo.mem("why", place, "--json", *options).stdout)
    return found


def line_of(repo: Repo, text: str, path: str = "MEMORY.md") -> int:
    return next(n for n, line in enumerate(repo.read(path).split("\n"), 1) if text in line)


def test_a_promoted_fact_leads_to_its_source_lines_model_and_reviewers(repo: Repo) -> None:
    blob = record_log(repo)
    rows = (
        ("Memory-Model", "rules/1"),
        ("Memory-Reason", "decided at stand-up"),
        ("Reviewed-by", "Bea <bea@example.com>"),
    )
    oid = promote(repo, trailers=rows)
    found = why(repo, f"MEMORY.md:{line_of(repo, FACT)}")
    assert list(found) == KEYS and list(found["sources"][0]) == SOURCE_KEYS
    assert found["text"] == FACT and found["commit"] == oid and found["author"] == "Test <test@example.com>"
    assert (found["agent"], found["model"], found["reason"]) == (None, "rules/1", "decided at stand-up")
    assert found["reviewers"] == ["Bea <bea@example.com>"]
    assert found["sources"] == [
        {
            "path": DAY,
            "start_line": 5,
            "end_line": 6,
            "blob": blob,
            "text": SOURCE_TEXT,
            "verified": True,
            "moved": False,
        }
    ]


def test_no_record_older_than_the_promotion_is_read(repo: Repo) -> None:
    """Of a long history as much as can matter: an edit asks what it edited, a promotion asks nothing older."""
    record_log(repo)
    old = promote(repo)
    oid = promote(repo)
    opened = open_repository(repo.path, os.environ)
    digest = text_hash(FACT)
    read = [
        commit.oid for commit in _until_promoted(matching_commits(opened, [oid], [digest]), opened.commit(oid), digest)
    ]
    assert read == [oid]
    everything = _until_promoted(matching_commits(opened, [oid], [digest]), None, digest)
    assert [commit.oid for commit in everything] == [oid, old]
    opened.close()


def test_a_fact_added_by_hand_has_its_author_as_provenance(repo: Repo) -> None:
    oid = repo.commit("note it", {"MEMORY.md": "# Memory\n\n- The archive is kept for 7 years.\n"})
    found = why(repo, "MEMORY.md:3")
    assert (found["commit"], found["author"], found["sources"], found["model"]) == (
        oid,
        "Test <test@example.com>",
        [],
        None,
    )
    assert "written directly by Test; no log line is cited as its source" in repo.mem("why", "MEMORY.md:3").stdout


def test_why_in_a_bare_repository_reads_head(repo: Repo, tmp_path: Path) -> None:
    oid = repo.commit("a fact", {"MEMORY.md": "# Memory\n\n- We use Postgres 16\n"})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert why(Repo(tmp_path / "bare.git", False), "MEMORY.md:3")["commit"] == oid


def test_why_follows_a_line_that_moved_within_the_file(repo: Repo) -> None:
    record_log(repo)
    oid = promote(repo)
    moved = repo.read("MEMORY.md").replace("## Decisions", "## Facts\n\n- Another one entirely.\n\n## Decisions")
    repo.commit("sort", {"MEMORY.md": moved})
    assert why(repo, f"MEMORY.md:{line_of(repo, FACT)}")["commit"] == oid


def test_why_follows_a_file_that_was_renamed(repo: Repo) -> None:
    record_log(repo)
    oid = promote(repo)
    (repo.path / ".claude").mkdir()
    repo.git("mv", "MEMORY.md", ".claude/MEMORY.md")
    repo.commit("move it")
    found = why(repo, f".claude/MEMORY.md:{line_of(repo, FACT, '.claude/MEMORY.md')}")
    assert found["commit"] == oid and found["sources"][0]["verified"]


def test_why_follows_a_fact_moved_to_the_archive_and_a_line_whose_comment_changed(repo: Repo) -> None:
    record_log(repo)
    oid = promote(repo)
    lines = repo.read("MEMORY.md").replace("type=decision", "type=decision pinned=true")
    repo.commit("pin", {"MEMORY.md": lines})
    assert why(repo, f"MEMORY.md:{line_of(repo, FACT)}")["commit"] == oid
    repo.commit("archive", {"memory/archive/2026.md": lines, "MEMORY.md": "# Memory\n"})
    found = why(repo, f"memory/archive/2026.md:{line_of(repo, FACT, 'memory/archive/2026.md')}")
    assert found["commit"] == oid and found["agent"] == "codex"


def test_the_source_is_found_after_the_log_was_renamed(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    (repo.path / "memory/old").mkdir()
    repo.git("mv", DAY, "memory/old/2026-02-05.md")
    repo.commit("tidy")
    source = why(repo, f"MEMORY.md:{line_of(repo, FACT)}")["sources"][0]
    assert (source["verified"], source["moved"], source["text"]) == (True, False, SOURCE_TEXT)


def squashed(repo: Repo, tmp_path: Path, message: str | None) -> Repo:
    """A fresh clone of main, into which a branch with log, promotion and more log was squashed."""
    repo.commit("start", {"README.md": "x\n"})
    repo.git("checkout", "-q", "-b", "topic")
    record_log(repo)
    promote(repo)
    repo.commit("more", {DAY: LOG.replace("## 10:00", "- breakfast\n\n## 10:00") + "- Dinner.\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    if message is None:
        repo.git("commit", "-q", "--no-edit")
    else:
        repo.git("commit", "-q", "-m", message)
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--single-branch", "--no-local", str(repo.path), ".")
    return clone


def test_after_a_squash_merge_the_joined_message_still_tells_model_and_agent(repo: Repo, tmp_path: Path) -> None:
    clone = squashed(repo, tmp_path, None)
    found = why(clone, f"MEMORY.md:{line_of(clone, FACT)}")
    assert (found["model"], found["agent"]) == ("rules/1", "codex")
    source = found["sources"][0]
    assert source["moved"] and source["verified"] and source["text"] == SOURCE_TEXT
    assert (source["start_line"], source["end_line"]) == (7, 8)
    assert source["blob"] == clone.git("rev-parse", f"HEAD:{DAY}").strip()


def test_after_a_squash_whose_message_was_rewritten_the_comment_still_names_the_source(
    repo: Repo, tmp_path: Path
) -> None:
    clone = squashed(repo, tmp_path, "webhooks (#4)")
    found = why(clone, f"MEMORY.md:{line_of(clone, FACT)}")
    assert found["model"] is None
    assert found["sources"][0]["moved"] and found["sources"][0]["text"] == SOURCE_TEXT
    assert "found by its text" in clone.mem("why", f"MEMORY.md:{line_of(clone, FACT)}").stdout


def test_a_source_that_is_nowhere_is_said_to_be_gone(repo: Repo) -> None:
    record_log(repo, text="# 2026-02-05\n\nnothing here\n")
    promote(repo, span=Span(DAY, 3, 3, "12" * 20))
    source = why(repo, f"MEMORY.md:{line_of(repo, FACT)}")["sources"][0]
    assert (source["verified"], source["moved"], source["text"]) == (False, False, "")


def test_a_changed_text_is_not_verified_and_its_editor_is_named(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    editor = repo.commit("tweak", {"MEMORY.md": repo.read("MEMORY.md").replace("phase 1", "phase 2")})
    found = why(repo, "MEMORY.md:5")
    assert found["commit"] == editor and not found["sources"][0]["verified"]


def test_a_shallow_clone_says_that_its_history_is_cut(repo: Repo, tmp_path: Path) -> None:
    record_log(repo)
    promote(repo)
    repo.commit("later", {"README.md": "x\n"})
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "1", f"file://{repo.path}", ".")
    done = clone.mem("why", "MEMORY.md:5")
    assert "shallow" in done.stdout and "git fetch --unshallow" in done.stdout
    assert why(clone, "MEMORY.md:5")["sources"][0]["text"] == SOURCE_TEXT
    assert "shallow" in clone.mem("why", "MEMORY.md:5", "--json").stderr


def test_a_line_not_committed_yet_says_so(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    repo.write("MEMORY.md", "# Memory\n\n- new\n")
    assert why(repo, "MEMORY.md:3")["commit"] is None
    assert "not committed yet" in repo.mem("why", "MEMORY.md:3").stdout


def test_a_line_that_belongs_to_a_fact_above_asks_for_that_fact(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- fact\n  more about it\n"})
    found = why(repo, "MEMORY.md:4")
    assert (found["line"], found["end_line"], found["text"]) == (3, 4, "fact more about it")
    assert found["trail"] == ["Memory"]


def test_the_newest_change_of_any_line_of_a_fact_is_named(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- Refunds above 500 crowns wait\n  for one approval.\n"})
    oid = repo.commit("next", {"MEMORY.md": "# Memory\n\n- Refunds above 500 crowns wait\n  for two approvals.\n"})
    for line in (3, 4):
        assert why(repo, f"MEMORY.md:{line}")["commit"] == oid
    assert f"2 commits wrote its lines; {oid[:12]} is the newest" in repo.mem("why", "MEMORY.md:3").stdout
    repo.write("MEMORY.md", repo.read("MEMORY.md").replace("two", "three"))
    assert why(repo, "MEMORY.md:3")["commit"] is None


def test_one_line_shows_the_statement_it_is_part_of(repo: Repo) -> None:
    repo.commit(
        "start", {"MEMORY.md": "# Memory\n\n- Refunds above 500 crowns wait\n  for one approval.\n  - always\n"}
    )
    for line in (3, 4):
        shown = json.loads(repo.mem("show", f"MEMORY.md:{line}", "--json").stdout)
        assert (shown["start_line"], shown["end_line"]) == (3, 4)
    assert repo.mem("show", "MEMORY.md:5").stdout == "5    - always\n"
    assert repo.mem("show", "MEMORY.md:2").stdout.strip() == "2"
    assert len(repo.mem("show", "MEMORY.md:3-5").stdout.splitlines()) == 3


def test_why_at_a_revision_reads_that_revision(repo: Repo) -> None:
    first = repo.commit("start", {"MEMORY.md": "# Memory\n\n- old\n"})
    repo.commit("next", {"MEMORY.md": "# Memory\n\n- new\n"})
    assert why(repo, "MEMORY.md:3", "--at", "HEAD~1")["text"] == "old"
    assert why(repo, "MEMORY.md:3", "--at", "HEAD~1")["commit"] == first


def test_why_at_a_day_reads_the_line_as_it_stood_that_day(repo: Repo) -> None:
    first = repo.commit("start", {"MEMORY.md": "# Memory\n\n- old\n"}, date="2026-01-05T10:00:00Z")
    repo.commit("next", {"MEMORY.md": "# Memory\n\n- new\n"}, date="2026-01-09T10:00:00Z")
    found = why(repo, "MEMORY.md:3", "--at", "2026-01-06")
    assert (found["text"], found["commit"]) == ("old", first)


def test_names_and_texts_cannot_reach_the_terminal_raw(repo: Repo) -> None:
    repo.commit("start", {"-rf\x1b[31m.md": "- fact \x1b]52;c;x\x07 \u202e\n"})
    out = repo.mem("why", "./-rf\x1b[31m.md:1").stdout
    assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out


def test_what_is_not_there_is_exit_3_with_a_reason(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    assert repo.mem("why", "MEMORY.md:9", check=False).returncode == 3
    assert repo.mem("why", "NOPE.md:1", check=False).returncode == 3
    assert repo.mem("why", "MEMORY.md", check=False).returncode == 2
    assert repo.mem("why", "../x:1", check=False).returncode == 3


def test_why_verify_and_forget_work_in_a_sha256_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "sha256", True, "--object-format=sha256")
    blob = record_log(repo)
    promote(repo)
    found = why(repo, "MEMORY.md:5")
    assert len(blob) == 64 and found["sources"][0]["blob"] == blob and found["sources"][0]["verified"]
    assert repo.mem("verify", "--policy").returncode == 0
    repo.mem("forget", "MEMORY.md:5", "--reason", "x")
    assert repo.mem("promote", "--dry-run").returncode == 0 and FACT not in repo.read("MEMORY.md")


@pytest.mark.parametrize(
    "name", ["-rf.md", "new\nline.md", '"quote".md', "..%2f.md", "a:3.md", "회의 #1@x.md", "sp ace--.md"]
)
def test_a_source_may_have_any_name_a_file_can_have(repo: Repo, name: str) -> None:
    path = f"memory/{name}"
    blob = record_log(repo, path)
    promote(repo, span=Span(path, 5, 6, blob), target="memory/facts " + name)
    found = why(repo, f"memory/facts {name}:5")
    assert found["sources"][0]["path"] == path and found["sources"][0]["verified"]
    assert repo.mem("verify").returncode == 0
    repo.mem("forget", f"memory/facts {name}:5", "--reason", "x")
    assert FACT not in repo.read(f"memory/facts {name}")


def test_why_works_in_a_linked_work_tree_and_below_a_folder(repo: Repo, tmp_path: Path) -> None:
    record_log(repo)
    oid = promote(repo)
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", init=False)
    assert why(linked, "MEMORY.md:5")["commit"] == oid
    below = Repo(tmp_path / "linked" / "memory", init=False)
    assert why(below, "../MEMORY.md:5")["commit"] == oid


def test_who_reviewed_the_merge_that_brought_a_promotion_in_is_a_reviewer(repo: Repo) -> None:
    record_log(repo)
    repo.git("checkout", "-q", "-b", "topic")
    promote(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"x.txt": "x\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "Merge #4\n\nReviewed-by: Ann <ann@example.com>", "topic")
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("other", {"y.txt": "y\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge #5\n\nReviewed-by: Eve <eve@example.com>", "other")
    assert why(repo, "MEMORY.md:5")["reviewers"] == ["Ann <ann@example.com>"]


def test_what_a_clone_configures_to_run_is_not_run_by_reading(repo: Repo, tmp_path: Path) -> None:
    record_log(repo)
    promote(repo)
    repo.write(".gitattributes", "*.md diff=evil filter=evil merge=evil\n")
    evil = f"touch {tmp_path}/ran"
    for key in (
        "core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.smudge",
        "filter.evil.clean", "core.sshCommand", "alias.mem", "merge.evil.driver", "gpg.program",
    ):  # fmt: skip
        repo.git("config", key, evil)
    repo.git("config", "log.showSignature", "true")
    for command in (
        ("why", "MEMORY.md:5"), ("verify", "--policy"), ("changes", "HEAD~1..HEAD"), ("log",),
        ("review", "HEAD~1..HEAD"), ("revert", "--source", DAY, "--dry-run"),
    ):  # fmt: skip
        repo.mem(*command)
        assert not (tmp_path / "ran").exists(), command


def test_what_a_notes_front_matter_says_holds_for_every_line_of_it(repo: Repo) -> None:
    blob = record_log(repo)
    span = f"{DAY}#L5-L6@{blob[:12]}"
    repo.commit(
        "note",
        {
            "memory/topic.md": f"---\ntags: [a]\nsrc:\n  - {span}\norigin: web\n---\n\n# T\n\nPoC phase 1 uses REST webhooks.\n\n- They are easier to debug.\n"
        },
    )
    for line in (10, 12):
        source = why(repo, f"memory/topic.md:{line}")["sources"][0]
        assert source["verified"] and source["text"] == SOURCE_TEXT and source["blob"] == blob
    found = json.loads(repo.mem("revert", "--origin", "web", "--dry-run", "--json").stdout)
    assert [fact["text"] for fact in found["facts"]] == ["PoC phase 1 uses REST webhooks.", "They are easier to debug."]
    assert repo.mem("verify").returncode == 0


def test_front_matter_of_any_shape_is_read_or_left_alone() -> None:
    assert file_meta(b"---\norigin: 'tool'\nsrc: [a.md#L1, b.md#L2]\n---\n") == (
        ("origin", "tool"), ("src", "a.md#L1"), ("src", "b.md#L2"),
    )  # fmt: skip
    for data in (b"", b"---\n", b"---\nsrc: x\n", b"- a\n---\nsrc: x\n---\n", b"---\n" + b"x" * 10**6):
        assert file_meta(data) == ()


def test_a_flushed_line_names_its_session_and_turn_and_is_not_by_hand(repo: Repo) -> None:
    turn = {"role": "user", "id": "t3", "text": "We decided to use Postgres for billing because row locks are enough."}
    repo.write("../talk.jsonl", json.dumps({**turn, "at": "2026-02-05T10:00:00Z"}) + "\n")
    repo.mem("session", "flush", "../talk.jsonl", "--session", "s1")
    path = "memory/2026-02-05.md"
    for commit in (False, True):
        if commit:
            repo.commit("log")
        place = f"{path}:{line_of(repo, 'Postgres', path)}"
        value = why(repo, place)
        assert (value["session"], value["turn"], value["support"]) == ("s1", "t3", "no-source")
        shown = repo.mem("why", place).stdout
        assert "session  s1" in shown and "turn     t3" in shown and "by hand" not in shown
    repo.commit("hand", {"memory/2026-02-06.md": "# 2026-02-06\n\n- A line by hand\n"})
    assert why(repo, "memory/2026-02-06.md:3")["session"] is None
    assert (
        "written directly by Test; no log line is cited as its source"
        in repo.mem("why", "memory/2026-02-06.md:3").stdout
    )


NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}
ANN = "Test <test@example.com>"


@pytest.fixture
def replaced(repo: Repo) -> Repo:
    """A promoted fact that a later promotion replaced and archived."""
    repo.commit("one", {"memory/2026-02-05.md": "# 2026-02-05\n\n- Decision: The API listens on port 8080\n"})
    repo.mem("promote", env=NOW)
    log = "# 2026-02-28\n\n- Decision: The API listens on port 9090 instead of 8080\n"
    repo.commit("two", {"memory/2026-02-28.md": log})
    repo.mem("promote", env=NOW)
    return repo


def test_what_a_promotion_replaced_and_archived_is_its_work_and_no_edit(replaced: Repo) -> None:
    new = replaced.mem("why", f"MEMORY.md:{line_of(replaced, '9090')}").stdout
    archive = "memory/archive/2026.md"
    old = replaced.mem("why", f"{archive}:{line_of(replaced, '8080', archive)}").stdout
    for text in (new, old):
        assert f"by rules/1 in a commit of {ANN}" in text and "by hand" not in text and f"by {ANN}" not in text
    assert "text is in the source" in old and "NOT VERIFIED" not in old
    assert replaced.mem("verify").stdout == ""


def test_a_fact_that_a_person_superseded_names_the_person(repo: Repo) -> None:
    repo.commit("x", {"MEMORY.md": "# Memory\n\n- The API listens on port 8080 <!-- mem from=2026-01-05 -->\n"})
    repo.mem("edit", "MEMORY.md:3", "The API listens on port 9090", "--supersede", "--reason", "x", env=NOW)
    repo.mem("edit", "MEMORY.md:3", "--pin", "--reason", "y", env={**NOW, "GIT_AUTHOR_NAME": "Bob"})
    assert f"by {ANN}" in repo.mem("why", "MEMORY.md:3").stdout


@pytest.mark.parametrize("option", ["--over", "--pin"])
def test_a_fact_whose_comment_alone_was_edited_is_not_called_verified_and_not_called_false(
    repo: Repo, option: str
) -> None:
    record_log(repo)
    promote(repo)
    repo.mem("edit", f"MEMORY.md:{line_of(repo, FACT)}", option, "--reason", "x", env=NOW)
    place = f"MEMORY.md:{line_of(repo, FACT)}"
    assert [source["verified"] for source in why(repo, place)["sources"]] == [False]
    shown = repo.mem("why", place).stdout
    assert f"its text is unchanged, its comment was edited after promotion by {ANN}" in shown
    assert "NOT VERIFIED" not in shown


def test_a_squash_does_not_make_a_person_s_edit_the_work_of_a_model(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    text = repo.read("MEMORY.md").replace("<!-- mem ", "<!-- mem pinned=true ")
    repo.commit("Pin it\n\nmemory: promote 1 fact\n\nMemory-Model: rules/1\n", {"MEMORY.md": text})
    assert f"edited after promotion by {ANN}" in repo.mem("why", f"MEMORY.md:{line_of(repo, FACT)}").stdout
