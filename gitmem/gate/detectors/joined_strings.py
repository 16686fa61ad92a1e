"""The lines of a text in which strings are put together out of pieces, as they read when a program has run.

`"ab" + "cd"`, `'ab' . 'cd'`, two strings that follow each other, `['ab', 'cd'].join('')`, a line that ends in a backslash. A
secret that stands in two pieces is one value there.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gitmem.gate.detectors.escapes import Plain, PlainLines
from gitmem.gate.detectors.prefilter import places, plain, present
from gitmem.lazy_patterns import lazy

# Between two pieces: what closes the one, what joins them, what opens the other. No blank stands beside it inside the
# strings: those of prose have one.
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
_INSIDE = " \t\r\n\"'`\\{}()[],;:"  # what a secret does not end with


# A seam once blanks are left out and every quotation mark is `"`.
_SQUEEZED = (
    b'"+"',
    b'"+\n"',
    b'"\n"',
    b'"\n+"',
    b'"."',
    b'".\n"',
    b'".."',
    b'"\n."',
    b'"&"',
    b'"&\n"',
    b'"\\\n"',
    b'"+\\\n"',
    b"\\\n",
)
_BESIDE = frozenset(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&*@_+/=.?-"
)  # a seam, in a secret
_QUOTES = bytes.maketrans(b"'`", b'""')


def _may_have(raw: str) -> bool:
    squeezed = plain(raw).translate(_QUOTES, b" \t\r")
    for seam in _SQUEEZED:
        at = squeezed.find(seam, 1)
        while at > 0:
            end = at + len(seam)
            if squeezed[at - 1] in _BESIDE and end < len(squeezed) and squeezed[end] in _BESIDE:
                return True
            at = squeezed.find(seam, end)
    return "].join(" in raw


def _seams(raw: str) -> list[re.Match[str]]:
    """The seams of a text, in order."""
    if "].join(" in raw:
        kinds = [(_SEAM, _BEGINNINGS), (_LISTED, _LISTS)]
    else:
        kinds = [(_SEAM, _BEGINNINGS)]
    tried = ((at, pattern) for pattern, beginnings in kinds for at in places(raw, present(raw, beginnings)))
    found = (pattern.match(raw, at) for at, pattern in tried if at and raw[at - 1] not in _INSIDE)
    return sorted((match for match in found if match is not None), key=lambda match: match.start())


@lru_cache(maxsize=4)
def without_seams(raw: str) -> Plain | None:
    """The lines of `raw` that hold seams, without them; None where it has none. Linear in the text."""
    if _may_have(raw):
        seams = _seams(raw)
    else:
        seams = []
    lines = PlainLines(raw)
    done = 0
    for number, seam in enumerate(seams):
        if seam.start() < done:
            continue
        at = raw.rfind("\n", done, seam.start()) + 1 or done
        if 0 < done < at:
            lines.part(done)
        if number + 1 < len(seams):
            following = seams[number + 1].start()
        else:
            following = len(raw)
        last = raw.find("\n", seam.end())
        done = min(following, len(raw) if last < 0 else last + 1)
        lines.take(raw[at : seam.start()], at)
        lines.take(raw[seam.end() : done], seam.end())
    return lines.read(done)
