"""Numbers as shapes for SVG: bars of pieces, columns, lines, with their scale. Pure; the templates draw them.

Everything is told by form and by a label as well as by colour, so that a picture reads in black and white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 640, 228  # of a picture, in its own units
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 30, 34  # left free around what is drawn, for the labels
SHADES = 6  # fills there are (.s0 to .s5)
LABELS = 5  # below a picture; on a phone every other one
LETTER = 12  # units that a character of a label is wide at most: on a phone, where a unit is half a pixel


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a bar: what it is called, its value, where it begins and how wide it is (of 100), its fill."""

    name: str
    value: float
    start: float
    width: float
    shade: int


def stacked(values: Mapping[str, float], whole: float, order: Sequence[str] = ()) -> list[Piece]:
    """The values as pieces of one bar that is 100 wide for `whole`; each name of `order` has its own fill."""
    pieces, start = [], 0.0
    shades = {name: at for at, name in enumerate(order)}
    for at, (name, value) in enumerate((name, value) for name, value in values.items() if value > 0):
        width = 0.0
        if whole:
            width = 100 * value / whole
        pieces.append(Piece(name, value, round(start, 2), round(width, 2), shades.get(name, at) % SHADES))
        start += width
    return pieces


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its place and the (top, height, fill) of the parts of it, from the bottom up."""

    x: float
    width: float
    parts: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture: `columns` or the points of `lines`; `ticks` (y, label) of the scale, `labels` (x, label, whether a
    phone has room for it) below, and `numbers` (x, y, label) at what is drawn."""

    columns: tuple[Column, ...]
    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    ticks: tuple[tuple[float, str], ...]
    labels: tuple[tuple[float, str, bool], ...]
    numbers: tuple[tuple[float, float, str], ...]


def columns(names: Sequence[str], rows: Sequence[Sequence[float]], most: float = 0) -> Chart:
    """A column for each name, made of the parts of its row."""
    top = most or nice(max((sum(row) for row in rows), default=0))
    # half of it stands at the scale, and these are things
    if top == 5:
        top = 6
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    made, tops = [], []
    for at, row in enumerate(rows):
        parts, foot = [], float(HEIGHT - BOTTOM)
        for fill, value in enumerate(row):
            tall = _tall(value, top)
            foot -= tall
            parts.append((round(foot, 1), round(tall, 1), fill))
        tops.append((round(LEFT + (at + 0.5) * step, 1), round(foot, 1), sum(row)))
        made.append(Column(round(LEFT + at * step + step * 0.15, 1), round(step * 0.7, 1), tuple(parts)))
    return Chart(tuple(made), (), (), _ticks(top), _labels(names, step), _numbers(tops))


def line(names: Sequence[str], values: Sequence[float | None], most: float = 0) -> Chart:
    """A point for each name that has a value, joined where neighbours have one."""
    top = most or nice(max((value for value in values if value is not None), default=0))
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    runs: list[list[tuple[float, float]]] = [[]]
    tops = []
    for at, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((round(LEFT + (at + 0.5) * step, 1), round(HEIGHT - BOTTOM - _tall(value, top), 1)))
            tops.append((*runs[-1][-1], value))
    joined = tuple(" ".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1)
    dots = tuple(point for run in runs for point in run)
    return Chart((), joined, dots, _ticks(top), _labels(names, step), _numbers(tops))


def nice(value: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is no less: where a scale ends."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    while size > value > 0:
        size /= 10
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)


def _tall(value: float, top: float) -> float:
    if not top:
        return 0.0
    return (HEIGHT - TOP - BOTTOM) * min(value, top) / top


def _ticks(top: float) -> tuple[tuple[float, str], ...]:
    # of one thing there is no half
    shares = (0, 0.5, 1) if top > 1 else (0, 1)
    return tuple((round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1), number(top * share)) for share in shares)


def _labels(names: Sequence[str], step: float) -> tuple[tuple[float, str, bool], ...]:
    every = max(1, -(-len(names) // LABELS))
    chosen = [(at, name) for at, name in enumerate(names) if at % every == 0]
    most = max((len(name) for name in names), default=0) * LETTER
    halves = any((b - a) * step < most for (a, _), (b, _) in pairwise(chosen))
    return tuple(
        (_inside(LEFT + (at + 0.5) * step, name), name, not (halves and place % 2))
        for place, (at, name) in enumerate(chosen)
    )


def _inside(x: float, name: str, left: float = 0) -> float:
    """The middle of a label, moved so far that it stands within the picture, right of `left`."""
    half = len(name) * LETTER / 2
    return round(min(max(x, left + half), WIDTH - half), 1)


def _numbers(tops: Sequence[tuple[float, float, float]]) -> tuple[tuple[float, float, str], ...]:
    """The values that are written above what is drawn, given as (x, y, value): the last, the highest, the first, then
    all others from the left that have room beside these."""
    if not tops:
        return ()
    highest = max(range(len(tops)), key=lambda at: tops[at][2])
    taken: list[tuple[float, float, str]] = []
    for at in dict.fromkeys((len(tops) - 1, highest, 0, *range(len(tops)))):
        x, y, value = tops[at]
        label = number(round(value))
        x = _inside(x, label, LEFT)
        if all(abs(x - other) >= LETTER * (len(label) + len(words)) / 2 + LETTER / 2 for other, _, words in taken):
            taken.append((x, round(y - 8, 1), label))
    return tuple(sorted(taken))


def number(value: float) -> str:
    """A number as it stands at a scale: 12k for 12,000, 12.3k for 12,345."""
    if value >= 1000:
        return f"{round(value / 1000, 1):g}k"
    return f"{value:g}"
