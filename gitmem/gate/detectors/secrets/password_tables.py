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
    after = -1
    for line in patterns.table_row.finditer(text):
        at = line.start("row")
        row = line.group("row")
        if line.start() != after and not patterns.table_rule.fullmatch(text, max(after, 0), line.start()):
            secret_column = None  # another table
        after = line.end() + 1
        worded = WORD.search(row.lower()) is not None
        if secret_column is None and not (worded or patterns.password_symbol.search(row)):
            continue
        cells: list[tuple[int, str]] = []
        for cell in row.split("|"):
            cells.append((at, cell))
            at += len(cell) + 1
        label = None
        if worded:
            label = _label(cells)
        if label is not None:
            if label + 1 < len(cells):
                beside = label + 1
            else:
                beside = label
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
    named = next((index for index, (_, cell) in enumerate(cells) if _names_one(cell)), None)
    names = [cell.strip().lower() for _, cell in cells]
    if named is None and "pass" in names and not _LOGINS.isdisjoint(names) and "fail" not in names:
        return names.index("pass")
    return named


def _beside_user(text: str, start: int, end: int, cells: list[tuple[int, str]]) -> bool:
    """Whether the field `text[start:end]` looks chosen and one of the `cells` of its row is the name of a user."""
    candidate = Candidate(Place.ROW, text, start, end, known=True)
    if not is_secret(candidate):
        return False
    others = [cell.strip() for _, cell in cells]
    known = any([kind_of(other.strip("`"), "server_user") != "" for other in others])
    return any([patterns.user_cell.match(other) for other in others]) and is_secret(candidate._replace(known=known))


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


def column(text: str, low: str, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the passwords below the column name at `at`, up to the first row with another number of fields;
    `low`: the text in lower case.

    Columns are separated by commas, semicolons, tabs, or two or more blanks.
    """
    first = low.rfind("\n", max(0, at - 600), at) + 1
    last = low.find("\n", at, at + 600)
    line = ""
    if last >= 0:
        line = low[first:last]
    gap = next((gap for gap in _GAPS if gap.search(line)), None)
    if gap is None:
        return
    head = [low[start:end] for start, end in _fields(low, first, last, gap)]
    place = next((index for index, field in enumerate(head) if patterns.password_column.fullmatch(field)), None)
    if place is None or not all([patterns.column_name.fullmatch(field) for field in head]):
        return
    for _ in range(_MOST_ROWS):
        start, last = last + 1, text.find("\n", last + 1)
        if last < 0:
            last = len(text)
        if last - start <= 2_000:
            fields = _fields(text, start, last, gap)
        else:
            fields = []
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


def inserted(text: str, low: str, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the plain passwords that an SQL statement inserts, the name of their column at `at`; `low`: the text
    in lower case."""
    first = low.rfind("insert", max(0, at - 400), at)
    match = None
    if first >= 0:
        match = patterns.sql_insert.match(low, first)
    if match is None:
        return
    names = match.group("names").split(",")
    place = next((index for index, name in enumerate(names) if patterns.sql_password_column.fullmatch(name)), None)
    done = match.end()
    while place is not None and (row := patterns.sql_tuple.match(text, done)) is not None:
        done = row.end()
        values = list(patterns.sql_value.finditer(text, *row.span("values")))
        values = [value for value in values if value.group("text") is not None or value.group().strip()]
        value = None
        if len(values) == len(names):
            value = values[place].group("text")
        if value and _in_column(text, *values[place].span("text")) and not patterns.hashed_value.match(value):
            yield values[place].span("text")
