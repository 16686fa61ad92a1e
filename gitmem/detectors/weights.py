"""The weights that `tools/train_injection.py` learned, and the sum of them: deterministic, no library.

The file is text: a line `bias`, `warn` or `block` with its number, then one line a feature, its weight in
hundredths before it. A score is the bias and the weights of the features that are there; above `block` a
sentence is refused. Which features there are is said by `structure.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Weights:
    """Learned numbers: logits. `of` maps a feature to its weight."""

    bias: float
    warn: float
    block: float
    of: dict[str, float]

    def score(self, features: Iterable[str]) -> float:
        of = self.of
        return self.bias + sum(of[feature] for feature in features if feature in of)


def parse(text: str) -> Weights:
    """Read the weights file. Raises ValueError for a line that is not one of it."""
    numbers = {"bias": 0.0, "warn": 0.0, "block": 0.0}
    of: dict[str, float] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        first, _, feature = line.partition("\t")
        if first in numbers:
            numbers[first] = float(feature)
        else:
            of[feature] = int(first) / 100
    return Weights(numbers["bias"], numbers["warn"], numbers["block"], of)


@cache
def load() -> Weights:
    """The weights shipped with the package."""
    return parse(files("gitmem.detectors").joinpath("injection.txt").read_text(encoding="utf-8"))
