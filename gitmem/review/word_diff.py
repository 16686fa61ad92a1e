"""A word-by-word comparison of two texts. Pure.

Spaces and punctuation separate words. Kana and Han, which are written without spaces, are compared character by
character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from gitmem.sequences import equal_at_start

MAX_WORDS = 2_000  # of one text; longer texts are not compared
MAX_PIECES = 16  # above this, both whole texts are easier to read than their difference
MAX_WORD_PAIRS = 20_000  # pairs of equal words, one of each text; more would take seconds

_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u9fff]|\\s+|[^\\W\u3040-\u30ff\u3400-\u9fff]+|.", re.S)


class Piece(NamedTuple):
    """A run of text. `sign`: "=" when both texts have it, "-" when only the old text does, "+" only the new text."""

    sign: str
    text: str


def readable_diff(old: str, new: str) -> list[Piece]:
    """As `word_diff`; empty when more than half of the characters differ or there are more than MAX_PIECES pieces."""
    pieces = word_diff(old, new)
    changed = sum(len(piece.text) for piece in pieces if piece.sign != "=")
    if len(pieces) > MAX_PIECES or changed * 2 > len(old) + len(new):
        return []
    return pieces


def word_diff(old: str, new: str) -> list[Piece]:
    """The pieces in order, a removed piece before the added piece that replaces it.

    A common run without a letter or digit between two changes belongs to the change. Texts above MAX_WORDS or
    MAX_WORD_PAIRS are two pieces: the whole old text and the whole new one.
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    start = equal_at_start(before, after)
    end = equal_at_start(before[start:][::-1], after[start:][::-1])
    middle_before, middle_after = before[start : len(before) - end], after[start : len(after) - end]
    counts = Counter(word for word in middle_before if not word.isspace())
    pairs = sum(counts[word] for word in middle_after if not word.isspace())
    if len(before) > MAX_WORDS or len(after) > MAX_WORDS or pairs > MAX_WORD_PAIRS:
        return [Piece("-", old), Piece("+", new)]
    codes: list[tuple[str, int, int, int, int]] = []
    if start:
        codes = [("equal", 0, start, 0, start)]
    found = SequenceMatcher(str.isspace, middle_before, middle_after, autojunk=False).get_opcodes()
    codes += [(op, a + start, b + start, c + start, d + start) for op, a, b, c, d in found]
    if end:
        codes.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    pieces: list[Piece] = []
    removed = added = ""
    for op, a, b, c, d in _without_gaps(codes, before):
        if op == "equal":
            pieces += _changed_pieces(removed, added)
            removed = added = ""
            pieces.append(Piece("=", "".join(before[a:b])))
        else:
            removed += "".join(before[a:b])
            added += "".join(after[c:d])
    return pieces + _changed_pieces(removed, added)


def _without_gaps(
    codes: Sequence[tuple[str, int, int, int, int]], before: Sequence[str]
) -> Iterator[tuple[str, int, int, int, int]]:
    """The opcodes, with each equal run that is between two changes and has no letter or digit as a replacement."""
    for number, (op, a, b, c, d) in enumerate(codes):
        is_between = 0 < number < len(codes) - 1
        if op == "equal" and is_between and not any(char.isalnum() for token in before[a:b] for char in token):
            op = "replace"
        yield op, a, b, c, d


def _changed_pieces(removed: str, added: str) -> list[Piece]:
    return [Piece(sign, text) for sign, text in (("-", removed), ("+", added)) if text]
