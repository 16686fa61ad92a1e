"""Finds the directions that a text states (`from A to B`, `A → B`, `A에서 B로`) and says whether a text states one the
other way round.

Pure. The languages are English, Korean, Japanese and Chinese. The two ends of a direction are compared word by word,
because nothing says where the second one ends (`to Kiel at night`).
"""

from __future__ import annotations

import re
from itertools import pairwise

from gitmem.lazy_patterns import lazy
from gitmem.text.terms import without_particle

_ARTICLES = ("the", "The", "a", "an", "our")
MAX_DIRECTIONS = 60  # of one text that are compared
MAX_END_WORDS = 4  # words of one end of a direction

_ARROW = lazy(r"\s*(?:[→⇒➜]|[-=]{1,2}>)\s*")
_FROM_TO = lazy(r"\bfrom\s+(?P<first>[^.;:,\n]{1,60}?)\s+(?:in|on)?to\s+(?=(?P<second>\S[^.;\n]{0,80}))", re.I)
_KOREAN = lazy(r"(?P<first>[^\s.,;:]{1,30})에서\s+(?P<second>[^\s.,;:]{1,30}?)(?=(?:으로|로|까지)(?:\s|$))")
_JAPANESE = lazy(r"(?P<first>[^\s、。はがをで]{1,20})から(?P<second>[^\s、。はがをで]{1,20}?)(?=へ|に|まで)")
_CHINESE = lazy(r"[从從](?P<first>[^\s，。从從]{1,20}?)(?:到|往|至|迁移到|搬到)(?P<second>[^\s，。]{1,20})")


def is_way_back(text: str, other_text: str) -> bool:
    """Whether two texts state one direction and its way back: `from Hals to Kiel`, `from Kiel to Hals`. False if both
    also state one and the same direction."""
    directions, other_directions = _directions(text), _directions(other_text)
    pairs = [(first, second, *of_other) for first, second in directions for of_other in other_directions]
    if any(
        first == other_first and second[:1] == other_second[:1] for first, second, other_first, other_second in pairs
    ):
        return False  # both state this direction, perhaps with its way back
    return any(
        _begin_alike(second, other_first) and _begin_alike(other_second, first)
        for first, second, other_first, other_second in pairs
        if first != other_first
    )


Words = tuple[str, ...]


def _directions(text: str) -> list[tuple[Words, Words]]:
    """(first end, words from the second end on) of each direction, in lower case; characters in place of words in
    Japanese and Chinese. Of an arrow, whose first end may begin anywhere, all first ends of up to MAX_END_WORDS
    words."""
    directions: list[tuple[Words, Words]] = []
    for before, after in pairwise(_ARROW.split(text)):
        words = _words(before)
        directions += [(words[-count:], _words(after)) for count in range(1, min(MAX_END_WORDS, len(words)) + 1)]
    for pattern in (_FROM_TO, _KOREAN):
        directions += [(_words(match["first"]), _words(match["second"])) for match in pattern.finditer(text)]
    directions = [(first, second) for first, second in directions if len(first) <= MAX_END_WORDS]
    for pattern in (_JAPANESE, _CHINESE):
        directions += [(tuple(match["first"]), tuple(match["second"])) for match in pattern.finditer(text)]
    return [(first, second) for first, second in directions if first and second][:MAX_DIRECTIONS]


def _words(text: str) -> Words:
    """The words of a text in lower case, without marks and without articles."""
    words = re.findall(r"[\w./@+#-]*\w", text)
    return tuple(word.casefold() for word in words if word not in _ARTICLES)


def _begin_alike(words: Words, end: Words) -> bool:
    """Whether `words` begin with an end of a direction; a particle may follow its last word (`B로`)."""
    beginning = words[: len(end)]
    if beginning == end:
        return True
    return len(beginning) == len(end) and beginning[:-1] == end[:-1] and without_particle(beginning[-1]) == end[-1]
