"""Reads the lines of a text that hold escaped signs without the escapes: `\\u0022password\\u0022`, `\\"password\\"`,
`%22`, `&quot;`.

Logs and transcripts hold JSON within JSON. Only signs between a name and a value, and line ends, are read; a text
that is encoded as a whole is left to the detector of encoded text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from gitmem.lazy_patterns import lazy

# A line with one of these is read again; one with an escaped line end alone is not.
_HINT = lazy(r"\\[\"']|\\u00(?:22|27|3[aAdD])|%22|&(?:quot|#34|#39|apos);")
_SIGN = lazy(
    r"\\{1,3}(?P<plain>[\"'/])|\\{1,3}(?P<end>[nr])|\\{1,3}u00(?P<code>2[0-9a-fA-F]|3[a-fA-F]|7[bBdD])|%(?P<percent>2[27]|3[AaDd]|2[Cc]|7[BbDd])"
    r"|&(?P<entity>quot|#34|#39|apos|amp);"
)
# A line that no secret, and no sentence about one, goes on over.
APART = "-\n"
_Find = TypeVar("_Find")
_ENTITIES = {"quot": '"', "#34": '"', "#39": "'", "apos": "'", "amp": "&"}


def _read(sign: re.Match[str]) -> str:
    """The one character that an escape stands for."""
    value = sign[sign.lastgroup or 0]
    match sign.lastgroup:
        case "end":
            return "\n"
        case "code" | "percent":
            return chr(int(value, 16))
        case "entity":
            return _ENTITIES[value]
        case _:
            return value


class Plain(NamedTuple):
    """Some lines of a text, read without escapes, and the way back to the text.

    `text`: these lines. They consist of parts: `starts` has the offset of each part in `text`, `places` its offset in
    the whole text, in order. `gaps`: the offsets at which `APART` separates two lines that are not adjacent in the
    whole text. `ends`: start of a part that the whole text spells in another way -> the offset at which that spelling
    ends.
    """

    text: str
    starts: list[int]
    places: list[int]
    gaps: list[int]
    ends: dict[int, int]

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of the whole text that a half-open range of `text`, not empty, comes from."""
        last = self._index(end - 1)
        return self._place(start), self.ends.get(self.starts[last], self._place(end - 1) + 1)

    def finds(
        self, finds: Iterable[_Find], span: Callable[[_Find], tuple[int, int]]
    ) -> Iterator[tuple[int, int, _Find]]:
        """(start, end in the whole text, find) of each find in `text`; empty ones and those across lines that are not
        adjacent are left out. `span`: returns the half-open range of a find in `text`."""
        for find in finds:
            start, end = span(find)
            gap = bisect_left(self.gaps, start - len(APART) + 1)
            if start < end and (gap == len(self.gaps) or self.gaps[gap] >= end):
                yield (*self.to_raw(start, end), find)

    def _index(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _place(self, offset: int) -> int:
        """The raw offset of an offset of the plain text; inside a decoded escape it is where the escape begins."""
        index = self._index(offset)
        start = self.starts[index]
        if start in self.ends:
            return self.places[index]
        return self.places[index] + offset - start


class PlainLines:
    """Builds a `Plain` of the text `raw`: `take` adds a part, `gap` marks text that is left out, `finish` returns the
    `Plain`. The parts are added in the order of the text."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._parts: list[str] = []
        self._plain = Plain("", [], [], [], {})
        self._size = 0

    def take(self, part: str, place: int, end: int | None = None) -> None:
        """Add `part`, which begins at offset `place` of the text; an empty part is ignored. `end`: the offset at which
        the text's own spelling of the part ends, None when the text has it in the same spelling."""
        if part:
            if end is not None:
                self._plain.ends[self._size] = end
            self._parts.append(part)
            self._plain.starts.append(self._size)
            self._plain.places.append(place)
            self._size += len(part)

    def gap(self, place: int) -> None:
        """Record that the text between `place` and the next part was left out, so that the lines on both sides are not
        adjacent."""
        self._plain.gaps.append(self._size)
        self.take(APART, place - 1)

    def finish(self, end: int) -> Plain | None:
        """The `Plain` of all parts; None if none was added. `end`: the offset in the whole text at which the last part
        ends."""
        if self._parts and end < len(self._raw):
            self.gap(end)
        if not self._parts:
            return None
        return self._plain._replace(text="".join(self._parts))


def without_escapes(raw: str) -> Plain | None:
    """The lines of `raw` that hold an escaped quotation mark, or a colon or equals sign as a `u00` code, read without
    escapes; None when it has none. Linear in the text."""
    if "\\" not in raw and "%22" not in raw and "&" not in raw:
        return None
    lines = PlainLines(raw)
    read_end = 0
    for hint in _HINT.finditer(raw):
        if hint.start() < read_end:
            continue
        copied_end = raw.rfind("\n", read_end, hint.start()) + 1 or read_end
        if 0 < read_end < copied_end:
            lines.gap(read_end)
        read_end = raw.find("\n", hint.end()) + 1 or len(raw)
        for sign in _SIGN.finditer(raw, copied_end, read_end):
            lines.take(raw[copied_end : sign.start()], copied_end)
            lines.take(_read(sign), sign.start(), sign.end())
            copied_end = sign.end()
        lines.take(raw[copied_end:read_end], copied_end)
    return lines.finish(read_end)
