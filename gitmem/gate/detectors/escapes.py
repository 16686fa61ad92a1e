"""Reads the lines of a text that hold escaped signs without the escapes: `\\u0022password\\u0022`, `\\"password\\"`,
`%22`, `&quot;`.

Logs and transcripts hold JSON within JSON. Only signs between a name and a value, and line ends, are read; a text
that is encoded as a whole is left to the detector of encoded text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from gitmem.gate.detectors.folding import OffsetMap
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


class Spelling(NamedTuple):
    """A part of a text, start..end, that reads as `shown`."""

    start: int
    end: int
    shown: str


class Plain(NamedTuple):
    """Some lines of a text as they read, and the way back to the text.

    `text`: these lines. `offsets`: the map from `text` to the whole text. `gaps`: the offsets at which `APART`
    separates two lines that are not adjacent in the whole text.
    """

    text: str
    offsets: OffsetMap
    gaps: list[int]

    def finds(
        self, finds: Iterable[_Find], span: Callable[[_Find], tuple[int, int]]
    ) -> Iterator[tuple[int, int, _Find]]:
        """(start, end in the whole text, find) of each find in `text`; empty ones and those across lines that are not
        adjacent are left out. `span`: returns the half-open range of a find in `text`."""
        for find in finds:
            start, end = span(find)
            gap = bisect_left(self.gaps, start - len(APART) + 1)
            if start < end and (gap == len(self.gaps) or self.gaps[gap] >= end):
                yield (*self.offsets.to_raw(start, end), find)


def as_read(raw: str, spellings: Sequence[Spelling]) -> Plain | None:
    """The lines of `raw` that hold one of `spellings`, each as it reads; None without any. `spellings`: in order,
    without overlaps. Linear in the text."""
    if not spellings:
        return None
    parts: list[str] = []
    offsets, gaps = OffsetMap(), []
    length = read_end = 0

    def take(part: str, start: int, end: int, *, copied: bool = True) -> None:
        nonlocal length
        if part:
            offsets.add(length, start, end, copied=copied)
            parts.append(part)
            length += len(part)

    def leave_gap(place: int) -> None:
        gaps.append(length)
        take(APART, place - 1, place - 1 + len(APART))

    for spelling, following in pairwise([*spellings, Spelling(len(raw), len(raw), "")]):
        line_start = raw.rfind("\n", read_end, spelling.start) + 1 or read_end
        if 0 < read_end < line_start:
            leave_gap(read_end)
        take(raw[line_start : spelling.start], line_start, spelling.start)
        take(spelling.shown, spelling.start, spelling.end, copied=False)
        read_end = raw.find("\n", spelling.end, following.start) + 1 or following.start
        take(raw[spelling.end : read_end], spelling.end, read_end)
    if read_end < len(raw):
        leave_gap(read_end)
    return Plain("".join(parts), offsets, gaps)


def without_escapes(raw: str) -> Plain | None:
    """The lines of `raw` that hold an escaped quotation mark, or a colon or equals sign as a `u00` code, read without
    escapes; None when it has none. Linear in the text."""
    if "\\" not in raw and "%22" not in raw and "&" not in raw:
        return None
    spellings: list[Spelling] = []
    line_end = 0
    for hint in _HINT.finditer(raw):
        if hint.start() >= line_end:
            line_start = raw.rfind("\n", 0, hint.start()) + 1
            line_end = raw.find("\n", hint.end()) + 1 or len(raw)
            spellings += [Spelling(*sign.span(), _read(sign)) for sign in _SIGN.finditer(raw, line_start, line_end)]
    return as_read(raw, spellings)
