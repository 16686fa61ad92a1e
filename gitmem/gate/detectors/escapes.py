"""The lines of a text in which signs stand escaped, as they read without: `\\u0022password\\u0022`, `\\"password\\"`, `%22`, `&quot;`.

Logs and transcripts keep JSON within JSON. Only signs that tell a value from its name are read, and line ends; what is
encoded as a whole is for the detector of encoded text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from gitmem.lazy_patterns import lazy

# What makes a line worth reading again; a line end alone does not.
_HINT = lazy(r"\\[\"']|\\u00(?:22|27|3[aAdD])|%22|&(?:quot|#34|#39|apos);")
_SIGN = lazy(
    r"\\{1,3}(?P<plain>[\"'/])|\\{1,3}(?P<end>[nr])|\\{1,3}u00(?P<code>2[0-9a-fA-F]|3[a-fA-F]|7[bBdD])|%(?P<percent>2[27]|3[AaDd]|2[Cc]|7[BbDd])"
    r"|&(?P<entity>quot|#34|#39|apos|amp);"
)
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
    """Lines without their escapes, and which offsets of them stand where in the text: pairs in order."""

    text: str
    starts: list[int]
    places: list[int]

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of the text behind a half-open range, not empty, of the lines."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        index = bisect_right(self.starts, at) - 1
        return self.places[index] + at - self.starts[index]


def without_escapes(raw: str) -> Plain | None:
    """The lines of `raw` with escaped signs, read; None where it has none. Linear in the text."""
    if "\\" not in raw and "%22" not in raw and "&" not in raw:
        return None
    parts: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    size = done = 0

    def take(part: str, place: int) -> None:
        nonlocal size
        parts.append(part)
        starts.append(size)
        places.append(place)
        size += len(part)

    for hint in _HINT.finditer(raw):
        if hint.start() < done:
            continue
        at = raw.rfind("\n", done, hint.start()) + 1 or done
        done = raw.find("\n", hint.end()) + 1 or len(raw)
        for sign in _SIGN.finditer(raw, at, done):
            if sign.start() > at:
                take(raw[at : sign.start()], at)
            take(_read(sign), sign.start())
            at = sign.end()
        if at < done:
            take(raw[at:done], at)
    return Plain("".join(parts), starts, places) if parts else None
