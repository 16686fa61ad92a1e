"""Whether two texts say the same, speak of one matter, or contradict each other. Pure; reads four languages.

What counts as a near-duplicate is decided here: for promotion, review and contexts. (Facts of one id are one fact:
`fact.fact_id`, which `promotion/plan` and `memory/writing` look for first; what a fact replaces is judged by
`memory/relation`.) `same` refuses a near-duplicate, `contradicts` is what search still marks by, `repeats` drops a
part of a context that says nothing new. All of them read a text as its terms, numbers, names and denials. Elsewhere
texts are compared for other questions, each with a comment that says which: which fact was edited, which lines take
one back, which passages look the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text.denials import denials, without_denials
from gitmem.text.names import OPENING_MARKS, names
from gitmem.text.numbers import DIGITS, NUMBER, plain_number

SAME = 0.85  # likeness from which two texts that disagree in nothing are one (docs/promotion.md, "Thresholds")
ALIKE = 0.5  # likeness of the words, numbers aside, from which two texts speak of one matter
REPEATED = 0.8  # share of a text's words that another must hold to make a repetition of it
ROW_WORDS = 60  # of a text that may be a row of a table: longer ones are prose
CACHED = 1 << 13  # texts whose reading is kept

_TERM = lazy(r"[^\W_]+")
_WIDE_LETTER = "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]"
_WIDE = lazy(_WIDE_LETTER)
_TOKEN = lazy(rf"{DIGITS}|{_WIDE_LETTER}|[^\W\d_]+")


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
    return both / (len(a) + len(b) - both) if both else 0.0


class _Reading(NamedTuple):
    """One text, read once. `matter` is its terms without numbers and denials, `words` what stands between spaces."""

    matter: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denials: frozenset[str]


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
    )


def matter(text: str) -> frozenset[str]:
    """The terms that say what a text speaks of: without its numbers and its denials."""
    return _read(text).matter


def alike(a: str, b: str) -> float:
    """How much two texts speak of one matter: the likeness of their terms, numbers and denials aside; 0 below ALIKE."""
    share = likeness(_read(a).matter, _read(b).matter)
    return share if share >= ALIKE else 0.0


def same(a: str, b: str) -> bool:
    """Whether two texts say the same: nearly the same terms, the same numbers and names, both or neither denying.

    `don't use` and `do not use` are the same, `1,000` and `1000` too.
    """
    one, other = _read(a), _read(b)
    if one.numbers != other.numbers or one.names != other.names or bool(one.denials) != bool(other.denials):
        return False
    return likeness(one.matter | one.numbers, other.matter | other.numbers) >= SAME


def contradicts(a: str, b: str) -> bool:
    """Whether two texts speak of one matter and cannot both hold: one number or name is another, or only one denies.

    Two rows of one table (`unit 7 uses 91`, `unit 8 uses 92`; `Seoul has 3 rooms`, `Busan has 4 rooms`) differ in more
    than one value: other matters.
    """
    return bool(alike(a, b)) and _disagree(_read(a), _read(b)) and not _are_rows(a, b)


def _are_rows(a: str, b: str) -> bool:
    """Whether two texts are rows of one table: more than one of their cells differs; or, in the same words, a number
    does and apart from it what it is the number of, a name or a word that stands before it."""
    from difflib import SequenceMatcher  # of the few pairs that are alike: not every search waits for it

    a, b = sorted((a, b))  # whose order makes no difference, and does to SequenceMatcher
    cells = [[" ".join(cell.split()) for cell in text.strip().strip("|").casefold().split("|")] for text in (a, b)]
    if len(cells[0]) == len(cells[1]) > 1:
        return len([cell for cell, other_cell in zip(*cells, strict=True) if cell != other_cell]) > 1
    one, other = (_TOKEN.findall(text) for text in (a, b))
    if max(len(one), len(other)) > ROW_WORDS:
        return False
    matcher = SequenceMatcher(None, [word.casefold() for word in one], [word.casefold() for word in other], False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    differing = [(one[i:j], other[k:m]) for _, i, j, k, m in codes]
    numbered = [all(any(map(NUMBER.match, side)) for side in sides) for sides in differing]
    if any(code[0] != "replace" for code in codes) or numbered.count(True) != 1:
        return False
    place = numbered.index(True)
    named = [sides for sides in differing[place + 1 :] if sides[0][0][0].isupper() and sides[1][0][0].isupper()]
    return bool(place or named)


def _disagree(one: _Reading, other: _Reading) -> bool:
    if one.numbers != other.numbers:
        return len(one.numbers - other.numbers) <= 1 and len(other.numbers - one.numbers) <= 1
    return bool(one.denials) != bool(other.denials) or one.names != other.names


def repeats(a: str, b: str) -> bool:
    """Whether a text says nothing that another does not: `b` has nearly all words of `a`, every number and name of it,
    and no denial stands in one of them only. A text of three words and fewer is no repetition."""
    new, known = _read(a), _read(b)
    if len(new.words) <= 3 or len(new.words & known.words) < REPEATED * len(new.words):
        return False
    missing = new.words - known.words
    if new.denials != known.denials or not new.names <= known.names:
        return False
    return not any(c.isdigit() for word in missing for c in word)
