"""Joins orders that are split over several lines: steps of a list (one reads, another sends) and the cells of a table.

The joined parts become lines with pieces, which the score of `injection` judges. A step with an address is joined with
up to two steps before it, also where each step is the row of a table; a table is joined if its cells have one or two
words. Prose is not read. Linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.gate.detectors.injection.units import Line
from gitmem.lazy_patterns import lazy

Span = tuple[int, int]

_STEP = lazy(
    r"[ \t>]{0,12}(?:[-*+]|(?:step )?\d{1,2}[.):]|[a-h][.)])[ \t]{1,4}(?:\[[ x]\] )?(?P<says>[^\s][^\n]{3,239})"
)
STEPS = 3  # maximum steps that are joined; fewer than the cells of a table
_CELL = lazy(r"[^|\s](?:[^|\n]{0,60}[^|\s])?")
_RULE = lazy(r"[\s|:=-]*")  # the row between a table's head and body
_MAX_CELL_WORDS = 2  # a table with a longer cell is not joined
_MIN_CELLS = 6  # a table with fewer cells is not joined
_MAX_CELLS = 400  # cells of one table that are read
_JOINED_CELLS = 24  # cells of one line; the next line begins in the middle of it


def lines(folded: str) -> Iterator[Line]:
    """The lines that a folded text gives when list steps (the last one with an address) or cells of tables are joined;
    the `pieces` of a `Line` are these steps or cells."""
    if "://" in folded:
        yield from _steps(folded)
    if "|" in folded:
        yield from _tables(folded)


def _steps(folded: str) -> Iterator[Line]:
    """The steps of each list, joined by `_with_steps_before`. A blank line does not end a list."""
    steps: list[Span] = []
    next_start = 0
    for line in folded.split("\n"):
        start, next_start = next_start, next_start + len(line) + 1
        step = _STEP.fullmatch(line.rstrip())
        if step is not None:
            steps.append((start + step.start("says"), start + step.end("says")))
        elif line.strip():
            yield from _with_steps_before(folded, steps)
            steps = []
    yield from _with_steps_before(folded, steps)


def _with_steps_before(folded: str, steps: Sequence[Span]) -> Iterator[Line]:
    """Each step with an address, joined with the step before it and with the two steps before it."""
    for index, (start, end) in enumerate(steps):
        if "://" in folded[start:end]:
            for count in range(1, min(index, STEPS - 1) + 1):
                pieces = tuple(steps[index - count : index + 1])
                yield Line(pieces[0][0], end, pieces=pieces)


def _tables(folded: str) -> Iterator[Line]:
    """The cells of each table with short cells, joined by rows and by columns."""
    rows: list[list[Span]] = []
    next_start = 0
    for line in [*folded.split("\n"), ""]:
        start, next_start = next_start, next_start + len(line) + 1
        if line.count("|") < 2:
            if rows:
                yield from _with_steps_before(folded, _row_steps(rows))
                yield from _table(folded, rows)
                rows = []
        elif not _RULE.fullmatch(line):
            rows.append([(start + cell.start(), start + cell.end()) for cell in _CELL.finditer(line)])


def _row_steps(rows: list[list[Span]]) -> list[Span]:
    """The longest cell of each row, which says what the step is; of the first rows, half as many as _MAX_CELLS."""
    return [max(row, key=lambda cell: cell[1] - cell[0]) for row in rows[: _MAX_CELLS // 2] if row]


def _table(folded: str, rows: list[list[Span]]) -> Iterator[Line]:
    """The cells of one table, at most _MAX_CELLS, joined row after row and down each column, in overlapping parts of
    _JOINED_CELLS. Nothing for a table with few cells or with a long one."""
    cells = [cell for row in rows for cell in row][:_MAX_CELLS]
    if len(cells) < _MIN_CELLS or any([folded.count(" ", *cell) >= _MAX_CELL_WORDS for cell in cells]):
        return
    columns = [[row[number] for row in rows if number < len(row)] for number in range(len(rows[0]))]
    for sequence in (cells, *columns):
        for start in range(0, len(sequence), _JOINED_CELLS // 2):
            part = sequence[start : start + _JOINED_CELLS]
            if len(part) >= _MIN_CELLS and (start == 0 or len(part) > _JOINED_CELLS // 2):
                yield Line(part[0][0], part[-1][1], pieces=tuple(part))
