"""docs/threats.md has every row that source and tests name, and names tests that are there."""

from __future__ import annotations

import re

from tests.harness import SOURCE

TABLE = (SOURCE / "docs/threats.md").read_text(encoding="utf-8")
ROWS = set(re.findall(r"^\| (A\d+) \|", TABLE, re.MULTILINE))


def test_the_rows_are_numbered_without_a_gap() -> None:
    assert {f"A{number}" for number in range(1, len(ROWS) + 1)} == ROWS


def test_every_test_a_row_names_is_there() -> None:
    named = re.findall(r"`((?:tests|bench)/[^`]+)`", TABLE)
    assert named
    assert [path for path in named if not (SOURCE / path).exists()] == []


def test_every_row_that_source_and_tests_name_is_there() -> None:
    pages = [*(SOURCE / "gitmem").rglob("*.py"), *(SOURCE / "tests").rglob("*.py")]
    named: set[str] = set()
    for page in pages:
        for words in re.findall(r"docs/threats\.md, ((?:A\d+(?:-A\d+)?(?:, )?)+)", page.read_text(encoding="utf-8")):
            named |= set(re.findall(r"A\d+", words))
    assert named and named <= ROWS
