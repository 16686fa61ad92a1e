"""The statements of a chunk as search weighs them: their words, their flags, and what each stands below.

Pure; used when indexing only. `memory/statements` says what a statement is; what the index keeps of it is
`line_records`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from gitmem.index.line_records import ASKS, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, QUESTION, ROW, TIME
from gitmem.memory.statements import Form, Statement, read
from gitmem.models.vectors import DIMS, shorten
from gitmem.text import english
from gitmem.text.languages import EASTERN
from gitmem.text.terms import EDGES, KNOWN, MAX_TERM_CHARACTERS, is_number, terms

_LABEL = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\*\*)?([^:：|\n`]{1,40}?)(?:\*\*)?\s*[:：](?!//)")
_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\]|\([^)]*\)|<!--.*-->)?\s*$")
TIME_PARTS = tuple(chain.from_iterable(each.TIME_PARTS for each in EASTERN))
# A year, a day, or the clock: `11시`, `17時`, `9:30`, `5pm`; not a duration (`3시간`), a port or a line of a file.
_TIME_DIGITS = re.compile(
    r"\b(?:19|20)\d\d\b|\d{1,2}(?:[월일月日]|시(?!간)|時(?!間))"
    r"|(?<![\w:./])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])|(?<![\w.])(?:0?[1-9]|1[0-2])(?::[0-5]\d)?[aApP]\.?[mM]\b"
)
_WORD = re.compile(r"\w+")
_SYLLABLE = re.compile("[가-힣]")
_IDEOGRAPH = re.compile("[ぁ-ヺ㐀-䶿一-鿿]")
_LATIN = re.compile("[A-Za-z]")
_DIGIT = re.compile(r"\d")


class Unit(NamedTuple):
    """Lines `first`..`last` (0-based, inclusive, within the chunk) that are one statement, or the part of a long one
    that the chunk has.

    `flags` are the constants of `line_records`; `words` its terms (a chunk's words in the index are those of its
    units, joined), the first `label` of them its label: the speaker or subject before a colon. `up`: how many units
    before it the one stands that it is about (a parent item, a table's head, a line ending in a colon), 0 without.
    """

    first: int
    last: int
    text: str
    flags: int
    words: list[str]
    label: int
    up: int = 0


_FLAGS = {Form.CODE: FENCE, Form.HEADING: HEADING, Form.ROW: ROW, Form.TABLE_HEAD: ROW}
_UNINDEXED = frozenset((Form.BLANK, Form.RULE, Form.COMMENT, Form.FRONT_MATTER))


def split(lines: Sequence[str]) -> list[Unit]:
    """The units of a text of its own, one line an element."""
    return units(enumerate(read(lines)), lines, 1)


def units(found: Iterable[tuple[int, Statement]], shown: Sequence[str], start: int) -> list[Unit]:
    """The units of a chunk, in order. `found` are the statements that have a line in it, each with its position in the
    document; `shown` are the chunk's lines as they are indexed, the first of them line `start` of the document.

    Comments, rules, front matter and blank lines have none. Every other term of the lines is in exactly one unit.
    """
    made: list[Unit] = []
    place: dict[int, int] = {}  # position of a statement -> of its unit
    end = start + len(shown) - 1
    for position, statement in found:
        if statement.form in _UNINDEXED:
            continue
        first, last = max(statement.first, start) - start, min(statement.last, end) - start
        if statement.form is Form.TABLE_HEAD:
            last = first  # the row of dashes says nothing
            if not shown[first].strip(" \t|:-"):
                continue
        above = place.get(statement.under, -1)
        place[position] = len(made)
        if first == last:
            text = shown[first]
        else:
            text = "\n".join(shown[first : last + 1])
        made.append(_unit(first, last, text, _FLAGS.get(statement.form, 0), len(made) - above if above >= 0 else 0))
    return made


def _unit(first: int, last: int, text: str, kind: int, up: int) -> Unit:
    flags = kind
    if "?" in text or "？" in text:
        flags |= QUESTION | (ASKS if _ASKS.search(text) else 0)
    features = sum(map(_features.__getitem__, text.split()))
    flags |= (TIME if features & _FIELD else 0) | (NUMBER if features >> _WIDTH & _FIELD else 0)
    if not text.isascii():
        flags |= _script(*(features >> shift & _FIELD for shift in (2 * _WIDTH, 3 * _WIDTH, 4 * _WIDTH)))
    colon = not kind & (FENCE | ROW | HEADING) and (":" in text or "：" in text)
    label = None
    if colon:
        label = _LABEL.match(text)
    return Unit(first, last, text, flags, terms(text), len(terms(label[1])) if label else 0, up)


class _Features(dict[str, int]):
    """What stands between white space -> how often it speaks of time, has digits, Hangul, Kana or Han, Latin letters:
    five counts in one number, so that those of a text are one sum."""

    def __missing__(self, piece: str) -> int:
        bare = piece.strip(EDGES)
        if is_number(bare):
            return 1 << _WIDTH | (len(bare) == 4 and bare[:2] in ("19", "20"))
        if bare != piece:
            counts = self[bare]
        else:
            counts = self._count(piece)
        if len(piece) <= MAX_TERM_CHARACTERS:
            if len(self) >= KNOWN:
                self.clear()
            self[piece] = counts
        return counts

    def _count(self, piece: str) -> int:
        digits = _DIGIT.search(piece) is not None
        hangul, han, latin = (len(kind.findall(piece)) for kind in (_SYLLABLE, _IDEOGRAPH, _LATIN))
        counts = _speaks_of_time(piece, digits) | digits << _WIDTH
        return counts | hangul << 2 * _WIDTH | han << 3 * _WIDTH | latin << 4 * _WIDTH


_WIDTH = 24  # bits of a count: a document has at most 2^20 characters
_FIELD = (1 << _WIDTH) - 1
_features = _Features()


def _speaks_of_time(text: str, digits: bool) -> bool:
    if digits and _TIME_DIGITS.search(text):
        return True
    if not english.TIME_WORDS.isdisjoint(_WORD.findall(text.lower())):
        return True
    return not text.isascii() and any(part in text for part in TIME_PARTS)


def _script(hangul: int, han: int, latin: int) -> int:
    if 3 * (hangul + han) < latin or not hangul + han:
        return 0
    if hangul >= han:
        return HANGUL
    return HAN_KANA


_NOTHING = bytes(DIMS)


def pack(
    units: Sequence[Unit], vectors: Iterable[tuple[float, bytes]], steps: Sequence[tuple[int, int]] = (),
    trail: tuple[float, bytes] = (0.0, b""),
) -> bytes:  # fmt: skip
    """The record of a chunk. `vectors` are (length, `DIMS` signed bytes) for each unit, as an embedder's `lines` has
    them; (0.0, b"") where there is none. `steps` are, for each step of its trail from the outside in, how many
    words it has and how many a question for it looks for; `trail` is the vector of the whole trail."""
    count = len(units)
    if not count:
        return bytes(2)
    first, last, _, flags, words, label, up = zip(*units, strict=True)
    numbers = [len(steps), *chain.from_iterable(steps), *first, *last, *map(len, words), *label, *flags, *up]
    if max(numbers) > 0xFFFF:
        numbers = [min(0xFFFF, number) for number in numbers]
    norms, made = zip(*vectors, trail, strict=True)
    head = struct.pack(f"<{2 + 2 * len(steps) + 6 * count}H{count + 1}f", count, *numbers, *norms)
    return head + shorten(b"".join([vector or _NOTHING for vector in made]))
