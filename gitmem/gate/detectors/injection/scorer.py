"""The score of a sentence as an order to the model that reads it: a logistic regression over hashed features.

The features (`features.py`) are the sentence's words and pairs of words, classes of words, the concepts of the lexicon
in it, and the words of the lines before and after it (with less weight). The sum of their weights is divided by the
length of the feature vector, so that a long sentence weighs no more than a short one. `tools/train.py scorer` learns
the weights and writes scorer.bin: `HEADER`, then `LEVELS` different weights (little-endian int16), then one byte for
each bucket, the index of its weight; weight 0 is zero. Deterministic, uses no library, never learns.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable
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
# magic, version, CRC-32 of the bytes from CHECKED on, and the fields of `Scorer` from `unit` to `block`
HEADER = Struct("<8sII5d")
CHECKED = 16  # first byte that the checksum covers
VERSION = 5
LEVELS = 256
# Value of a feature of a neighbouring line, of a concept and of classes of words; the sentence's own words have 1.
CONTEXT, CONCEPT, CLASSES = 0.35, 1.3, 0.7
SLACK = 3.2  # logits below the warning threshold at which a sentence's own words decide its score alone
MIN_VECTOR_LENGTH = 20.0  # least squared length by which a sum is divided: two words are no evidence
MAX_CACHED_SENTENCES = 1 << 14  # cached sums: the versions of one file share most of their lines


class Scorer(NamedTuple):
    """The learned numbers; scores are logits.

    `unit`: value of 1 in `weights`. `bias`: score without features. `sway`: most that neighbouring lines take off a score,
    since the author of an order chooses them. `warn`, `block`: the thresholds. `weights`: one integer for each of
    `BUCKETS`.
    """

    unit: float
    bias: float
    sway: float
    warn: float
    block: float
    weights: array[int]


@cache
def load() -> Scorer:
    """The scorer shipped with the package. Raises ValueError if the file is damaged or of another version."""
    return parse(PATH.read_bytes())


def parse(data: bytes) -> Scorer:
    """The scorer in the bytes of a file. Raises ValueError for another format, version, size or checksum."""
    header_end = HEADER.size + 2 * LEVELS
    if len(data) != header_end + BUCKETS:
        raise ValueError("the scorer of instructions is damaged")
    magic, version, checksum, unit, bias, sway, warn, block = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION or crc32(data[CHECKED:]) != checksum:
        raise ValueError("the scorer of instructions is damaged or of another version")
    levels, codes = data[HEADER.size : header_end], data[header_end:]
    weight_bytes = bytearray(2 * BUCKETS)
    weight_bytes[0::2], weight_bytes[1::2] = codes.translate(levels[0::2]), codes.translate(levels[1::2])
    weights = array("h", bytes(weight_bytes))
    if sys.byteorder == "big":
        weights.byteswap()
    return Scorer(unit, bias, sway, warn, block, weights)


def score(
    sentence: str,
    before: str,
    after: str,
    concepts: Callable[[str], Iterable[str]] = lambda sentence: (),
) -> float:
    """The score of a sentence of folded text between the lines `before` and `after`, as a logit.

    `concepts`: returns the names of the lexicon's concepts in a sentence. If the sentence's own words score less than the
    warning threshold minus `SLACK`, that is the score; only else the concepts, the classes of words and the neighbours
    count. Neighbours add any amount and take off `Scorer.sway` at most.
    """
    learned = load()
    value = own_score(sentence)
    if value < learned.warn - SLACK:
        return value
    word_weight, size = _word_weights(sentence)
    classes, count = _class_weights(sentence)
    total, square = word_weight + CLASSES * classes, size + CLASSES**2 * count
    buckets = concept_buckets(concepts(sentence))
    total += CONCEPT * sum([learned.weights[bucket] for bucket in buckets])
    square += CONCEPT**2 * len(buckets)
    score_alone = learned.unit * total / sqrt(max(square, MIN_VECTOR_LENGTH))
    for weight, count in (_neighbour(before, "p:"), _neighbour(after, "n:")):
        total += CONTEXT * weight
        square += CONTEXT**2 * count
    score_in_context = learned.unit * total / sqrt(max(square, MIN_VECTOR_LENGTH))
    return learned.bias + max(score_in_context, score_alone - learned.sway)


def own_score(sentence: str) -> float:
    """The score of a sentence from its own words alone, as a logit."""
    learned = load()
    word_weight, size = _word_weights(sentence)
    return learned.bias + learned.unit * word_weight / sqrt(max(size, MIN_VECTOR_LENGTH))


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _word_weights(sentence: str) -> tuple[int, int]:
    """The sum of the weights of a sentence's own words, and the number of their buckets."""
    return _weighed(own_buckets(sentence))


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _class_weights(sentence: str) -> tuple[int, int]:
    """The sum of the weights of a sentence's classes of words, and the number of their buckets."""
    return _weighed(class_buckets(sentence))


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def _neighbour(line: str, prefix: str) -> tuple[int, int]:
    return _weighed(neighbour_buckets(line, prefix) if line else set())


def _weighed(buckets: set[int]) -> tuple[int, int]:
    """The sum of the weights of buckets, and their number."""
    if len(buckets) < 2:  # `itemgetter` of one key returns no tuple
        return sum([load().weights[bucket] for bucket in buckets]), len(buckets)
    return sum(itemgetter(*buckets)(load().weights)), len(buckets)
