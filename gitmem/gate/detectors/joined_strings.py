"""Reads the lines in which a program joins strings as the joined strings, so that a secret in two pieces is one value.

`"ab" + "cd"`, `'ab' . 'cd'`, two adjacent strings, `['ab', 'cd'].join('')`, a line that ends in a backslash.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gitmem.gate.detectors.escapes import Plain, Spelling, as_read
from gitmem.gate.detectors.prefilter import places, plain, present
from gitmem.lazy_patterns import lazy

# Between two pieces: the end of one string, the operator, the start of the other. Strings of prose have a blank beside it,
# those of a secret do not.
_SEAM = lazy(
    r"(?P<quote>[\"'`])[ \t]{0,4}(?:(?:\+|\.{1,2}|&)[ \t]{0,4}\\?(?:\r?\n[ \t]{0,40})?|\\?\r?\n[ \t]{0,40}(?:(?:\+|\.)[ \t]{0,4})?)"
    r"(?P=quote)(?=[0-9A-Za-z!#$%&*@_+/=.?-])"
    r"|\\\r?\n(?=[0-9A-Za-z])"
)
_LISTED = lazy(r"(?P<quote>[\"'`]), {0,2}(?P=quote)(?=[^\[\]\n]{1,200}\]\.join\([\"'`]{2}\))")
_BEGINNINGS = (
    *(quote + rest for quote in "\"'`" for rest in (" +", "+", " .", ".", " &", "&", "\n", "\r\n", " \\", "\\", "  ")),
    "\\\n",
)
_LISTS = ('",', "',", "`,")
_INSIDE = " \t\r\n\"'`\\{}()[],;:"  # characters that no secret ends with


# A seam once blanks are left out and every quotation mark is `"`.
_SQUEEZED = (
    b'"+"', b'"+\n"', b'"\n"', b'"\n+"', b'"."', b'".\n"', b'".."', b'"\n."', b'"&"', b'"&\n"', b'"\\\n"', b'"+\\\n"',
    b"\\\n",
)  # fmt: skip
# What stands beside a seam in a secret.
_BESIDE = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&*@_+/=.?-")
_QUOTES = bytes.maketrans(b"'`", b'""')


def _may_have(raw: str) -> bool:
    """A fast test for a seam between two parts of a string; False proves that the text has none."""
    squeezed = plain(raw).translate(_QUOTES, b" \t\r")
    for seam in _SQUEEZED:
        offset = squeezed.find(seam, 1)
        while offset > 0:
            end = offset + len(seam)
            if squeezed[offset - 1] in _BESIDE and end < len(squeezed) and squeezed[end] in _BESIDE:
                return True
            offset = squeezed.find(seam, end)
    return "].join(" in raw


def _seams(raw: str) -> list[re.Match[str]]:
    """The seams of a text, in order."""
    kinds = [(_SEAM, _BEGINNINGS)]
    if "].join(" in raw:
        kinds.append((_LISTED, _LISTS))
    tried = ((offset, pattern) for pattern, beginnings in kinds for offset in places(raw, present(raw, beginnings)))
    matches = (pattern.match(raw, offset) for offset, pattern in tried if offset and raw[offset - 1] not in _INSIDE)
    return sorted((match for match in matches if match is not None), key=lambda match: match.start())


@lru_cache(maxsize=4)
def without_seams(raw: str) -> Plain | None:
    """The lines of `raw` in which a program joins strings (`"ab" + "cd"`), read as the joined string (`"abcd"`); None
    when it has none. Linear in the text."""
    if not _may_have(raw):
        return None
    return as_read(raw, [Spelling(*seam.span(), "") for seam in _seams(raw)])
