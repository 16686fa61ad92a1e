"""What was forgotten is given by no door: history, earlier snapshots, files as they were, contexts, pages and servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.git.objects import Span
from gitmem.git.opening import open_repository
from gitmem.memory.fact import fact_id
from gitmem.provenance.forgotten_texts import FILE, forgotten_texts
from tests.harness import Repo
from tests.provenance_cases import DAY, promote, record_log

WORDS = "Invoices are rounded to whole cents."
KOREAN = "결제 타임아웃은 30초로 한다."
LINE = "memory/billing.md"


def forgotten_memory(repo: Repo, text: str = WORDS, how: str = "--everywhere") -> str:
    """A fact that was promoted, told in other files and in messages, and forgotten; the commit before that."""
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {text}\n- Lunch about invoices and 결제.\n")
    promote(repo, text, span=Span(DAY, 3, 3, blob))
    first, rest = text.split(" ", 1)
    repo.commit(f"billing: write it down\n\nShe said: {first}\n{rest} So be it.\n", {
        LINE: f"# Billing\n\nWe agreed: {first}\n{rest} That was in May.\n\nInvoices and 결제 go out on Monday.\n",
    })  # fmt: skip
    before = repo.git("rev-parse", "HEAD").strip()
    place = (
        repo.read("MEMORY.md").split("\n").index(next(x for x in repo.read("MEMORY.md").split("\n") if text in x)) + 1
    )
    repo.mem("forget", f"MEMORY.md:{place}", "--reason", "x", *([how] if how else []))
    return before


def said(repo: Repo, *args: str) -> str:
    done = repo.mem(*args, check=False)
    return " ".join((done.stdout + done.stderr).replace("\\n", " ").split())


@pytest.mark.parametrize("text", [WORDS, KOREAN])
def test_no_command_gives_it(repo: Repo, text: str) -> None:
    before = forgotten_memory(repo, text)
    asked = " ".join(text.split()[1:4])
    for args in (
        ("search", asked), ("search", "--history", asked), ("search", "--history-only", asked),
        ("search", "--at", before, asked), ("search", "--at", before, "--json", asked), ("search", "--all", asked),
        ("search", "--history", "--jsonl", asked), ("context", asked), ("context", "--at", before, asked),
        ("show", "MEMORY.md", "--at", before), ("show", LINE, "--at", before, "--json"), ("show", DAY, "--at", before),
        ("receipts",), ("receipts", "--json"), ("why", "MEMORY.md:5", "--at", before), ("log", "-n", "30"),
        ("changes", f"{before}~1..HEAD"), ("changes", f"{before}..HEAD", "--json"),
    ):  # fmt: skip
        assert text.rstrip(".") not in said(repo, *args), args
    assert "[forgotten]" in said(repo, "show", LINE, "--at", before)
    assert "That was in May" in said(repo, "search", "--at", before, "billing agreed May")


def test_other_lines_are_found_as_before(repo: Repo) -> None:
    forgotten_memory(repo)
    assert "go out on Monday" in said(repo, "search", "invoices Monday")
    assert "billing: write it down" in said(repo, "search", "--history-only", "billing write it down")


def test_a_plain_forget_is_left_out_of_searches_and_a_copy_is_named(repo: Repo) -> None:
    forgotten_memory(repo, how="")
    assert WORDS in repo.read(DAY)
    assert WORDS not in said(repo, "search", "invoices rounded cents")


def test_a_text_that_was_corrected_is_still_shown_as_it_was(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {WORDS}\n")
    promote(repo, WORDS, span=Span(DAY, 3, 3, blob))
    before = repo.git("rev-parse", "HEAD").strip()
    repo.mem("edit", "MEMORY.md:5", "Invoices are rounded to ten cents.", "--reason", "x")
    assert WORDS in said(repo, "show", "MEMORY.md", "--at", before)


def test_a_person_who_writes_it_again_has_it_again(repo: Repo) -> None:
    before = forgotten_memory(repo)
    repo.mem("add", "--type", "decision", WORDS)
    assert WORDS in said(repo, "search", "invoices rounded cents")
    repo.commit("again")
    assert WORDS in said(repo, "search", "--at", before, "invoices rounded cents")


def test_what_is_kept_of_it_is_hashes_for_one_head(repo: Repo) -> None:
    forgotten_memory(repo)
    said(repo, "search", "x")
    file = repo.path / ".git" / "gitmem" / FILE
    kept = json.loads(file.read_text())
    assert kept["head"] == repo.git("rev-parse", "HEAD").strip() and fact_id(WORDS) in kept["taken"]
    assert WORDS not in file.read_text() and "nvoices" not in file.read_text()
    repo.commit("other", {"memory/x.md": "x\n"})
    there = open_repository(repo.path, {})
    assert fact_id(WORDS) in forgotten_texts(there).removed_ids
    file.write_text('{"version": 1, "head": 3}')
    assert fact_id(WORDS) in forgotten_texts(there).removed_ids
    there.close()


@pytest.mark.parametrize("text", ["{}", "[", '{"version": 1, "memory": [], "ids": [], "taken": [], "forms": {}}'])
def test_a_damaged_cache_is_made_anew(repo: Repo, text: str) -> None:
    forgotten_memory(repo)
    opened = open_repository(repo.path, {})
    found = forgotten_texts(opened)
    (repo.path / ".git/gitmem" / FILE).write_text(text)
    assert forgotten_texts(opened) == found and found.ids


def test_the_branch_of_another_forgets_nothing_here(repo: Repo) -> None:
    record_log(repo, text=f"# 2026-02-05\n\n- {WORDS}\n")
    repo.commit("fact", {"MEMORY.md": f"# Memory\n\n## Decisions\n\n- {WORDS}\n"})
    repo.git("switch", "-q", "-c", "theirs")
    repo.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "x")
    repo.git("switch", "-q", "main")
    assert WORDS in said(repo, "search", "invoices rounded cents")


@pytest.mark.parametrize("option", [(), ("--supersede",)])
def test_a_text_written_by_hand_that_was_corrected_is_still_shown_as_it_was(
    repo: Repo, option: tuple[str, ...]
) -> None:
    before = repo.commit("fact", {"MEMORY.md": f"# Memory\n\n- {WORDS}\n"})
    repo.mem("edit", "MEMORY.md:3", "Invoices are rounded to ten cents.", "--reason", "x", *option)
    assert WORDS in said(repo, "show", "MEMORY.md", "--at", before)
    assert WORDS in said(repo, "search", "--at", before, "invoices rounded cents")


def test_a_session_does_not_write_it_back(repo: Repo, tmp_path: Path) -> None:
    forgotten_memory(repo)
    rows = [
        {"type": "user", "uuid": f"u{at}", "sessionId": "s", "timestamp": f"2026-02-07T10:0{at}:00Z",
         "message": {"role": "user", "content": text}}
        for at, text in enumerate((f"We decided: {WORDS}", "We decided to send invoices by post every Monday."))
    ]  # fmt: skip
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    repo.mem("session", "end", str(file))
    written = "".join(path.read_text() for path in (repo.path / "memory").rglob("*.md"))
    assert WORDS.rstrip(".") not in written and "by post every Monday" in written


def test_a_file_name_that_says_it_is_in_no_message_of_the_commit_that_renames_it(repo: Repo) -> None:
    words = "Customer Zelda Quux lives in Gondor Street"
    name = "memory/topics/customer-zelda-quux-lives-in-gondor-street.md"
    repo.commit("m", {"MEMORY.md": f"# Memory\n\n- {words}\n", name: f"# P\n\n- {words}\n- Ann likes tea\n"})
    repo.mem("forget", "MEMORY.md:3", "--everywhere", "--reason", "x")
    assert "zelda" not in repo.git("log", "-1", "--format=%B").lower()


def test_a_text_is_not_taken_out_of_a_longer_number_or_name(repo: Repo) -> None:
    log = (
        "# 2026-11-20\n\n- The code is 12.5 on the scale\n- The code is 12-B for the lift\n- The code is 12, they say\n"
    )
    repo.commit("m", {"MEMORY.md": "# Memory\n\n- The code is 12\n", "memory/2026-11-20.md": log})
    repo.mem("forget", "MEMORY.md:3", "--everywhere", "--reason", "x")
    assert "12.5 on the scale" in (said := repo.read("memory/2026-11-20.md")) and "12-B for the lift" in said
    assert "12, they say" not in said


def test_no_export_no_list_of_candidates_and_no_working_value_says_it(repo: Repo, tmp_path: Path) -> None:
    words = "Mallory owes 500 EUR to Trudy"
    log = f"# 2026-11-20\n\n## 09:00 - money\n\n- Decided: {words}\n"
    repo.commit("m", {"MEMORY.md": f"# Memory\n\n- {words}\n", "memory/2026-11-20.md": log})
    repo.mem("session", "set", "who:m", words)
    repo.mem("forget", "MEMORY.md:3", "--reason", "x")
    out = tmp_path / "bundle"
    said = repo.mem("export", "okf", str(out)).stdout + "".join(path.read_text("utf-8") for path in out.rglob("*.md"))
    for command in (("promote", "--dry-run", "--explain"), ("promote", "--dry-run", "--json"), ("session", "list"),
                    ("session", "list", "--json"), ("bisect", "mallory", "--expect", "Mallory")):  # fmt: skip
        done = repo.mem(*command, check=False)
        said += done.stdout + done.stderr
    assert "owes 500" not in said, said


WITH_REASON = "# 2026-02-05\n\n- what: {claim}.\n- why: {reason}.\n- next: book the crossings.\n"
CLAIM, REASON = "all freight takes the Hals ferry", "the bridge is closed for heavy trucks"


def with_reason(repo: Repo, other: str = "") -> None:
    """A fact that joins two log lines as a promotion joins them, and was forgotten."""
    blob = record_log(repo, text=WITH_REASON.format(claim=CLAIM, reason=REASON))
    promote(repo, f"{CLAIM} ({REASON})", span=Span(DAY, 3, 4, blob))
    if other:
        repo.commit("other", {"MEMORY.md": repo.read("MEMORY.md") + f"- {other}\n"})
    place = next(number for number, line in enumerate(repo.read("MEMORY.md").split("\n"), 1) if CLAIM in line)
    repo.mem("forget", f"MEMORY.md:{place}", "--reason", "x")


def test_the_log_lines_that_a_fact_joined_are_given_by_no_search(repo: Repo) -> None:
    with_reason(repo)
    for args in (
        ("search", "freight ferry bridge"),
        ("context", "freight ferry bridge"),
        ("show", DAY, "--at", "HEAD"),
    ):
        assert CLAIM not in said(repo, *args), args
        assert REASON not in said(repo, *args), args
    assert "book the crossings" in said(repo, "search", "book the crossings")


def test_a_part_that_another_fact_of_memory_says_is_still_given(repo: Repo) -> None:
    with_reason(repo, other=f"the depot moves to Aalborg ({REASON})")
    assert f"Aalborg ({REASON})" in said(repo, "search", "depot Aalborg")
    assert CLAIM not in said(repo, "search", "freight ferry")


def test_forget_names_a_source_line_in_other_words_that_searches_still_give(repo: Repo) -> None:
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {WORDS}\n")
    promote(repo, WORDS, span=Span(DAY, 3, 3, blob))
    repo.mem("edit", "MEMORY.md:5", "Bills show cents.", "--reason", "x")
    printed = said(repo, "forget", "MEMORY.md:5", "--reason", "x")
    assert f"taken from {DAY}:3, in other words: searches and contexts still give these lines" in printed
    assert "no search or context gives it" not in printed
    assert WORDS in said(repo, "search", "invoices rounded cents")
