"""Reads until when something holds according to a text: the end of a week, month, quarter or year. Pure.

It reads English, Korean, Japanese and Chinese. `dates.find_days` reads a plain day (`until 3 March`).
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import english, korean
from gitmem.text.dates import AFTER_YEAR, MONTH, MONTH_NAME
from gitmem.text.languages import LANGUAGES


class Ending(NamedTuple):
    """A week, month, quarter or year until which something holds. `start`, `end`: its offsets in the text. `day`: its
    last day."""

    start: int
    end: int
    day: date


_UNTIL = r"\b(?i:until|till|through|thru)\s+(?i:the\s+)?"
_BY_THE_END = r"(?:\b(?i:until|till|through|thru|by)\s+(?:the\s+)?(?i:end)\s+of\s+(?i:the\s+)?)"
# `may` and `march` are also verbs: as months they have a capital letter, or follow a word like "end of".
_MONTH_UNTIL = lazy(
    rf"(?:{_BY_THE_END}|{_UNTIL})(?P<month>{'|'.join(name.capitalize() for name in MONTH)}|{'|'.join(MONTH).upper()})\b"
    r"\.?(?:,?\s+(?P<year>20\d\d)\b|(?!,?\s+\d|[-_/]\w))"
)
_YEAR_UNTIL = lazy(rf"(?:{_BY_THE_END}|{_UNTIL})(?P<year>20\d\d)\b(?![-./]\w){AFTER_YEAR}")
_QUARTER_UNTIL = lazy(rf"(?:{_BY_THE_END}|{_UNTIL})[qQ](?P<quarter>[1-4])\b(?:,?\s+(?P<year>20\d\d)\b)?")
_NAMED_UNTIL = lazy(
    rf"(?:{_BY_THE_END}(?P<which>(?:this|next)\s+)?|{_UNTIL}(?P<other>(?:this|next)\s+))(?P<unit>week|month|quarter|year)\b",
    re.IGNORECASE,
)
# `3월까지`, `9월 말까지`, `2026년까지`; `3月まで`, `2月末まで`; `到3月底`, `3月底前`. The middle of a month is no end.
_EASTERN_UNTIL = lazy(
    r"(?:(?<!\d)(?P<year>\d{4})\s*[년年]\s*)?(?<!\d)(?P<month>\d{1,2})\s*(?:월\s*(?:말일?|중)?\s*까지"
    r"|月(?:末|いっぱい|中)?まで|月[底末](?:之前|以前|前(?![后後])|[为為]止))"
    r"|(?:截?至|到)\s*(?:(?P<year2>\d{4})年)?(?P<month2>\d{1,2})月[底末]?(?:[为為]止)?(?![\d初中上下旬月份]|\s*\d)"
)
_EASTERN_YEAR_UNTIL = lazy(
    r"(?<!\d)(?P<year>20\d\d)\s*(?:년\s*(?:말|연말)?\s*까지|年(?:末|いっぱい)?まで|年[底末](?:之前|以前|前|[为為]止))"
    r"|(?:截?至|到)\s*(?P<year2>20\d\d)年[底末](?:[为為]止)?"
)
_BEFORE = "(?:之前|前(?![后後])|[内內])"
# (unit, how many of it ahead, its names before a word like "until").
_SPOKEN_UNTIL: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (unit, ahead, lazy(rf"(?:{korean})\s*말?\s*까지|(?:{japanese})まで|(?:{chinese})[底末]?{_BEFORE}"))
    for unit, ahead, korean, japanese, chinese in (
        ("month", 0, r"이번\s*달|이달|(?<![가-힣])월(?=말)", r"今月(?:末|いっぱい)?|(?<!\d)月末", "[这這本][个個]?月"),
        ("month", 0, "(?!)", "(?!)", r"(?<![\d个個])月(?=底)"),
        ("month", 1, r"다음\s*달|내달", "来月(?:末|いっぱい)?", "下[个個]?月"),
        ("year", 0, "올해|(?<![가-힣])연(?=말)", r"今年(?:末|いっぱい)?|(?<!\d)年末", r"今年|(?<!\d)年(?=底)"),
        ("year", 1, "내년", "来年(?:末|いっぱい)?", "明年"),
        ("week", 0, r"이번\s*주", "今週(?:末|いっぱい)?", "[这這本][个個]?[周週]"),
        ("week", 1, r"다음\s*주", "来週(?:末|いっぱい)?", "下[个個]?[周週]"),
    )
)  # fmt: skip
# A season that comes again (`from November until March`, `11월부터 3월까지`) does not end.
_BEGINS = lazy(
    rf"\b(?:from|between)\b[^.;]{{1,30}}$|\b(?:{MONTH_NAME})\s*$|[월月][^.。;]{{0,4}}(?:부터|から|〜|~|-)\s*$"
    r"|[从從自][^.。;]{1,12}$",
    re.IGNORECASE,
)
_ENDS = lazy(r"until|till|thr(?:ough|u)|\bend\b|까지|まで|[前止至到]", re.IGNORECASE)
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}


def find_endings(text: str, written: date) -> list[Ending]:
    """The weeks, months, quarters and years until which something holds according to `text`, ordered by offset.

    `written`: the day on which the text was written. A month without a year is the next one, counted from the month of
    `written`. A season that comes again (`from November until March`) has no end.
    """
    if not _ENDS.search(text) or not date.min + timedelta(days=62) < written < date(9990, 1, 1):
        return []
    endings: list[Ending] = []
    for match in chain(_MONTH_UNTIL.finditer(text), _EASTERN_UNTIL.finditer(text)):
        groups = match.groupdict()
        month_name = groups["month"] or groups["month2"]
        month = int(month_name) if month_name.isdigit() else MONTH[month_name.lower()]
        year = int(groups["year"] or groups.get("year2") or 0) or written.year + (month < written.month)
        season = not (groups["year"] or groups.get("year2")) and _BEGINS.search(text[: match.start()])
        if 1 <= month <= 12 and written.year - 100 < year < 9990 and not season:
            endings.append(Ending(*match.span(), _last_of(year, month)))
    for match in _QUARTER_UNTIL.finditer(text):
        month = 3 * int(match["quarter"])
        endings.append(
            Ending(*match.span(), _last_of(int(match["year"] or written.year + (month < written.month)), month))
        )
    for match in chain(_YEAR_UNTIL.finditer(text), _EASTERN_YEAR_UNTIL.finditer(text)):
        endings.append(Ending(*match.span(), date(int(match["year"] or match["year2"]), 12, 31)))
    for match in _NAMED_UNTIL.finditer(text):
        ahead = int((match["which"] or match["other"] or "").strip().lower() == "next")
        endings.append(Ending(*match.span(), _end_of(match["unit"].lower(), ahead, written)))
    for unit, ahead, pattern in _SPOKEN_UNTIL:
        endings += [Ending(*match.span(), _end_of(unit, ahead, written)) for match in pattern.finditer(text)]
    return sorted(endings)


_NUMBERS = {"a": 1, "an": 1, **english.NUMBERS, **korean.COUNTS}
_DAYS_OF = {
    "hour": 0, "day": 1, "week": 7, "month": 31,
    "일": 1, "주": 7, "주일": 7, "일주일": 7, "개월": 31, "달": 31, **korean.DAYS,
}  # fmt: skip
_PAUSED_FOR = lazy(
    r"(?<!was )(?<!were )(?<!had been )\b(?:paused|suspended|on hold|on pause|frozen|closed)\b[^.;,]{0,30}?\bfor\s+"
    rf"(?:the\s+next\s+)?(?P<count>{'|'.join(word for word in _NUMBERS if word.isascii())}|\d{{1,2}})\s+"
    r"(?P<unit>hour|day|week|month)s?\b"
    rf"|(?:(?P<ko_count>\d{{1,2}}|[한두세네])\s?)?(?P<ko_unit>{'|'.join(korean.DAYS)}|일주일|일|주일?|개월|달)\s?(?:간|동안)\s?"
    r"(?:일시\s?|잠시\s?)?(?:중단|중지|정지|휴무|보류)(?:한다|된다|합니다|됩니다|하기로|할\b|이다|\s*[.,;)]|\s*$)",
    re.IGNORECASE,
)


def end_of_pause(text: str, written: date) -> date | None:
    """The last day of a pause that begins on the day `written` and whose length the text says ("paused for a week",
    "일주일간 중단한다"); None for a text without one, and for a pause that is over ("was paused")."""
    match = _PAUSED_FOR.search(text)
    if match is None or not written < date(9990, 1, 1):
        return None
    count = match["count"] or match["ko_count"] or "1"
    number = _NUMBERS.get(count.lower()) or int(count)
    return written + timedelta(days=number * _DAYS_OF[(match["unit"] or match["ko_unit"]).lower()])


def _last_of(year: int, month: int) -> date:
    """The last day of a month."""
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _end_of(unit: str, ahead: int, today: date) -> date:
    """The last day of the week, month, quarter or year that is `ahead` units after that of `today`. A week ends on
    Sunday."""
    if unit == "week":
        return today + timedelta(days=6 - today.weekday() + 7 * ahead)
    length = _MONTHS_OF[unit]
    months = today.year * 12 + (today.month - 1) // length * length + length - 1 + length * ahead
    return _last_of(months // 12, months % 12 + 1)


_FROM_NOW_ON = lazy("|".join(each.FROM_NOW_ON for each in LANGUAGES), re.IGNORECASE)


def holds_from_now_on(text: str) -> bool:
    """Whether a text has a phrase such as `from now on` or `앞으로`. A day of the week in such a text means every
    week."""
    return _FROM_NOW_ON.search(text) is not None
