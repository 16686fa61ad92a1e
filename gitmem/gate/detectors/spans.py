"""Ranges of a text: those that a detector has claimed (`Spans`), joined ones, and the line around a place."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

CHUNK = 512  # ranges in one list after a split; a list is split above twice as many


class Spans:
    """Half-open ranges that do not overlap, so that of two overlapping matches only the first counts. They are kept in chunks, so that inserting one moves only the ranges of its
    chunk."""

    __slots__ = ("_ends", "_firsts", "_starts")

    def __init__(self) -> None:
        self._firsts: list[int] = []  # where the first range of each chunk begins
        self._starts: list[list[int]] = [[]]
        self._ends: list[list[int]] = [[]]

    def is_free(self, start: int, end: int) -> bool:
        """Whether no claimed range overlaps start..end."""
        chunk = bisect_left(self._firsts, end) - 1
        if chunk < 0:
            return True
        index = bisect_left(self._starts[chunk], end)
        return self._ends[chunk][index - 1] <= start  # of the ranges that begin before `end`, the last ends last

    def claim(self, start: int, end: int) -> bool:
        """Mark start..end as taken. False, and nothing changes, if part of it is taken already. An empty range takes
        nothing."""
        if not self.is_free(start, end):
            return False
        if start < end:
            chunk = max(0, bisect_right(self._firsts, start) - 1)
            starts, ends = self._starts[chunk], self._ends[chunk]
            index = bisect_left(starts, end)
            starts.insert(index, start)
            ends.insert(index, end)
            self._firsts[chunk : chunk + 1] = [starts[0]]
            if len(starts) > 2 * CHUNK:
                self._split(chunk)
        return True

    def _split(self, chunk: int) -> None:
        """Split a full chunk in two."""
        for lists in (self._starts, self._ends):
            lists[chunk : chunk + 1] = [lists[chunk][:CHUNK], lists[chunk][CHUNK:]]
        self._firsts.insert(chunk + 1, self._starts[chunk + 1][0])


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges, sorted, in which ranges that overlap or touch are joined into one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def line_around(text: str, start: int, end: int, before: int, after: int) -> tuple[int, int]:
    """The half-open range of the line around start..end, without its line end: at most `before` characters before
    `start` and `after` behind `end`."""
    least = max(0, start - before)
    first = text.rfind("\n", least, start) + 1 or least
    last = text.find("\n", end, end + after)
    if last < 0:
        last = min(len(text), end + after)
    return first, last
