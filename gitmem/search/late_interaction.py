"""Scores lines by late interaction: finds, for each word of a question, the most similar word of a line.

The vector of a line is the mean of its words, so one matching word is lost among twenty others; here each word of the
question is matched by itself. Two words are compared by the signs of their vectors, one bit for each dimension, with
one exclusive or. Only the best lines are compared (`Ranking.matched`). The signs always come from the static table.
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi, sin
from operator import mul
from typing import NamedTuple, Protocol

from gitmem.models.wordpiece import words
from gitmem.text.terms import terms

MAX_WORDS = 200  # words of a line that are compared; a block of code may have thousands


class WordVectors(Protocol):
    """The word vectors of the static embedder. `dims`: their number of dimensions."""

    @property
    def dims(self) -> int: ...

    @property
    def signs(self) -> Mapping[str, int]:
        """Word -> the signs of its vector, one bit a dimension; 0 for an unknown word."""

    def length(self, word: str) -> float:
        """The length of a word's vector; frequent words have short ones."""

    def embed_query(self, text: str) -> bytes:
        """The vector of a text, float32, at length 1; zeros if no word is known."""

    def cosine(self, vector: Sequence[float], text: str) -> float:
        """The cosine of a vector of length 1 and the vector of a text; 0 if no word of the text is known."""


class QuestionWords(NamedTuple):
    """The words of a question that the table knows. `signs`: the signs of each word's vector, one bit a dimension.
    `weights`: of each word; the sum is 1."""

    signs: tuple[int, ...]
    weights: tuple[float, ...]


def question_words(text: str, rarity: Mapping[str, float], table: WordVectors) -> QuestionWords | None:
    """The words of a question that the table has; None if it has none. `rarity`: term of the question -> IDF."""
    max_rarity = max(rarity.values(), default=1.0)
    weighed: list[tuple[int, float]] = []
    for word in dict.fromkeys(words(text)):
        if sign := table.signs[word]:
            word_rarity = max((rarity[term] for term in terms(word) if term in rarity), default=max_rarity / 2)
            weighed.append((sign, table.length(word) * word_rarity))
    total = sum(weight for _, weight in weighed)
    if not total > 0:
        return None
    return QuestionWords(tuple(sign for sign, _ in weighed), tuple(weight / total for _, weight in weighed))


def probable_cosine(bits: int, dims: int) -> float:
    """The expected cosine of two words whose signs differ in `bits` of `dims` dimensions."""
    return sin(pi / 2 * (1 - 2 * bits / dims))


def match_lines(
    question: QuestionWords, lines: Sequence[tuple[int, int, str]], table: WordVectors
) -> list[tuple[float, float]]:
    """For each line (score of the line, score of the line with the lines before and after it), each scaled to 0..1
    among `lines` (zeros if all are equal).

    `lines`: (position, number of the strip, text); neighbours are lines of one strip with adjacent positions. A score
    is the weighted mean, over the question's words, of the cosine with the most similar of the first MAX_WORDS words of
    the line.
    """
    signs = table.signs
    cosines = [max(0.0, probable_cosine(bits, table.dims)) for bits in range(table.dims + 1)]
    no_match = [0.0] * len(question.signs)
    similarities: dict[tuple[int, int], list[float]] = {}
    for position, strip, text in lines:
        line_signs = list(filter(None, map(signs.__getitem__, dict.fromkeys(words(text)[:MAX_WORDS]))))
        similarities[strip, position] = no_match
        if line_signs:
            similarities[strip, position] = [
                cosines[min([(word ^ sign).bit_count() for sign in line_signs])] for word in question.signs
            ]
    line_scores, window_scores = [], []
    for position, strip, _ in lines:
        before, here, after = (similarities.get((strip, n), no_match) for n in (position - 1, position, position + 1))
        line_scores.append(sum(map(mul, question.weights, here)))
        window_scores.append(sum(map(mul, question.weights, map(max, before, here, after))))
    return list(zip(_spread(line_scores), _spread(window_scores), strict=True))


def _spread(values: list[float]) -> list[float]:
    """The values scaled to 0..1; zeros if all are equal."""
    least = min(values, default=0.0)
    span = max(values, default=0.0) - least
    if span > 1e-9:
        return [(value - least) / span for value in values]
    return [0.0] * len(values)
