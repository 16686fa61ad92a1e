"""Read the days that a text names, in English, Korean, Japanese and Chinese.

Pure: the caller passes the day on which the text was written or asked. `find` returns days with their place in a text
(`3/14`, `2월 20일`, `tomorrow`, `来週の金曜`). `days` returns the time spans that a question may mean, `periods` the
months and years without a day, and `endings` the last days until which something holds.
"""

# A search imports this: no dataclass, no pattern compiled before its first use.

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import english, korean
from gitmem.text.languages import EASTERN, LANGUAGES

# -- words of both readings ----------------------------------------------------------------------------------

MONTH = {name[:n]: at for at, name in enumerate(english.MONTHS, 1) for n in (3, len(name))} | {"sept": 9}
MONTH_NAME = "|".join(sorted(MONTH, key=len, reverse=True))
# (name, distance from today in days); a name that contains another one comes first.
_SPOKEN_DAYS = tuple(
    (away, tuple(chain.from_iterable(each.NEAR_DAYS[away] for each in EASTERN))) for away in (-2, 2, -1, 1, 0)
)

# -- days in what is written ---------------------------------------------------------------------------------

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
_ENGLISH_DAYS = {
    -2: r"\bday before yesterday\b", 2: r"\bday after tomorrow\b", -1: r"\byesterday\b", 1: r"\btomorrow\b",
    0: r"\btoday\b|\btonight\b",
}  # fmt: skip
_SPELLED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("iso", lazy(r"(?<![\d/.-])(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?![\d/]|[.-]\d)")),
    ("eastern", lazy(r"(?:(\d{4})[년年]\s*)?(?<!\d)(\d{1,2})[월月]\s*(\d{1,2})[일日号號]")),
    (
        "us",
        lazy(rf"\b({MONTH_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(\d{{4}}))?", re.IGNORECASE),
    ),
    (
        "eu",
        lazy(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH_NAME})\b\.?(?:,?\s+(\d{{4}}))?", re.IGNORECASE),
    ),
    # After a letter of a script without spaces (`は2/5`), but not after "of", "about" and "the ...th".
    (
        "slash",
        lazy(r"(?<![\d/.#-])(?<![^\W가-힣ぁ-ヿ一-鿿])(?<![의の약約제第])(\d{1,2})/(\d{1,2})(?![\d/%]|\.\d)"),
    ),
)
_SPOKEN = tuple(
    (away, lazy("|".join((_ENGLISH_DAYS[away], *(_EXACT.get(name, name) for name in names))), re.IGNORECASE))
    for away, names in _SPOKEN_DAYS
)
# A day of the week: in the next week, in the last week, the latest one (`past`), the coming one (`due`), or the nearest
# one (`near`). `周三` after a number counts weeks (`一周三次`).
_ENGLISH_OF_WEEK: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("next", lazy(rf"\bnext\s+{_DAY}\b", re.IGNORECASE)),
    ("last", lazy(rf"\b(?:last\s+week(?:['’]s)?\s+(?:on\s+)?{_DAY}|{_DAY}\s+(?:of\s+)?last\s+week)\b", re.IGNORECASE)),
    ("past", lazy(rf"\b(?:last|past)\s+{_DAY}\b", re.IGNORECASE)),
    ("due", lazy(rf"\b(?:by|before|until|this|due)\s+{_DAY}\b", re.IGNORECASE)),
    ("near", lazy(rf"\bon\s+{_DAY}\b", re.IGNORECASE)),
)
_EASTERN_OF_WEEK: tuple[tuple[str, re.Pattern[str]], ...] = (
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
    (
        "near",
        lazy(rf"(?<![\d一二两兩三四五六七八九十几幾每个個]){_WEEK_CHINESE}([一二三四五六日天])(?![个個次遍])"),
    ),
)
_EASTERN_RELATED = (
    r"오늘|내일|모레|어제|그저께|그제|요일|다음\s*주|[日天曜周週夜晩晚]|星期|礼拜|禮拜|あした|あさって|きのう|おととい"
)
_SPAN = timedelta(days=31)  # longer than the distance of any relative day
_RELATED = lazy(rf"day\b|tomorrow|tonight|{_EASTERN_RELATED}|\b(?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_MONTHLY = lazy(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_MAYBE = lazy(rf"\d|day\b|tomorrow|tonight|{_EASTERN_RELATED}", re.IGNORECASE)


class Mention(NamedTuple):
    """A day in a text: its offsets, the day, and whether the text states the day of the month."""

    start: int
    end: int
    day: date
    spelled: bool


def find(text: str, written: date, future: bool = True) -> list[Mention]:
    """Every day in `text`, in order. Of overlapping readings the most explicit one counts.

    A day without a year is the next one on or after `written` if `future`, else the nearest one.
    """
    if not _MAYBE.search(text):
        return []
    mentions: list[Mention] = []
    for mention in _all(text, written, future):
        if not any(mention.start < other.end and other.start < mention.end for other in mentions):
            mentions.append(mention)
    return sorted(mentions, key=lambda m: m.start)


def _all(text: str, written: date, future: bool) -> Iterator[Mention]:
    monthly = _MONTHLY.search(text) is not None
    marked = {
        "iso": "-" in text or "/" in text or "." in text,
        "eastern": "월" in text or "月" in text,
        "slash": "/" in text,
    }
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
    if not date.min + _SPAN < written < date.max - _SPAN:
        return  # the calendar of Python ends with the years 1 and 9999
    for away, pattern in _SPOKEN:
        for match in pattern.finditer(text):
            yield Mention(match.start(), match.end(), written + timedelta(days=away), False)
    for match, week, weekday in _days_of_week(text, (*_ENGLISH_OF_WEEK, *_EASTERN_OF_WEEK)):
        yield Mention(match.start(), match.end(), _day_of_week(week, weekday, written), False)


def _days_of_week(text: str, forms: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[re.Match[str], str, int]]:
    """(match, which week, weekday from 0 for Monday) of each day of the week, the most explicit first; they may
    overlap."""
    for week, pattern in forms:
        for match in pattern.finditer(text):
            yield match, week, _WEEKDAYS[next(filter(None, match.groups())).lower()]


def _day_of_week(week: str, weekday: int, today: date) -> date:
    """The date of a weekday, counted from `today`; `near` means the coming one."""
    monday = today - timedelta(days=today.weekday())
    if week == "next":
        return monday + timedelta(days=7 + weekday)
    if week == "last":
        return monday + timedelta(days=weekday - 7)
    if week == "past":
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def _numbers(form: str, match: re.Match[str]) -> tuple[int, int, int]:
    a, b, c = (*(group or "" for group in match.groups()), "")[:3]
    if form in ("iso", "eastern"):
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
    if not days:
        return None
    return min(days, key=lambda d: abs((d - written).days))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            raise
        return None  # 29 February of another year


class Period(NamedTuple):
    """A month or a year in a text, with its offsets. `year`: 0 for a month without a year. `month`: 0 for a year."""

    start: int
    end: int
    year: int
    month: int


# A day alone is not a date: `5일` also means five days, and `the 5th` any fifth thing.
_MONTH_YEAR = lazy(rf"\b({MONTH_NAME})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_EASTERN_MONTH = lazy(r"(?:(?<!\d)(\d{4})[년年]\s*)?(?<!\d)(\d{1,2})[월月]")
# "in 2026" before a counted word ("in 2026 places") is not a year.
_AFTER_YEAR = (
    r"(?=\s*(?:$|[^\w\s])|\s+(?:the|a|an|we|it|they|and|or|but|because|to|for|by|at|on|with|as|is|was|are|were|will)\b)"
)
_YEAR_OF = lazy(rf"\b(?:in|since|during)\s+(\d{{4}})\b{_AFTER_YEAR}|(?<!\d)(\d{{4}})[년年]", re.IGNORECASE)


def periods(text: str) -> Iterator[Period]:
    """The months and years in `text`, also those that belong to a day."""
    for match in _MONTH_YEAR.finditer(text):
        yield Period(*match.span(), int(match[2]), MONTH[match[1].lower()])
    for match in _EASTERN_MONTH.finditer(text):
        yield Period(*match.span(), int(match[1] or 0), int(match[2]))
    for match in _YEAR_OF.finditer(text):
        yield Period(*match.span(), int(match[1] or match[2]), 0)


# -- ends of months, years and weeks -------------------------------------------------------------------------


class Ending(NamedTuple):
    """A month, year or week until which something holds, with its offsets. `day`: its last day."""

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
_YEAR_UNTIL = lazy(rf"(?:{_BY_THE_END}|{_UNTIL})(?P<year>20\d\d)\b(?![-./]\w){_AFTER_YEAR}")
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


def endings(text: str, written: date) -> list[Ending]:
    """The months, quarters, years and weeks until which something holds according to `text`.

    A month without a year is the next one, counted from the month of `written`.
    """
    if not _ENDS.search(text) or not date.min + 2 * _SPAN < written < date(9990, 1, 1):
        return []
    found: list[Ending] = []
    for match in chain(_MONTH_UNTIL.finditer(text), _EASTERN_UNTIL.finditer(text)):
        groups = match.groupdict()
        named = groups["month"] or groups["month2"]
        if named.isdigit():
            month = int(named)
        else:
            month = MONTH[named.lower()]
        year = int(groups["year"] or groups.get("year2") or 0) or written.year + (month < written.month)
        season = not (groups["year"] or groups.get("year2")) and _BEGINS.search(text[: match.start()])
        if 1 <= month <= 12 and written.year - 100 < year < 9990 and not season:
            found.append(Ending(*match.span(), _last_of(year, month)))
    for match in _QUARTER_UNTIL.finditer(text):
        month = 3 * int(match["quarter"])
        found.append(
            Ending(*match.span(), _last_of(int(match["year"] or written.year + (month < written.month)), month))
        )
    for match in chain(_YEAR_UNTIL.finditer(text), _EASTERN_YEAR_UNTIL.finditer(text)):
        found.append(Ending(*match.span(), date(int(match["year"] or match["year2"]), 12, 31)))
    for match in _NAMED_UNTIL.finditer(text):
        ahead = int((match["which"] or match["other"] or "").strip().lower() == "next")
        found.append(Ending(*match.span(), _end_of(match["unit"].lower(), ahead, written)))
    for unit, ahead, pattern in _SPOKEN_UNTIL:
        found += [Ending(*match.span(), _end_of(unit, ahead, written)) for match in pattern.finditer(text)]
    return sorted(found)


def _last_of(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _end_of(unit: str, ahead: int, today: date) -> date:
    """The last day of the week, month, quarter or year that lies `ahead` units in the future. Weeks end on Sunday."""
    if unit == "week":
        return today + timedelta(days=6 - today.weekday() + 7 * ahead)
    length = _MONTHS_OF[unit]
    months = today.year * 12 + (today.month - 1) // length * length + length - 1 + length * ahead
    return _last_of(months // 12, months % 12 + 1)


_FROM_NOW_ON = lazy("|".join(each.FROM_NOW_ON for each in LANGUAGES), re.IGNORECASE)


def holds_from_now_on(text: str) -> bool:
    """Whether a text states a rule from now on, so that a day of the week in it means every week."""
    return _FROM_NOW_ON.search(text) is not None


# -- spans of time that a question may mean ------------------------------------------------------------------

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
# (English, words of the other languages, unit, how many of it back). `재작년` comes before `작년`, which it contains.
BACK: tuple[tuple[str, tuple[str, ...], str, int], ...] = (
    *(
        (
            english.TIMES_BACK.get((unit, number), ""),
            tuple(chain.from_iterable(each.TIMES_BACK.get((unit, number), ()) for each in EASTERN)),
            unit,
            number,
        )
        for unit in ("year", "month", "week")
        for number in (2, 1, 0)
    ),
    *((english.TIMES_BACK[("day", -away)], names, "day", -away) for away, names in _SPOKEN_DAYS if away <= 0),
)
_WORDS_IN_ENGLISH = {name: lazy(rf"\b{name}\b", re.IGNORECASE) for name, _, _, _ in BACK if name}
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
_CUES = (
    "today",
    "yesterday",
    "last",
    "past",
    "this",
    "ago",
    *english.WEEKDAYS,
)  # an English text without one of these has no relative day


class Days(NamedTuple):
    """Days in a question: a range, or a month (and day) of any year if `year` is 0."""

    first: date | None = None
    last: date | None = None
    month: int = 0
    day: int = 0

    def match(self, when: date) -> float:
        """How well a day fits: 1 for a named day, less for a day soon after it, since logs are often late; else 0."""
        if self.first is not None and self.last is not None:
            if self.first <= when <= self.last:
                return 1.0
            late = (when - self.last).days
            if 0 < late <= 7:
                return 0.5
            return 0.0
        if self.day:
            try:
                named = date(when.year, self.month, self.day)
            except ValueError:
                return 0.0
            late = (when - named).days
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


def days(text: str, today: date) -> list[Days]:
    """The days in a text, with relative days counted from `today`."""
    spans: list[Days] = []
    lower = text.lower()
    digits = any(c.isdigit() for c in text)
    named = any(name[:3] in lower for name in english.MONTHS)
    if text.isascii() and not digits and not named and not any(cue in lower for cue in _CUES):
        return spans
    of_week, left = asked_days_of_week(text, lower, today)
    spans += of_week
    for name, words, unit, count in BACK:
        if _names_it(left, lower, name, words):
            spans.append(span_back(unit, count, today))
            if name:
                left = _WORDS_IN_ENGLISH[name].sub(" ", left)
            for word in words:
                left = left.replace(word, " ")
    # `회의 30분 전` is before a meeting: minutes and hours count from now only with `ago` or at a question's start.
    spans += [
        span_back(ago.unit, ago.number, today)
        for ago in agos(text)
        if ago.unit not in ("minute", "hour") or not ago.start or (text[ago.start].isascii() and "ago" in lower)
    ]
    spans += [Days(start, today) for last in lasts(text) if (start := _start(last, today)) is not None]
    if digits:
        years = [int(match["year"]) for match in _YEAR.finditer(text)]
    else:
        years = []
    eastern = digits and ("월" in text or "月" in text)
    for pattern in [p for p, there in ((_ISO, digits), (_NAMED, named), (_EASTERN, eastern)) if there]:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            name = groups["month"].lower()
            if name.isdigit():
                month = int(name)
            else:
                month = 1 + [m[:3] for m in english.MONTHS].index(name[:3])
            day = int(groups["day"] or groups.get("before") or 0)
            verb = name in ("may", "march", "mar") and not (day or groups["year"])
            if pattern is _NAMED and verb and not _PREPOSITION.search(text[: match.start()]):
                continue
            if not 1 <= month <= 12 or day > 31:
                continue
            year = int(groups["year"] or 0)
            if 0 < year < 100:
                year = year + 2000
            if not year and len(set(years)) == 1:
                year = years[0]
            spans.append(month_days(year, month, day))
    if not any(item.first or item.month for item in spans):
        spans += [Days(date(year, 1, 1), date(year, 12, 31)) for year in years]
    if _SINCE.search(text):
        spans = [Days(each.first, today) if each.first and each.first <= today else each for each in spans]
    return spans


class Back(NamedTuple):
    """A distance into the past, with its offsets in a text. `unit`: minute, hour, day, week, month or year."""

    start: int
    end: int
    unit: str
    number: int


def agos(text: str) -> Iterator[Back]:
    """The distances into the past in a text: `3 days ago`, `two hours ago`, `3일 전`, `이틀 전`, `한 시간 전`."""
    if "전" in text or "前" in text or "ago" in text.lower():
        yield from _back(text, _AGO)


def lasts(text: str) -> Iterator[Back]:
    """The spans up to now in a text: `last 3 days`, `past two weeks`, `지난 3일`, `최근 한 달`."""
    if any(word in text for word in ("지난", "최근")) or any(word in text.lower() for word in ("last", "past")):
        for back in _back(text, _LAST):
            said = text[back.start : back.end]
            if not (said.startswith("지난") and said.endswith("일") and any(c.isdigit() for c in said)):
                yield back  # `지난 3일` can also be the third of this month; `지난 3일간` cannot


def _back(text: str, forms: Iterable[re.Pattern[str]]) -> Iterator[Back]:
    for form in forms:
        for match in form.finditer(text):
            groups = match.groupdict()
            if groups.get("days"):
                yield Back(*match.span(), "day", korean.DAYS[groups["days"]])
                continue
            number = (groups.get("count") or groups["count2"]).lower()
            if groups.get("unit"):
                unit = groups["unit"].lower()
            else:
                unit = _UNITS[groups["unit2"]]
            yield Back(*match.span(), unit, _COUNTS.get(number) or int(number))


def asked_days_of_week(text: str, lower: str, today: date) -> tuple[list[Days], str]:
    """The days of the week in a question, and the text without them. `near` means the latest, since most questions are
    about the past."""
    if any(name in lower for name in english.WEEKDAYS):
        forms = _ENGLISH_OF_WEEK
    else:
        forms = ()
    if not text.isascii() and any(name in text for name in _EASTERN_WEEKDAYS):
        forms = (*forms, *_EASTERN_OF_WEEK)
    named: list[Days] = []
    left = text
    for match, week, weekday in _days_of_week(text, forms):
        if left[match.start() : match.end()] == match[0]:  # not read by an earlier form
            latest = today - timedelta(days=(today.weekday() - weekday) % 7)
            if week == "near":
                day = latest
            else:
                day = _day_of_week(week, weekday, today)
            named.append(Days(day, day))
            left = left[: match.start()] + " " * len(match[0]) + left[match.end() :]
    return named, left


def _start(last: Back, today: date) -> date | None:
    """The first day of a span that ends `today`."""
    if last.unit in ("minute", "hour"):
        return span_back(last.unit, last.number, today).first
    return day_back(last.unit, last.number, today)


def _names_it(text: str, lower: str, name: str, words: tuple[str, ...]) -> bool:
    if not text.isascii() and any(word in text for word in words):
        return True
    return bool(name) and name in lower and _WORDS_IN_ENGLISH[name].search(text) is not None


def month_days(year: int, month: int, day: int) -> Days:
    """The days of a month, or its one `day` (0 for all). With `year` 0 of any year. Empty for a day that does not
    exist."""
    if not year:
        return Days(month=month, day=day)
    try:
        if day:
            return Days(date(year, month, day), date(year, month, day))
        after = date(year + month // 12, month % 12 + 1, 1)
        return Days(date(year, month, 1), after - timedelta(1))
    except ValueError:
        return Days(month=month, day=day)


def span_back(unit: str, count: int, today: date) -> Days:
    """The day, week (from Monday), month or year that lies `count` units back.

    For minutes and hours the days in which that moment may lie, since the time of day is unknown here. `today` if the
    calendar has no such time.
    """
    try:
        if unit in ("minute", "hour"):
            if unit == "hour":
                hours = count
            else:
                hours = -(-count // 60)
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


def day_back(unit: str, count: int, today: date) -> date | None:
    """The day `count` units before `today`, or the last day of a shorter month. None before the year 1."""
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
