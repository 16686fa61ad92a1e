"""The difference between two versions of one statement: its words and the keys of its comment. Pure.

The comparison page, the pull request comment and the terminal all show this difference, each with its own marks.
Spaces and punctuation separate words. Kana and Han, which are written without spaces, are compared character by
character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from gitmem.memory.fact import Fact
from gitmem.provenance.fact_edits import differing_keys
from gitmem.sequences import equal_at_start

MAX_TOKENS = 2_000  # words, blanks and punctuation marks of one text; longer texts are not compared
MAX_PIECES = 16  # of a readable difference; above this, both whole texts are easier to read
MAX_WORD_PAIRS = 20_000  # pairs of equal words, one of each text; more would take seconds

_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u9fff]|\\s+|[^\\W\u3040-\u30ff\u3400-\u9fff]+|.", re.S)


class Piece(NamedTuple):
    """A run of text. `sign`: "=" when both texts have it, "-" when only the old text does, "+" only the new text."""

    sign: str
    text: str


class Run(NamedTuple):
    """A run of tokens. `equal`: `old` and `new` are the same tokens; else `new` stands in place of `old`, and one of
    them may be empty."""

    equal: bool
    old: Sequence[str]
    new: Sequence[str]


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
    pieces: list[Piece] | None = [Piece("=", old)]
    if old != new:
        pieces = readable_diff(old, new)
    if pieces is None:
        pieces = [Piece("-", old), Piece("+", new)]
    return tuple(piece for piece in pieces if piece.text)


def has_nothing_common(pieces: tuple[Piece, ...]) -> bool:
    """Whether the two texts are shown whole, one after the other: no piece is common to both. True also without pieces,
    which is the difference of two empty texts."""
    return all(piece.sign != "=" for piece in pieces)


def _value(fact: Fact, key: str) -> str:
    return " ".join(value for name, value in fact.meta if name == key)


def readable_diff(old: str, new: str) -> list[Piece] | None:
    """The common, removed and added pieces of two texts in order (`word_diff`). None when they are hard to read: more
    than half of the characters differ, or there are more than MAX_PIECES pieces."""
    pieces = word_diff(old, new)
    changed = sum(len(piece.text) for piece in pieces if piece.sign != "=")
    if len(pieces) > MAX_PIECES or changed * 2 > len(old) + len(new):
        return None
    return pieces


def word_diff(old: str, new: str) -> list[Piece]:
    """The pieces in order, a removed piece before the added piece that replaces it.

    A common run without a letter or digit between two changes belongs to the change. Texts above MAX_TOKENS or
    MAX_WORD_PAIRS are two pieces: the whole old text and the whole new one.
    """
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    start, end = _common_ends(old_tokens, new_tokens)
    old_middle, new_middle = (tokens[start : len(tokens) - end] for tokens in (old_tokens, new_tokens))
    if max(len(old_tokens), len(new_tokens)) > MAX_TOKENS or _word_pairs(old_middle, new_middle) > MAX_WORD_PAIRS:
        return [Piece("-", old), Piece("+", new)]
    runs = [Run(True, old_tokens[:start], new_tokens[:start])]
    runs += _runs(old_middle, new_middle)
    runs.append(Run(True, old_tokens[len(old_tokens) - end :], new_tokens[len(new_tokens) - end :]))
    return _pieces([run for run in runs if run.old or run.new])


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """(number of equal tokens at the start, number of equal tokens at the end). The two ends do not overlap."""
    start = equal_at_start(old, new)
    return start, equal_at_start(old[start:][::-1], new[start:][::-1])


def _word_pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of pairs of equal tokens, one of each text, without blanks: the time of a comparison grows with it."""
    counts = Counter(token for token in old if not token.isspace())
    return sum(counts[token] for token in new if not token.isspace())


def _runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """The equal and different runs of two lists of tokens, in order."""
    opcodes = SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes()
    return [
        Run(tag == "equal", old[old_start:old_end], new[new_start:new_end])
        for tag, old_start, old_end, new_start, new_end in opcodes
    ]


def _pieces(runs: Sequence[Run]) -> list[Piece]:
    """The pieces of all runs. Neighbouring changes, and an equal run between them that has no letter or digit, are one
    change."""
    pieces: list[Piece] = []
    removed = added = ""
    for number, run in enumerate(runs):
        old_text, new_text = "".join(run.old), "".join(run.new)
        is_gap = 0 < number < len(runs) - 1 and not any(map(str.isalnum, old_text))
        if run.equal and not is_gap:
            pieces += [*_changed_pieces(removed, added), Piece("=", old_text)]
            removed = added = ""
        else:
            removed += old_text
            added += new_text
    return pieces + _changed_pieces(removed, added)


def _changed_pieces(removed: str, added: str) -> list[Piece]:
    return [Piece(sign, text) for sign, text in (("-", removed), ("+", added)) if text]
