"""Reads the days that a question asks for, and distances into the past such as "3 days ago". Pure.

It reads English, Korean, Japanese and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import english, korean
from gitmem.text.dates import EASTERN_WEEKDAY_FORMS, ENGLISH_WEEKDAY_FORMS, SPOKEN_DAYS, date_of_weekday, find_weekdays
from gitmem.text.languages import EASTERN

# `Jun` in a question is as often a person as a month, so June and July have no short names.
_ASKED_MONTH = "|".join(name if len(name) < 5 else f"{name}|{name[:3]}" for name in english.MONTHS) + "|sept"
# `may` and `march` are also verbs: as months they follow a preposition or stand beside a number.
_NAMED = lazy(
    rf"(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<month>{_ASKED_MONTH})\b\.?"
    rf"(?:\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_PREPOSITION = lazy(
    r"\b(?:in|on|of|during|until|till|since|by|from|to|last|this|next|late|early|mid)[\s-]+$", re.IGNORECASE
)
_EASTERN = lazy(
    r"(?:(?P<year>(?:19|20)?\d\d)\s*[년年]\s*)?(?P<month>\d{1,2})\s*[월月](?:\s*(?P<day>\d{1,2})\s*[일日号])?"
)
_ISO = lazy(r"(?<!\d)(?P<year>(?:19|20)\d\d)[-./](?P<month>\d{1,2})(?:[-./](?P<day>\d{1,2}))?(?!\d)")
_YEAR = lazy(r"(?<![\d.\-/])(?P<year>(?:19|20)\d\d)(?![\d.\-/])\s*[년年]?(?!\s*\d{1,2}\s*[월月])")


class PastTime(NamedTuple):
    """A time with a name, such as "last week" or "어제". `english`: its English name, "" without one. `eastern`: its
    Korean, Japanese and Chinese names. `unit`: year, month, week or day. `number`: how many units back it is; 0 for the
    present one."""

    english: str
    eastern: tuple[str, ...]
    unit: str
    number: int


# `재작년` comes before `작년`, which it contains.
PAST_TIMES: tuple[PastTime, ...] = (
    *(
        PastTime(
            english.TIMES_BACK.get((unit, number), ""),
            tuple(chain.from_iterable(each.TIMES_BACK.get((unit, number), ()) for each in EASTERN)),
            unit,
            number,
        )
        for unit in ("year", "month", "week")
        for number in (2, 1, 0)
    ),
    *(PastTime(english.NEAR_DAYS[away][0], names, "day", -away) for away, names in SPOKEN_DAYS if away <= 0),
)
_WORDS_IN_ENGLISH = {name: lazy(rf"\b{name}\b", re.IGNORECASE) for name, _, _, _ in PAST_TIMES if name}
_COUNTS = english.ARTICLES | {word: number for word, number in english.NUMBERS.items() if number <= 12} | korean.COUNTS
_UNITS = {unit: kind for each in EASTERN for unit, kind in each.TIME_UNITS.items()}
_SPAN_ENGLISH = (
    r"(?P<count>\d{1,4}|" + "|".join(word for word in sorted(_COUNTS, key=len, reverse=True) if word.isascii())
    + r")\s+(?P<unit>minute|hour|day|week|month|year)s?\b"
)  # fmt: skip
# A number word does not follow another word (`만두 주`); "이 주" means this week as often as two weeks.
_SPAN_EASTERN = (
    r"(?:(?P<count2>\d{1,4}|(?<![가-힣])(?:" + "|".join(
        word for word in sorted(_COUNTS, key=len, reverse=True) if not word.isascii() and word != "이"
    ) + r"))\s*(?P<unit2>" + "|".join(sorted(_UNITS, key=len, reverse=True)) + r")|(?<![가-힣])(?P<days>"
    + "|".join(korean.DAYS) + "))"
)  # fmt: skip
_AGO = (
    lazy(rf"\b{_SPAN_ENGLISH}\s+ago\b", re.IGNORECASE),
    lazy(rf"{_SPAN_EASTERN}\s*(?:전(?![체화원문])|前)"),
)
_LAST = (
    lazy(rf"\b(?:last|past)\s+{_SPAN_ENGLISH}", re.IGNORECASE),
    lazy(rf"(?:지난|최근)\s*{_SPAN_EASTERN}(?:간|\s*동안)?(?!\s*[전요차째])"),
)
_EASTERN_WEEKDAYS = ("요일", "曜", "周", "週", "星期", "礼拜", "禮拜")
# An English text without one of these has no relative day.
_CUES = ("today", "yesterday", "last", "past", "this", "ago", *english.WEEKDAYS)


class Days(NamedTuple):
    """The days that a question asks for: `first` to `last`, or if these are None the month (and day) of any year.

    `month`: 1 to 12, else 0. `day`: the day of that month, 0 for all of its days.
    """

    first: date | None = None
    last: date | None = None
    month: int = 0
    day: int = 0

    def match(self, when: date) -> float:
        """How well the day `when` fits the question: 1.0 if the question asks for it; 0.5 up to 7 days after `last`;
        for a day without a year 0.7 up to 10 days after that day and 0.3 elsewhere in its month; else 0.0. Logs are
        often written late."""
        if self.first is not None and self.last is not None:
            if self.first <= when <= self.last:
                return 1.0
            late = (when - self.last).days
            if 0 < late <= 7:
                return 0.5
            return 0.0
        if self.day:
            try:
                day = date(when.year, self.month, self.day)
            except ValueError:
                return 0.0
            late = (when - day).days
            if late == 0:
                return 1.0
            if 0 < late <= 10:
                return 0.7
            if when.month != self.month:
                return 0.0
            return 0.3
        if when.month != self.month:
            return 0.0
        return 1.0


# From a named day on: `since Monday`, `3일 전 이후`, `先週から`.
_SINCE = lazy(r"\bsince\b|이후|이래|부터|以来|以降|以后|以後|から", re.IGNORECASE)


def days_in_question(text: str, today: date) -> list[Days]:
    """The days that a question asks for, with relative days counted from `today`; [] for a question without any. The
    order is not that of the text, and spans may overlap."""
    spans: list[Days] = []
    lower = text.lower()
    has_digits = any(c.isdigit() for c in text)
    names_month = any(name[:3] in lower for name in english.MONTHS)
    if text.isascii() and not has_digits and not names_month and not any(cue in lower for cue in _CUES):
        return spans
    of_week, remaining = weekdays_in_question(text, lower, today)
    spans += of_week
    for name, words, unit, count in PAST_TIMES:
        if _names_it(remaining, lower, name, words):
            spans.append(span_ago(unit, count, today))
            if name:
                remaining = _WORDS_IN_ENGLISH[name].sub(" ", remaining)
            for word in words:
                remaining = remaining.replace(word, " ")
    # `회의 30분 전` is before a meeting: minutes and hours count from now only with `ago` or at a question's start.
    spans += [
        span_ago(ago.unit, ago.number, today)
        for ago in find_times_ago(text)
        if ago.unit not in ("minute", "hour") or not ago.start or (text[ago.start].isascii() and "ago" in lower)
    ]
    starts = [_start(last, today) for last in find_spans_up_to_now(text)]
    spans += [Days(start, today) for start in starts if start is not None]
    years: list[int] = []
    if has_digits:
        years = [int(match["year"]) for match in _YEAR.finditer(text)]
    has_eastern = has_digits and ("월" in text or "月" in text)
    forms = ((_ISO, has_digits), (_NAMED, names_month), (_EASTERN, has_eastern))
    for pattern in [pattern for pattern, is_possible in forms if is_possible]:
        dates = (_calendar_days(match, text, years) for match in pattern.finditer(text))
        spans += [days for days in dates if days is not None]
    if not any(item.first or item.month for item in spans):
        spans += [Days(date(year, 1, 1), date(year, 12, 31)) for year in years]
    if _SINCE.search(text):
        spans = [Days(item.first, today) if item.first and item.first <= today else item for item in spans]
    return spans


def _calendar_days(match: re.Match[str], text: str, years: list[int]) -> Days | None:
    """The days of a match of _ISO, _NAMED or _EASTERN in `text`; None if it is no date. `years`: the years that the
    question names; if they are one and the same, it is the year of a match without one."""
    groups = match.groupdict()
    name = groups["month"].lower()
    if name.isdigit():
        month = int(name)
    else:
        month = 1 + [m[:3] for m in english.MONTHS].index(name[:3])
    day = int(groups["day"] or groups.get("before") or 0)
    may_be_verb = name in ("may", "march", "mar") and not (day or groups["year"])
    if may_be_verb and not _PREPOSITION.search(text[: match.start()]):
        return None
    if not 1 <= month <= 12 or day > 31:
        return None
    year = int(groups["year"] or 0)
    if 0 < year < 100:
        year += 2000
    if not year and len(set(years)) == 1:
        year = years[0]
    return month_days(year, month, day)


class TimeAgo(NamedTuple):
    """A distance into the past that a text names. `start`, `end`: its offsets. `unit`: minute, hour, day, week, month
    or year. `number`: how many of them."""

    start: int
    end: int
    unit: str
    number: int


def find_times_ago(text: str) -> Iterator[TimeAgo]:
    """The distances into the past that a text names: `3 days ago`, `two hours ago`, `3일 전`, `이틀 전`, `한 시간
    전`."""
    if "전" in text or "前" in text or "ago" in text.lower():
        yield from _back(text, _AGO)


def find_spans_up_to_now(text: str) -> Iterator[TimeAgo]:
    """The spans up to now that a text names, by their length: `last 3 days`, `past two weeks`, `지난 3일간`, `최근 한
    달`."""
    if any(word in text for word in ("지난", "최근")) or any(word in text.lower() for word in ("last", "past")):
        for back in _back(text, _LAST):
            phrase = text[back.start : back.end]
            if not (phrase.startswith("지난") and phrase.endswith("일") and any(c.isdigit() for c in phrase)):
                yield back  # `지난 3일` can also be the third of this month; `지난 3일간` cannot


def _back(text: str, forms: Iterable[re.Pattern[str]]) -> Iterator[TimeAgo]:
    for form in forms:
        for match in form.finditer(text):
            groups = match.groupdict()
            if groups.get("days"):
                yield TimeAgo(*match.span(), "day", korean.DAYS[groups["days"]])
                continue
            number = (groups.get("count") or groups["count2"]).lower()
            if groups.get("unit"):
                unit = groups["unit"].lower()
            else:
                unit = _UNITS[groups["unit2"]]
            yield TimeAgo(*match.span(), unit, _COUNTS.get(number) or int(number))


def weekdays_in_question(text: str, lower: str, today: date) -> tuple[list[Days], str]:
    """The days of the week in a question, each as a span of one day, and the text with blanks in their place. `lower`:
    the text in lower case.

    A weekday without a week is the latest one up to `today`, since most questions are about the past.
    """
    if any(name in lower for name in english.WEEKDAYS):
        forms = ENGLISH_WEEKDAY_FORMS
    else:
        forms = ()
    if not text.isascii() and any(name in text for name in _EASTERN_WEEKDAYS):
        forms = (*forms, *EASTERN_WEEKDAY_FORMS)
    days: list[Days] = []
    remaining = text
    for match, week, weekday in find_weekdays(text, forms):
        if remaining[match.start() : match.end()] == match[0]:  # not read by an earlier form
            latest = today - timedelta(days=(today.weekday() - weekday) % 7)
            day = latest if week == "near" else date_of_weekday(week, weekday, today)
            days.append(Days(day, day))
            remaining = remaining[: match.start()] + " " * len(match[0]) + remaining[match.end() :]
    return days, remaining


def _start(last: TimeAgo, today: date) -> date | None:
    """The first day of a span of this length that ends `today`; None before the year 1."""
    if last.unit in ("minute", "hour"):
        return span_ago(last.unit, last.number, today).first
    return day_ago(last.unit, last.number, today)


def _names_it(text: str, lower: str, name: str, words: tuple[str, ...]) -> bool:
    """Whether a text has one of a time's names. `lower`: the text in lower case. `name`: the English one, "" for none.
    `words`: the others."""
    if not text.isascii() and any(word in text for word in words):
        return True
    return bool(name) and name in lower and _WORDS_IN_ENGLISH[name].search(text) is not None


def month_days(year: int, month: int, day: int) -> Days:
    """The days of a month, or of one `day` of it (0 for all). `year` 0 means any year. A day that the calendar lacks
    gives `Days` without `first` and `last`."""
    if not year:
        return Days(month=month, day=day)
    try:
        if day:
            return Days(date(year, month, day), date(year, month, day))
        after = date(year + month // 12, month % 12 + 1, 1)
        return Days(date(year, month, 1), after - timedelta(1))
    except ValueError:
        return Days(month=month, day=day)


def span_ago(unit: str, count: int, today: date) -> Days:
    """The day, week (from Monday), month or year that is `count` units before that of `today`.

    For minutes and hours it is the days in which that moment may lie, since the time of day is unknown here. `today`
    alone if the calendar has no such time.
    """
    try:
        if unit in ("minute", "hour"):
            hours = count if unit == "hour" else -(-count // 60)
            return Days(today - timedelta(-(-hours // 24)), today)
        if unit == "day":
            day = today - timedelta(count)
            return Days(day, day)
        if unit == "week":
            monday = today - timedelta(today.weekday() + 7 * count)
            return Days(monday, monday + timedelta(6))
        if unit == "month":
            months = today.year * 12 + today.month - 1 - count
            return month_days(months // 12, months % 12 + 1, 0)
        return Days(date(today.year - count, 1, 1), date(today.year - count, 12, 31))
    except (ValueError, OverflowError):
        return Days(today, today)


def day_ago(unit: str, count: int, today: date) -> date | None:
    """The day that is `count` units before `today`; the last day of the month if that month is shorter. None before the
    year 1. `unit`: day, week or year; any other counts as months, also minute and hour."""
    try:
        if unit in ("day", "week"):
            return today - timedelta(count * (7 if unit == "week" else 1))
        months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
        last = month_days(months // 12, months % 12 + 1, 0).last
        if last is None:
            return None
        return last.replace(day=min(last.day, today.day))
    except (ValueError, OverflowError):
        return None
