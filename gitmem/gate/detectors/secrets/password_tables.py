"""Finds passwords in rows of fields: cells of a Markdown table, columns of comma-separated values, `INSERT INTO ...
VALUES`.

A heading, a label or a column name says that a field holds a password; without one the look of the value and of the
user beside it decides (`decision.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.gate.detectors.masks import without_masks
from gitmem.gate.detectors.secrets.candidates import WORD
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import kind_of
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.lazy_patterns import lazy

MAX_LABEL_CHARS = 40  # characters of a cell that names a column or row; a longer cell is prose about passwords
MAX_HEAD_CHARS = 600  # characters of a row of column names before and after the name of the password column
MAX_COLUMN_ROWS = 5_000  # rows below a row of column names that are read, so that a large export ends
MAX_ROW_CHARS = 2_000  # characters of such a row; a longer line is no row of a table that people wrote
MAX_INSERT_CHARS = 400  # characters between `INSERT` and the name of the password column
_LOGINS = frozenset(["user", "username", "login", "account"])
_LABEL = "[password]"  # a label in brackets, or our mask
_AROUND = " \t\r\"'"  # blanks and quotation marks around a field
_GAPS = (lazy(","), lazy("\t"), lazy(";"), lazy(r"(?<=\S) {2,60}(?=\S)"))  # separators of columns, the first that fits


class Row(NamedTuple):
    """A row of a Markdown table. `start`: the offset of `line` in the text. `line`: the row between its outer bars."""

    start: int
    line: str

    @property
    def cells(self) -> list[tuple[int, str]]:
        """(offset in the text, text) of each cell."""
        cells: list[tuple[int, str]] = []
        offset = self.start
        for cell in self.line.split("|"):
            cells.append((offset, cell))
            offset += len(cell) + 1
        return cells


def password_cells(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the passwords in the Markdown tables of a text."""
    if "|" not in text:
        return
    for rows in _tables(text):
        column: int | None = None
        for row in rows:
            spans, column = _passwords_of_row(text, row, column)
            for start, end in spans:
                yield "password-in-table", start, end


def _tables(text: str) -> Iterator[list[Row]]:
    """The rows of each Markdown table. The rows of a table are on successive lines, or with only a rule of a
    grid (`+---+`) between them."""
    rows: list[Row] = []
    next_line = 0
    for match in patterns.table_row.finditer(text):
        if rows and match.start() != next_line and not patterns.table_rule.fullmatch(text, next_line, match.start()):
            yield rows
            rows = []
        rows.append(Row(match.start("row"), match.group("row")))
        next_line = match.end() + 1
    if rows:
        yield rows


def _passwords_of_row(text: str, row: Row, column: int | None) -> tuple[list[tuple[int, int]], int | None]:
    """(spans of the passwords in a row, number of the column of passwords for the next row).

    `column`: the number of the column that a row above names as one of passwords, None without one.
    """
    has_word = WORD.search(row.line.lower()) is not None
    if column is None and not (has_word or patterns.password_symbol.search(row.line)):
        return [], None
    cells = row.cells
    label = None
    if has_word:
        label = _label(cells)
    if label is not None:
        beside = min(label + 1, len(cells) - 1)
        span = _bare(*cells[beside])
        if beside != label and _in_column(text, *span):
            return [span], column
        if not patterns.password_symbol.search(row.line):
            return [], label
    spans = [_bare(*cell) for cell in cells]
    found = [
        span
        for index, span in enumerate(spans)
        if (index == column and _in_column(text, *span)) or _beside_user(text, *span, cells)
    ]
    return found, column


def _bare(place: int, cell: str) -> tuple[int, int]:
    """The span of the value of a cell that begins at `place`, without blanks, code marks and emphasis around it."""
    value = cell.strip()
    start = place + len(cell) - len(cell.lstrip())
    wrapped = patterns.wrapped_cell.fullmatch(value)
    if wrapped:
        return start + wrapped.start("value"), start + wrapped.end("value")
    return start, start + len(value)


def _label(cells: list[tuple[int, str]]) -> int | None:
    """The number of the cell that is a heading or a label for passwords, or None. In a row of two cells the first
    may be a label in brackets, like our mask."""
    if len([cell for _, cell in cells if cell.strip()]) == 2 and cells[0][1].strip().lower() == _LABEL:
        return 0
    label = next((index for index, (_, cell) in enumerate(cells) if _names_one(cell)), None)
    names = [cell.strip().lower() for _, cell in cells]
    if label is None and "pass" in names and not _LOGINS.isdisjoint(names) and "fail" not in names:
        return names.index("pass")
    return label


