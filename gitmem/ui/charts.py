"""Computes the shapes of SVG charts: stacked bars, columns and lines with their scales. Pure; the templates draw them.

Shapes and labels carry all information, besides colours, so that a chart can be read in black and white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 640, 228  # of a chart, in SVG units
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 30, 34  # margins for the labels
SHADE_COUNT = 6  # fills in the style sheet (.s0 to .s5)
MAX_LABELS = 5  # below a chart; a phone shows every other one
LETTER_WIDTH = 12  # the width of a label's character on a phone, where a unit is half a pixel


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a stacked bar. `start`, `width`: in percent of the bar. `shade`: the number of its fill."""

    name: str
    value: float
    start: float
    width: float
    shade: int


def stacked_bar(
    values: Mapping[str, float], whole: float, order: Sequence[str], *, shades: int = SHADE_COUNT
) -> list[Piece]:
    """The positive values, in the order of `values`, as the pieces of one bar; a value of `whole` would fill the bar,
    and larger sums go beyond it. Every width is 0.0 if `whole` is 0.

    `order`: names that always get the same fill, whichever of them are there; other names get the fills after theirs.
    There are `shades` fills, which then repeat.
    """
    pieces, start = [], 0.0
    shade_of = {name: index for index, name in enumerate(order)}
    for name, value in values.items():
        if value <= 0:
            continue
        width = 100 * value / whole if whole else 0.0
        shade = shade_of.setdefault(name, len(shade_of)) % shades
        pieces.append(Piece(name, value, round(start, 2), round(width, 2), shade))
        start += width
    return pieces


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a chart. `x`: its left edge. `parts`: (upper edge, height, number of the fill) of each part, from
    the bottom up."""

    x: float
    width: float
    parts: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with columns or lines; lengths are in units of the SVG. `lines`: the points of each line in the syntax of
    SVG. `dots`: (x, y) of each point. `ticks`: (y, label) of each line of the scale. `labels`: (x, label, whether a
    narrow screen shows it) under the chart. `numbers`: (x, y, label) of the values that are written over columns or
    points."""

    columns: tuple[Column, ...]
    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    ticks: tuple[tuple[float, str], ...]
    labels: tuple[tuple[float, str, bool], ...]
    numbers: tuple[tuple[float, float, str], ...]


def column_chart(names: Sequence[str], rows: Sequence[Sequence[float]]) -> Chart:
    """A column chart. `names`: the label of each column. `rows`: the values of each column's parts."""
    top = scale_end(max((sum(row) for row in rows), default=0))
    if top == 5:  # half of it is a label of the scale, and there are no half facts
        top = 6
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    drawn, tops = [], []
    for index, row in enumerate(rows):
        parts, y = [], float(HEIGHT - BOTTOM)
        for fill, value in enumerate(row):
            height = _height(value, top)
            y -= height
            parts.append((round(y, 1), round(height, 1), fill))
        tops.append((round(LEFT + (index + 0.5) * step, 1), round(y, 1), sum(row)))
        drawn.append(Column(round(LEFT + index * step + step * 0.15, 1), round(step * 0.7, 1), tuple(parts)))
    return Chart(tuple(drawn), (), (), _ticks(top), _labels(names, step), _numbers(tops))


def line_chart(names: Sequence[str], values: Sequence[float | None], scale_limit: float = 0) -> Chart:
    """A line chart: one point for each name whose value is not None, and lines between neighbours. `scale_limit`: the
    end of the scale, 0 to compute it."""
    top = scale_limit or scale_end(max((value for value in values if value is not None), default=0))
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    runs: list[list[tuple[float, float]]] = [[]]
    tops = []
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            x, y = round(LEFT + (index + 0.5) * step, 1), round(HEIGHT - BOTTOM - _height(value, top), 1)
            runs[-1].append((x, y))
            tops.append((x, y, value))
    lines = tuple(" ".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1)
    dots = tuple(point for run in runs for point in run)
    return Chart((), lines, dots, _ticks(top), _labels(names, step), _numbers(tops))


def scale_end(value: float) -> float:
    """The end of a scale for values up to `value`: the least number of 1, 2 or 5 times a power of ten that is not below
    it; 1 for zero and less."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    while size > value > 0:
        size /= 10
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)


def _height(value: float, top: float) -> float:
    """The height of a value on a scale that ends at `top`."""
    if not top:
        return 0.0
    return (HEIGHT - TOP - BOTTOM) * min(value, top) / top


def _ticks(top: float) -> tuple[tuple[float, str], ...]:
    """(y, label) of each line of a scale that ends at `top`."""
    shares: Sequence[float] = (0, 0.5, 1)
    if top <= 1:  # half of one fact is not a number of facts
        shares = (0, 1)
    return tuple((round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1), number(top * share)) for share in shares)


def _labels(names: Sequence[str], step: float) -> tuple[tuple[float, str, bool], ...]:
    """(x, label, whether a phone shows it) of at most MAX_LABELS names, evenly spaced."""
    every = max(1, -(-len(names) // MAX_LABELS))
    chosen = list(enumerate(names))[::every]
    widest = max((len(name) for name in names), default=0) * LETTER_WIDTH
    is_crowded = any((b - a) * step < widest for (a, _), (b, _) in pairwise(chosen))
    return tuple(
        (_inside(LEFT + (index + 0.5) * step, name), name, not (is_crowded and place % 2))
        for place, (index, name) in enumerate(chosen)
    )


def _inside(x: float, label: str, left_edge: float = 0) -> float:
    """The middle of a label at `x`, moved so that the label is within the chart and right of `left_edge`."""
    half = len(label) * LETTER_WIDTH / 2
    return round(min(max(x, left_edge + half), WIDTH - half), 1)


def _numbers(tops: Sequence[tuple[float, float, float]]) -> tuple[tuple[float, float, str], ...]:
    """The labels above columns or points, given as (x, y, value): the last, the highest and the first value, then from
    the left every other one that has room beside them."""
    if not tops:
        return ()
    highest = max(range(len(tops)), key=lambda index: tops[index][2])
    placed: list[tuple[float, float, str]] = []
    for index in dict.fromkeys((len(tops) - 1, highest, 0, *range(len(tops)))):
        x, y, value = tops[index]
        label = number(round(value))
        x = _inside(x, label, LEFT)
        if all(abs(x - other) >= LETTER_WIDTH * (len(label) + len(text) + 1) / 2 for other, _, text in placed):
            placed.append((x, round(y - 8, 1), label))
    return tuple(sorted(placed))


def number(value: float) -> str:
    """A number as a scale writes it: 12k for 12,000, 12.3k for 12,345."""
    if value >= 1000:
        return f"{round(value / 1000, 1):g}k"
    return f"{value:g}"
