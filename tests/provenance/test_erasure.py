"""`git mem forget --everywhere`: no file of memory says it any more, its record holds, and nothing else is lost."""

from __future__ import annotations

import json

import pytest

from gitmem.git.objects import Span
from gitmem.memory.fact import text_hash
from gitmem.provenance.trailers import parse, values
from tests.harness import Repo
from tests.provenance_cases import DAY, promote, record_log

WORDS = "Invoices are rounded to whole cents."
KOREAN = "결제 타임아웃은 30초로 한다."
EPISODE = "memory/sessions/2026-02-06-talk.md"
ARCHIVE = "memory/archive/2025.md"
NOTE = "memory/billing.md"


def memory_with(repo: Repo, text: str = WORDS) -> None:
    """A promoted fact, its log line, and an episode, an archive and a note that repeat it."""
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {text}\n- Lunch.\n")
    promote(repo, text, span=Span(DAY, 3, 3, blob))
    repo.commit("more", {
        EPISODE: f"# Talk\n\nShe said: {text} Then we left.\n", ARCHIVE: f"# 2025\n\n- {text}\n- kept\n",
        NOTE: f"# Billing\n\n{text}\n\nOther words.\n",
    })  # fmt: skip


def forget(repo: Repo, *options: str, check: bool = True) -> tuple[int, str, str]:
    done = repo.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "she asked us to", *options, check=check)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("text", [WORDS, KOREAN])
def test_no_file_says_it_any_more_and_the_record_holds(repo: Repo, text: str) -> None:
    memory_with(repo, text)
    base = repo.git("rev-parse", "HEAD").strip()
    assert text in repo.mem("search", text).stdout
    _, _, told = forget(repo)
    assert int(repo.git("rev-list", "--count", f"{base}..HEAD")) == 1 and repo.git("status", "--porcelain") == ""
    assert repo.git("grep", "-F", "-e", text, "HEAD", check=False) == ""
    assert text not in repo.mem("search", text, check=False).stdout
    assert text not in repo.mem("context", text, check=False).stdout
    assert "other clones still hold it" in told
    assert repo.read(DAY) == "# 2026-02-05\n\n- Lunch.\n"
    assert repo.read(EPISODE) == "# Talk\n\nShe said: [forgotten] Then we left.\n"
    assert repo.read(ARCHIVE) == "# 2025\n\n- kept\n" and "Other words." in repo.read(NOTE)
    message = repo.git("log", "-1", "--format=%B")
    assert text not in message and values(parse(message), "Memory-Rewrite") == ["she asked us to"]
    rejected = values(parse(message), "Memory-Rejected")
    assert len(rejected) == 2 and all(text_hash(text) in value for value in rejected)
    for args in (["verify", "--policy"], ["verify", f"{base}..HEAD", "--policy"], ["review", f"{base}..HEAD"]):
        assert repo.mem(*args, check=False).returncode == 0, args
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_the_answer_names_every_line(repo: Repo) -> None:
    memory_with(repo)
    found = json.loads(forget(repo, "--json")[1])
    assert found["commit"] == repo.git("rev-parse", "HEAD").strip() and found["remaining"] == []
    assert [(row["path"], row["line"], row["change"]) for row in found["lines"]] == [
        ("MEMORY.md", 5, "removed"), (DAY, 3, "removed"), (ARCHIVE, 3, "removed"), (NOTE, 3, "removed"),
        (EPISODE, 3, "masked"),
    ]  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--everywhere",)])
def test_a_dry_run_writes_nothing(repo: Repo, options: tuple[str, ...]) -> None:
    memory_with(repo)
    head = repo.git("rev-parse", "HEAD")
    done = repo.mem("forget", "MEMORY.md:5", "--dry-run", "--reason", "x", *options)
    assert "MEMORY.md:5" in done.stdout and "nothing was changed" in done.stderr
    assert (f"{DAY}:3" in done.stdout) == bool(options)
    assert repo.git("rev-parse", "HEAD") == head and repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("dirty", ["MEMORY.md", DAY, NOTE])
