"""What a text claims that the lines it cites do not bear out: a number, a date, a name, the matter, the reason.

Pure. Each check answers with the sentence that refuses the text, "" where the lines bear it out; the words are those of
`plan`, `verify` and whoever else lets a model's text stand for its sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from gitmem.memory import dates
from gitmem.memory.similarity import terms

COVERED = 0.3  # share of a fact's words that its source must hold: loses 5 % of faithful paraphrases
COVERED_CJK = 0.5  # the same for pairs of Hangul, Kana and Han

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SPELLED = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "twelve": "12", "twenty": "20", "하나": "1", "둘": "2", "셋": "3", "두": "2", "세": "3",
    "네": "4", "다섯": "5", "한": "1",
}  # fmt: skip
_ALNUM = re.compile(r"[^\W_]+")


def _numbers(text: str) -> set[str]:
    found = set()
    for match in _NUMBER.findall(text):
        whole = match.replace(",", "")
        found |= {whole, whole.lstrip("0") or "0"}
    return found


def uncounted(text: str, cited: str, days: Iterable[date]) -> str:
    """A number in the fact that the cited lines do not hold (thousands separators and leading zeros aside)."""
    there = _numbers(cited) | {_SPELLED[word] for word in _ALNUM.findall(cited.lower()) if word in _SPELLED}
    for day in days:
        there |= {str(day.year), str(day.month), str(day.day), f"{day.month:02}", f"{day.day:02}", day.isoformat()}
        for mention in dates.find(cited, day):
            d = mention.day
            there |= {str(d.year), str(d.month), str(d.day), f"{d.month:02}", f"{d.day:02}", d.isoformat()}
    for match in _NUMBER.findall(text):
        whole = match.replace(",", "")
        parts = re.split(r"[.,:/-]", whole)
        if whole not in there and (whole.lstrip("0") or "0") not in there:
            dated = re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?", whole) and all(p.lstrip("0") in there for p in parts)
            if not dated:
                return f"the number {match[:40]} is not in the lines it cites"
    return ""


def undated(text: str, cited: str, days: Iterable[date]) -> str:
    """A date in the fact that is neither in the cited lines, read as of the log's day, nor that day."""
    known = set(days)
    there = known | {m.day for day in known for future in (True, False) for m in dates.find(cited, day, future)}
    for day in known:
        for mention in dates.find(text, day):
            if mention.spelled and mention.day not in there:
                earlier = {m.day for m in dates.find(text, day, False) if m.start == mention.start}
                if not earlier & there:
                    return f"the date {mention.day.isoformat()} is not in the lines it cites"
    return ""


_NAMELIKE = re.compile(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9_.+#/-]*[A-Za-zÀ-ɏ0-9_+#]|[A-Z]")
_IDENTIFIER = re.compile(r"[_/\\.+#]|\d|[a-z][A-Z]|^[A-Z]{2,}$")
_COMMON = """the a an we our it this that these those there in on at for from by to of with and or if when after before
all no not never always do don't use uses keep user users is are has have must should prefer prefers only each every
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december i he she they his her their my"""
_OPENERS = frozenset(_COMMON.split())


def unnamed(text: str, cited: str, days: Iterable[date]) -> str:
    """A capitalised Latin word or an identifier in the fact that the cited lines do not hold."""
    there = cited.casefold()
    start = True
    for match in _NAMELIKE.finditer(text):
        word = match[0].rstrip(".-/")
        before = text[: match.start()].rstrip()
        start = not before or before[-1] in ".:!?(\"'-"
        named = word[:1].isupper() and not (start and word.casefold() in _OPENERS) and word.casefold() not in _OPENERS
        if not (named or _IDENTIFIER.search(word)):
            continue
        stem = word.casefold().removesuffix("'s").removesuffix("’s")
        if stem in there or (start and not _IDENTIFIER.search(word) and stem[:4] in there):
            continue
        return f"'{word[:40]}' is not in the lines it cites"
    return ""


def unsaid(text: str, cited: str, days: Iterable[date]) -> str:
    """Too few of the fact's words in the cited lines: it says something else."""
    own, there = terms(text), terms(cited)
    wide = {term for term in own if not term.isascii()}
    stems = {term[:5] for term in there}
    plain = [term for term in own - wide if len(term) > 2]
    if len(wide) >= 4 and len(wide & there) < COVERED_CJK * len(wide):
        return "most of what it says is not in the lines it cites"
    if len(plain) >= 3 and sum(term[:5] in stems for term in plain) < COVERED * len(plain):
        return "most of what it says is not in the lines it cites"
    return ""


_BECAUSE = re.compile(
    r"\b(?:because|due to|so that|in order to|to avoid)\b|때문|위해|위하여|이유(?:는|:)|(?<=[가-힣])라서\s", re.I
)


def unreasoned(text: str, cited: str) -> str:
    """A reason that the cited lines give and the fact, a decision, leaves out."""
    match = _BECAUSE.search(cited)
    if match is None or _BECAUSE.search(text):
        return ""
    after = terms(cited[match.end() :].split("\n", 1)[0]) or terms(cited[: match.start()])
    own = terms(text)
    told = not after or len(after & own) >= len(after) / 2
    return "" if told else "the log gives a reason and the fact leaves it out"


_NEGATION = re.compile(
    r"\b(?:not|no|never|without|don't|doesn't|cannot|can't|won't|isn't|aren't|stop|disable\w*|off)\b"
    r"|(?:지\s*않|안\s|못\s|금지|없|말\s*것|불가|제외|중단|폐기)",
    re.I,
)


def differs(a: str, b: str) -> bool:
    """Whether two texts on one matter disagree: another number or identifier, or only one of them denies."""
    if _numbers(a) != _numbers(b) or bool(_NEGATION.search(a)) != bool(_NEGATION.search(b)):
        return True
    return _identifiers(a) != _identifiers(b)


def _identifiers(text: str) -> set[str]:
    found = set()
    for match in _NAMELIKE.finditer(text):
        word = match[0].rstrip(".-/")
        if _IDENTIFIER.search(word) or (word[:1].isupper() and match.start() > 0):
            found.add(word.casefold())
    return found - _OPENERS
