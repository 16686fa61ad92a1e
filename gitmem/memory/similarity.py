"""Whether two texts say the same, or one says nothing that the other does not. Pure; reads four languages.

What counts as a near-duplicate is decided here: for promotion, review and contexts. (Facts of one id are one fact:
`fact.fact_id`, which `promotion/plan` and `memory/writing` look for first; what a fact replaces or contradicts is
judged by `memory/relation`.) `same` refuses a near-duplicate, `repeats` drops a part of a context that says nothing
new. All of them read a text as its terms, numbers, names and denials. Elsewhere
texts are compared for other questions, each with a comment that says which: which fact was edited, which lines take
one back, which passages look the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text.denials import denials, without_denials
from gitmem.text.languages import LANGUAGES
from gitmem.text.names import OPENING_MARKS, names
from gitmem.text.numbers import NUMBER, plain_number

SAME = 0.85  # likeness from which two texts that disagree in nothing are one (docs/promotion.md, "Measurements")
ALIKE = 0.5  # likeness of the words, numbers aside, from which two texts speak of one matter
REPEATED = 0.8  # share of a text's words that another must hold to make a repetition of it
CACHED = 1 << 13  # texts whose reading is kept

_TERM = lazy(r"[^\W_]+")
_WIDE_LETTER = "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]"
_WIDE = lazy(_WIDE_LETTER)
_WRONG = lazy("|".join(each.NAMED_WRONG for each in LANGUAGES), re.I)
_GONE = lazy("|".join(each.GONE_VALUE for each in LANGUAGES), re.I)


def terms(text: str) -> set[str]:
    """What two texts can have in common: words and numbers, and pairs of letters where a script has no spaces."""
    parts = set()
    for word in _TERM.findall(text.casefold()):
        if _WIDE.search(word):
            parts |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            parts.add(word)
    return parts


def likeness(a: set[str] | frozenset[str], b: set[str] | frozenset[str]) -> float:
    """Jaccard: the shared terms over all terms, 0..1; two empty sets have nothing in common."""
    both = len(a & b)
    if not both:
        return 0.0
    return both / (len(a) + len(b) - both)


class _Reading(NamedTuple):
    """One text, read once. `matter` is its terms without numbers and denials, `words` what stands between spaces,
    `gone` the value that it names as gone ("instead of blue"), "" for none; `wrong` whether it names something as wrong
    ("it is wrong that ...")."""

    matter: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denials: frozenset[str]
    gone: str
    wrong: bool


@lru_cache(CACHED)
def _read(text: str) -> _Reading:
    text = OPENING_MARKS.sub("", text)
    plain = without_denials(text)
    return _Reading(
        frozenset(term for term in terms(plain) if not term.isdigit()),
        frozenset(re.findall(r"\w+", text.casefold())),
        frozenset(map(plain_number, NUMBER.findall(text))),
        frozenset(names(text)),
        denials(text),
        gone_value(text),
        _WRONG.search(text) is not None,
    )


def gone_value(text: str) -> str:
    """The value in whose place a text puts another one: "blue" of "red instead of blue", "" where it names none."""
    found = _GONE.search(text)
    if not found:
        return ""
    return next(filter(None, found.groups()), "").casefold()


def _take_different_sides(one: _Reading, other: _Reading) -> bool:
    """Whether only one of two texts names something as wrong, or each names a value as gone, and not the same: "red
    instead of blue" and "blue instead of red"."""
    return one.wrong != other.wrong or (bool(one.gone and other.gone) and one.gone != other.gone)


def matter(text: str) -> frozenset[str]:
    """The terms that say what a text speaks of: without its numbers and its denials."""
    return _read(text).matter


def same(a: str, b: str) -> bool:
    """Whether two texts say the same: nearly the same terms, the same numbers and names, both or neither denying.

    `don't use` and `do not use` are the same, `1,000` and `1000` too.
    """
    one, other = _read(a), _read(b)
    if _take_different_sides(one, other):
        return False
    if one.numbers != other.numbers or one.names != other.names or bool(one.denials) != bool(other.denials):
        return False
    return likeness(one.matter | one.numbers, other.matter | other.numbers) >= SAME


def repeats(a: str, b: str) -> bool:
    """Whether a text says nothing that another does not: `b` has nearly all words of `a`, every number and name of it,
    no denial stands in one of them only, and no number or name of `a` stands in a side clause of `b` alone ("because
    8080 is taken"). A text of three words and fewer is no repetition."""
    new, known = _read(a), _read(b)
    if (
        _take_different_sides(new, known)
        or len(new.words) <= 3
        or len(new.words & known.words) < REPEATED * len(new.words)
    ):
        return False
    missing = new.words - known.words
    if new.denials != known.denials or not new.names <= known.names:
        return False
    return not any(c.isdigit() for word in missing for c in word) and not _only_aside(a, b)


def _only_aside(a: str, b: str) -> bool:
    """Whether a number or a name of the main clauses of `a` stands in no main clause of `b`."""
    from gitmem.memory.relation.clauses import main_clauses

    main, own = ("\n".join(map(main_clauses, text.splitlines())) for text in (b, a))
    if main == "\n".join(b.splitlines()):
        return False
    known, new = _read(main), _read(own)
    values = {word for word in new.words if any(map(str.isdigit, word))}
    if any(word not in known.words and not _begins(word, known.words) for word in values):
        return True
    return not new.names <= known.names


def _begins(word: str, words: frozenset[str]) -> bool:
    """Whether a number with a particle behind it ("9090을") is among words with another one behind it, or none."""
    digits = re.match(r"\d*", word)
    number = ""
    if digits:
        number = digits[0]
    return bool(number) and any(re.match(rf"{number}(?!\d)", other) for other in words)
