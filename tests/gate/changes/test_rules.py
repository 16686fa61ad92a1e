"""Rules about the shape of a change."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest

from gitmem.gate.changes.rules import (
    FileVersions,
    check_entry,
    check_history,
    check_protection,
    check_twins,
    lost_lines,
)
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy, canonical
from gitmem.git.objects import GITLINK, REGULAR, SYMLINK, Change
from gitmem.paths import Layout

POLICY = Policy(protected=("SOUL.md", "memory/rules/*"))
LOG = "memory/2026-02-05.md"


def rules(found: object) -> list[str]:
    return [finding.rule for finding in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["memory/x.md", "memory", "MEMORY.md", "Memory/sub", "memory/a.bin", "TOOLS.md"])
def test_links_and_submodules_may_not_be_memory(path: str) -> None:
    assert rules(check_entry(path, SYMLINK, POLICY)) == ["symlink"]
    assert rules(check_entry(path, GITLINK, POLICY)) == ["submodule"]


def test_links_elsewhere_are_nobodys_business_here() -> None:
    assert rules(check_entry("src/link", SYMLINK, POLICY)) == []
    assert rules(check_entry("docs/link.md", SYMLINK, POLICY)) == []


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("memory/new\nline.md", "path-control"),
        ("memory/\u202ex.md", "path-control"),
        ("memory/aux.md", "path-windows"),
        ("memory/Con.2026.md", "path-windows"),
        ("memory/a:b.md", "path-windows"),
        ("memory/sub./x.md", "path-windows"),
        ("memory/" + "가" * 400 + ".md", "path-long"),
    ],
)
def test_names_that_hide_or_break_are_reported(path: str, rule: str) -> None:
    assert rules(check_entry(path, REGULAR, POLICY)) == [rule]


@pytest.mark.parametrize(
    "path", ["memory/-rf.md", "memory/회의록.md", "memory/it's.md", "memory/..%2f.md", "memory/auxiliary.md"]
)
def test_names_that_are_only_unusual_pass(path: str) -> None:
    assert rules(check_entry(path, REGULAR, POLICY)) == []


def test_twins_by_case_and_by_normalisation_are_found() -> None:
    nfd = unicodedata.normalize("NFD", "memory/회의.md")
    assert rules(check_twins(["memory/Case.md"], ["memory/case.md"], POLICY)) == ["path-twin"]
    assert rules(check_twins([nfd], ["memory/회의.md"], POLICY)) == ["path-twin"]
    assert rules(check_twins(["Memory.md"], ["MEMORY.md"], POLICY)) == ["path-twin"]
    assert rules(check_twins(["memory/new.md"], ["memory/new.md", "memory/other.md"], POLICY)) == []


def test_the_spelling_a_folding_file_system_finds() -> None:
    assert canonical("Memory/X.MD") == "memory/x.md"
    assert canonical("memory.md") == "MEMORY.md"
    assert canonical(".Claude/memory.MD") == ".claude/MEMORY.md"
    assert POLICY.scans("MEMORY/Notes.md")
    assert not POLICY.scans("src/notes.md")
    assert Policy(layouts=(Layout(notes=True),)).scans("src/notes.md")


def test_a_protected_file_names_its_new_blob() -> None:
    one = Change("M", "SOUL.md", "SOUL.md", "a" * 40, "b" * 40, REGULAR, REGULAR)
    gone = Change("D", "memory/rules/x.md", "memory/rules/x.md", "a" * 40, "", REGULAR, 0)
    found = list(check_protection([one, gone], POLICY))
    assert rules(found) == ["protected-file"] * 2
    assert "b" * 12 in found[0].message
    assert "deleted" in found[1].message


def test_a_daily_log_may_grow_anywhere_and_lose_nothing() -> None:
    assert rules(check_history(FileVersions(LOG, ["a\nb\n"], "a\nnew\nb  \nmore\n"))) == []
    assert rules(check_history(FileVersions(LOG, ["a\nb\n"], "a\nB\n"))) == ["log-rewritten"]
    assert rules(check_history(FileVersions(LOG, ["a\nb\n"], ""))) == ["log-rewritten"]
    assert rules(check_history(FileVersions(LOG, ["a\na\n"], "a\n"))) == ["log-rewritten"]
    assert rules(check_history(FileVersions("memory/notes.md", ["a\nb\n"], "a\n"))) == []


@pytest.mark.parametrize(
    ("today", "after", "severity"),
    [
        (date(2026, 2, 5), "B\n", Severity.WARN),
        (date(2026, 2, 6), "B\n", Severity.WARN),
        (date(2026, 2, 4), "B\n", Severity.WARN),
        (date(2026, 2, 7), "B\n", Severity.BLOCK),
        (date(2026, 2, 5), "", Severity.BLOCK),
    ],
)
def test_the_log_of_the_day_may_still_be_changed_but_not_deleted(today: date, after: str, severity: Severity) -> None:
    (found,) = check_history(FileVersions("memory/2026-02-05.md", ["b\n"], after), today=today)
    assert (found.rule, found.severity) == ("log-rewritten", severity)


@pytest.mark.parametrize(
    "line", ["- read there <!-- mem origin=web -->", "## A page <!--mem origin=web-->", "origin: web"]
)
def test_where_words_come_from_is_not_taken_out_of_the_log_of_the_day(line: str) -> None:
    (found,) = check_history(
        FileVersions("memory/2026-02-05.md", [f"{line}\n"], "- read there\n"), today=date(2026, 2, 5)
    )
    assert found.severity is Severity.BLOCK


def test_a_daily_note_of_another_program_warns_where_it_loses_a_line() -> None:
    daily = ["journals/YYYY_MM_DD.md"]
    (found,) = check_history(FileVersions("journals/2026_02_05.md", ["- [ ] call\n"], "- [x] call\n"), daily=daily)
    assert (found.rule, found.severity) == ("log-rewritten", Severity.WARN)
    assert rules(check_history(FileVersions("journals/2026_02_05.md", ["a\n"], "a\nb\n"), daily=daily)) == []
    assert rules(check_history(FileVersions("journals/plan.md", ["a\n"], "b\n"), daily=daily)) == []


def test_a_merge_loses_only_what_every_side_had() -> None:
    assert lost_lines(["a\nb\n", "a\nc\n"], "b\nc\n") == ["a"]
    assert lost_lines(["a\nb\n", "a\n"], "a\n") == []


def test_bulk_deletion_of_memory_needs_a_reason() -> None:
    old = "# Memory\n" + "".join(f"- fact {n}\n" for n in range(12))
    assert rules(check_history(FileVersions("MEMORY.md", [old], "# Memory\n"))) == ["memory-bulk-deletion"]
    assert rules(check_history(FileVersions("MEMORY.md", [old], ""))) == ["memory-bulk-deletion"]
    assert rules(check_history(FileVersions("MEMORY.md", [old], old.replace("- fact 3\n", "")))) == []
    assert rules(check_history(FileVersions("MEMORY.md", ["- a\n- b\n"], ""))) == []
