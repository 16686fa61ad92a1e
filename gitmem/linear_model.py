"""A linear model: one weight for each feature and class, read from a table that people can read and compare.

The score of a class is its bias plus the sum of weight times value over the features that have a weight. With one class
the score is the log-odds of that class (logistic regression); with several, `probabilities` gives the
probability of each (multinomial logistic regression). `tools/train.py` learns the weights; nothing here learns.

A file has header lines, an empty line, and one line for each feature, sorted by name. Tabs separate the columns:

    # Written by tools/train.py relation. Do not edit.
    classes	same	adds
    bias	0.2	0.306
    asks	0.484

    arrow	-0.044	-0.111

`classes` names the columns. Header lines other than `classes` and `bias` are thresholds: name and number.
A search loads this module, so it imports nothing slow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from math import exp
from typing import NamedTuple


class LinearModel(NamedTuple):
    """A linear model with one or more classes.

    `classes`: their names. `biases`: the bias of each class. `weights`: for each class the weight of each feature, by
    name. `thresholds`: the header's other numbers, by name.
    """

    classes: tuple[str, ...]
    biases: tuple[float, ...]
    weights: tuple[dict[str, float], ...]
    thresholds: dict[str, float]

    def odds(self, features: Mapping[str, float]) -> float:
        """The score of the first class: bias plus weights times values. It is the log-odds in a model of one class.
        Features without a weight are ignored."""
        weights = self.weights[0]
        return self.biases[0] + sum([weights[name] * value for name, value in features.items() if name in weights])

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0 to 1, of the class in a model of one class."""
        return 1 / (1 + exp(-self.odds(features)))

    def probabilities(self, features: Mapping[str, float]) -> dict[str, float]:
        """Class name -> its probability; they add up to 1. For a model of several classes. Features without a weight
        are ignored."""
        known = features.items()
        scores = [
            bias + sum([weights[name] * value for name, value in known if name in weights])
            for bias, weights in zip(self.biases, self.weights, strict=True)
        ]
        highest = max(scores)
        powers = [exp(score - highest) for score in scores]
        total = sum(powers)
        return {name: power / total for name, power in zip(self.classes, powers, strict=True)}


def parse(text: str) -> LinearModel:
    """The model in the text of a file, a table as the module describes it. Raises ValueError for any other text."""
    head, _, body = text.partition("\n\n")
    header: dict[str, list[str]] = {}
    for line in head.split("\n"):
        if not line.startswith("#"):
            name, *values = line.split("\t")
            header[name] = values
    classes = tuple(header.pop("classes", ()))
    biases = tuple(map(float, header.pop("bias", ())))
    if not classes or len(biases) != len(classes):
        raise ValueError("a linear model names its classes and has a bias for each")
    thresholds = {name: float(value) for name, (value,) in header.items()}
    rows = [line.split("\t") for line in body.rstrip("\n").split("\n")]
    names, *columns = zip(*rows, strict=True)
    if len(columns) != len(classes):
        raise ValueError("a linear model has a weight of each feature for each class")
    weights = tuple([dict(zip(names, map(float, column), strict=True)) for column in columns])
    return LinearModel(classes, biases, weights, thresholds)


@cache
def load(module_file: str, name: str) -> LinearModel:
    """The shipped model in the file `name` beside a module (`__file__`), read once for the process. Raises OSError when
    the file cannot be read, ValueError when it is no table of a model."""
    path = os.path.join(os.path.dirname(module_file), name)
    with open(path, encoding="utf-8", newline="\n") as file:
        return parse(file.read())
