"""The places a detector has claimed: of two finds that overlap the first counts, whatever their number."""

from __future__ import annotations

from bisect import bisect_left


class Spans:
    """Half-open ranges that do not overlap. Asking costs a bisection, so a text full of finds costs no square."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_free(self, start: int, end: int) -> bool:
        """Whether no claimed range touches a character of start..end."""
        at = bisect_left(self._starts, end)
        return not at or self._ends[at - 1] <= start  # of those that begin before `end` the last reaches furthest

    def claim(self, start: int, end: int) -> bool:
        """Whether start..end was free; it then belongs to the caller. An empty range is free and claims nothing."""
        if not self.is_free(start, end):
            return False
        if start < end:
            at = bisect_left(self._starts, end)
            self._starts.insert(at, start)
            self._ends.insert(at, end)
        return True
