"""The weights that `tools/train_injection.py` learned, and the sum of them: deterministic, no library.

The file is text: a line `bias`, `warn`, `block`, `gate` or `slack` with its number, then one line a feature, its
weight in hundredths before it. A score is the bias and the weights of the features that are there; above
`block` a sentence is refused. Which features there are is said by `structure.py`. Lines whose number begins
with `~` are for the quick look: a line whose single words weigh less than `gate` is not looked at again, nor a
unit whose words alone stay more than `slack` below `warn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gitmem.detectors.words import misspellings


@dataclass(frozen=True, slots=True)
class Weights:
    """Learned numbers: logits. `of` maps a feature to its weight."""

    bias: float
    warn: float
    block: float
    of: dict[str, float]
    gate: float = -1.0
    slack: float = 99.0
    quick: dict[str, float] = field(default_factory=dict)
    gains: dict[str, tuple[float, tuple[tuple[str, float], ...]]] = field(default_factory=dict)
    bounds: dict[frozenset[str], float] = field(default_factory=dict, compare=False)

    def bound(self, concepts: frozenset[str]) -> float:
        """The most that features of these concepts can add to a score."""
        known = self.bounds.get(concepts)
        if known is None:
            known = 0.0
            for name in concepts:
                alone, others = self.gains.get(name, (0.0, ()))
                known += alone + sum([gain for other, gain in others if other in concepts])
            if len(self.bounds) < 50_000:
                self.bounds[concepts] = known
        return known

    def score(self, features: Iterable[str]) -> float:
        of = self.of
        return self.bias + sum(of[feature] for feature in features if feature in of)


_LINE = re.compile(r"^[^#\n]", re.M)
_ROW = re.compile(r"^(~?)(-?\d+)\t(.*)$", re.M)
_NUMBER = re.compile(r"^(bias|warn|block|gate|slack)\t(\S+)$", re.M)


def parse(text: str) -> Weights:
    """Read the weights file. Raises ValueError for a line that is not one of it."""
    numbers = {"bias": 0.0, "warn": 0.0, "block": 0.0, "gate": -1.0, "slack": 99.0}
    numbers |= {name: float(number) for name, number in _NUMBER.findall(text)}
    rows = _ROW.findall(text)
    if len(rows) + len(_NUMBER.findall(text)) != len(_LINE.findall(text)):
        raise ValueError("an invalid line in the weights file")
    of = {feature: int(number) / 100 for mark, number, feature in rows if not mark}
    quick = {feature: int(number) / 100 for mark, number, feature in rows if mark}
    for slip, word in misspellings().items():
        if word in quick:
            quick.setdefault(slip, quick[word])
    return Weights(
        numbers["bias"], numbers["warn"], numbers["block"], of, numbers["gate"], numbers["slack"], quick, gains(of)
    )


def gains(of: dict[str, float]) -> dict[str, tuple[float, tuple[tuple[str, float], ...]]]:
    """What can only add to a score: concept -> its own best weight, and (other concept, weight of the two)."""
    alone: dict[str, float] = {}
    pairs: dict[str, list[tuple[str, float]]] = {}
    for feature, weight in of.items():
        if weight > 0 and feature[:1] == "=":
            first, _, second = feature.lstrip("='").partition("+")
            if second:
                pairs.setdefault(first, []).append((second, weight))
            else:
                alone[first] = max(alone.get(first, 0.0), weight)
    return {name: (alone.get(name, 0.0), tuple(pairs.get(name, ()))) for name in alone.keys() | pairs.keys()}


@cache
def load() -> Weights:
    """The weights shipped with the package."""
    return parse(Path(__file__).with_name("injection.txt").read_text(encoding="utf-8"))
