"""The units of a text that search weighs and shows: one bullet, paragraph, table row or fenced block each.

Pure; used when indexing only. What the index keeps of them is `line_records`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.fences import closes, opening
from gitmem.index.line_records import ASKS, CHANGES, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, QUESTION, ROW, TIME
from gitmem.models.vectors import DIMS, shorten
from gitmem.text.change_words import says_change
from gitmem.text.terms import EDGES, KNOWN, LONGEST, is_number, terms

_NUMBERED = re.compile(r"\d{1,9}[.)](?:\s|$)")
_MARKER = re.compile(r"[-*+]\s+")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_RULE_ROW = re.compile(r"\s*\|?[\s:|-]*\|[\s:|-]*$")
_LABEL = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\*\*)?([^:：|\n`]{1,40}?)(?:\*\*)?\s*[:：](?!//)")
_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\]|\([^)]*\)|<!--.*-->)?\s*$")
_TIME_WORDS = {
    "yesterday", "today", "tomorrow", "tonight", "last", "next", "ago", "week", "weekend", "month", "year", "since",
    "recently", "soon", "morning", "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday",
}  # fmt: skip
_TIME_PARTS = (
    "요일", "曜日", "星期", "어제", "오늘", "내일", "지난", "다음", "작년", "올해", "昨日", "今日", "明日", "先週",
    "来週", "先月", "昨年", "去年", "今年", "昨天", "明天", "上周", "下周", "上月", "上个月",
)  # fmt: skip
# A year, a day, or the clock: `11시`, `17時`, `9:30`, `5pm`; not a duration (`3시간`), a port or a line of a file.
_TIME_DIGITS = re.compile(
    r"\b(?:19|20)\d\d\b|\d{1,2}(?:[월일月日]|시(?!간)|時(?!間))"
    r"|(?<![\w:./])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])|(?<![\w.])(?:0?[1-9]|1[0-2])(?::[0-5]\d)?[aApP]\.?[mM]\b"
)
_WORD = re.compile(r"\w+")
_BLANK, _TEXT, _ITEM, _QUOTED, _CELLS, _TITLE, _FENCED = range(7)  # what a line begins
_SYLLABLE = re.compile("[가-힣]")
_IDEOGRAPH = re.compile("[ぁ-ヺ㐀-䶿一-鿿]")
_LATIN = re.compile("[A-Za-z]")
_DIGIT = re.compile(r"\d")


class Unit(NamedTuple):
    """Lines `first`..`last` (0-based, inclusive, within the chunk) that are one piece of text.

    `flags` are the constants of `line_records`; `words` its terms (a chunk's words in the index are those of its
    units, joined), the first `label` of them its label: the speaker or subject before a colon.
    """

    first: int
    last: int
    text: str
    flags: int
    words: list[str]
    label: int


def split(lines: Sequence[str]) -> list[Unit]:
    """The units of a chunk's lines, in order. Blank lines and the rule of a table belong to none.

    A fenced block is one unit, a table row one, a bullet or paragraph with its continuation lines one. Every term
    of the lines is in exactly one unit, in order.
    """
    units: list[Unit] = []
    kinds = [_kind(line) for line in lines]
    at, end = 0, len(lines)
    while at < end:
        kind = kinds[at]
        if not kind:
            at += 1
            continue
        last, flags = at, 0
        if kind == _FENCED:
            fence = _fence(lines[at].lstrip())
            flags = FENCE
            last += 1
            while last < end and not closes(lines[last], fence):
                last += 1
            last = min(last, end - 1)
        elif kind == _TITLE:
            flags = HEADING
        elif kind == _CELLS:
            if _RULE_ROW.match(lines[at]):
                at += 1
                continue
            flags = ROW
        else:
            more = _QUOTED if kind == _QUOTED else _TEXT
            while last + 1 < end and kinds[last + 1] == more:
                last += 1
        units.append(_unit(at, last, lines[at] if at == last else "\n".join(lines[at : last + 1]), flags))
        at = last + 1
    return units


def _kind(line: str) -> int:
    """What a line begins, by its first characters."""
    text = line.lstrip()
    first = text[:1]
    if first.isalpha() or not first:
        return _TEXT if first else _BLANK
    if first in "`~-*+" and _fence(text):
        return _FENCED
    if first in "-*+":
        return _ITEM if not text[1:2].strip() else _TEXT
    if first == "#":
        return _TITLE if _HEADING.match(text) and len(line) - len(text) < 4 else _TEXT
    if first == "|":
        return _CELLS
    if first == ">":
        return _QUOTED
    return _ITEM if first.isdecimal() and _NUMBERED.match(text) else _TEXT


def _fence(text: str) -> str:
    """The fence that a line opens, by itself or as a bullet; "" for none."""
    marker = _MARKER.match(text)
    return opening(text[marker.end() :] if marker else text)


def _unit(first: int, last: int, text: str, kind: int) -> Unit:
    flags = kind
    if "?" in text or "？" in text:
        flags |= QUESTION | (ASKS if _ASKS.search(text) else 0)
    features = sum(map(_features.__getitem__, text.split()))
    flags |= (TIME if features & _FIELD else 0) | (NUMBER if features >> _WIDTH & _FIELD else 0)
    if not text.isascii():
        flags |= _script(*(features >> shift & _FIELD for shift in (2 * _WIDTH, 3 * _WIDTH, 4 * _WIDTH)))
    if not kind & (FENCE | HEADING) and says_change(text):
        flags |= CHANGES
    colon = not kind & (FENCE | ROW | HEADING) and (":" in text or "：" in text)
    label = _LABEL.match(text) if colon else None
    return Unit(first, last, text, flags, terms(text), len(terms(label[1])) if label else 0)


class _Features(dict[str, int]):
    """What stands between white space -> how often it speaks of time, has digits, Hangul, Kana or Han, Latin letters:
    five counts in one number, so that those of a text are one sum."""

    def __missing__(self, piece: str) -> int:
        bare = piece.strip(EDGES)
        if is_number(bare):
            return 1 << _WIDTH | (len(bare) == 4 and bare[:2] in ("19", "20"))
        counts = self[bare] if bare != piece else self._count(piece)
        if len(piece) <= LONGEST:
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
    if not _TIME_WORDS.isdisjoint(_WORD.findall(text.lower())):
        return True
    return not text.isascii() and any(part in text for part in _TIME_PARTS)


def _script(hangul: int, han: int, latin: int) -> int:
    if 3 * (hangul + han) < latin or not hangul + han:
        return 0
    return HANGUL if hangul >= han else HAN_KANA


_NOTHING = bytes(DIMS)


def pack(units: Sequence[Unit], vectors: Iterable[tuple[float, bytes]]) -> bytes:
    """The record of a chunk. `vectors` are (length, `DIMS` signed bytes) for each unit, as an embedder's `lines` has
    them; (0.0, b"") where there is none."""
    count = len(units)
    if not count:
        return bytes(2)
    first, last, _, flags, words, label = zip(*units, strict=True)
    numbers = [*first, *last, *map(len, words), *label, *flags]
    if max(numbers) > 0xFFFF:
        numbers = [min(0xFFFF, number) for number in numbers]
    norms, made = zip(*vectors, strict=True)
    head = struct.pack(f"<{1 + 5 * count}H{count}f", count, *numbers, *norms)
    return head + shorten(b"".join([vector or _NOTHING for vector in made]))
