"""Reads a time that a person typed as the value of an option: `2026-02-05`, `yesterday`, `지난주`, `3 days ago`, `11월
3일`.

The whole text must be a time; a text that only contains one is refused. For an option that also takes a revision, the
caller tries the revision first. A day or month without a year is the latest one that is not after today.
"""

# A search imports this: annotations are not postponed, and no pattern is compiled before its first use.
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

from gitmem.errors import UsageError
from gitmem.lazy_patterns import lazy
from gitmem.messages import Message
from gitmem.text import day_spans, english
from gitmem.text.dates import MONTH, MONTH_NAME
from gitmem.text.day_spans import Days, TimeAgo

FORMS = "YYYY-MM-DD, yesterday, last week, 3 days ago, 3 Nov, 어제, 지난주, 3일 전, 11월 3일"
MAX_TIME_CHARS = 100
MAX_YEARS_TO_LEAP_YEAR = 8  # from 1896 to 1904
_NOW = ("now", "지금")
_CALENDAR = (
    lazy(r"(?P<year>\d{4})[-./](?P<month>\d{1,2})(?:[-./](?P<day>\d{1,2}))?"),
    lazy(r"(?:(?P<year>\d{4})\s?[년年]\s?)?(?P<month>\d{1,2})\s?[월月](?:\s?(?P<day>\d{1,2})\s?[일日号號])?"),
    lazy(rf"(?P<month>{MONTH_NAME})\.?(?:\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?)?(?:,?\s(?P<year>\d{{4}}))?"),
    lazy(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{MONTH_NAME})\.?(?:,?\s(?P<year>\d{{4}}))?"),
    lazy(r"(?P<year>\d{4})\s?[년年]?"),
)
_WEEKDAY = lazy(r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?")


def first_day(text: str, now: datetime, option: str = "--since") -> date | None:
    """The first day of the time `text`, relative to `now`; None for "". Raises UsageError, whose message names
    `option`, if the text is no time (`named_days`)."""
    return _days_named(text, now, option).first if text else None


def last_day(text: str, now: datetime, option: str = "--until") -> date | None:
    """The last day of the time `text` (`last week` ends on Sunday); None for "". Raises UsageError, whose message names
    `option`, if the text is no time (`named_days`)."""
    return _days_named(text, now, option).last if text else None


def _days_named(text: str, now: datetime, option: str) -> Days:
    """The days that a text names. Raises UsageError, with the name of the option, for one that names none."""
    days = named_days(text, now)
    if days is None:
        raise UsageError(Message("{} takes a day, not '{}'", option, text[:40]), FORMS)
    return days


def named_days(text: str, now: datetime) -> Days | None:
    """The days that the time `text` means, relative to `now`; None if the whole text is not a time.

    A time is an ISO day (`2026-02-05`), a day near today (`yesterday`, `어제`), a week, month or year (`last week`,
    `지난주`, `11월`, `2025`), a day of the calendar (`3 Nov`, `11월 3일`), a day in the past (`3 days ago`, `2 hours
    ago`, `이틀 전`), the days up to today (`last 3 days`, `최근 일주일`), or a day of a week (`last Friday`, `지난주
    금요일`, `월요일`).
    """
    if len(text) > MAX_TIME_CHARS:
        return None
    text, today = " ".join(text.split()).lower(), now.date()
    if text in _NOW:
        return Days(today, today)
    try:
        return Days(date.fromisoformat(text), date.fromisoformat(text))
    except ValueError:
        pass
    for name, words, unit, count in day_spans.PAST_TIMES:
        if text in words or (name and text in (name, f"the {name}")):
            return day_spans.span_ago(unit, count, today)
    if (ago := _whole_match(text, day_spans.find_times_ago(text))) is not None:
        return _days(_before(ago, now), None)
    if (last := _whole_match(text, day_spans.find_spans_up_to_now(text))) is not None:
        return _days(_before(last, now), today)
    return _of_calendar(text, today) or _of_week(text, today)


def start_of(text: str, now: datetime) -> datetime | None:
    """The moment at which the time `text` begins: the moment itself for one like `2 hours ago`, else midnight of its
    first day. None if the whole text is not a time, and for an ISO time of day (`2026-02-05T10:00`), which only
    `end_of` reads."""
    if (minute := _to_the_minute(text, now)) is not None:
        return minute
    days = named_days(text, now)
    if days is None or days.first is None:
        return None
    return datetime.combine(days.first, time.min, now.tzinfo)


def _to_the_minute(text: str, now: datetime) -> datetime | None:
    """The moment of a text like `2 hours ago` or `30분 전`; None for any other text."""
    if len(text) > MAX_TIME_CHARS:
        return None
    text = " ".join(text.split()).lower()
    ago = _whole_match(text, day_spans.find_times_ago(text))
    if ago is not None and ago.unit in ("minute", "hour"):
        return _before(ago, now)
    return None


def _whole_match(text: str, times: Iterable[TimeAgo]) -> TimeAgo | None:
    """The distance that covers the whole text; None if there is none."""
    return next((back for back in times if (back.start, back.end) == (0, len(text))), None)


def _before(back: TimeAgo, now: datetime) -> datetime | None:
    """The moment that is `back` before `now`; None before the year 1."""
    if back.unit in ("minute", "hour"):
        try:
            return now - timedelta(minutes=back.number * (60 if back.unit == "hour" else 1))
        except OverflowError:
            return None
    day = day_spans.day_ago(back.unit, back.number, now.date())
    return datetime.combine(day, now.timetz()) if day is not None else None


def _days(first: datetime | None, last: date | None) -> Days | None:
    """The days from the day of `first` to `last`, or that single day if `last` is None. None if `first` is None."""
    return Days(first.date(), last or first.date()) if first is not None else None


def _of_calendar(text: str, today: date) -> Days | None:
    """The days of a day, month or year of the calendar; without a year the latest one that has begun by `today`. None
    if the text is something else or no such day exists."""
    match = next(filter(None, (form.fullmatch(text) for form in _CALENDAR)), None)
    if match is None:
        return None
    groups = match.groupdict()
    year, day = int(groups["year"] or 0), int(groups.get("day") or 0)
    if "month" not in groups:
        if not year:
            return None
        return Days(date(year, 1, 1), date(year, 12, 31))
    month = MONTH.get(groups["month"]) or int(groups["month"])
    if not 1 <= month <= 12 or (groups.get("day") and not day) or (groups["year"] and not year):
        return None
    for candidate in [year] if year else range(today.year, max(0, today.year - MAX_YEARS_TO_LEAP_YEAR - 1), -1):
        days = day_spans.month_days(candidate, month, day)
        if days.first is not None and (year or days.first <= today):
            return days
    return None


def _of_week(text: str, today: date) -> Days | None:
    """The day of a weekday, such as `friday`, `last friday` or `지난주 금요일`, as a span. None if the text is
    something else or names several."""
    if _WEEKDAY.fullmatch(text):
        text = "on " + next(name for name in english.WEEKDAYS if name[:3] == text[:3])
    of_week, remaining = day_spans.weekdays_in_question(text, text, today)
    return of_week[0] if len(of_week) == 1 and not remaining.strip() else None


def end_of(text: str, now: datetime) -> datetime | None:
    """The moment at which the time `text` ends: the moment itself for `2 hours ago` and for an ISO time, else the last
    microsecond of its last day. None if the whole text is not a time."""
    if (minute := _to_the_minute(text, now)) is not None:
        return minute
    days = named_days(text, now)
    if days is not None and days.last is not None:
        return datetime.combine(days.last, time.max, now.tzinfo)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=now.tzinfo)
