"""Rows of fields with passwords: which part of a text is read for one, and which rows are one table."""

from __future__ import annotations

import re

import pytest

from gitmem.gate.detectors.secrets import password_tables
from gitmem.gate.detectors.secrets.password_tables import MAX_HEAD_CHARS, column, password_cells

SECRET = "Tr0ub4dor&3x"
MANY_NAMES = ",".join(f"column_{number}" for number in range(90))


def in_columns(text: str) -> list[str]:
    return [text[start:end] for start, end in column(text, text.lower(), text.index("password"))]


def in_cells(text: str) -> list[str]:
    return [text[start:end] for _, start, end in password_cells(text)]


def test_a_name_far_from_the_beginning_of_its_line_does_not_read_the_text_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    fields = password_tables._fields

    def recorded(text: str, start: int, end: int, gap: re.Pattern[str]) -> list[tuple[int, int]]:
        read.append(end - start)
        return fields(text, start, end, gap)

    monkeypatch.setattr(password_tables, "_fields", recorded)
    assert in_columns("a, b\n" * 500 + "x" * MAX_HEAD_CHARS + ", password\n1, 2\n") == [] and read == []


def test_many_names_before_that_of_the_passwords_are_read_in_the_first_line() -> None:
    assert len(MANY_NAMES) > MAX_HEAD_CHARS
    row = ",".join("1" for _ in MANY_NAMES.split(","))
    assert in_columns(f"{MANY_NAMES},password\n{row},{SECRET}\n") == [SECRET]


def test_a_column_of_passwords_ends_with_its_table() -> None:
    table = f"| host | password |\n|---|---|\n| alpha | {SECRET} |\n"
    other = "\n| place | plant |\n|---|---|\n| north | wolke17x |\n"
    assert in_cells(table + other) == [SECRET]
    grid = f"| host | password |\n+------+------+\n| alpha | {SECRET} |\n"
    assert in_cells(grid) == [SECRET]


def test_a_label_names_the_value_of_the_cell_beside_it() -> None:
    assert in_cells(f"| password | {SECRET} |\n") == [SECRET]
