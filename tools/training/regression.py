"""Logistic regression with an L2 penalty, of one class or of several; and the file of what was learned.

A table has a row for each example and a column for each feature. Weights have a row for each feature and a column for
each class; their first row is the bias, which no penalty holds back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from gitmem import linear_model
from gitmem.linear_model import LinearModel

Array = np.ndarray[Any, Any]
STEPS = 100
REMEMBERED = 10  # steps that the optimiser remembers
DECIMALS = 3  # of a shipped weight


def matrix(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> Array:
    """The table of examples, each given as its features by name; features without a column are left out."""
    place = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(found), len(names)))
    for at, features in enumerate(found):
        for name, value in features.items():
            if name in place:
                table[at, place[name]] = value
    return table


def scores(table: Array, weights: Array) -> Array:
    """The score of each example (row) for each class (column)."""
    values: Array = weights[0] + table @ weights[1:]
    return values


def probabilities(values: Array) -> Array:
    """The probability of each class by its scores."""
    if values.shape[1] == 1:
        return sigmoid(values)
    powers = np.exp(values - values.max(1, keepdims=True))
    shares: Array = powers / powers.sum(1, keepdims=True)
    return shares


def sigmoid(values: Array) -> Array:
    """The probability of each score of a yes or no."""
    chances: Array = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
    return chances


def fit(
    table: Array, wanted: Array, worth: Array | float = 1.0, penalty: float = 1.0, known: Array | None = None
) -> Array:
    """The weights with the least log loss, by L-BFGS with halved steps.

    `wanted`: how far each example is of each class, 0..1 (a vector for one class). `worth`: how much each example
    counts. `penalty`: that of half the square of how far each weight is from that of `known` (default: from 0).
    """
    wanted = wanted.reshape(len(table), -1)
    counts = np.broadcast_to(np.asarray(worth, float), len(table))[:, None]
    shape = (1 + table.shape[1], wanted.shape[1])
    held = np.full(shape, penalty)
    held[0] = 0.0
    start = np.zeros(shape) if known is None else known.reshape(shape)

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        chances = probabilities(scores(table, weights))
        missed = wanted * np.log(chances + 1e-12)
        if shape[1] == 1:
            missed = missed + (1 - wanted) * np.log(1 - chances + 1e-12)
        off = counts * (chances - wanted)
        moved = weights - start
        slope = np.vstack([off.sum(0), table.T @ off]) + held * moved
        return float(0.5 * (held * moved**2).sum() - (counts * missed).sum()), slope.ravel()

    return _minimum(loss, start.ravel()).reshape(shape)


def _minimum(loss: Any, at: Array) -> Array:
    """Where a convex function is least; `loss` gives its value and its slope."""
    value, slope = loss(at)
    pairs: list[tuple[Array, Array]] = []
    for _ in range(STEPS):
        step, shares = slope.copy(), []
        for s, y in reversed(pairs):
            shares.append((s @ step) / (y @ s))
            step -= shares[-1] * y
        if pairs:
            s, y = pairs[-1]
            step *= (s @ y) / (y @ y)
        for (s, y), share in zip(pairs, reversed(shares), strict=True):
            step += s * (share - (y @ step) / (y @ s))
        size = 1.0 if pairs else 1.0 / max(1.0, float(np.abs(slope).sum()))
        while size > 1e-9:
            moved, moved_slope = loss(at - size * step)
            if moved <= value - 1e-4 * size * (slope @ step):
                break
            size /= 2
        else:
            break
        change, turn = -size * step, moved_slope - slope
        at, value, slope = at + change, moved, moved_slope
        if change @ turn > 1e-10:
            pairs = [*pairs[1 - REMEMBERED :], (change, turn)]
    return at


def held_out(
    table: Array,
    wanted: Array,
    splits: Iterable[tuple[Array, Array]],
    worth: Array | float = 1.0,
    penalty: float = 1.0,
    known: Array | None = None,
) -> Array:
    """The scores of examples by what others taught, and by the weights `known` that these change (`fit`). Each split
    says which examples are learned from and which are scored; one that no split scores has 0."""
    wanted = wanted.reshape(len(table), -1)
    counts = np.broadcast_to(np.asarray(worth, float), len(table))
    found = np.zeros(wanted.shape)
    for learned, scored in splits:
        if scored.any():
            weights = fit(table[learned], wanted[learned], counts[learned], penalty, known)
            found[scored] = scores(table[scored], weights)
    return found


def model(
    names: Sequence[str],
    weights: Array,
    classes: Sequence[str],
    thresholds: Mapping[str, float] | None = None,
    least: float = 0.0,
) -> LinearModel:
    """What was learned as it ships: rounded, without features of which no weight is as large as `least`."""
    shown = np.round(weights, DECIMALS) + 0.0  # no -0.0
    kept = [at for at in np.argsort(np.array(names)) if np.abs(weights[at + 1]).max() >= least and shown[at + 1].any()]
    tables = [{names[at]: float(shown[at + 1, column]) for at in kept} for column in range(len(classes))]
    return LinearModel(tuple(classes), tuple(map(float, shown[0])), tuple(tables), dict(thresholds or {}))


def write(learned: LinearModel, path: Path, name: str) -> None:
    """Write a model as `linear_model` reads it; `name` is what `tools/train.py` calls it."""
    lines = [f"# Written by tools/train.py {name}. Do not edit.", "\t".join(["classes", *learned.classes])]
    lines.append("\t".join(["bias", *map(repr, learned.biases)]))
    lines += [f"{threshold}\t{number!r}" for threshold, number in learned.thresholds.items()]
    lines.append("")
    for feature in sorted(learned.weights[0]):
        lines.append("\t".join([feature, *(repr(weights[feature]) for weights in learned.weights)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


@contextmanager
def in_place_of(file: str, learned: LinearModel) -> Iterator[None]:
    """The package reads `learned` in place of the shipped model of that name while this lasts."""
    shipped = linear_model.load

    def load(module: str, name: str) -> LinearModel:
        if name == file:
            return learned
        return shipped(module, name)

    with patch.object(linear_model, "load", load):
        yield
