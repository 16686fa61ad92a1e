"""The places a detector has claimed: of two finds that overlap the first counts, whatever their number."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

CHUNK = 512  # ranges that are kept in one list, and twice as many at most


class Spans:
    """Half-open ranges that do not overlap, in chunks: a range between others moves those of its chunk alone, so a text
    full of finds costs no square."""

    __slots__ = ("_ends", "_firsts", "_starts")

    def __init__(self) -> None:
        self._firsts: list[int] = []  # where the first range of each chunk begins
        self._starts: list[list[int]] = [[]]
        self._ends: list[list[int]] = [[]]

    def is_free(self, start: int, end: int) -> bool:
        """Whether no claimed range touches a character of start..end."""
        chunk = bisect_left(self._firsts, end) - 1
        if chunk < 0:
            return True
        at = bisect_left(self._starts[chunk], end)
        return self._ends[chunk][at - 1] <= start  # of those that begin before `end` the last reaches furthest

    def claim(self, start: int, end: int) -> bool:
        """Whether start..end was free; it then belongs to the caller. An empty range is free and claims nothing."""
        if not self.is_free(start, end):
            return False
        if start < end:
            chunk = max(0, bisect_right(self._firsts, start) - 1)
            starts, ends = self._starts[chunk], self._ends[chunk]
            at = bisect_left(starts, end)
            starts.insert(at, start)
            ends.insert(at, end)
            self._firsts[chunk : chunk + 1] = [starts[0]]
            if len(starts) > 2 * CHUNK:
                self._split(chunk)
        return True

    def _split(self, chunk: int) -> None:
        for lists in (self._starts, self._ends):
            lists[chunk : chunk + 1] = [lists[chunk][:CHUNK], lists[chunk][CHUNK:]]
        self._firsts.insert(chunk + 1, self._starts[chunk + 1][0])
