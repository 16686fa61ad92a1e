"""The units of a text that search weighs and shows: one bullet, paragraph, table row or fenced block each.

Pure; used when indexing only. What the index keeps of them is `lines.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.lines import ASKS, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, QUESTION, ROW, TIME
from gitmem.query import terms

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s+|$)")
_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
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
    "어제", "오늘", "내일", "지난", "다음", "작년", "올해", "昨日", "今日", "明日", "先週", "来週", "先月", "昨年",
    "去年", "今年", "昨天", "明天", "上周", "下周", "上月", "上个月",
)  # fmt: skip
_TIME_DIGITS = re.compile(r"\b(?:19|20)\d\d\b|\d{1,2}[월일月日]")
_WORD = re.compile(r"\w+")
_SYLLABLE = re.compile("[가-힣]")
_IDEOGRAPH = re.compile("[ぁ-ヺ㐀-䶿一-鿿]")
_LATIN = re.compile("[A-Za-z]")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `first`..`last` (0-based, inclusive, within the chunk) that are one piece of text.

    `flags` are the constants of this module; `words` its terms (a chunk's words in the index are those of its
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
    found: list[Unit] = []
    at, end = 0, len(lines)
    while at < end:
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        last, kind = at, 0
        fence = _FENCE.match(line)
        if fence:
            mark, kind = fence[1], FENCE
            last += 1
            while last < end and not lines[last].strip().startswith(mark):
                last += 1
            last = min(last, end - 1)
        elif _HEADING.match(line):
            kind = HEADING
        elif line.lstrip().startswith("|"):
            if _RULE_ROW.match(line):
                at += 1
                continue
            kind = ROW
        else:
            quoted = line.lstrip().startswith(">")
            while last + 1 < end and _continues(lines[last + 1], quoted):
                last += 1
        found.append(_unit(at, last, "\n".join(lines[at : last + 1]), kind))
        at = last + 1
    return found


def _continues(line: str, quoted: bool) -> bool:
    return (
        bool(line.strip())
        and line.lstrip().startswith(">") == quoted
        and not line.lstrip().startswith("|")
        and not _BULLET.match(line)
        and not _HEADING.match(line)
        and not _FENCE.match(line)
    )


def _unit(first: int, last: int, text: str, kind: int) -> Unit:
    flags = kind
    if "?" in text or "？" in text:
        flags |= QUESTION | (ASKS if _ASKS.search(text) else 0)
    digits = _DIGIT.search(text) is not None
    if _speaks_of_time(text, digits):
        flags |= TIME
    if digits:
        flags |= NUMBER
    if not text.isascii():
        flags |= script(text)
    colon = not kind & (FENCE | ROW | HEADING) and (":" in text or "：" in text)
    label = _LABEL.match(text) if colon else None
    return Unit(first, last, text, flags, terms(text), len(terms(label[1])) if label else 0)


def _speaks_of_time(text: str, digits: bool) -> bool:
    # As one pattern that ignores case this took half the time of building an index.
    if digits and _TIME_DIGITS.search(text):
        return True
    if not _TIME_WORDS.isdisjoint(_WORD.findall(text.lower())):
        return True
    return not text.isascii() and any(part in text for part in _TIME_PARTS)


def script(text: str) -> int:
    """`HANGUL` or `HAN_KANA` where most of the text is written in it (a syllable counts as three letters), else 0."""
    hangul, han = len(_SYLLABLE.findall(text)), len(_IDEOGRAPH.findall(text))
    latin = len(_LATIN.findall(text))
    if 3 * (hangul + han) < latin or not hangul + han:
        return 0
    return HANGUL if hangul >= han else HAN_KANA
