"""How sure we are that a sentence is an order to the model that reads it: a logistic regression over hashed features.

Features are words, word pairs, word endings and beginnings, runs of two to four CJK characters, the words of the line
before and after it (weaker), and the concepts that the lexicon finds. Each is hashed by CRC-32 into `BUCKETS`
weights; the sum is divided by the length of the feature vector, so that a long sentence weighs no more than a short
one (feature hashing: Weinberger et al., 2009). `tools/train_scorer.py` learns the weights and writes scorer.bin:
`HEADER`, then the `LEVELS` weights there are (little-endian int16), then one byte a bucket that says which of them is
its weight; level 0 is 0. Deterministic, no library, never learns.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from math import sqrt
from operator import itemgetter
from pathlib import Path
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from gitmem.lazy_patterns import lazy

PATH = Path(__file__).with_name("scorer.bin")
MAGIC = b"gmscorer"
BUCKETS = 1 << 19
# magic, version, CRC-32 of all that follows it, unit of a weight, bias, weight of "the lexicon noted it", of its score
# above that, what neighbours may take off at most, and the scores from which a sentence warns and blocks
HEADER = Struct("<8sII7d")
CHECKED = 16  # where what the checksum is of begins
VERSION = 3
LEVELS = 256
CONTEXT, CONCEPT = 0.35, 1.3  # the size of a feature of a neighbouring line and of a concept; its own words have 1
SLACK = 1.5  # a sentence whose own words stay so far below the warning threshold is read no further
SHORTEST = 20.0  # a shorter feature vector is not stretched: two words are no evidence
NEIGHBOURS = 24  # tokens of a neighbouring line that count
NEIGHBOUR_CHARACTERS = 200  # characters of it that are looked at
KEPT = 1 << 14  # sentences and tokens remembered: the versions of one file share most of their lines

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ADDRESS = lazy(
    r"(?:https?|ftp)://\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w.+-]{1,64}@[\w.-]+\b"
    r"|(?<![.])\b[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}\.(?:com|net|org|io|dev|example|test|ai|app|sh)\b[^\s)\"'`]*"
)
_DOTTED = lazy(r"\.(?<=[\w-]\.)\w")
_ADDRESSED = "zurlz"  # stands for an address
_TOKEN = lazy(rf"[{_CJK}]+|[a-zà-ɏа-я_][a-zà-ɏа-я0-9_'’]*|\d+|[^\s\w]")
_ASCII_TOKEN = lazy(r"[a-z_][a-z0-9_']*|\d+|[^\s\w]")  # the same in a text that is ASCII


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
    the concepts in it; None where it notes nothing. It and the neighbours are asked only where the sentence's own
    words come within `SLACK` of the warning threshold; else the score is that of the words. Neighbours add any amount and take
    off `Scorer.sway` at most.
    """
    learned = load()
    own, size = _word_weights(sentence)
    value = learned.bias + learned.unit * own / sqrt(max(size, SHORTEST))
    if value < learned.warn - SLACK:
        return value
    total, square = float(own), float(size)
    bias = learned.bias
    note = noted(sentence)
    if note:
        buckets = concept_buckets(note[1])
        total += CONCEPT * sum([learned.weights[bucket] for bucket in buckets])
        square += CONCEPT**2 * len(buckets)
        bias += learned.noted + learned.slope * note[0]
    alone = bias + learned.unit * total / sqrt(max(square, SHORTEST))
    for weight, count in (_neighbour(before, "p:"), _neighbour(after, "n:")):
        total += CONTEXT * weight
        square += CONTEXT**2 * count
    return max(bias + learned.unit * total / sqrt(max(square, SHORTEST)), alone - learned.sway)


def bucket(feature: str) -> int:
    """The bucket of a feature."""
    return crc32(feature.encode("utf-8", "replace")) & BUCKETS - 1


