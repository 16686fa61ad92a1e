"""What differs between two states of one statement: its words, and the keys of its comment. The page of a comparison,
the comment of a pull request and the terminal show this one difference, each in its own marks. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.memory.fact import Fact
from gitmem.provenance.attribution import differing
from gitmem.review.word_diff import Piece, readable_diff


@dataclass(frozen=True, slots=True)
class StatementDiff:
    """`pieces`: the words of both texts in order; of two texts with little in common the old one whole, then the new
    one. `keys`: (key, old value, new value) of every key of the comment whose value differs, "" for none; the values of
    a repeated key stand together."""

    pieces: tuple[Piece, ...]
    keys: tuple[tuple[str, str, str], ...] = ()


def statement_diff(old: Fact, new: Fact) -> StatementDiff:
    """The difference of two states of a fact."""
    keys = differing(old.meta, new.meta)
    return StatementDiff(
        text_diff(old.text, new.text), tuple((key, _value(old, key), _value(new, key)) for key in keys)
    )


def text_diff(old: str, new: str) -> tuple[Piece, ...]:
    """The words of two texts; one after the other where they have little in common."""
    if old == new:
        if not old:
            return ()
        return (Piece("=", old),)
    found = readable_diff(old, new) or [Piece("-", old), Piece("+", new)]
    return tuple(piece for piece in found if piece.text)


def apart(pieces: tuple[Piece, ...]) -> bool:
    """Whether the pieces have nothing in common: two whole texts, the old one and the new one."""
    return all(piece.sign != "=" for piece in pieces)


def _value(fact: Fact, key: str) -> str:
    return " ".join(value for name, value in fact.meta if name == key)
