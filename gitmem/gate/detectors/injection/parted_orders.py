"""Orders in parts: the steps of a list of which one reads and another sends, and a sentence in the cells of a table.

This module puts the parts together as lines of pieces; the score of `injection` judges them. A step is put together
with at most two steps before it, and only where it names an address; a table only where its cells hold a word or two.
Never reads prose. Linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.gate.detectors.injection.structure import Line
from gitmem.lazy_patterns import lazy

Span = tuple[int, int]

_STEP = lazy(
    r"[ \t>]{0,12}(?:[-*+]|(?:step )?\d{1,2}[.):]|[a-h][.)])[ \t]{1,4}(?:\[[ x]\] )?(?P<says>[^\s][^\n]{3,239})"
)
STEPS = 3  # steps that are read as one, at most; fewer than the cells of a table
_CELL = lazy(r"[^|\s](?:[^|\n]{0,60}[^|\s])?")
_RULE = lazy(r"[\s|:=-]*")  # the row that parts a table's head from its body
_CELL_WORDS = 2  # words of a cell of a table that may be a sentence
_FEWEST_CELLS = 6
_MOST_CELLS = 400  # cells of one table that are read
_CELLS_TOGETHER = 24  # cells that are read as one


def lines(folded: str) -> Iterator[Line]:
    """The lines of pieces of a folded text."""
    if "://" in folded:
        yield from _steps(folded)
    if "|" in folded:
        yield from _tables(folded)


def _steps(folded: str) -> Iterator[Line]:
    """Each step with an address, together with the one before it and with the two before it."""
    before: list[Span] = []
    at = 0
    for line in folded.split("\n"):
        start, at = at, at + len(line) + 1
        step = _STEP.fullmatch(line.rstrip())
        if step is None:
            if line.strip():
                before = []
            continue
        place = start + step.start("says"), start + step.end("says")
        if "://" in step["says"]:
            for number in range(1, min(len(before), STEPS - 1) + 1):
                pieces = (*before[-number:], place)
                yield Line(pieces[0][0], place[1], pieces=pieces)
        before = [*before[1 - STEPS :], place]


def _tables(folded: str) -> Iterator[Line]:
    """The tables whose cells hold a word or two, row by row and column by column."""
    rows: list[list[Span]] = []
    at = 0
    for line in [*folded.split("\n"), ""]:
        start, at = at, at + len(line) + 1
        if line.count("|") < 2:
            if rows:
                yield from _table(folded, rows)
                rows = []
        elif not _RULE.fullmatch(line):
            rows.append([(start + cell.start(), start + cell.end()) for cell in _CELL.finditer(line)])


def _table(folded: str, rows: list[list[Span]]) -> Iterator[Line]:
    cells = [cell for row in rows for cell in row][:_MOST_CELLS]
    if len(cells) < _FEWEST_CELLS or any([folded.count(" ", *cell) >= _CELL_WORDS for cell in cells]):
        return
    columns = [[row[number] for row in rows if number < len(row)] for number in range(len(rows[0]))]
    for read in (cells, *columns):
        for first in range(0, len(read), _CELLS_TOGETHER // 2):
            part = read[first : first + _CELLS_TOGETHER]
            if len(part) >= _FEWEST_CELLS and (first == 0 or len(part) > _CELLS_TOGETHER // 2):
                yield Line(part[0][0], part[-1][1], pieces=tuple(part))