def own_buckets(sentence: str) -> set[int]:
    """The buckets of a sentence's own words: each, each two in a row and each two with one between them.

    None where it has no word but addresses: where something is says nothing of what to do with it.
    """
    words = tokens(sentence)
    if not _has_word(words):
        return set()
    row = [_BEGIN, *map(_token, words), _END]
    sums, after, after_next, singles = zip(*row, strict=True)
    pairs = [*map(crc32, after[1:], sums), *map(crc32, after_next[2:], sums)]
    return set().union([pair & BUCKETS - 1 for pair in pairs], *singles)


def _has_word(words: list[str]) -> bool:
    return any(token[0].isalpha() and token != _ADDRESSED for token in words)


def neighbour_buckets(line: str, prefix: str) -> set[int]:
    """The buckets of the line before ("p:") or after ("n:") a sentence: those of its nearest tokens."""
    near = tokens(line)
    near = near[-NEIGHBOURS:] if prefix == "p:" else near[:NEIGHBOURS]
    buckets: set[int] = set()
    for token in near:
        if "\u3040" <= token[0] <= "\ud7a3":
            buckets.update([bucket(f"{prefix}{one}{other}") for one, other in pairwise(token)])
        elif len(token) > 1 or not token.isalnum():
            buckets.add(bucket(prefix + token))
    return buckets


def concept_buckets(names: Collection[str]) -> list[int]:
    """The buckets of concepts and of each two of them."""
    ordered = sorted(names)
    single = [bucket(f"={name}") for name in ordered]
    return single + [bucket(f"={name}+{other}") for i, name in enumerate(ordered) for other in ordered[i + 1 :]]


def tokens(text: str) -> list[str]:
    """Words, numbers, signs and CJK runs of folded text, an address as one word."""
    if _may_address(text):
        text = " ".join(
            [_ADDRESS.sub(f" {_ADDRESSED} ", part) if _may_address(part) else part for part in text.split()]
        )
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _may_address(text: str) -> bool:
    """Whether a text has a part that each address has, in which no space is."""
    return "@" in text or "://" in text or ("." in text and _DOTTED.search(text) is not None)


class _Joined(NamedTuple):
    """A token as it stands beside others: its checksum, what its bytes are after one space and after two, and the
    buckets that it has by itself."""

    sum: int
    after: bytes
    after_next: bytes
    single: tuple[int, ...]


def _joined(word: str, single: Iterable[str] = ()) -> _Joined:
    data = word.encode("utf-8", "replace")
    return _Joined(crc32(data), b" " + data, b"  " + data, tuple(map(bucket, single)))


@lru_cache(maxsize=KEPT)
def _token(token: str) -> _Joined:
    """A token beside others."""
    first = token[0]
    if "\u3040" <= first <= "\ud7a3":
        word = token if len(token) <= 3 else token[-2:]  # its ending says what it does in the sentence
        single = [*_runs(token), word]
    elif first.isdigit():
        word = "#"
        single = [word]
    else:
        word = token
        single = [word, "g" + token[:5], "e" + token[-4:]] if len(token) > 5 else [word]
    return _joined(word, single)


_BEGIN, _END = _joined("^"), _joined("$")


def _runs(token: str) -> Iterator[str]:
    if len(token) == 1:
        yield "x" + token
    for letter, size in (("x", 2), ("y", 3), ("z", 4)):
        for start in range(len(token) - size + 1):
            yield letter + token[start : start + size]


@lru_cache(maxsize=KEPT)
def _word_weights(sentence: str) -> tuple[int, int]:
    """The sum of the weights of a sentence's own words, and how many buckets they are."""
    return _weighed(own_buckets(sentence))


@lru_cache(maxsize=KEPT)
def _neighbour(line: str, prefix: str) -> tuple[int, int]:
    return _weighed(neighbour_buckets(line, prefix) if line else set())


def _weighed(buckets: set[int]) -> tuple[int, int]:
    """The sum of the weights of buckets, and how many they are."""
    if len(buckets) < 2:  # of one key `itemgetter` makes no tuple
        return sum([load().weights[bucket] for bucket in buckets]), len(buckets)
    return sum(itemgetter(*buckets)(load().weights)), len(buckets)
