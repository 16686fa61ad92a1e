"""Reads the days, months and years that a text names, in English, Korean, Japanese and Chinese. Pure.

`find_days` returns days with their place in the text (`3/14`, `2월 20일`, `tomorrow`, `来週の金曜`), `find_periods`
months and years. The caller passes the day on which the text was written; relative days count from it. `last_days`
reads until when something holds, and `day_spans` the days that a question asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import english
from gitmem.text.languages import EASTERN

MONTH = {name[:n]: at for at, name in enumerate(english.MONTHS, 1) for n in (3, len(name))} | {"sept": 9}
MONTH_NAME = "|".join(sorted(MONTH, key=len, reverse=True))
# (name, distance from today in days); a name that contains another one comes first.
SPOKEN_DAYS = tuple(
    (away, tuple(chain.from_iterable(each.NEAR_DAYS[away] for each in EASTERN))) for away in (-2, 2, -1, 1, 0)
)

_WEEKDAYS = {
    name: at
    for names in (
        ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
        "월화수목금토일",
        "月火水木金土日",
        "一二三四五六天",
    )
    for at, name in enumerate(names)
}
_DAY = "(mon|tue|wed|thu|fri|sat|sun)(?:day|s|nesday|rs|rsday|urday|sday)?"
_DAY_JAPANESE = "([月火水木金土日])曜日?"
_WEEK_CHINESE = "(?:周|週|星期|礼拜|禮拜)"
# Letters that make another word of a day's name: `그제야` (only then), `大前天` (three days ago), `后天性` (acquired).
_EXACT = {"그제": "그제(?!서?야)", "前天": "(?<!大)前天", "后天": "(?<!大)后天(?!性)", "後天": "(?<!大)後天(?!性)"}
_CALENDAR_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("iso", lazy(r"(?<![\d/.-])(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?![\d/]|[.-]\d)")),
    ("eastern", lazy(r"(?:(\d{4})[년年]\s*)?(?<!\d)(\d{1,2})[월月]\s*(\d{1,2})[일日号號]")),
    ("us", lazy(rf"\b({MONTH_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(\d{{4}}))?", re.IGNORECASE)),
    ("eu", lazy(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH_NAME})\b\.?(?:,?\s+(\d{{4}}))?", re.IGNORECASE)),
    # After a letter of a script without spaces (`は2/5`), but not after "of", "about" and "the ...th".
    ("slash", lazy(r"(?<![\d/.#-])(?<![^\W가-힣ぁ-ヿ一-鿿])(?<![의の약約제第])(\d{1,2})/(\d{1,2})(?![\d/%]|\.\d)")),
)
_ENGLISH_DAYS = {away: rf"\b(?:{'|'.join(names)})\b" for away, names in english.NEAR_DAYS.items()}
_SPOKEN = tuple(
    (away, lazy("|".join((_ENGLISH_DAYS[away], *(_EXACT.get(name, name) for name in names))), re.IGNORECASE))
    for away, names in SPOKEN_DAYS
)
# A day of the week: in the next week, in the last week, the latest one (`past`), the coming one (`due`), or the nearest
# one (`near`). `周三` after a number counts weeks (`一周三次`).
ENGLISH_WEEKDAY_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("next", lazy(rf"\bnext\s+{_DAY}\b", re.IGNORECASE)),
    ("last", lazy(rf"\b(?:last\s+week(?:['’]s)?\s+(?:on\s+)?{_DAY}|{_DAY}\s+(?:of\s+)?last\s+week)\b", re.IGNORECASE)),
    ("past", lazy(rf"\b(?:last|past)\s+{_DAY}\b", re.IGNORECASE)),
    ("due", lazy(rf"\b(?:by|before|until|this|due)\s+{_DAY}\b", re.IGNORECASE)),
    ("near", lazy(rf"\bon\s+{_DAY}\b", re.IGNORECASE)),
)
EASTERN_WEEKDAY_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("next", lazy(r"다음\s*주\s*([월화수목금토일])(?:요일|(?![가-힣])|(?=까지|에))")),
    ("next", lazy(rf"来週の?\s*{_DAY_JAPANESE}")),
    ("next", lazy(rf"下[个個]?{_WEEK_CHINESE}([一二三四五六日天])")),
    ("last", lazy(r"(?:지난|저번)\s*주\s*([월화수목금토일])요일")),
    ("last", lazy(rf"先週の?\s*{_DAY_JAPANESE}")),
    ("last", lazy(rf"上[个個]?{_WEEK_CHINESE}([一二三四五六日天])")),
    ("past", lazy(r"(?:지난|저번)\s*([월화수목금토일])요일")),
    ("past", lazy(rf"前の\s*{_DAY_JAPANESE}")),
    (
        "due",
        lazy(
            rf"(?:이번\s*주\s*([월화수목금토일])요일|今週の?\s*{_DAY_JAPANESE}|[这這本][个個]?{_WEEK_CHINESE}([一二三四五六日天]))"
        ),
    ),
    ("due", lazy(rf"(?<![가-힣])([월화수목금토일])요일(?=까지|\s*(?:전|이전)까지)|{_DAY_JAPANESE}(?=まで)")),
    ("near", lazy(r"(?<![가-힣])([월화수목금토일])요일")),
    ("near", lazy(_DAY_JAPANESE)),
    ("near", lazy(rf"(?<![\d一二两兩三四五六七八九十几幾每个個]){_WEEK_CHINESE}([一二三四五六日天])(?![个個次遍])")),
)
_EASTERN_RELATED = (
    r"오늘|내일|모레|어제|그저께|그제|요일|다음\s*주|[日天曜周週夜晩晚]|星期|礼拜|禮拜|あした|あさって|きのう|おととい"
)
_MAX_RELATIVE_DISTANCE = timedelta(days=31)  # longer than the distance of any relative day
_RELATED = lazy(rf"day\b|tomorrow|tonight|{_EASTERN_RELATED}|\b(?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_MONTHLY = lazy(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_MAYBE = lazy(rf"\d|day\b|tomorrow|tonight|{_EASTERN_RELATED}", re.IGNORECASE)


class Mention(NamedTuple):
    """A day that a text names. `start`, `end`: its offsets in the text. `states_day`: whether the text states the day
    of the month (`3/14`), and not a day relative to another one (`tomorrow`, `Friday`)."""

    start: int
    end: int
    day: date
    states_day: bool


def find_days(text: str, written: date, future: bool = True) -> list[Mention]:
    """The days that `text` names, ordered by offset. Where two matches overlap, the more explicit form counts: `3/14`
    before `Friday`.

    `written`: the day on which the text was written; relative days count from it. A day without a year is the next one
    on or after `written` if `future`, else the nearest one. A day that the calendar lacks is left out.
    """
    if not _MAYBE.search(text):
        return []
    mentions: list[Mention] = []
    for mention in _candidates(text, written, future):
        if not any(mention.start < other.end and other.start < mention.end for other in mentions):
            mentions.append(mention)
    return sorted(mentions, key=lambda m: m.start)


def _candidates(text: str, written: date, future: bool) -> Iterator[Mention]:
    """Every reading of a day in `text`, the most explicit forms first. The readings may overlap. `written`, `future`:
    as in `find_days`."""
    names_month = _MONTHLY.search(text) is not None
    may_have = {
        "iso": "-" in text or "/" in text or "." in text,
        "eastern": "월" in text or "月" in text,
        "slash": "/" in text,
    }
    for form, pattern in _CALENDAR_FORMS:
        if not may_have.get(form, names_month):
            continue
        for match in pattern.finditer(text):
            year, month, day = _year_month_day(form, match)
            named_day = _date_of(year, month, day, written, future)
            if named_day is not None:
                yield Mention(match.start(), match.end(), named_day, states_day=True)
    if not _RELATED.search(text):
        return
    if not date.min + _MAX_RELATIVE_DISTANCE < written < date.max - _MAX_RELATIVE_DISTANCE:
        return  # the calendar of Python ends with the years 1 and 9999
    for away, pattern in _SPOKEN:
        for match in pattern.finditer(text):
            yield Mention(match.start(), match.end(), written + timedelta(days=away), states_day=False)
    for match, week, weekday in find_weekdays(text, (*ENGLISH_WEEKDAY_FORMS, *EASTERN_WEEKDAY_FORMS)):
        yield Mention(match.start(), match.end(), date_of_weekday(week, weekday, written), states_day=False)


def find_weekdays(text: str, forms: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[re.Match[str], str, int]]:
    """The function yields (match, form, weekday from 0 for Monday) for each match of a pattern. `forms`: (form,
    pattern) pairs; a form is `next`, `last`, `past`, `due` or `near`, as `date_of_weekday` reads it. The matches come
    in the order of `forms`, then of the text, and may overlap."""
    for week, pattern in forms:
        for match in pattern.finditer(text):
            yield match, week, _WEEKDAYS[next(filter(None, match.groups())).lower()]


def date_of_weekday(week: str, weekday: int, today: date) -> date:
    """The date of a weekday, counted from `today`.

    `week`: `next` and `last` are in the week after and before; `past` is the latest before `today`; `due` and `near`
    are the first on or after `today`. `weekday`: 0 for Monday.
    """
    monday = today - timedelta(days=today.weekday())
    if week == "next":
        return monday + timedelta(days=7 + weekday)
    if week == "last":
        return monday + timedelta(days=weekday - 7)
    if week == "past":
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def _year_month_day(form: str, match: re.Match[str]) -> tuple[int, int, int]:
    """(year, month, day) of a match of a calendar form; the year is 0 when the text has none. `form`: a key of
    `_CALENDAR_FORMS`."""
    a, b, c = (*(group or "" for group in match.groups()), "")[:3]
    if form in ("iso", "eastern"):
        return int(a or 0), int(b), int(c)
    if form == "us":
        return int(c or 0), MONTH[a.lower()], int(b)
    if form == "eu":
        return int(c or 0), MONTH[b.lower()], int(a)
    return 0, int(a), int(b)


def _date_of(year: int, month: int, day: int, written: date, future: bool) -> date | None:
    """The date with this year (0: unknown), month and day; None for a day that the calendar lacks. Without a year it is
    the nearest to `written`; with `future` the nearest that is not before `written`, if there is one."""
    try:
        if year:
            return date(year, month, day)
        around = [_date_or_none(written.year + n, month, day) for n in (-1, 0, 1)]
    except ValueError:
        return None
    days = [d for d in around if d is not None]
    if future:
        days = [d for d in days if d >= written] or days
    if not days:
        return None
    return min(days, key=lambda d: abs((d - written).days))


def _date_or_none(year: int, month: int, day: int) -> date | None:
    """The date; None for 29 February of a year without it. Raises ValueError for a month or a day that no calendar
    has."""
    try:
        return date(year, month, day)
    except ValueError:
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            raise
        return None  # 29 February of another year


class Period(NamedTuple):
    """A month or a year that a text names. `start`, `end`: its offsets. `year`: 0 for a month without a year. `month`:
    0 for a year. The numbers are as written: no calendar may have them (month 13)."""

    start: int
    end: int
    year: int
    month: int


# A day alone is not a date: `5일` also means five days, and `the 5th` any fifth thing.
_MONTH_YEAR = lazy(rf"\b({MONTH_NAME})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_EASTERN_MONTH = lazy(r"(?:(?<!\d)(\d{4})[년年]\s*)?(?<!\d)(\d{1,2})[월月]")
# "in 2026" before a counted word ("in 2026 places") is not a year.
AFTER_YEAR = (
    r"(?=\s*(?:$|[^\w\s])|\s+(?:the|a|an|we|it|they|and|or|but|because|to|for|by|at|on|with|as|is|was|are|were|will)\b)"
)
_YEAR_OF = lazy(rf"\b(?:in|since|during)\s+(\d{{4}})\b{AFTER_YEAR}|(?<!\d)(\d{{4}})[년年]", re.IGNORECASE)


def find_periods(text: str) -> Iterator[Period]:
    """The months and years that `text` names, also those that are part of a day; years come after months. The numbers
    are not checked: a Korean, Japanese or Chinese month may be 0 or above 12."""
    for match in _MONTH_YEAR.finditer(text):
        yield Period(*match.span(), int(match[2]), MONTH[match[1].lower()])
    for match in _EASTERN_MONTH.finditer(text):
        yield Period(*match.span(), int(match[1] or 0), int(match[2]))
    for match in _YEAR_OF.finditer(text):
        yield Period(*match.span(), int(match[1] or match[2]), 0)
