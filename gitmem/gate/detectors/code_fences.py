"""Where a Markdown text shows code: closed fenced blocks and stretches between backticks. What stands there hides nothing
and begins no role, since a page shows it as it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from gitmem.lazy_patterns import lazy

_FENCE = lazy(r"(?m)^[ \t>]{0,12}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)|(?<!`)<!--")
_SPAN = lazy(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}(?<!`)\1(?!`)")


def fenced(text: str) -> Iterator[tuple[int, int]]:
    """What stands in the fenced blocks of a text that are closed, in order; none begins inside a comment."""
    opened, start = "", 0
    line = _FENCE.search(text)
    while line:
        end, mark = line.end(), line["mark"]
        if mark and not opened:
            opened, start = mark, end
        elif mark and mark.startswith(opened) and not line["info"].strip():
            yield start, line.start()
            opened = ""
        elif not mark and not opened:
            end = text.find("-->", end)
            if end < 0:
                return
        line = _FENCE.search(text, end)


class ShownCode:
    """The places of a text that are shown as code."""

    def __init__(self, text: str) -> None:
        blocks = list(fenced(text)) if "```" in text or "~~~" in text else []
        spans = [match.span() for match in _SPAN.finditer(text)] if "`" in text else []
        self._blocks, self._spans = blocks, spans

    def has(self, place: int) -> bool:
        """Whether a place is in a fenced block or between backticks."""
        return self.is_fenced(place) or _holds(self._spans, place)

    def is_fenced(self, place: int) -> bool:
        """Whether a place is in a closed fenced block."""
        return _holds(self._blocks, place)


def _holds(stretches: list[tuple[int, int]], place: int) -> bool:
    at = bisect_right(stretches, (place, len(stretches) and stretches[-1][1])) - 1
    return at >= 0 and stretches[at][0] <= place < stretches[at][1]


@lru_cache(maxsize=4)
def shown_code(text: str) -> ShownCode:
    """The code that a text shows; linear in its length, remembered for the last texts."""
    return ShownCode(text)
