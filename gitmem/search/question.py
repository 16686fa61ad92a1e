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
from gitmem.text import chinese, english, japanese, korean
from gitmem.text.dates import Days, days
from gitmem.text.terms import HAN_KANA, HANGUL, compatible, cut, tokens, without_ending

# Words of a question that say nothing of its subject, and of those without spaces pairs of letters.
STOP = english.STOP_WORDS
STOP_KOREAN = korean.STOP_WORDS
STOP_PAIRS = chinese.STOP_PAIRS | japanese.STOP_PAIRS


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
    (*korean.FORMER, *japanese.FORMER, *chinese.FORMER),
)  # fmt: skip
_WHEN = _Cue(
    ("when", "what ", "which ", "long ago"),
    lazy(
        r"\bwhen\b|\b(?:what|which) (?:date|time|day|month|year|week)\b|\bhow long ago\b", re.IGNORECASE
    ),
    (*korean.ASKS_WHEN, *japanese.ASKS_WHEN, *chinese.ASKS_WHEN),
)  # fmt: skip
_MANY = _Cue(
    ("how ", "what "),
    lazy(
        r"\bhow (?:many|much|long|old|often|far|big|large|fast|tall)\b"
        r"|\bwhat (?:number|percentage|size|port|version|limit)\b",
        re.IGNORECASE,
    ),
    (*korean.ASKS_HOW_MANY, *japanese.ASKS_HOW_MANY, *chinese.ASKS_HOW_MANY),
)
_IDENTIFIER = re.compile(
    r"\w*(?:[A-Za-z0-9][_./:#@][A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|[A-Z]{2}[a-z])|[A-Z]{3,}$|_\w"
)


class Question(NamedTuple):
    """What `parse` found. `terms` are those of the index, each once, in order; `content` is the text without stop
    words, for the embedder; `exact` the terms that are identifiers; `prefixes` the single characters, which stand
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
    return Question(
        text=text,
        content=" ".join(kept) or text,
        terms=terms,
        exact=frozenset(exact & set(terms)),
        prefixes=frozenset(prefixes & set(terms)),
        english=translated,
        latin_only=latin > 0 and not cjk,
        cjk_only=cjk > 0 and not latin,
        days=tuple(days(text, today)),
        past=_PAST.within(text, lower),
        wants_time=_WHEN.within(text, lower),
        wants_number=_MANY.within(text, lower),
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
