"""Finds passwords in rows of fields: cells of a Markdown table, columns of comma-separated values, `INSERT INTO ...
VALUES`.

A heading, a label or a column name says that a field holds a password; without one the look of the value and of the
user beside it decides (`decision.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.masks import without_masks
from gitmem.gate.detectors.secrets.candidates import WORD
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import kind_of
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.lazy_patterns import lazy

_LOGINS = frozenset(["user", "username", "login", "account"])
_LABEL = "[password]"  # a label in brackets, or our mask


def password_cells(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the passwords in the Markdown tables of a text."""
    if "|" not in text:
        return
    secret_column: int | None = None
    next_row = -1
    for line in patterns.table_row.finditer(text):
        offset = line.start("row")
        row = line.group("row")
        if line.start() != next_row and not patterns.table_rule.fullmatch(text, max(next_row, 0), line.start()):
            secret_column = None  # another table
        next_row = line.end() + 1
        worded = WORD.search(row.lower()) is not None
        if secret_column is None and not (worded or patterns.password_symbol.search(row)):
            continue
        cells: list[tuple[int, str]] = []
        for cell in row.split("|"):
            cells.append((offset, cell))
            offset += len(cell) + 1
        label = None
        if worded:
            label = _label(cells)
        if label is not None:
            beside = min(label + 1, len(cells) - 1)
            start, end = _bare(*cells[beside])
            if beside != label and _in_column(text, start, end):
                yield "password-in-table", start, end
                continue
            if not patterns.password_symbol.search(row):
                secret_column = label
                continue
        for index, cell in enumerate(cells):
            start, end = _bare(*cell)
            if (index == secret_column and _in_column(text, start, end)) or _beside_user(text, start, end, cells):
                yield "password-in-table", start, end


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
    if len(cell) < 40:
        word = WORD.search(without_masks(cell.lower()).replace("1password", ""))
    return word is not None and word.group() not in ("pass", "pin")


def _in_column(text: str, start: int, end: int) -> bool:
    """Whether a field reads as a password, given that its column or label says so."""
    return is_secret(Candidate(Place.CELL, text, start, end))


_MOST_ROWS = 5_000  # of one file of such values
_GAPS = (lazy(","), lazy("\t"), lazy(";"), lazy(r"(?<=\S) {2,60}(?=\S)"))


def column(text: str, lowered: str, offset: int) -> Iterator[tuple[int, int]]:
    """The spans of the passwords below the column name at `offset`, up to the first row with another number of fields;
    `lowered`: the text in lower case.

    Columns are separated by commas, semicolons, tabs, or two or more blanks.
    """
    head_start = lowered.rfind("\n", max(0, offset - 600), offset) + 1
    line_end = lowered.find("\n", offset, offset + 600)
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
    for _ in range(_MOST_ROWS):
        start, line_end = line_end + 1, text.find("\n", line_end + 1)
        if line_end < 0:
            line_end = len(text)
        if line_end - start > 2_000:
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


_AROUND = " \t\r\"'"


def inserted(text: str, lowered: str, offset: int) -> Iterator[tuple[int, int]]:
    """The spans of the plain passwords that an SQL statement inserts, the name of their column at `offset`; `lowered`:
    the text in lower case."""
    insert_start = lowered.rfind("insert", max(0, offset - 400), offset)
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
