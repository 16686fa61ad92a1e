"""Parses a question in natural language: its terms, the days it names, and the kind of answer it wants.

Pure: the result depends on the text and today's date only. English, Korean, Japanese and Chinese. Nothing found here
filters hits; each cue only adds a weight of `search/weights.py`, because it may be misread.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import chain
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import chinese, english, japanese, korean
from gitmem.text.dates import MONTH
from gitmem.text.day_spans import Days, days_in_question
from gitmem.text.languages import EASTERN
from gitmem.text.terms import HAN_KANA, HANGUL, nfkc, other_kana, terms_of_token, tokens, without_ending


class _Cue(NamedTuple):
    """Words of a question that tell its kind.

    `pattern`: for English; it is searched only if one of `hints` is in the text, which is faster. `words`: for Korean,
    Japanese and Chinese.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    words: tuple[str, ...]

    def matches(self, text: str, lower: str) -> bool:
        """Whether a text has the cue. `lower`: the text in lower case."""
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
    tuple(chain.from_iterable(each.FORMER for each in EASTERN)),
)  # fmt: skip
_WHEN = _Cue(
    ("when", "what ", "which ", "long ago"),
    lazy(
        r"\bwhen\b|\b(?:what|which) (?:date|time|day|month|year|week)\b|\bhow long ago\b", re.IGNORECASE
    ),
    tuple(chain.from_iterable(each.ASKS_WHEN for each in EASTERN)),
)  # fmt: skip
_MANY = _Cue(
    ("how ", "what "),
    lazy(
        r"\bhow (?:many|much|long|old|often|far|big|large|fast|tall)\b"
        r"|\bwhat (?:number|percentage|size|port|version|limit)\b",
        re.IGNORECASE,
    ),
    tuple(chain.from_iterable(each.ASKS_HOW_MANY for each in EASTERN)),
)
# A word that is a name in code: it has a mark or a digit within (`a_b`, `v2`), mixed case, or capitals only.
_IDENTIFIER = re.compile(
    r"\w*(?:[A-Za-z0-9](?:::|[_./:#@])[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|[A-Z]{2}[a-z])|[A-Z]{3,}$|_\w"
)


# A question with more than LOG_TERMS terms, of which LOG_NUMBERS_SHARE are numbers, counts as one with a pasted log.
LOG_TERMS, LOG_NUMBERS_SHARE = 100, 1 / 3
LOG_LINES = 3  # least number of lines that begin with a time in a question with a pasted log
_LOG_LINE = lazy(r"(?m)^[^\w\n]{0,3}(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]|[A-Z][a-z]{2} +\d{1,2} )?\d\d:\d\d:\d\d\b(.*)$")
_NUMBER = lazy(r"(?<![\w.])\d[\d.,:/-]*(?![\w.])")


class Question(NamedTuple):
    """A parsed question.

    `content`: the text without stop words, for the embedder. `terms`: its terms as the index has them, each once.
    `exact`: the terms that are identifiers. `prefixes`: single characters, which match each pair that begins with them.
    `alternatives`: term -> other terms with its meaning: English stems of a Korean word, the other Kana of a Japanese
    one. `latin_only`, `cjk_only`: whether all its words are in Latin letters, or in Hangul, Kana and Han. `days`: the
    days it names. `past`: whether it is about the past. `wants_time`, `wants_number`: whether it asks for one.
    `only_days`: whether it only asks what happened on the days it names. `pasted`: whether it contains a log, whose
    numbers were removed from all fields.
    """

    text: str
    content: str
    terms: tuple[str, ...]
    exact: frozenset[str]
    prefixes: frozenset[str]
    alternatives: dict[str, tuple[str, ...]]
    latin_only: bool
    cjk_only: bool
    days: tuple[Days, ...]
    past: bool
    wants_time: bool
    wants_number: bool
    only_days: bool = False
    pasted: bool = False

    def names_day(self, day: date | None) -> bool:
        """Whether a day is one of the days that it names; False for None."""
        return day is not None and any(named.match(day) == 1.0 for named in self.days)


