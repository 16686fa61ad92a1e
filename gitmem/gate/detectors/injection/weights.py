"""The weights of the lexicon and of the prefilter, two linear models.

concepts.tsv (`tools/train.py injection`) scores the features that `structure.py` finds in a sentence. The lexicon notes a
sentence whose score is `warn` or more; concepts are looked for only if the words alone score `warn - slack` or more.
words.tsv (`tools/train.py scorer`) is the prefilter: a line whose single words weigh less than `least` is not scored. Its
header has the number of its `rows` and their `checksum`, since a table that lost rows would let lines pass unscored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from math import fsum
from typing import NamedTuple
from zlib import crc32

from gitmem import linear_model
from gitmem.gate.detectors.key_words import misspellings
from gitmem.linear_model import LinearModel


@dataclass(frozen=True, slots=True)
class Weights:
    """The lexicon's linear model; scores are logits.

    `bias`: score without features. `warn`: score from which a sentence is flagged. `slack`: concepts are looked for
    only if the words alone score `warn - slack` or more. `of`: feature -> weight. `gains`: what `gains()` returns.
    `ranks`: concept -> most that it can add. `firsts`: first words of the features of several words.
    """

    bias: float
    warn: float
    of: dict[str, float]
    slack: float = 99.0
    gains: dict[str, tuple[float, dict[str, float]]] = field(default_factory=dict)
    ranks: dict[str, float] = field(default_factory=dict, compare=False)
    firsts: frozenset[str] = frozenset()

    def score(self, features: Iterable[str]) -> float:
        """The bias plus the weights of the features. A feature without a weight adds nothing."""
        of = self.of
        return self.bias + fsum([of[feature] for feature in features if feature in of])  # the same in any order


class Ceiling:
    """The upper bound of a unit's score while its possible concepts are looked for one after another.

    `value` starts at the score without concepts plus all positive weights of the possible concepts and of their pairs;
    `found` and `missing` can only lower it.
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
        """A concept was found: its own weight and those of its pairs with the concepts found before replace its bound."""
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
        """A concept was not found, or only in quotation marks (`quoted`): its bound is taken off."""
        alone, others = self._gains.get(name, _NOTHING)
        del self._open[name]
        self.value -= alone + sum([others[other] for other in self._open if other in others])
        if quoted:
            self.value += self._of.get(f"='{name}", 0.0)


_NOTHING: tuple[float, dict[str, float]] = (0.0, {})


class WordWeights(NamedTuple):
    """The prefilter. `least`: least sum of a line that is scored. `of`: word -> weight, none negative."""

    least: float
    of: dict[str, float]


def weights_of(model: LinearModel) -> Weights:
    """The numbers of a linear model (concepts.tsv): bias, thresholds, feature weights, and the tables made from these."""
    (of,) = model.weights
    known = gains(of)
    ranks = {name: alone + sum(others.values()) for name, (alone, others) in known.items()}
    firsts = frozenset(feature.partition(" ")[0] for feature in of if " " in feature)
    return Weights(model.biases[0], model.thresholds["warn"], of, model.thresholds["slack"], known, ranks, firsts)


def words_of(model: LinearModel) -> WordWeights:
    """The weights of single words and of their common misspellings. Raises ValueError where a row is missing or changed."""
    (of,) = model.weights
    if (model.thresholds.get("rows"), model.thresholds.get("checksum")) != (len(of), checksum(of)):
        raise ValueError("the weights of single words are damaged")
    misspelled = {slip: of[word] for slip, word in misspellings().items() if word in of}
    return WordWeights(model.thresholds["least"], misspelled | of)


def checksum(of: dict[str, float]) -> int:
    """The CRC-32 of the rows of words.tsv."""
    return crc32("".join([f"{token}\t{weight!r}\n" for token, weight in of.items()]).encode())


def gains(of: dict[str, float]) -> dict[str, tuple[float, dict[str, float]]]:
    """Concept -> (its largest positive weight or 0, other concept -> positive weight of the pair)."""
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
    return weights_of(linear_model.load(__file__, "concepts.tsv"))


@cache
def words() -> WordWeights:
    """The prefilter shipped with the package. Raises ValueError where a row is missing or changed."""
    return words_of(linear_model.load(__file__, "words.tsv"))
