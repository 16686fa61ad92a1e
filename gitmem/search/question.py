# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""A question in natural language: which of its words matter, which days it names, what kind of answer it wants.

Pure: text and today's date in, one value out. English, Korean, Japanese and Chinese. Nothing here is a filter: every
cue is a weight in `search/weights.py`, because a question's words may be meant otherwise.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.text.dates import MONTH, Days, days
from gitmem.text.terms import HAN_KANA, HANGUL, compatible, cut, tokens, without_ending

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
STOP_PAIRS = frozenset(
    "什么 怎么 为什 哪里 哪个 哪些 是否 我们 你们 他们 多少 怎样 如何 時候 时候 什麼 怎麼 為什 我的 何故 なぜ 何で".split()
)


class _Cue(NamedTuple):
    """What a question shows that it wants: a pattern of English, searched where one of `hints` is there, or one of
    some `words` of the languages that need no pattern."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    words: tuple[str, ...]

    def within(self, text: str, lower: str) -> bool:
        if not text.isascii() and any(word in text for word in self.words):
            return True
        return any(hint in lower for hint in self.hints) and self.pattern.search(text) is not None


_PAST = _Cue(
    ("before", "previous", "former", "earlier", "original", "used to", "back then", "old", "past", "longer", "once",
     "more", "last year", "prior", "initially", "at first", "at the time", " ago"),
    lazy(
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
    lazy(
        r"\bwhen\b|\b(?:what|which) (?:date|time|day|month|year|week)\b|\bhow long ago\b", re.IGNORECASE
    ),
    (
        "언제", "며칠", "몇월", "몇 월", "몇일", "몇 일", "무슨요일", "무슨 요일", "いつ", "何日", "何月", "何曜", "什么时候",
        "什麼時候", "何时", "哪天", "几月", "几号",
    ),
)  # fmt: skip
_MANY = _Cue(
    ("how ", "what "),
    lazy(
        r"\bhow (?:many|much|long|old|often|far|big|large|fast|tall)\b"
        r"|\bwhat (?:number|percentage|size|port|version|limit)\b",
        re.IGNORECASE,
    ),
    tuple(
        "몇 얼마 いくつ いくら 多少 多久 多长 几个 几次 几天 几年 几月 几人 "
        "何個 何人 何回 何件 何分 何秒 何時 何日 何月 何年 何本 何台 何歳".split()
    ),
)
_IDENTIFIER = re.compile(
    r"\w*(?:[A-Za-z0-9][_./:#@][A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|[A-Z]{2}[a-z])|[A-Z]{3,}$|_\w"
)


class Question(NamedTuple):
    """What `parse` found. `terms` are those of the index, each once, in order; `content` is the text without stop
    words, for the embedder; `only_days` says that it asks for nothing but the days it names; `exact` the terms that are identifiers; `prefixes` the single characters, which stand
    for every pair that begins with them. `english` has the stems that stand for the word of a term as well."""

    text: str
    content: str
    terms: tuple[str, ...]
    exact: frozenset[str]
    prefixes: frozenset[str]
    english: dict[str, tuple[str, ...]]
    latin_only: bool
    cjk_only: bool
    days: tuple[Days, ...]
    past: bool
    wants_time: bool
    wants_number: bool
    only_days: bool = False


# What a question about days asks of them, and no more: `what happened yesterday?`, 어제 뭐 했지.
_DOING = frozenset(
    "happen happened happening happens do did done go going went on work worked working yesterday today tomorrow day "
    "days week weeks weekend month months year last past next previous ago log logs note notes summary summarize "
    "summarise recap recently monday tuesday wednesday thursday friday saturday sunday tell me show list anything "
    "something everything since".split()
)
_DOING_KOREAN = (
    "무슨", "뭐", "뭘", "무엇", "일", "작업", "했", "한", "하", "있었", "있", "기록", "로그", "요약", "정리", "알려",
    "보여", "말해", "어제", "오늘", "그제", "그저께", "엊그제", "내일", "지난", "이번", "저번", "주", "달", "날", "월", "년",
    "전", "이후", "부터", "이래",
)  # fmt: skip
_DOING_EASTERN = re.compile(
    "何が|何を|何か|何|した|しました|ある|あった|あり|ました|起きた|起こった|教えて|仕事|作業|出来事|まとめ|要約|記録|昨日|今日|一昨日|明日|"
    "先週|今週|先月|今月|曜日|什么|什麼|怎么|做了|做|发生|發生|事情|事|工作|总结|總結|记录|紀錄|昨天|今天|前天|明天|上周|上週|本周|本週|"
    "这周|這週|上个月|上個月|这个月|星期|了|过|過|的|吗|嗎|我们|我們|我|你|有|哪些|月|日|年|号|號|以来|以降|以后|以後|から"
)
_DIGITS = re.compile(r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d+(?:st|nd|rd|th|월|일|년|月|日|年|号)*")


def _asks_only_for_days(kept: list[str]) -> bool:
    """Whether nothing is left of a question without its days and what is asked of any day."""
    left = [word for word in kept if word.lower() not in _DOING and not _is_of_days(word)]
    return not left


def _is_of_days(word: str) -> bool:
    if _DIGITS.fullmatch(word) or word[:3].lower() in MONTH:
        return not word.isascii() or word.lower() in MONTH or word[:1].isdigit()
    if word.isascii():
        return False
    if "가" <= word[0] <= "힣":
        return word.startswith(_DOING_KOREAN) and len(word) <= 5
    bare = _DIGITS.sub("", _DOING_EASTERN.sub("", word))
    return all("ぁ" <= c <= "ゖ" or c == "ー" for c in bare)


def parse(text: str, today: date) -> Question:
    """Any string is a question; one without words has no terms."""
    text = compatible(text)
    telling: dict[str, None] = {}
    dropped: dict[str, None] = {}
    kept: list[str] = []
    exact, prefixes = set(), set()
    translated: dict[str, tuple[str, ...]] = {}
    latin = cjk = 0
    for token, script in tokens(text):
        parts = cut(token, script)
        if script == HANGUL:
            cjk += len(token)
            word = without_ending(token)
            parts = tuple(a + b for a, b in pairwise(word)) or (word,)
            if len(word) == 1:
                prefixes.add(word)
            stop = token in STOP_KOREAN
            if not stop and (found := _english(word)):
                translated.update((part, translated.get(part, ()) + found) for part in parts)
        elif script == HAN_KANA:
            cjk += len(token)
            parts, stop = pairs_of(token)
            if len(token) == 1:
                prefixes.add(token)
        else:
            latin += len(token)
            stop = token.lower().replace("'", "").replace("’", "") in STOP
            if (len(parts) > 1 and _IDENTIFIER.match(token)) or (_IDENTIFIER.match(token) and parts):
                exact.add(parts[0])
        target = dropped if stop else telling
        target.update(dict.fromkeys(parts))
        if not stop:
            kept.append(token)
    terms = tuple(telling) or tuple(dropped)
    lower = text.lower()
    named_days = tuple(days(text, today))
    return Question(
        text=text,
        content=" ".join(kept) or text,
        terms=terms,
        exact=frozenset(exact & set(terms)),
        prefixes=frozenset(prefixes & set(terms)),
        english=translated,
        latin_only=latin > 0 and not cjk,
        cjk_only=cjk > 0 and not latin,
        days=named_days,
        past=_PAST.within(text, lower),
        wants_time=_WHEN.within(text, lower),
        wants_number=_MANY.within(text, lower),
        only_days=bool(named_days) and _asks_only_for_days(kept),
    )


def _english(word: str) -> tuple[str, ...]:
    """What stands for a Korean word. Imported here: most questions have none."""
    from gitmem.index.translations import english

    return english(word)


def pairs_of(token: str) -> tuple[tuple[str, ...], bool]:
    """The pairs of a run of Kana and Han that tell something, and whether none does: those of Hiragana only are grammar
    where others exist."""
    pairs = [a + b for a, b in pairwise(token)] or [token]
    telling = [
        pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS
    ]
    return tuple(telling or pairs), not telling
