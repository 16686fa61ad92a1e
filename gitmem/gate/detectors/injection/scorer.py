"""How sure we are that a sentence is an order to the model that reads it: a logistic regression over hashed features.

Features (`features.py`) are those of the sentence's words, of the line before and after it (weaker), of the concepts
that the lexicon finds, and of classes of words. Their weights are added up and divided by the length of the feature
vector, so that a long sentence weighs no more than a short one. `tools/train.py scorer` learns the weights and writes
scorer.bin: `HEADER`, then the `LEVELS` weights there are (little-endian int16), then one byte a bucket that says which
of them is its weight; level 0 is 0. Deterministic, no library, never learns.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from math import sqrt
from operator import itemgetter
from pathlib import Path
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from gitmem.gate.detectors.injection.features import BUCKETS, concept_buckets, neighbour_buckets, own_buckets
from gitmem.gate.detectors.injection.word_classes import class_buckets

PATH = Path(__file__).with_name("scorer.bin")
MAGIC = b"gmscorer"
# magic, version, CRC-32 of all that follows it, unit of a weight, bias, weight of "the lexicon noted it", of its score
# above that, what neighbours may take off at most, and the scores from which a sentence warns and blocks
HEADER = Struct("<8sII7d")
CHECKED = 16  # where what the checksum is of begins
VERSION = 4
LEVELS = 256
# the size of a feature of a neighbouring line, of a concept and of classes of words; a sentence's own words have 1
CONTEXT, CONCEPT, CLASSES = 0.35, 1.3, 0.7
SLACK = 2.1  # a sentence whose own words stay so far below the warning threshold is read no further
MIN_VECTOR_LENGTH = 20.0  # a shorter feature vector is not stretched: two words are no evidence
MAX_CACHED_SENTENCES = 1 << 14  # sentences remembered: the versions of one file share most of their lines


class Scorer(NamedTuple):
    """The learned numbers; scores are logits. `weights` has `BUCKETS` numbers in units of `unit`.

    `sway` is the most that neighbouring lines take off the score of a sentence: who writes an order chooses them.
    """

    unit: float
    bias: float
    noted: float
    slope: float
    sway: float
    warn: float
    block: float
    weights: array[int]


@cache
def load() -> Scorer:
    """The scorer shipped with the package. Raises ValueError where the file is not what it should be."""
    return parse(PATH.read_bytes())


def parse(data: bytes) -> Scorer:
    """Read a scorer. Raises ValueError for another format, another version or another size."""
    first = HEADER.size + 2 * LEVELS
    if len(data) != first + BUCKETS:
        raise ValueError("the scorer of instructions is damaged")
    magic, version, checksum, unit, bias, noted, slope, sway, warn, block = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION or crc32(data[CHECKED:]) != checksum:
        raise ValueError("the scorer of instructions is damaged or of another version")
    levels, codes = data[HEADER.size : first], data[first:]
    both = bytearray(2 * BUCKETS)
    both[0::2], both[1::2] = codes.translate(levels[0::2]), codes.translate(levels[1::2])
    weights = array("h", bytes(both))
    if sys.byteorder == "big":
        weights.byteswap()
    return Scorer(unit, bias, noted, slope, sway, warn, block, weights)


def score(
    sentence: str,
    before: str,
    after: str,
    noted: Callable[[str], tuple[float, Collection[str]] | None] = lambda sentence: None,
) -> float:
    """The score of a sentence of folded text between two lines, as a logit.

    `noted` says how far the lexicon's own score of a sentence is above the line from which it notes one, and the names of
    the concepts in it; None where it notes nothing. It, the classes of words and the neighbours are asked only where
    the sentence's own words come within `SLACK` of the warning threshold; else the score is that of the words.
    Neighbours add any amount and take off `Scorer.sway` at most.
    """
    learned = load()
    own, size = _word_weights(sentence)
    value = learned.bias + learned.unit * own / sqrt(max(size, MIN_VECTOR_LENGTH))
    if value < learned.warn - SLACK:
        return value
    classes, count = _class_weights(sentence)
    total, square = own + CLASSES * classes, size + CLASSES**2 * count
    bias = learned.bias
    note = noted(sentence)
    if note:
        buckets = concept_buckets(note[1])
        total += CONCEPT * sum([learned.weights[bucket] for bucket in buckets])
        square += CONCEPT**2 * len(buckets)
        bias += learned.noted + learned.slope * note[0]
    alone = bias + learned.unit * total / sqrt(max(square, MIN_VECTOR_LENGTH))
    for weight, count in (_neighbour(before, "p:"), _neighbour(after, "n:")):
        total += CONTEXT * weight
        square += CONTEXT**2 * count
    return max(bias + learned.unit * total / sqrt(max(square, MIN_VECTOR_LENGTH)), alone - learned.sway)


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _word_weights(sentence: str) -> tuple[int, int]:
    """The sum of the weights of a sentence's own words, and how many buckets they are."""
    return _weighed(own_buckets(sentence))


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _class_weights(sentence: str) -> tuple[int, int]:
    """The same of its classes of words."""
    return _weighed(class_buckets(sentence))


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _neighbour(line: str, prefix: str) -> tuple[int, int]:
    return _weighed(neighbour_buckets(line, prefix) if line else set())


def _weighed(buckets: set[int]) -> tuple[int, int]:
    """The sum of the weights of buckets, and how many they are."""
    if len(buckets) < 2:  # of one key `itemgetter` makes no tuple
        return sum([load().weights[bucket] for bucket in buckets]), len(buckets)
    return sum(itemgetter(*buckets)(load().weights)), len(buckets)