def _beside_user(text: str, start: int, end: int, cells: list[tuple[int, str]]) -> bool:
    """Whether the field `text[start:end]` looks chosen and one of the `cells` of its row is the name of a user."""
    candidate = Candidate(Place.ROW, text, start, end, known=True)
    if not is_secret(candidate):
        return False
    names = [cell.strip() for _, cell in cells]
    has_user = any([kind_of(name.strip("`"), "server_user") != "" for name in names])
    return any([patterns.user_cell.match(name) for name in names]) and is_secret(candidate._replace(known=has_user))


def _names_one(cell: str) -> bool:
    """Whether a cell is a heading or label for passwords (a column "Pass" counts tests)."""
    word = None
    if len(cell) < MAX_LABEL_CHARS:
        word = WORD.search(without_masks(cell.lower()).replace("1password", ""))
    return word is not None and word.group() not in ("pass", "pin")


def _in_column(text: str, start: int, end: int) -> bool:
    """Whether a field reads as a password, given that its column or label says so."""
    return is_secret(Candidate(Place.CELL, text, start, end))


def column(text: str, lowered: str, offset: int) -> Iterator[tuple[int, int]]:
    """The spans of the passwords below the column name at `offset`, up to the first row with another number of fields;
    `lowered`: the text in lower case.

    Columns are separated by commas, semicolons, tabs, or two or more blanks. The row of names has at most
    MAX_HEAD_CHARS before `offset`, or is the first line of the text, and at most MAX_HEAD_CHARS after it.
    """
    head_start = lowered.rfind("\n", max(0, offset - MAX_HEAD_CHARS), offset) + 1
    if head_start == 0 and lowered.find("\n", 0, offset) >= 0:
        return  # the line begins more than MAX_HEAD_CHARS before
    line_end = lowered.find("\n", offset, offset + MAX_HEAD_CHARS)
    line = ""
    if line_end >= 0:
        line = lowered[head_start:line_end]
    gap = next((gap for gap in _GAPS if gap.search(line)), None)
    if gap is None:
        return
    head = [lowered[start:end] for start, end in _fields(lowered, head_start, line_end, gap)]
    place = next((index for index, field in enumerate(head) if patterns.password_column.fullmatch(field)), None)
    if place is None or not all([patterns.column_name.fullmatch(field) for field in head]):
        return
    for _ in range(MAX_COLUMN_ROWS):
        start, line_end = line_end + 1, text.find("\n", line_end + 1)
        if line_end < 0:
            line_end = len(text)
        if line_end - start > MAX_ROW_CHARS:
            return
        fields = _fields(text, start, line_end, gap)
        if len(fields) != len(head) or len(head) < 2:
            return
        begin, end = fields[place]
        if _in_column(text, begin, end):
            yield begin, end


def _fields(text: str, start: int, end: int, gap: re.Pattern[str]) -> list[tuple[int, int]]:
    """The spans of the fields of a line, without blanks and quotation marks around them; `gap`: the separator."""
    spans: list[tuple[int, int]] = []
    for match in gap.finditer(text, start, end):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, end))
    bare: list[tuple[int, int]] = []
    for first, last in spans:
        while first < last and text[first] in _AROUND:
            first += 1
        while last > first and text[last - 1] in _AROUND:
            last -= 1
        bare.append((first, last))
    return bare


def inserted(text: str, lowered: str, offset: int) -> Iterator[tuple[int, int]]:
    """The spans of the plain passwords that an SQL statement inserts, the name of their column at `offset`; `lowered`:
    the text in lower case."""
    insert_start = lowered.rfind("insert", max(0, offset - MAX_INSERT_CHARS), offset)
    match = None
    if insert_start >= 0:
        match = patterns.sql_insert.match(lowered, insert_start)
    if match is None:
        return
    names = match.group("names").split(",")
    place = next((index for index, name in enumerate(names) if patterns.sql_password_column.fullmatch(name)), None)
    row_end = match.end()
    while place is not None and (row := patterns.sql_tuple.match(text, row_end)) is not None:
        row_end = row.end()
        fields = patterns.sql_value.finditer(text, *row.span("values"))
        values = [field for field in fields if field.group("text") is not None or field.group().strip()]
        value = None
        if len(values) == len(names):
            value = values[place].group("text")
        if value and _in_column(text, *values[place].span("text")) and not patterns.hashed_value.match(value):
            yield values[place].span("text")
