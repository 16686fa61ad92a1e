"""Compares two texts: whether they are near-duplicates (`is_near_duplicate`), or one adds nothing to the other
(`adds_nothing`). Pure.

Promotion and review refuse near-duplicates; contexts drop a part that adds nothing. Both functions compare the terms,
numbers, names and denials of the texts, in four languages. Facts with the same `fact_id` are one fact and need no
comparison. `memory/relation` decides whether a fact replaces or contradicts another one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.topics import Topic, may_be_one_topic, statement_topic
from gitmem.text import english
from gitmem.text.denials import denials, without_denials
from gitmem.text.directions import is_way_back
from gitmem.text.languages import LANGUAGES
from gitmem.text.names import OPENING_MARKS, names
from gitmem.text.numbers import NUMBER, plain_number

SAME = (
    0.85  # least likeness of two texts, equal in all else, that are near-duplicates (docs/promotion.md, "Measurements")
)
ALIKE = 0.5  # least likeness of the terms, without numbers, of two texts about one matter
REPEATED = 0.8  # least share of a text's words that a text which repeats it must have
MAX_CACHED_TEXTS = 1 << 13

_TERM = lazy(r"[^\W_]+")
_WIDE_LETTER = "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]"
_WIDE = lazy(_WIDE_LETTER)
# Words that call something wrong, and phrases that call a value replaced.
_WRONG = lazy("|".join(each.NAMED_WRONG for each in LANGUAGES), re.I)
_GONE = lazy("|".join(each.GONE_VALUE for each in LANGUAGES), re.I)
_DENIED = lazy(english.DENIED_VALUE, re.I)


def terms(text: str) -> set[str]:
    """The terms of a text: words and numbers in lower case; pairs of letters for Hangul, Kana and Han."""
    parts = set()
    for word in _TERM.findall(text.casefold()):
        if _WIDE.search(word):
            parts |= {word[i : i + 2] for i in range(max(1, len(word) - 1))}
        else:
            parts.add(word)
    return parts


def likeness(a: set[str] | frozenset[str], b: set[str] | frozenset[str]) -> float:
    """The Jaccard index of two sets of terms, 0 to 1: shared terms over all terms. 0 for two empty sets."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


class _Reading(NamedTuple):
    """The parts of a text that are compared.

    `matter`: its terms without numbers and denials. `words`: its words in lower case. `replaced`: the value that it
    calls replaced ("instead of blue"), "" without one. `denied`: the value that it denies beside the one that it states
    ("tabs, not spaces"), else `replaced`. `wrong`: whether it calls something wrong ("it is wrong that ..."). `topic`:
    the one before its text.
    """

    matter: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denials: frozenset[str]
    replaced: str
    denied: str
    wrong: bool
    topic: Topic


@lru_cache(MAX_CACHED_TEXTS)
def _read(text: str) -> _Reading:
    """What is compared of a text: its terms, words, numbers, names and denials. A marker at its beginning is
    ignored."""
    text = OPENING_MARKS.sub("", text)
    plain = without_denials(text)
    return _Reading(
        frozenset(term for term in terms(plain) if not term.isdigit()),
        frozenset(re.findall(r"\w+", text.casefold())),
        frozenset(map(plain_number, NUMBER.findall(text))),
        frozenset(names(text)),
        denials(text),
        replaced_value(text),
        _denied_value(text),
        _WRONG.search(text) is not None,
        statement_topic(text),
    )


def replaced_value(text: str) -> str:
    """The first word of the value that a text calls replaced, in lower case: "blue" for "red instead of blue theme"; in
    Chinese and Japanese the two characters beside the phrase. "" without such a phrase (`GONE_VALUE` of the
    languages)."""
    match = _GONE.search(text)
    return next(filter(None, match.groups()), "").casefold() if match else ""


