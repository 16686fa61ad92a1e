"""Two texts compared word by word. Pure.

Words are what stands between spaces and signs; Kana and Han, which have no spaces, are compared character by character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

WORDS = 2_000  # of one text that are compared: longer ones are shown one after the other
PIECES = 16  # pieces from which a difference is harder to read than both texts
PAIRS = 20_000  # of equal words, one of each text: what more cost seconds, and is the same few words again and again

_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u9fff]|\\s+|[^\\W\u3040-\u30ff\u3400-\u9fff]+|.", re.S)


class Piece(NamedTuple):
    """A run of text: `sign` "=" for what both have, "-" for what only the old text has, "+" for the new one."""

    sign: str
    text: str


def readable_diff(old: str, new: str) -> list[Piece]:
    """As `word_diff`; none where the texts have so little in common that one after the other is easier to read."""
    pieces = word_diff(old, new)
    changed = sum(len(piece.text) for piece in pieces if piece.sign != "=")
    if len(pieces) > PIECES or changed * 2 > len(old) + len(new):
        return []
    return pieces


def word_diff(old: str, new: str) -> list[Piece]:
    """The pieces in order, what went before what came; what both have without a word in it is no piece of its own."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    sides = before[start : len(before) - end], after[start : len(after) - end]
    counts = Counter(word for word in sides[0] if not word.isspace())
    pairs = sum(counts[word] for word in sides[1] if not word.isspace())
    if len(before) > WORDS or len(after) > WORDS or pairs > PAIRS:
        return [Piece("-", old), Piece("+", new)]
    codes: list[tuple[str, int, int, int, int]] = []
    if start:
        codes = [("equal", 0, start, 0, start)]
    found = SequenceMatcher(str.isspace, *sides, autojunk=False).get_opcodes()
    codes += [(op, a + start, b + start, c + start, d + start) for op, a, b, c, d in found]
    if end:
        codes.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    pieces: list[Piece] = []
    gone = come = ""
    for op, a, b, c, d in _without_gaps(codes, before):
        was, now = "".join(before[a:b]), "".join(after[c:d])
        if op == "equal":
            pieces += _pieces(gone, come)
            gone = come = ""
            pieces.append(Piece("=", was))
        else:
            gone, come = gone + was, come + now
    return pieces + _pieces(gone, come)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts begin with alike."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _without_gaps(
    codes: Sequence[tuple[str, int, int, int, int]], before: Sequence[str]
) -> Iterator[tuple[str, int, int, int, int]]:
    """The operations, with what is equal between two changes and no word taken as part of the change."""
    for number, (op, a, b, c, d) in enumerate(codes):
        inside = 0 < number < len(codes) - 1
        word = any(char.isalnum() for token in before[a:b] for char in token)
        yield ("replace" if op == "equal" and inside and not word else op), a, b, c, d


def _pieces(gone: str, come: str) -> list[Piece]:
    return [Piece(sign, text) for sign, text in (("-", gone), ("+", come)) if text]
