"""Days named in text: ISO, `3/14`, `March 14`, `2월 20일`, and relative ones (`tomorrow`, `다음 주 금요일`).

Pure: a text and the day it was written in, `Mention`s out. Nothing here reads the clock. A day without a year is
the next one on or after the writing day when `future`, else the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
MONTH = {name[:n]: at for at, name in enumerate(MONTHS, 1) for n in (3, len(name))} | {"sept": 9}
WEEKDAYS = {name: at for at, name in enumerate("mon tue wed thu fri sat sun".split())}  # noqa: SIM905
KO_WEEKDAYS = {name: at for at, name in enumerate("월화수목금토일")}

_MONTH = "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_DAY = "(mon|tue|wed|thu|fri|sat|sun)(?:day|s|nesday|rs|rsday|urday|sday)?"
_SPELLED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("iso", re.compile(r"(?<![\d/.-])(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?![\d/]|[.-]\d)")),
    ("ko", re.compile(r"(?:(\d{4})년\s*)?(?<!\d)(\d{1,2})월\s*(\d{1,2})일")),
    ("us", re.compile(rf"\b{_MONTH}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(\d{{4}}))?", re.I)),
    ("eu", re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b\.?(?:,?\s+(\d{{4}}))?", re.I)),
    ("slash", re.compile(r"(?<![\d/.#\w-])(\d{1,2})/(\d{1,2})(?![\d/%]|\.\d)")),
)
_RELATIVE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("0", re.compile(r"\btoday\b|\btonight\b|오늘", re.I)),
    ("1", re.compile(r"\btomorrow\b|내일", re.I)),
    ("2", re.compile(r"\bday after tomorrow\b|모레", re.I)),
    ("-1", re.compile(r"\byesterday\b|어제", re.I)),
    ("next", re.compile(rf"\bnext\s+{_DAY}\b", re.I)),
    ("this", re.compile(rf"\b(?:by|before|until|on|this|due)\s+{_DAY}\b", re.I)),
    ("ko-next", re.compile(r"다음\s*주\s*([월화수목금토일])(?:요일)?")),
    ("ko-this", re.compile(r"(?:이번\s*주\s*)?(?<![가-힣])([월화수목금토일])요일")),
)
_RELATED = re.compile(
    r"day\b|tomorrow|tonight|오늘|내일|모레|어제|요일|다음\s*주|\b(?:mon|tue|wed|thu|fri|sat|sun)", re.I
)
_MONTHLY = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I)
MAYBE = re.compile(r"\d|day\b|tomorrow|tonight|오늘|내일|모레|어제|요일|다음\s*주", re.I)


@dataclass(frozen=True, slots=True)
class Mention:
    """A day a text names: where (offsets), which, and whether the text itself spells the day of the month."""

    start: int
    end: int
    day: date
    spelled: bool


def find(text: str, written: date, future: bool = True) -> list[Mention]:
    """Every day named in `text`, in order; overlapping readings keep the first found (the most explicit)."""
    if not MAYBE.search(text):
        return []
    found: list[Mention] = []
    for mention in _all(text, written, future):
        if not any(mention.start < other.end and other.start < mention.end for other in found):
            found.append(mention)
    return sorted(found, key=lambda m: m.start)


def _all(text: str, written: date, future: bool) -> Iterator[Mention]:
    monthly = _MONTHLY.search(text) is not None
    marked = {"iso": "-" in text or "/" in text or "." in text, "ko": "월" in text, "slash": "/" in text}
    for form, pattern in _SPELLED:
        if not marked.get(form, monthly):
            continue
        for match in pattern.finditer(text):
            year, month, day = _numbers(form, match)
            made = _make(year, month, day, written, future)
            if made is not None:
                yield Mention(match.start(), match.end(), made, True)
    if not _RELATED.search(text):
        return
    for form, pattern in _RELATIVE:
        for match in pattern.finditer(text):
            yield Mention(match.start(), match.end(), _relative(form, match, written), False)


def _numbers(form: str, match: re.Match[str]) -> tuple[int, int, int]:
    a, b, c = (*(group or "" for group in match.groups()), "")[:3]
    if form in ("iso", "ko"):
        return int(a or 0), int(b), int(c)
    if form == "us":
        return int(c or 0), MONTH[a.lower()], int(b)
    if form == "eu":
        return int(c or 0), MONTH[b.lower()], int(a)
    return 0, int(a), int(b)


def _make(year: int, month: int, day: int, written: date, future: bool) -> date | None:
    try:
        if year:
            return date(year, month, day)
        around = [_day(written.year + n, month, day) for n in (-1, 0, 1)]
    except ValueError:
        return None
    days = [d for d in around if d is not None]
    if future:
        days = [d for d in days if d >= written] or days
    return min(days, key=lambda d: abs((d - written).days)) if days else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            raise
        return None  # 29 February of another year


def _relative(form: str, match: re.Match[str], written: date) -> date:
    if form.lstrip("-").isdigit():
        return written + timedelta(days=int(form))
    name = match[1].lower()
    at = KO_WEEKDAYS[name] if form.startswith("ko") else WEEKDAYS[name]
    monday = written - timedelta(days=written.weekday())
    if form in ("next", "ko-next"):
        return monday + timedelta(days=7 + at)
    return written + timedelta(days=(at - written.weekday()) % 7)
