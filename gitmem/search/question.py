# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""A question in natural language: which of its words matter, which days it names, what kind of answer it wants.

Pure: text and today's date in, one value out. English, Korean, Japanese and Chinese. Nothing here is a filter: every
cue is a weight in `search/ranking.py`, because a question's words may be meant otherwise.
"""

# Annotations are not postponed here: as text, each field of a named tuple is compiled when a search starts.
import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from gitmem.index.terms import HAN_KANA, HANGUL, compatible, cut, tokens

STOP = frozenset(
    "a an the is are was were be been being am do does did doing done have has had having of to in on at for from "
    "by with about as and or but if then than that this these those it its he she they them his her hers their "
    "theirs him i you we us our your yours my me who whom whose what which when where why how can could would should "
    "will shall may might must not no nor so too very just into out up down over under again there here both each "
    "any all some such only own same s t d ll m re ve dont didnt doesnt isnt wasnt cant im ive id theyre youre whats "
    "hows wheres".split()
)
# Words of a Korean question that say nothing of its subject.
STOP_KOREAN = frozenset(
    "왜 무엇 무엇을 무엇이 무엇인가 무엇인가요 어떻게 어디 어디에 어디서 어디로 언제 누가 누구 누구지 몇 어떤 어느 "
    "뭐 뭘 뭐가 뭐였지 뭐지 뭐야 뭐였더라 무슨 얼마 얼마나 수 것 거 때 등 및 그 이 저 좀 더 안 못 다 또 할 한 하는 하나 하면 "
    "하려면 있나 있나요 있는 있는지 없나 없나요 없는 되나 되나요 되는 된 건 걸 게 그래서 그리고 그런데 우리 우리가 내가 "
    "제가 했지 했나 했더라 인가 인가요 대한 대해 위해 위한 경우 이유 이유는 알려줘 찾아줘".split()
)
# What may follow a noun or a stem in Korean: particles and endings of questions; the longest match goes.
ENDINGS = tuple(
    sorted(
        "으로부터 로부터 에서부터 에게서 으로서 으로써 이라고 이라는 라고 라는 이랑 에서는 에서도 에서의 으로는 으로도 까지 "
        "부터 에서 에게 한테 께서 으로 이나 처럼 보다 마다 조차 마저 밖에 대로 에는 에도 로는 로도 로서 로써 와의 과의 이란 "
        "이며 하고 은 는 이 가 을 를 의 에 로 와 과 도 만 나 랑 란 인가요 인가 나요 가요 까요 니까 습니까 습니다 입니다 "
        "합니다 됩니다 하나요 되나요 하나 되나 했나 됐나 했지 됐지 였지 이었지 었지 았지 하지 되지 지 죠 냐 니 야 요 하는 "
        "되는 하면 되면 려면 하려면 했는데 는데 인데 하기 되기 한다 된다 하여 해서 돼서 했던 하던 던 해야 하면서 인지 는지 "
        "은지 을지 할지 한지 할 한 된 될 함 됨 해 돼 였나 었나 았나 이었나 지도 지만 거나 든지 듯이 기로 도록 라도 이라도".split(),
        key=lambda ending: -len(ending),
    )
)
STOP_PAIRS = frozenset(
    "什么 怎么 为什 哪里 哪个 哪些 是否 我们 你们 他们 多少 怎样 如何 時候 时候 什麼 怎麼 為什 我的 何故 なぜ 何で".split()
)


class _Later:
    """A pattern that is compiled when it is first used: a search starts in a few milliseconds."""

    __slots__ = ("_flags", "_pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags

    def search(self, text: str) -> re.Match[str] | None:
        return re.compile(self._pattern, self._flags).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return re.compile(self._pattern, self._flags).finditer(text)


class _Cue(NamedTuple):
    """What a question shows that it wants: a pattern of English, searched where one of `hints` is there, or one of
    some `words` of the languages that need no pattern."""

    hints: tuple[str, ...]
    pattern: _Later
    words: tuple[str, ...]

    def within(self, text: str, lower: str) -> bool:
        if not text.isascii() and any(word in text for word in self.words):
            return True
        return any(hint in lower for hint in self.hints) and self.pattern.search(text) is not None


_PAST = _Cue(
    ("before", "previous", "former", "earlier", "original", "used to", "back then", "old", "past", "longer", "once",
     "more", "last year", "prior", "initially", "at first", "at the time", " ago"),
    _Later(
        r"\b(?:before|previous|previously|prior|formerly|former|earlier|original|originally|initially|at first|used to"
        r"|back then|at the time|ago|old|in the past|no longer|once|any ?more|last year)\b",
        re.IGNORECASE,
    ),
    tuple(
        "예전 이전 전에는 과거 원래 당시 작년 재작년 지난해 옛날 기존 그때 처음에는 종전 以前 当初 去年 原先 最初 那时 かつて 昔 元々 昨年 去年 之前 过去 過去 原来 曾经 当时".split()
    ),
)  # fmt: skip
_WHEN = _Cue(
    ("when", "what ", "which ", "long ago"),
    _Later(
        r"\bwhen\b|\b(?:what|which) (?:date|time|day|month|year|week)\b|\bhow long ago\b", re.IGNORECASE
    ),
    (
        "언제", "며칠", "몇월", "몇 월", "몇일", "몇 일", "무슨요일", "무슨 요일", "いつ", "何日", "何月", "何曜", "什么时候",
        "什麼時候", "何时", "哪天", "几月", "几号",
    ),
)  # fmt: skip
_MANY = _Cue(
    ("how ", "what "),
    _Later(
        r"\bhow (?:many|much|long|old|often|far|big|large|fast|tall)\b"
        r"|\bwhat (?:number|percentage|size|port|version|limit)\b",
        re.IGNORECASE,
    ),
    tuple(
        "몇 얼마 いくつ いくら 多少 多久 多长 几个 几次 几天 几年 几月 几人 "
        "何個 何人 何回 何件 何分 何秒 何時 何日 何月 何年 何本 何台 何歳".split()
    ),
)
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join(name if len(name) < 5 else f"{name}|{name[:3]}" for name in MONTHS) + "|sept"
# `may` and `march` are also a verb: as months they stand after a preposition or beside a number.
_NAMED = _Later(
    rf"(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_PREPOSITION = _Later(
    r"\b(?:in|on|of|during|until|till|since|by|from|to|last|this|next|late|early|mid)[\s-]+$", re.IGNORECASE
)
_EASTERN = _Later(
    r"(?:(?P<year>(?:19|20)?\d\d)\s*[년年]\s*)?(?P<month>\d{1,2})\s*[월月](?:\s*(?P<day>\d{1,2})\s*[일日号])?"
)
_ISO = _Later(r"(?<!\d)(?P<year>(?:19|20)\d\d)[-./](?P<month>\d{1,2})(?:[-./](?P<day>\d{1,2}))?(?!\d)")
_YEAR = _Later(r"(?<![\d.\-/])(?P<year>(?:19|20)\d\d)(?![\d.\-/])\s*[년年]?(?!\s*\d{1,2}\s*[월月])")
_RELATIVE: tuple[tuple[_Cue, str, int], ...] = tuple(
    (
        _Cue((english,) if english else (), _Later(rf"\b{english}\b", re.IGNORECASE), tuple(words.split(","))),
        unit,
        count,
    )
    for english, words, unit, count in (
        ("today", "오늘,今日,今天", "day", 0),
        ("yesterday", "어제,昨日,昨天", "day", 1),
        ("", "그저께,그제,一昨日,おととい,前天", "day", 2),
        ("this week", "이번주,이번 주,今週,这周,本周,這週", "week", 0),
        ("last week", "지난주,지난 주,저번주,저번 주,先週,上周,上週,上星期,上个星期", "week", 1),
        ("this month", "이번달,이번 달,今月,这个月,本月", "month", 0),
        ("last month", "지난달,지난 달,저번달,저번 달,先月,上月,上个月", "month", 1),
        ("this year", "올해,今年", "year", 0),
        ("last year", "작년,지난해,지난 해,昨年,去年", "year", 1),
        ("", "재작년,一昨年,前年", "year", 2),
    )
)
_AGO = _Later(
    r"\b(?P<count>\d{1,3}|a|an|one|two|three|four|five|six)\s+(?P<unit>day|week|month|year)s?\s+ago\b"
    r"|(?P<count2>\d{1,3})\s*(?P<unit2>일|주일|주|개월|달|년|日|週間|か月|ヶ月|年|天|周|个月)\s*(?:전|前)",
    re.IGNORECASE,
)
_UNITS = {
    "일": "day", "日": "day", "天": "day", "주": "week", "주일": "week", "週間": "week", "周": "week", "개월": "month",
    "달": "month", "か月": "month", "ヶ月": "month", "个月": "month", "년": "year", "年": "year",
}  # fmt: skip
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_IDENTIFIER = re.compile(
    r"\w*(?:[A-Za-z0-9][_./:#@][A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|[A-Z]{2}[a-z])|[A-Z]{3,}$|_\w"
)
CUES = ("today", "yesterday", "last", "this", "ago")  # without one of them an English text names no relative day


class Days(NamedTuple):
    """Days a question names: a range, or a month (and day) of any year where `year` is 0."""

    first: date | None = None
    last: date | None = None
    month: int = 0
    day: int = 0

    def match(self, when: date) -> float:
        """1 for a day it names, less for one near it (a log is often written some days later), 0 elsewhere."""
        if self.first is not None and self.last is not None:
            if self.first <= when <= self.last:
                return 1.0
            late = (when - self.last).days
            return 0.5 if 0 < late <= 7 else 0.0
        if self.day:
            try:
                named = date(when.year, self.month, self.day)
            except ValueError:
                return 0.0
            late = (when - named).days
            if late == 0:
                return 1.0
            return 0.7 if 0 < late <= 10 else 0.3 if when.month == self.month else 0.0
        return 1.0 if when.month == self.month else 0.0


class Question(NamedTuple):
    """What `parse` found. `terms` are those of the index, each once, in order; `content` is the text without stop
    words, for the embedder; `exact` the terms that are identifiers; `prefixes` the single characters, which stand
    for every pair that begins with them."""

    text: str
    content: str
    terms: tuple[str, ...]
    exact: frozenset[str]
    prefixes: frozenset[str]
    latin_only: bool
    cjk_only: bool
    days: tuple[Days, ...]
    past: bool
    wants_time: bool
    wants_number: bool


def parse(text: str, today: date) -> Question:
    """Any string is a question; one without words has no terms."""
    text = compatible(text)
    found: dict[str, None] = {}
    dropped: dict[str, None] = {}
    kept: list[str] = []
    exact, prefixes = set(), set()
    latin = cjk = 0
    for token, script in tokens(text):
        parts = cut(token, script)
        if script == HANGUL:
            cjk += len(token)
            word = bare(token)
            parts = tuple(a + b for a, b in pairwise(word)) or (word,)
            if len(word) == 1:
                prefixes.add(word)
            stop = token in STOP_KOREAN
        elif script == HAN_KANA:
            cjk += len(token)
            parts, stop = _pairs(token)
            if len(token) == 1:
                prefixes.add(token)
        else:
            latin += len(token)
            stop = token.lower().replace("'", "").replace("’", "") in STOP
            if (len(parts) > 1 and _IDENTIFIER.match(token)) or (_IDENTIFIER.match(token) and parts):
                exact.add(parts[0])
        target = dropped if stop else found
        target.update(dict.fromkeys(parts))
        if not stop:
            kept.append(token)
    terms = tuple(found) or tuple(dropped)
    lower = text.lower()
    return Question(
        text=text,
        content=" ".join(kept) or text,
        terms=terms,
        exact=frozenset(exact & set(terms)),
        prefixes=frozenset(prefixes & set(terms)),
        latin_only=latin > 0 and not cjk,
        cjk_only=cjk > 0 and not latin,
        days=tuple(days(text, today)),
        past=_PAST.within(text, lower),
        wants_time=_WHEN.within(text, lower),
        wants_number=_MANY.within(text, lower),
    )


def bare(word: str) -> str:
    """A Korean word without its particle or ending, where at least two syllables stay."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[: -len(ending)]
    return word


