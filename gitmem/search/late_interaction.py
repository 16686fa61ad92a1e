"""Word by word: how near the nearest word of a line comes to each word of a question.

A line's vector is the mean of its words, in which one word that answers is lost among twenty others. Here each word
of the question looks for its own nearest. Words are compared by the signs of their numbers, a bit each, so that two
take one exclusive or, and only the best lines are read this way (`Ranking.matched`). Pure; the words' signs come from
the static table, whatever the embedder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi, sin
from operator import mul

from gitmem.light_typing import NamedTuple, Protocol
from gitmem.models.wordpiece import words
from gitmem.text.terms import terms

MAX_WORDS = 200  # words of a line that are compared; a block of code may have thousands


class WordVectors(Protocol):
    """What the static embedder knows of a word."""

    @property
    def dims(self) -> int: ...

    @property
    def signs(self) -> Mapping[str, int]:
        """Of any word a bit a dimension; 0 for one it does not know."""

    def length(self, word: str) -> float:
        """Of the word's vector: frequent words have short ones."""

    def embed_query(self, text: str) -> bytes:
        """The text's vector of length 1, float32; zeros where it knows no word of it."""

    def cosine(self, vector: Sequence[float], text: str) -> float:
        """Of a vector of length 1 and the text's; 0 where it knows no word of it."""


class QuestionWords(NamedTuple):
    """A question's words: their signs, and what each counts, together 1."""

    signs: tuple[int, ...]
    weights: tuple[float, ...]


def question_words(text: str, rarity: Mapping[str, float], table: WordVectors) -> QuestionWords | None:
    """The words of a question; None where the table knows none. `rarity` is how rare the snapshot's terms are."""
    most = max(rarity.values(), default=1.0)
    weighed: list[tuple[int, float]] = []
    for word in dict.fromkeys(words(text)):
        if sign := table.signs[word]:
            rare = max((rarity[term] for term in terms(word) if term in rarity), default=most / 2)
            weighed.append((sign, table.length(word) * rare))
    total = sum(weight for _, weight in weighed)
    if not total > 0:
        return None
    return QuestionWords(tuple(sign for sign, _ in weighed), tuple(weight / total for _, weight in weighed))


def probable_cosine(bits: int, dims: int) -> float:
    """The cosine two words probably have, of whose signs so many differ."""
    return sin(pi / 2 * (1 - 2 * bits / dims))


def matches(
    question: QuestionWords, lines: Sequence[tuple[int, int, str]], table: WordVectors
) -> list[tuple[float, float]]:
    """Two scores from 0 to 1 for each line: of the line alone, and of the line with the lines before and after it.

    `lines`: (position, strip, text). The score says how well the words of the text match those of the question.
    """
    signs = table.signs
    near = [max(0.0, probable_cosine(bits, table.dims)) for bits in range(table.dims + 1)]
    none = [0.0] * len(question.signs)
    similarities: dict[tuple[int, int], list[float]] = {}
    for at, strip, text in lines:
        known = list(filter(None, map(signs.__getitem__, dict.fromkeys(words(text)[:MAX_WORDS]))))
        similarities[strip, at] = none
        if known:
            similarities[strip, at] = [
                near[min([(one ^ sign).bit_count() for sign in known])] for one in question.signs
            ]
    own, around = [], []
    for at, strip, _ in lines:
        before, here, after = (similarities.get((strip, near_by), none) for near_by in (at - 1, at, at + 1))
        own.append(sum(map(mul, question.weights, here)))
        around.append(sum(map(mul, question.weights, map(max, before, here, after))))
    return list(zip(_spread(own), _spread(around), strict=True))


def _spread(values: list[float]) -> list[float]:
    low = min(values, default=0.0)
    span = max(values, default=0.0) - low
    if span > 1e-9:
        return [(value - low) / span for value in values]
    return [0.0] * len(values)
