"""Cuts a chunk into units, its statements with their words, flags and parents, and packs them for the index.

Pure; used only to index. `memory/statements` defines a statement; `line_records` reads the packed form.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from gitmem.index.line_records import ASKS, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, QUESTION, ROW, TIME
from gitmem.memory.statements import Form, Statement, read
from gitmem.models.vectors import DIMS, packed
from gitmem.text import english
from gitmem.text.languages import EASTERN
from gitmem.text.terms import EDGES, MAX_CACHED_WORDS, MAX_TERM_CHARACTERS, is_number, terms

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
    """One statement of a chunk, or the part of a long statement that the chunk has.

    `first`, `last`: its lines within the chunk, 0-based, inclusive. `text`: these lines as they are shown, markers
    included, joined by LF. `flags`: constants of `line_records`. `words`: the terms of `text`; the words of a chunk are
    those of its units, joined. `label`: how many of the first words are its label, the speaker or subject before a
    colon; 0 for none. `up`: how many units before it its parent is (an item above it, a table's head, a line that ends
    in a colon, a bold line), 0 for a unit without a parent in this chunk.
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
    """The units of a whole text, one for each statement that has words; `lines` are its lines."""
    return units_of(enumerate(read(lines)), lines, 1)


def units_of(statements: Iterable[tuple[int, Statement]], shown: Sequence[str], start: int) -> list[Unit]:
    """The units of a chunk, in order. Every term is in exactly one unit.

    `statements`: (position in the document, statement) of the statements with a line in the chunk. `shown`: the lines
    of the chunk as they are indexed. `start`: the number of the first of them in the document. Comments, rules, front
    matter and blank lines make no unit.
    """
    result: list[Unit] = []
    unit_of_position: dict[int | None, int] = {}  # position of a statement -> index of its unit
    end = start + len(shown) - 1
    for position, statement in statements:
        if statement.form in _UNINDEXED:
            continue
        first, last = max(statement.first, start) - start, min(statement.last, end) - start
        if statement.form is Form.TABLE_HEAD:
            last = first  # without the row of dashes
            if not shown[first].strip(" \t|:-"):
                continue
        number = len(result)
        distance_to_parent = number - unit_of_position.get(statement.under, number)
        unit_of_position[position] = number
        text = "\n".join(shown[first : last + 1])
        result.append(_unit(first, last, text, _FLAGS.get(statement.form, 0), distance_to_parent))
    return result


def _unit(first: int, last: int, text: str, kind: int, distance_to_parent: int) -> Unit:
    """The unit of a text. `kind`: the flags of its form."""
    flags = kind
    if "?" in text or "？" in text:
        flags |= QUESTION
        if _ASKS.search(text):
            flags |= ASKS
    features = sum(map(_features.__getitem__, text.split()))
    if features & _FIELD:
        flags |= TIME
    if features >> _WIDTH & _FIELD:
        flags |= NUMBER
    if not text.isascii():
        flags |= _script(*(features >> shift & _FIELD for shift in (2 * _WIDTH, 3 * _WIDTH, 4 * _WIDTH)))
    label = None
    if not kind & (FENCE | ROW | HEADING) and (":" in text or "：" in text):
        label = _LABEL.match(text)
    return Unit(first, last, text, flags, terms(text), len(terms(label[1])) if label else 0, distance_to_parent)


class _Features(dict[str, int]):
    """A cache: word between white space -> five counts in one number, so that the counts of a text are one sum.

    The counts, `_WIDTH` bits each from the lowest: speaks of time, has digits, Hangul, Kana or Han, Latin letters.
    """

    def __missing__(self, piece: str) -> int:
        bare = piece.strip(EDGES)
        if is_number(bare):
            return 1 << _WIDTH | (len(bare) == 4 and bare[:2] in ("19", "20"))
        counts = self[bare] if bare != piece else self._count(piece)
        if len(piece) <= MAX_TERM_CHARACTERS:
            if len(self) >= MAX_CACHED_WORDS:
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
    """The flag of the script of a text by its numbers of letters; 0 if it is mostly Latin or has none of the two."""
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
    """The packed record of a chunk, for `line_records.unpack`.

    `vectors`: (length, `DIMS` signed bytes) for each unit, as from an embedder's `lines`; (0.0, b"") for none. `steps`:
    for each step of the chunk's trail, the outermost first, (number of words, number of words that a question looks
    for). `trail`: the vector of the whole trail. A number above 65,535 is stored as 65,535.
    """
    count = len(units)
    if not count:
        return bytes(2)
    first, last, _, flags, words, label, parents = zip(*units, strict=True)
    numbers = [len(steps), *chain.from_iterable(steps), *first, *last, *map(len, words), *label, *flags, *parents]
    if max(numbers) > 0xFFFF:
        numbers = [min(0xFFFF, number) for number in numbers]
    norms, codes = zip(*vectors, trail, strict=True)
    head = struct.pack(f"<{2 + 2 * len(steps) + 6 * count}H{count + 1}f", count, *numbers, *norms)
    return head + packed(b"".join([code or _NOTHING for code in codes]))
