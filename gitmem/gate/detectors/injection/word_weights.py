"""The weights of single words, the prefilter: a line whose words weigh less than `least` together is not judged.

No weight is negative, so a line weighs no less than a part of it. `tools/train.py scorer` writes words.tsv; its header
has the number of its `rows` and their `checksum`, since a table that lost rows would let lines pass unjudged.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from gitmem import linear_model
from gitmem.gate.detectors.key_words import misspellings
from gitmem.lazy_patterns import lazy
from gitmem.linear_model import LinearModel

_WORD = lazy(r"[a-zа-яё][a-zа-яё']+")
_ASCII_WORD = lazy(r"[a-z][a-z']+")  # the same words of an ASCII text, in half of the time
_CJK_RUN = lazy("[가-힣ぁ-ヺー一-鿿々]+")
_SPACE = lazy(r"\s+")


class WordWeights(NamedTuple):
    """The prefilter. `least`: least sum of a line that is judged. `of`: word -> weight, none negative."""

    least: float
    of: dict[str, float]


def tokens(line: str) -> set[str]:
    """The words of at least two letters and the CJK pairs of a folded line, quoted or not."""
    if line.isascii():
        return set(_ASCII_WORD.findall(line))
    words = set(_WORD.findall(line))
    if _CJK_RUN.search(line):
        for run in _CJK_RUN.findall(_SPACE.sub("", line)):
            words.update(map("".join, pairwise(run)))
    return words


@cache
def load() -> WordWeights:
    """The prefilter shipped with the package. Raises ValueError where a row is missing or changed."""
    return of_model(linear_model.load(__file__, "words.tsv"))


def of_model(model: LinearModel) -> WordWeights:
    """The weights of single words and of their common misspellings. Raises ValueError where a row is missing or changed."""
    (of,) = model.weights
    if (model.thresholds.get("rows"), model.thresholds.get("checksum")) != (len(of), checksum(of)):
        raise ValueError("the weights of single words are damaged")
    misspelled = {slip: of[word] for slip, word in misspellings().items() if word in of}
    return WordWeights(model.thresholds["least"], misspelled | of)


def checksum(of: dict[str, float]) -> int:
    """The CRC-32 of the rows of words.tsv."""
    return crc32("".join([f"{token}\t{weight!r}\n" for token, weight in of.items()]).encode())