def test_an_edited_file_is_refused_and_nothing_changes(repo: Repo, dirty: str) -> None:
    memory_with(repo)
    head = repo.git("rev-parse", "HEAD")
    repo.write(dirty, repo.read(dirty) + "- mine\n")
    before = {path: repo.read(path) for path in ("MEMORY.md", DAY, NOTE, EPISODE, ARCHIVE)}
    code, _, told = forget(repo, check=False)
    assert code == 3 and "not committed" in told and dirty in told
    assert repo.git("rev-parse", "HEAD") == head
    assert {path: repo.read(path) for path in before} == before


def test_a_line_taken_out_of_a_file_but_still_committed_is_an_edit_too(repo: Repo) -> None:
    memory_with(repo)
    repo.write(NOTE, "# Billing\n")
    assert forget(repo, check=False)[0] == 3
    (repo.path / NOTE).unlink()
    assert forget(repo, check=False)[0] == 3 and WORDS in repo.read("MEMORY.md")


def test_the_source_of_another_fact_is_kept(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {WORDS}\n- Refunds take 5 days.\n")
    promote(repo, WORDS, span=Span(DAY, 3, 4, blob))
    promote(repo, "Refunds take 5 days.", span=Span(DAY, 4, 4, blob))
    found = json.loads(forget(repo, "--json")[1])
    assert found["remaining"] == [{"path": DAY, "line": 4}] and repo.read(DAY).endswith("\n- Refunds take 5 days.\n")
    assert repo.mem("verify", "--policy", check=False).returncode == 0


def test_a_line_that_says_it_and_is_the_source_of_another_fact_is_refused(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {WORDS} Refunds take 5 days.\n")
    promote(repo, WORDS, span=Span(DAY, 3, 3, blob))
    promote(repo, "Refunds take 5 days.", span=Span(DAY, 3, 3, blob))
    code, _, told = forget(repo, check=False)
    assert code == 1 and "MEMORY.md:6" in told and WORDS in repo.read("MEMORY.md")
    assert repo.git("status", "--porcelain") == ""


def test_other_facts_that_say_more_and_instruction_files_are_left_and_named(repo: Repo) -> None:
    memory_with(repo)
    repo.commit("x", {"MEMORY.md": repo.read("MEMORY.md") + f"- Since May: {WORDS}\n", "AGENTS.md": f"{WORDS}\n"})
    _, _, told = forget(repo)
    assert "left as they are: AGENTS.md:1, MEMORY.md:6" in told
    assert f"- Since May: {WORDS}" in repo.read("MEMORY.md") and repo.read("AGENTS.md") == f"{WORDS}\n"


def test_a_short_fact_takes_only_its_whole_words(repo: Repo) -> None:
    repo.commit(
        "x", {"MEMORY.md": "# Memory\n\n## Facts\n\n- Use SSE\n", NOTE: "We use SSE2 today.\nWe use SSE now.\n"}
    )
    forget(repo)
    assert repo.read(NOTE) == "We use SSE2 today.\nWe [forgotten] now.\n"


def test_an_agent_that_adds_it_again_is_reported(repo: Repo) -> None:
    memory_with(repo)
    forget(repo)
    base = repo.git("rev-parse", "HEAD").strip()
    repo.commit("again\n\nMemory-Agent: codex", {"MEMORY.md": repo.read("MEMORY.md") + f"- {WORDS}\n"})
    rules = {
        row["rule"] for row in json.loads(repo.mem("verify", "--policy", "--json", check=False).stdout)["findings"]
    }
    assert "rejected" in rules
    assert repo.mem("review", f"{base}..HEAD", check=False).returncode == 1


def test_the_installed_hooks_let_the_commit_through(repo: Repo) -> None:
    memory_with(repo)
    repo.mem("install")
    forget(repo)
    assert repo.git("grep", "-F", "-e", WORDS, "HEAD", check=False) == ""


def test_a_hook_that_refuses_leaves_every_file_as_it_was(repo: Repo) -> None:
    memory_with(repo)
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert forget(repo, check=False)[0] == 3
    assert repo.git("status", "--porcelain") == "" and WORDS in repo.read(DAY)


SESSION = """---
type: episode
session: "s1"
---
# Session of 2026-02-06

## Summary

- The ledger moves next week.
- Use PostgreSQL 16 for the ledger! Then we had lunch.
- The ledger will use PostgreSQL 16.
- We use MySQL 8 for the ledger.

## Decisions

- Use PostgreSQL 16 for the ledger.
- 결제 원장은 PostgreSQL 16을 쓴다.

## Topics

PostgreSQL, ledger
"""
LEDGER = "We decided to use PostgreSQL 16 for the ledger."


def test_an_episode_loses_its_own_words_and_names_what_it_is_not_sure_about(repo: Repo) -> None:
    memory_with(repo, LEDGER)
    repo.commit("an episode", {"memory/sessions/2026-02-06-talk.md": SESSION})
    planned = json.loads(forget(repo, "--dry-run", "--json")[1])
    assert [row["line"] for row in planned["unsure"]] == [11, 17]
    code, out, told = forget(repo)
    assert code == 0 and f"{EPISODE}:10 masked" in out and f"{EPISODE}:16 removed" in out
    kept = repo.read(EPISODE)
    assert "- [forgotten] Then we had lunch.\n" in kept and "- Use PostgreSQL" not in kept
    assert "- The ledger moves next week.\n" in kept and "- We use MySQL 8 for the ledger.\n" in kept
    lines = kept.split("\n")
    places = {
        lines.index(line) + 1
        for line in ("- The ledger will use PostgreSQL 16.", "- 결제 원장은 PostgreSQL 16을 쓴다.")
    }
    for line in places:
        assert f"{EPISODE}:{line}" in told
    assert f"git mem forget {EPISODE}:{min(places)} --everywhere --reason WHY" in told
    assert "Then we" not in told and "MySQL" not in told
    repo.mem("forget", f"{EPISODE}:{min(places)}", "--everywhere", "--reason", "it says so too")
    assert "The ledger will use" not in repo.read(EPISODE)


def test_an_episodes_words_for_the_log_line_of_a_fact_go_with_it_and_come_back(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {LEDGER}\n- Lunch.\n")
    promote(repo, "The ledger: PostgreSQL 16.", span=Span(DAY, 3, 3, blob))
    episode = "# Talk\n\n## Decisions\n\n- Use PostgreSQL 16 for the ledger.\n- kept\n"
    repo.commit("an episode", {EPISODE: episode})
    forget(repo)
    assert repo.read(EPISODE) == "# Talk\n\n## Decisions\n\n- kept\n"
    repo.mem("undo", "--yes")
    assert repo.read(EPISODE) == episode and LEDGER in repo.read(DAY)


def test_edits_of_an_episode_that_only_may_say_it_stop_nothing(repo: Repo) -> None:
    memory_with(repo, LEDGER)
    other = "memory/sessions/2026-02-07-other.md"
    repo.commit("an episode", {other: "# Talk\n\n- The ledger will use PostgreSQL 16.\n"})
    repo.write(other, repo.read(other) + "- mine\n")
    assert f"{other}:3" in forget(repo)[2] and "- mine\n" in repo.read(other)


def test_an_episode_keeps_what_a_source_line_says_about_another_thing(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {WORDS}\n- Refunds take 5 days.\n")
    promote(repo, WORDS, span=Span(DAY, 3, 4, blob))
    repo.commit("an episode", {EPISODE: f"# Talk\n\n- {WORDS}\n- Refunds take 5 days.\n"})
    assert "may say" not in forget(repo)[2]
    assert repo.read(EPISODE) == "# Talk\n\n- Refunds take 5 days.\n"
