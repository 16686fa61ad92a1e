"""Moves lines about the thing that the question names before lines about other things: ticket 4711 before 4712.

A line with an identifier or full name of the question in its text or trail comes before lines without it. Of two lines
with nearly the same words, the line with more words of the question comes first. No line is left out. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text.terms import telling_terms

STEP = 1e-6  # difference of score that orders two lines
MIN_SCORE_SHARE = 0.5  # least share of the best score of a line whose identifiers are compared with the question's
MIN_JACCARD = 1 / 3  # least Jaccard index of the words, without numbers, of two lines that say nearly the same
MAX_COMPARED = 20  # best lines that are compared with each other
# Two capitalised words and more: the name of one person, place or work. A single one may open a sentence.
_FULL_NAME = lazy(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)+")
_NAMES_A_THING = lazy(r"(?!(?:19|20)\d\d$)\d{3,}")  # a number of three digits and more that is not a year
MIN_LONG_NUMBER_DIGITS = 3  # least digits of a number that identifies a thing whatever word is before it


class Line(NamedTuple):
    """A line that answers the question. `trail`: returns its headings and parent items, outermost first."""

    text: str
    score: float
    trail: Callable[[], tuple[str, ...]] = tuple


def reordered_scores(lines: Sequence[Line], question: str) -> list[float]:
    """The new score of each line, in the order of `lines`: lines about the thing that `question` names come first."""
    return _with_asked_words_first(lines, _with_identifiers_first(lines, question), question)


def _with_identifiers_first(lines: Sequence[Line], question: str) -> list[float]:
    """The score of each line. If a line has an identifier or name of the question, the lines without one that were
    above the last line with one are lowered right below it."""
    scores = [line.score for line in lines]
    if any(letter.isdigit() for letter in question):
        identifiers = _identifiers(question)
    else:
        identifiers = frozenset()
    names = [match[0].casefold() for match in _FULL_NAME.finditer(question)]
    if not lines or not (identifiers or names):
        return scores
    best = max(scores)
    is_about = []
    for line, score in zip(lines, scores, strict=True):
        text = ""
        if score >= MIN_SCORE_SHARE * best:
            text = "\n".join((*line.trail(), line.text))
        lower_text = " ".join(text.casefold().split()) if names else ""
        named = any(name in lower_text for name in names)
        is_about.append(bool(text) and (named or bool(identifiers and _names_one_of(identifiers, _identifiers(text)))))
    least = min((score for score, about in zip(scores, is_about, strict=True) if about), default=None)
    if least is None:
        return scores
    # Lines without an identifier that were above move right below the last line with one, in their order.
    above = [index for index, about in enumerate(is_about) if not about and scores[index] >= least]
    for rank, index in enumerate(sorted(above, key=lambda index: -scores[index]), 1):
        scores[index] = least - STEP * rank
    return scores


def names_other_thing(text: str, question: str) -> bool:
    """Whether a text and the question both name things by identifiers, and have none in common."""
    if not any(letter.isdigit() for letter in text) or not any(letter.isdigit() for letter in question):
        return False
    asked, named = _identifiers(question), _identifiers(text)
    return bool(asked and named) and not _names_one_of(asked, named)


def _identifiers(text: str) -> frozenset[tuple[str, str]]:
    """(word, number or identifier) of each thing that a text names: ("ticket", "4711"); the word is "" if there is
    none. A number without a word counts from three digits on, if it is no year."""
    from gitmem.memory.relation.tokens import ID, NUMBER
    from gitmem.memory.relation.tokens import tokens as read

    identifiers = set()
    for token in read(text):
        if token.kind == ID:
            if token.designated:
                word, _, number = token.norm.rpartition(":")
            else:
                word, _, number = ("", "", token.norm)
            identifiers.add((word, number.lstrip("#")))
        elif token.kind == NUMBER and not token.dim and _NAMES_A_THING.fullmatch(token.norm):
            identifiers.add(("", token.norm))
    return frozenset(identifiers)


def _names_one_of(asked: frozenset[tuple[str, str]], named: frozenset[tuple[str, str]]) -> bool:
    """Whether two sets of identifiers have a thing in common; their words must agree only for short numbers."""
    for word, number in asked:
        for other_word, other_number in named:
            words_agree = word == other_word or not word or not other_word
            if number == other_number and (words_agree or len(number) >= MIN_LONG_NUMBER_DIGITS):
                return True
    return False


def _with_asked_words_first(lines: Sequence[Line], scores: list[float], question: str) -> list[float]:
    """The scores; of two lines with nearly the same words, the one that has all words of the question that the other
    has, and one more, is raised above the other. Changes `scores`. Only the best MAX_COMPARED lines are compared."""
    asked = telling_terms(question)
    best = sorted(range(len(lines)), key=lambda index: -scores[index])[:MAX_COMPARED]
    words = {index: telling_terms(lines[index].text) for index in best}
    telling_words = {index: frozenset(word for word in words[index] if not word.isdigit()) for index in best}
    asked_words: dict[int, frozenset[str]] = {}
    for rank, index in enumerate(best):
        for better in best[:rank]:
            own_words, better_words = telling_words[index], telling_words[better]
            if len(own_words & better_words) < MIN_JACCARD * len(own_words | better_words):
                continue
            for i in (index, better):
                if i not in asked_words:
                    asked_words[i] = asked & (words[i] | telling_terms(" ".join(lines[i].trail())))
            if asked_words[index] > asked_words[better] and scores[index] <= scores[better]:
                scores[index] = scores[better] + STEP
    return scores
