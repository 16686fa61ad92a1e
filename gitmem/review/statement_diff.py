"""The difference between two versions of one statement: its words and the keys of its comment. Pure.

The comparison page, the pull request comment and the terminal all show this difference, each with its own marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.memory.fact import Fact
from gitmem.provenance.attribution import differing_keys
from gitmem.review.word_diff import Piece, readable_diff


@dataclass(frozen=True, slots=True)
class StatementDiff:
    """`pieces`: the words of both texts in order, or the whole old text and the whole new text when they have little in
    common. `keys`: (key, old value, new value) of each comment key whose value differs; a missing value is "", and the
    values of a repeated key are joined by spaces."""

    pieces: tuple[Piece, ...]
    keys: tuple[tuple[str, str, str], ...] = ()


def statement_diff(old: Fact, new: Fact) -> StatementDiff:
    """The difference between two versions of a fact."""
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
