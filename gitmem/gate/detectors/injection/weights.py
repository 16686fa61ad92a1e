"""The weights of the lexicon's concepts and words, and the sum of them: deterministic, no library.

injection.txt (written by `tools/train.py injection`) is text: a line `bias`, `warn` or `slack` with its number, then
one line a feature, its weight in hundredths before it. A score is the bias and the weights of the features that are
there; from `warn` on a sentence is noted. Which features there are is said by `gate/detectors/injection/structure.py`.
A sentence whose words alone stay more than `slack` below `warn` is not read for concepts.
words.txt (written by `tools/train.py scorer`) is the prefilter in the same form: a line whose single words weigh less
than `least` is not scored. It says how many `rows` follow and their `checksum`, since of a shorter table less would be scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from math import fsum
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from gitmem.gate.detectors.key_words import misspellings


@dataclass(frozen=True, slots=True)
class Weights:
    """Learned numbers: logits. `of` maps a feature to its weight; `firsts` are the words that begin one of several."""

    bias: float
    warn: float
    of: dict[str, float]
    slack: float = 99.0
    gains: dict[str, tuple[float, dict[str, float]]] = field(default_factory=dict)
    ranks: dict[str, float] = field(default_factory=dict, compare=False)
    firsts: frozenset[str] = frozenset()

    def score(self, features: Iterable[str]) -> float:
        of = self.of
        return self.bias + fsum([of[feature] for feature in features if feature in of])  # the same in any order


class Ceiling:
    """The most a score can still become while the concepts that a unit may hold are looked for one after another.

    It begins with the score without them and all that they could add, alone and in twos, and only sinks.
    """

    __slots__ = ("_gains", "_had", "_of", "_open", "value")

    def __init__(self, learned: Weights, base: float, names: Iterable[str]) -> None:
        self._gains, self._of = learned.gains, learned.of
        self._had: list[str] = []
        self._open: dict[str, None] = {}
        self.value = base
        for name in names:
            if name not in self._open:
                alone, others = self._gains.get(name, _NOTHING)
                self.value += alone + sum([others[other] for other in self._open if other in others])
                self._open[name] = None

    def found(self, name: str) -> None:
        """It is there: what it and those already there really weigh counts."""
        alone, others = self._gains.get(name, _NOTHING)
        of = self._of
        self.value += of.get(f"={name}", 0.0) - alone
        for other in self._had:
            if name < other:
                pair = f"={name}+{other}"
            else:
                pair = f"={other}+{name}"
            self.value += of.get(pair, 0.0) - others.get(other, 0.0)
        self._had.append(name)

    def missing(self, name: str, quoted: bool = False) -> None:
        """It is not there, or only as a quotation."""
        alone, others = self._gains.get(name, _NOTHING)
        del self._open[name]
        self.value -= alone + sum([others[other] for other in self._open if other in others])
        if quoted:
            self.value += self._of.get(f"='{name}", 0.0)


_NOTHING: tuple[float, dict[str, float]] = (0.0, {})


class WordWeights(NamedTuple):
    """The prefilter: what single words weigh, none negative, and the least sum of a line that is scored."""

    least: float
    of: dict[str, float]


_LINE = re.compile(r"^[^#\n]", re.M)
_ROW = re.compile(r"^(-?\d+)\t(.*)$", re.M)
_NUMBER = re.compile(r"^(bias|warn|slack|least|rows|checksum)\t(\S+)$", re.M)


def _parse(text: str) -> tuple[dict[str, float], dict[str, float]]:
    """The named numbers and the weights of a file. Raises ValueError for a line that is neither."""
    numbers = {name: float(number) for name, number in _NUMBER.findall(text)}
    rows = _ROW.findall(text)
    if len(rows) + len(numbers) != len(_LINE.findall(text)):
        raise ValueError("an invalid line in the weights file")
    return numbers, {feature: int(number) / 100 for number, feature in rows}


def parse(text: str) -> Weights:
    """Read the weights of the lexicon. Raises ValueError for a line that is not one of it."""
    numbers, of = _parse(text)
    known = gains(of)
    ranks = {name: alone + sum(others.values()) for name, (alone, others) in known.items()}
    firsts = frozenset(feature.partition(" ")[0] for feature in of if " " in feature)
    bias, warn, slack = numbers.get("bias", 0.0), numbers.get("warn", 0.0), numbers.get("slack", 99.0)
    return Weights(bias, warn, of, slack, known, ranks, firsts)


def parse_words(text: str) -> WordWeights:
    """Read the weights of single words. Raises ValueError for a line that is not one of it, and for a row too few."""
    numbers, of = _parse(text)
    if (numbers.get("rows"), numbers.get("checksum")) != (len(of), checksum(of)):
        raise ValueError("the weights of single words are damaged")
    for slip, word in misspellings().items():
        if word in of:
            of.setdefault(slip, of[word])
    return WordWeights(numbers["least"], of)


def checksum(of: dict[str, float]) -> int:
    """The CRC-32 of the rows of words.txt."""
    return crc32("".join([f"{round(weight * 100)}\t{token}\n" for token, weight in of.items()]).encode())


def gains(of: dict[str, float]) -> dict[str, tuple[float, dict[str, float]]]:
    """What can only add to a score: concept -> its own best weight, and other concept -> weight of the two."""
    alone: dict[str, float] = {}
    pairs: dict[str, dict[str, float]] = {}
    for feature, weight in of.items():
        if weight > 0 and feature[:1] == "=":
            first, _, second = feature.lstrip("='").partition("+")
            if second:
                pairs.setdefault(first, {})[second] = pairs.setdefault(second, {})[first] = weight
            else:
                alone[first] = max(alone.get(first, 0.0), weight)
    return {name: (alone.get(name, 0.0), pairs.get(name, {})) for name in alone.keys() | pairs.keys()}


@cache
def load() -> Weights:
    """The weights shipped with the package."""
    return parse(Path(__file__).with_name("injection.txt").read_text(encoding="utf-8"))


@cache
def words() -> WordWeights:
    """The prefilter shipped with the package."""
    return parse_words(Path(__file__).with_name("words.txt").read_text(encoding="utf-8"))