def exchange_values(text: str, other_text: str) -> bool:
    """Whether each text denies the value that the other one states: "tabs, not spaces" and "spaces, not tabs", `서울이
    아니라 부산` and `부산이 아니라 서울`."""
    denied, other_denied = _read(text).denied, _read(other_text).denied
    if not denied or not other_denied or denied == other_denied:
        return False
    return denied in _stated(other_text) and other_denied in _stated(text)


def _denied_value(text: str) -> str:
    """The first word of the value that a text denies beside the one that it states, in lower case; "" without one."""
    match = _DENIED.search(text)
    return match[1].casefold() if match else replaced_value(text)


def _stated(text: str) -> str:
    """The text in lower case without the words that deny a value."""
    return _GONE.sub(" ", _DENIED.sub(" ", text)).casefold()


def _take_different_sides(reading: _Reading, other: _Reading) -> bool:
    """Whether one text calls something wrong and the other does not, or each calls another value replaced ("red instead
    of blue" and "blue instead of red"), or each begins with another topic ("billing: ..." and "shipping: ...")."""
    if reading.wrong != other.wrong or not may_be_one_topic(reading.topic, other.topic):
        return True
    return bool(reading.replaced and other.replaced) and reading.replaced != other.replaced


def matter_terms(text: str) -> frozenset[str]:
    """The terms of a text without its numbers and denials."""
    return _read(text).matter


def is_near_duplicate(text: str, other_text: str) -> bool:
    """Whether two texts are near-duplicates: their likeness is SAME or more, their numbers and names are equal, both or
    neither has a denial, they call the same things wrong or replaced, they do not begin with two topics, neither denies
    the value of the other (`exchange_values`), and neither states the way back of the other (`from A to B`, `from B to
    A`).

    `don't use` equals `do not use`, and `1,000` equals `1000`.
    """
    reading, other = _read(text), _read(other_text)
    if _take_different_sides(reading, other) or exchange_values(text, other_text):
        return False
    if reading.numbers != other.numbers or reading.names != other.names or bool(reading.denials) != bool(other.denials):
        return False
    alike = likeness(reading.matter | reading.numbers, other.matter | other.numbers) >= SAME
    return alike and not is_way_back(text, other_text)


def adds_nothing(new_text: str, known_text: str) -> bool:
    """Whether a new text adds nothing to a known text.

    The known text must have nearly all words of the new one, all its numbers and names and the same denials, and a
    number or name of the new one must not be in a side clause of the known one only ("because 8080 is taken"). False
    for a new text of up to three words, and for the way back of what the known text states.
    """
    new, known = _read(new_text), _read(known_text)
    if _take_different_sides(new, known) or exchange_values(new_text, known_text):
        return False
    if len(new.words) <= 3 or len(new.words & known.words) < REPEATED * len(new.words):
        return False
    missing = new.words - known.words
    if new.denials != known.denials or not new.names <= known.names:
        return False
    lacks_number = any(letter.isdigit() for word in missing for letter in word)
    return not lacks_number and not _only_aside(new_text, known_text) and not is_way_back(new_text, known_text)


def _only_aside(new_text: str, known_text: str) -> bool:
    """Whether a number or name in a main clause of the new text is in no main clause of the known one."""
    from gitmem.memory.relation.clauses import main_clauses

    known_main, new_main = ("\n".join(map(main_clauses, text.splitlines())) for text in (known_text, new_text))
    if known_main == "\n".join(known_text.splitlines()):
        return False
    known, new = _read(known_main), _read(new_main)
    values = {word for word in new.words if any(map(str.isdigit, word))}
    if any(word not in known.words and not _begins(word, known.words) for word in values):
        return True
    return not new.names <= known.names


def _begins(word: str, words: frozenset[str]) -> bool:
    """Whether one of `words` begins with the leading number of `word` ("9090을", "9090")."""
    digits = re.match(r"\d+", word)
    return digits is not None and any(re.match(rf"{digits[0]}(?!\d)", known_word) for known_word in words)
