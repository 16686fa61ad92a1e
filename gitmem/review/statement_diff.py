"""The difference between two versions of one statement: its words and the keys of its comment. Pure.

The comparison page, the pull request comment and the terminal all show this difference, each with its own marks.
Spaces and punctuation separate words. Kana and Han, which are written without spaces, are compared character by
character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from gitmem.memory.fact import Fact
from gitmem.provenance.attribution import differing_keys
from gitmem.sequences import equal_at_start

MAX_WORDS = 2_000  # of one text; longer texts are not compared
MAX_PIECES = 16  # above this, both whole texts are easier to read than their difference
MAX_WORD_PAIRS = 20_000  # pairs of equal words, one of each text; more would take seconds

_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u9fff]|\\s+|[^\\W\u3040-\u30ff\u3400-\u9fff]+|.", re.S)


class Piece(NamedTuple):
    """A run of text. `sign`: "=" when both texts have it, "-" when only the old text does, "+" only the new text."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class StatementDiff:
    """`pieces`: the words of both texts in order, or the whole old text and the whole new text when they have little in
    common. `keys`: (key, old value, new value) of each comment key whose value differs; a missing value is "", and the
    values of a repeated key are joined by spaces."""

    pieces: tuple[Piece, ...]
    keys: tuple[tuple[str, str, str], ...] = ()


def statement_diff(old: Fact, new: Fact) -> StatementDiff:
    """The difference between two versions of a fact: of their words, and of the keys of their comments."""
    keys = tuple((key, _value(old, key), _value(new, key)) for key in differing_keys(old.meta, new.meta))
    return StatementDiff(text_diff(old.text, new.text), keys)


def text_diff(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces of two texts in order: their common and different words, or both whole texts when they have little in
    common. Empty pieces are left out."""
    pieces = [Piece("=", old)]
    if old != new:
        pieces = readable_diff(old, new) or [Piece("-", old), Piece("+", new)]
    return tuple(piece for piece in pieces if piece.text)


def has_nothing_common(pieces: tuple[Piece, ...]) -> bool:
    """Whether the two texts are shown whole, one after the other: no piece is common to both."""
    return all(piece.sign != "=" for piece in pieces)


def _value(fact: Fact, key: str) -> str:
    return " ".join(value for name, value in fact.meta if name == key)


def readable_diff(old: str, new: str) -> list[Piece]:
    """The common, removed and added pieces of two texts in order (`word_diff`); [] when more than half of the
    characters differ or there are more than MAX_PIECES pieces."""
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
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    start = equal_at_start(old_tokens, new_tokens)
    end = equal_at_start(old_tokens[start:][::-1], new_tokens[start:][::-1])
    middle_before, middle_after = old_tokens[start : len(old_tokens) - end], new_tokens[start : len(new_tokens) - end]
    counts = Counter(word for word in middle_before if not word.isspace())
    pairs = sum(counts[word] for word in middle_after if not word.isspace())
    if len(old_tokens) > MAX_WORDS or len(new_tokens) > MAX_WORDS or pairs > MAX_WORD_PAIRS:
        return [Piece("-", old), Piece("+", new)]
    codes: list[tuple[str, int, int, int, int]] = []
    if start:
        codes = [("equal", 0, start, 0, start)]
    opcodes = SequenceMatcher(str.isspace, middle_before, middle_after, autojunk=False).get_opcodes()
    codes += [(op, a + start, b + start, c + start, d + start) for op, a, b, c, d in opcodes]
    if end:
        codes.append(("equal", len(old_tokens) - end, len(old_tokens), len(new_tokens) - end, len(new_tokens)))
    pieces: list[Piece] = []
    removed = added = ""
    for op, a, b, c, d in _without_gaps(codes, old_tokens):
        if op == "equal":
            pieces += _changed_pieces(removed, added)
            removed = added = ""
            pieces.append(Piece("=", "".join(old_tokens[a:b])))
        else:
            removed += "".join(old_tokens[a:b])
            added += "".join(new_tokens[c:d])
    return pieces + _changed_pieces(removed, added)


def _without_gaps(
    codes: Sequence[tuple[str, int, int, int, int]], old_tokens: Sequence[str]
) -> Iterator[tuple[str, int, int, int, int]]:
    """The opcodes, with each equal run that is between two changes and has no letter or digit as a replacement."""
    for number, (op, a, b, c, d) in enumerate(codes):
        is_between = 0 < number < len(codes) - 1
        if op == "equal" and is_between and not any(char.isalnum() for token in old_tokens[a:b] for char in token):
            op = "replace"
        yield op, a, b, c, d


def _changed_pieces(removed: str, added: str) -> list[Piece]:
    return [Piece(sign, text) for sign, text in (("-", removed), ("+", added)) if text]
