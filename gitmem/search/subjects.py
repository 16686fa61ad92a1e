"""Which of the lines that answer are about the thing that was asked for: ticket 4711 and not 4712, Acme and not Globex.

Pure. A line that has an identifier of the question, in its text or its trail, comes before all that lack it. Of two
lines that say nearly the same, the one with more of the question's words comes first: what tells them apart is what
was asked. Nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.text.telling import telling
from gitmem.text.terms import compatible, tokens

STEP = 1e-6
ANSWERS = 0.5  # share of the best score that a line with the asked identifier needs to come before lines without
ALIKE = 1 / 3  # share of the words of two lines together, numbers aside, from which they say nearly the same
COMPARED = 20  # lines, the best, of which two may say nearly the same
# Two capitalised words and more: the name of one person, place or work. A single one may open a sentence.
_FULL_NAME = lazy(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)+")
_NAMES_A_THING = lazy(r"(?!(?:19|20)\d\d$)\d{3,}")  # a number of three digits and more that is no year
LONG_NUMBER = 3  # digits from which a number names a thing whatever word stands beside it


class Line(NamedTuple):
    """A line that answers: its text, its score, and what reads its trail."""

    text: str
    score: float
    trail: Callable[[], tuple[str, ...]] = tuple


def ordered(lines: Sequence[Line], question: str) -> list[float]:
    """The score of each line, those about the asked thing above the others. `lines` are the best first."""
    return _with_asked_words_first(lines, _with_identifiers_first(lines, question), question)


def _with_identifiers_first(lines: Sequence[Line], question: str) -> list[float]:
    scores = [line.score for line in lines]
    if any(letter.isdigit() for letter in question):
        asked = _identifiers(question)
    else:
        asked = frozenset()
    names = [match[0].casefold() for match in _FULL_NAME.finditer(question)]
    if not lines or not (asked or names):
        return scores
    best = max(scores)
    having = []
    for line, score in zip(lines, scores, strict=True):
        text = ""
        if score >= ANSWERS * best:
            text = "\n".join((*line.trail(), line.text))
        spoken = ""
        if names:
            spoken = " ".join(text.casefold().split())
        named = any(name in spoken for name in names)
        having.append(bool(text) and (named or bool(asked and _names_one_of(asked, _identifiers(text)))))
    least = min((score for score, has in zip(scores, having, strict=True) if has), default=None)
    if least is None:
        return scores
    # Those without that were above keep their order, right below the last with one.
    above = sorted((at for at, has in enumerate(having) if not has and scores[at] >= least), key=lambda at: -scores[at])
    for rank, at in enumerate(above, 1):
        scores[at] = least - STEP * rank
    return scores


def names_another(text: str, question: str) -> bool:
    """Whether a text names things by identifiers, the question too, and none is the same."""
    if not any(letter.isdigit() for letter in text) or not any(letter.isdigit() for letter in question):
        return False
    asked, own = _identifiers(question), _identifiers(text)
    return bool(asked and own) and not _names_one_of(asked, own)


def _identifiers(text: str) -> frozenset[tuple[str, str]]:
    """(what it numbers, "" where no word says so; number or identifier) of each thing that a text names by one."""
    from gitmem.memory.relation.tokens import ID, NUMBER
    from gitmem.memory.relation.tokens import tokens as read

    found = set()
    for token in read(text):
        if token.kind == ID:
            if token.designated:
                word, _, number = token.norm.rpartition(":")
            else:
                word, _, number = ("", "", token.norm)
            found.add((word, number.lstrip("#")))
        elif token.kind == NUMBER and not token.dim and _NAMES_A_THING.fullmatch(token.norm):
            found.add(("", token.norm))
    return frozenset(found)


def _names_one_of(asked: frozenset[tuple[str, str]], own: frozenset[tuple[str, str]]) -> bool:
    for word, number in asked:
        for other, same in own:
            if number == same and (word == other or not word or not other or len(number) >= LONG_NUMBER):
                return True
    return False


def _with_asked_words_first(lines: Sequence[Line], scores: list[float], question: str) -> list[float]:
    asked = frozenset(_words(question))
    first = sorted(range(len(lines)), key=lambda at: -scores[at])[:COMPARED]
    words = {at: frozenset(_words(lines[at].text)) for at in first}
    telling_words = {at: frozenset(word for word in words[at] if not word.isdigit()) for at in first}
    about: dict[int, frozenset[str]] = {}
    for place, at in enumerate(first):
        for other in first[:place]:
            one, better = telling_words[at], telling_words[other]
            if len(one & better) < ALIKE * len(one | better):
                continue
            for line in (at, other):
                if line not in about:
                    about[line] = asked & (words[line] | frozenset(_words(" ".join(lines[line].trail()))))
            if about[at] > about[other] and scores[at] <= scores[other]:
                scores[at] = scores[other] + STEP
    return scores


def _words(text: str) -> Iterator[str]:
    for token, script in tokens(compatible(text)):
        parts, says_nothing = telling(token, script)
        if not says_nothing:
            yield from parts