def _pairs(token: str) -> tuple[tuple[str, ...], bool]:
    """Pairs of a run of Kana and Han; those of Hiragana only are grammar where others exist."""
    pairs = [a + b for a, b in pairwise(token)] or [token]
    telling = [
        pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS
    ]
    return tuple(telling or pairs), not telling


def days(text: str, today: date) -> list[Days]:
    """The days a text names, relative ones resolved against `today`."""
    found: list[Days] = []
    lower = text.lower()
    digits = any(c.isdigit() for c in text)
    named = any(name[:3] in lower for name in MONTHS)
    if text.isascii() and not digits and not named and not any(cue in lower for cue in CUES):
        return found
    left = text
    for cue, unit, count in reversed(_RELATIVE):  # 재작년 before 작년, which it contains; 一昨日 before 昨日
        if cue.within(left, lower):
            found.append(_span(unit, count, today))
            for word in cue.words:
                left = left.replace(word, " ")
    ago = "ago" in lower or (digits and ("전" in text or "前" in text))
    for match in _AGO.finditer(text) if ago else ():
        unit = (match["unit"] or _UNITS[match["unit2"]]).lower()
        number = match["count"] or match["count2"]
        count = _COUNTS.get(number.lower()) or int(number)
        found.append(_span(unit, count, today))
    years = [int(match["year"]) for match in _YEAR.finditer(text)] if digits else []
    eastern = digits and ("월" in text or "月" in text)
    for pattern in [p for p, there in ((_ISO, digits), (_NAMED, named), (_EASTERN, eastern)) if there]:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            name = groups["month"].lower()
            month = int(name) if name.isdigit() else 1 + [m[:3] for m in MONTHS].index(name[:3])
            day = int(groups["day"] or groups.get("before") or 0)
            verb = name in ("may", "march", "mar") and not (day or groups["year"])
            if pattern is _NAMED and verb and not _PREPOSITION.search(text[: match.start()]):
                continue
            if not 1 <= month <= 12 or day > 31:
                continue
            year = int(groups["year"] or 0)
            year = year + 2000 if 0 < year < 100 else year
            if not year and len(set(years)) == 1:
                year = years[0]
            found.append(_month(year, month, day))
    if not any(item.first or item.month for item in found):
        found += [Days(date(year, 1, 1), date(year, 12, 31)) for year in years]
    return found


def _month(year: int, month: int, day: int) -> Days:
    if not year:
        return Days(month=month, day=day)
    try:
        if day:
            return Days(date(year, month, day), date(year, month, day))
        after = date(year + month // 12, month % 12 + 1, 1)
        return Days(date(year, month, 1), after - timedelta(1))
    except ValueError:
        return Days(month=month, day=day)


def _span(unit: str, count: int, today: date) -> Days:
    """`count` units back: that day, that week (from Monday), that month, that year."""
    try:
        if unit == "day":
            day = today - timedelta(count)
            return Days(day, day)
        if unit == "week":
            monday = today - timedelta(today.weekday() + 7 * count)
            return Days(monday, monday + timedelta(6))
        if unit == "month":
            months = today.year * 12 + today.month - 1 - count
            return _month(months // 12, months % 12 + 1, 0)
        return Days(date(today.year - count, 1, 1), date(today.year - count, 12, 31))
    except (ValueError, OverflowError):
        return Days(today, today)
