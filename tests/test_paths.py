"""Which paths are memory."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest

from gitmem.daily_logs import agent_of, daily_form, daily_glob, log_day, log_path
from gitmem.errors import UsageError
from gitmem.paths import (
    Kind,
    Layout,
    agent_name,
    day_in_path,
    holds_instructions,
    in_default_corpus,
    is_memory,
    kind,
    layout_of,
    log_date,
    matches,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("MEMORY.md", Kind.MEMORY), (".claude/MEMORY.md", Kind.MEMORY), ("docs/MEMORY.md", Kind.OTHER),
        ("memory/2026-02-05.md", Kind.DAILY), ("memory/2026-02-05.coder.md", Kind.DAILY),
        ("memory/2026-02-05-결제-장애.md", Kind.SESSION), ("memory/sessions/x.md", Kind.SESSION),
        ("memory/skills/deploy.md", Kind.SKILL), ("memory/rules/a/b.md", Kind.RULE), (".claude/rules/x.md", Kind.RULE),
        ("memory/archive/2025.md", Kind.ARCHIVE), ("memory/한글.md", Kind.NOTE), ("memory/a/b/c.md", Kind.NOTE),
        ("SOUL.md", Kind.INSTRUCTIONS), ("memory/SOUL.md", Kind.NOTE), ("README.md", Kind.OTHER), ("memory/x.txt", Kind.OTHER),
    ],
)  # fmt: skip
def test_a_path_has_one_kind(path: str, expected: Kind) -> None:
    assert kind(path) is expected


def test_a_repository_without_memory_is_taken_as_notes() -> None:
    notes = layout_of(["README.md", "docs/a.md", "x.py"])
    assert notes.notes and is_memory("docs/a.md", notes) and not is_memory("x.py", notes)
    assert layout_of(["MEMORY.md", "debugging.md", "api.md", ".gitattributes", "memory/.gitkeep", "SOUL.md"]).notes
    for project in (["README.md"], ["a.py"], ["docs/readme.md"], ["memory/2026-02-05.md"], []):
        assert not layout_of(["MEMORY.md", *(["x.md"] if project else []), *project]).notes
    memory = layout_of(["README.md", "memory/a.md"], ["docs/*.md"])
    assert not memory.notes and not is_memory("README.md", memory) and is_memory("docs/a.md", memory)


def test_instructions_are_memory_for_the_gate_but_not_searched_by_default() -> None:
    assert is_memory("SOUL.md", Layout()) and not in_default_corpus("SOUL.md", Layout())
    assert holds_instructions("memory/rules/x.md") and not holds_instructions("MEMORY.md")


def test_dates_and_agents_come_from_names() -> None:
    assert log_date("memory/2026-02-05.coder.md") == date(2026, 2, 5) == log_date("memory/2026-02-05-slug.md")
    assert log_date("memory/2026-02-31.md") is None and log_date("memory/notes.md") is None
    assert agent_of("memory/2026-02-05.coder.md") == "coder" and agent_of("memory/2026-02-05.md") == ""
    assert log_path(date(2026, 2, 5), "coder", ()) == "memory/2026-02-05.coder.md"


@pytest.mark.parametrize("name", ["coder", "클로드", "Claude-2", "작성자_1", "e\u0301mile", "a" * 60])
def test_the_log_of_an_agent_is_read_as_that_agents(name: str) -> None:
    path = log_path(date(2026, 2, 5), name, ())
    assert kind(path) is Kind.DAILY and agent_of(path) == agent_name(name) == agent_name(agent_name(name))
    assert len(path.removeprefix("memory/").encode()) < 256


@pytest.mark.parametrize("name", ["José", "클로드", "ガーディアン"])
def test_a_log_is_its_agents_however_the_file_system_spells_the_name(name: str) -> None:
    path = unicodedata.normalize("NFD", f"memory/2026-02-05.{name}.md")
    assert kind(path) is Kind.DAILY and agent_of(path) == name


@pytest.mark.parametrize(
    "name", ["a/b", "../x", "Claude Code", "a.b", "-x", "_x", " ", "a\nb", "a\n", "x\u202e", "\u200b", "a" * 61, "."]
)
def test_a_name_that_no_log_can_have_is_refused_with_one_that_can(name: str) -> None:
    with pytest.raises(UsageError) as error:
        log_path(date(2026, 2, 5), name, ())
    assert "letters, digits" in error.value.hint
    if name == "Claude Code":
        assert "'Claude-Code'" in error.value.hint


@pytest.mark.parametrize(
    ("path", "glob", "taken"),
    [
        ("a.md", "*.md", True), ("a/b/c.md", "*.md", True), ("a.md", "**/*.md", True), ("a/b.md", "**/*.md", True),
        ("notes/a.md", "notes/**/*.md", True), ("a.txt", "*.md", False), (".trash/a.md", "*.md", False),
        ("a/.obsidian/b.md", "*.md", False), (".a.md", "*.md", False), (".notes/a.md", ".notes/*.md", True),
        (".notes/.old/a.md", ".notes/*.md", False), ("node_modules/p/README.md", "*.md", False),
        ("node_modules/ours/a.md", "node_modules/ours/*.md", True), ("node_modules_notes/a.md", "*.md", True),
    ],
)  # fmt: skip
def test_a_glob_takes_what_is_hidden_or_installed_only_by_name(path: str, glob: str, taken: bool) -> None:
    assert matches(path, glob) is taken
    assert is_memory(path, Layout(extra=(glob,))) is taken


def test_notes_have_nothing_hidden() -> None:
    notes = Layout(notes=True)
    assert is_memory("a/b.md", notes)
    assert not any(is_memory(path, notes) for path in (".trash/a.md", "a/.b.md", "x/node_modules/p/a.md"))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("journals/2026_02_05.md", "2026-02-05"), ("a/20260205.md", "2026-02-05"), ("a/2026/02/05.md", "2026-02-05"),
        ("a/2026.02.05.md", "2026-02-05"), ("2026_13_05.md", ""), ("2026_02-05.md", ""), ("120260205.md", ""), ("a1.md", ""),
    ],
)  # fmt: skip
def test_the_day_in_other_programs_names(path: str, day: str) -> None:
    found = log_date(path)
    assert (found.isoformat() if found else "") == day


def test_a_pattern_names_daily_logs() -> None:
    patterns = ["journal/YYYY/YYYY-MM-DD*.md", "x.y/DD.MM.YYYY.md"]
    assert log_day("journal/2026/2026-02-05 Thu.md", patterns) == date(2026, 2, 5)
    assert log_day("x.y/05.02.2026.md", patterns) == date(2026, 2, 5)
    assert log_day("memory/2026-02-05.codex.md", ()) == date(2026, 2, 5)
    for other in (
        "journal/2025/2026-02-05.md",
        "journal/2026/2026-02-05/x.md",
        "x-y/05.02.2026.md",
        "x.y/31.02.2026.md",
    ):
        assert log_day(other, patterns) is None
    for bad in (
        "YYYY-MM.md",
        "YYYY-MM-DD.txt",
        "[a]/YYYY-MM-DD.md",
        "a" * 300 + "YYYY-MM-DD.md",
        "*/*/*/YYYY-MM-DD.md",
        "**/YYYY-MM-DD.md",
        "COMMON/YYYY-DD.md",
    ):
        with pytest.raises(UsageError):
            daily_form(bad)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("COMMON/YYYY-MM-DD.md", "COMMON/2026-02-05.md"),
        ("SUMMARY/YYYY/DD.MM.md", "SUMMARY/2026/05.02.md"),
        ("ADD/YYYYMMDD.md", "ADD/20260205.md"),
        ("day/logYYYY-MM-DD.md", "day/log2026-02-05.md"),
        ("일지/YYYY년 MM월 DD일.md", "일지/2026년 02월 05일.md"),
    ],
)
def test_letters_of_a_word_in_a_pattern_are_no_digits(pattern: str, path: str) -> None:
    assert log_day(path, [pattern]) == date(2026, 2, 5) and matches(path, daily_glob(pattern))
    assert "[0-9]" not in daily_glob(pattern).split("/")[0]


def test_the_glob_of_a_pattern_takes_what_it_names() -> None:
    assert matches("journals/2026_02_05.md", daily_glob("journals/YYYY_MM_DD.md"))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-02-05.md", "2026-02-05"),
        ("memory/2026-02-05-retro.md", "2026-02-05"),
        ("notes/2026_02_05.md", "2026-02-05"),
        ("journal/2026/02/05.md", "2026-02-05"),
        ("logs/sync-2026-02-05.md", "2026-02-05"),
        ("memory/배포-2026-02-05.md", "2026-02-05"),
        ("2026-02-05/notes.md", ""),
        ("MEMORY.md", ""),
    ],
)
def test_the_day_in_the_path_of_a_dated_file(path: str, day: str) -> None:
    assert day_in_path(path) == day