# Words of a question that asks only for days: `what happened yesterday?`, 어제 뭐 했지.
_EASTERN = lazy("|".join(sorted((*japanese.ASKED_OF_DAYS, *chinese.ASKED_OF_DAYS), key=len, reverse=True)))
_DIGITS = re.compile(r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d+(?:st|nd|rd|th|월|일|년|月|日|年|号)*")


def _asks_only_for_days(words: list[str]) -> bool:
    """Whether all words of a question name days or ask what happened on them."""
    return all(word.lower() in english.ASKED_OF_DAYS or _is_of_days(word) for word in words)


def _is_of_days(word: str) -> bool:
    """Whether a word names a day, or asks about days in Korean, Japanese or Chinese."""
    if _DIGITS.fullmatch(word) or word[:3].lower() in MONTH:
        return not word.isascii() or word.lower() in MONTH or word[:1].isdigit()
    if word.isascii():
        return False
    if "가" <= word[0] <= "힣":
        return word.startswith(korean.ASKED_OF_DAYS) and len(word) <= 5
    bare = _DIGITS.sub("", _EASTERN.sub("", word))
    return all("ぁ" <= letter <= "ゖ" or letter == "ー" for letter in bare)


def parse(text: str, today: date) -> Question:
    """Parse a question. Any text is one; a text without words has no terms, and one of stop words alone has these.
    `today`: for relative days."""
    text = _without_numbers_of_log(nfkc(text))
    kept_terms: dict[str, None] = {}
    stop_terms: dict[str, None] = {}
    kept_words: list[str] = []
    exact, prefixes = set(), set()
    alternatives: dict[str, tuple[str, ...]] = {}
    latin_letters = cjk_letters = 0
    previous_token = ""
    for token, script in tokens(text):
        parts, is_stop = terms_of_token(token, script)
        if previous_token in korean.ASKS_HOW_MANY and token.endswith(korean.ASKING_ENDINGS):
            is_stop = True  # the unit that is asked for: 몇 시야, 몇 대예요
        previous_token = token
        if script in (HANGUL, HAN_KANA):
            cjk_letters += len(token)
            word = without_ending(token) if script == HANGUL else token
            if len(word) == 1:
                prefixes.add(word)
            if script == HANGUL and not is_stop and (stems := _english(word)):
                alternatives.update((part, alternatives.get(part, ()) + stems) for part in parts)
            elif script == HAN_KANA:
                alternatives.update((part, (kana,)) for part in parts if (kana := other_kana(part)))
        else:
            latin_letters += len(token)
            if parts and _IDENTIFIER.match(token):
                exact.add(parts[0])
        if is_stop:
            stop_terms.update(dict.fromkeys(parts))
        else:
            kept_terms.update(dict.fromkeys(parts))
            kept_words.append(token)
    words = {term: None for term in kept_terms if not term.isdigit()}
    pasted = len(kept_terms) > LOG_TERMS and bool(words) and len(words) <= len(kept_terms) * (1 - LOG_NUMBERS_SHARE)
    if pasted:
        kept_terms, kept_words = words, [word for word in kept_words if not word.isdigit()]
        text = " ".join(kept_words)
    terms = tuple(kept_terms) or tuple(stop_terms)
    lower = text.lower()
    named_days = tuple(days_in_question(text, today))
    return Question(
        text=text,
        content=" ".join(kept_words) or text,
        terms=terms,
        exact=frozenset(exact & set(terms)),
        prefixes=frozenset(prefixes & set(terms)),
        alternatives=alternatives,
        latin_only=latin_letters > 0 and not cjk_letters,
        cjk_only=cjk_letters > 0 and not latin_letters,
        days=named_days,
        past=_PAST.matches(text, lower),
        wants_time=_WHEN.matches(text, lower),
        wants_number=_MANY.matches(text, lower),
        pasted=pasted,
        only_days=bool(named_days) and _asks_only_for_days(kept_words),
    )


def _without_numbers_of_log(text: str) -> str:
    """A question without the times and numbers in its log lines; unchanged if it has fewer than LOG_LINES such lines or
    no other text.

    These numbers would outweigh the question. Identifiers stay (`ERR_1042`, `v2.3.0`).
    """
    if "\n" not in text or len(_LOG_LINE.findall(text)) < LOG_LINES or not _LOG_LINE.sub("", text).strip():
        return text
    return _LOG_LINE.sub(lambda line: _NUMBER.sub(" ", line[1]), text)


def _english(word: str) -> tuple[str, ...]:
    """The English stems with the meaning of a Korean word; empty if none is known."""
    from gitmem.index.translations import english

    return english(word)
