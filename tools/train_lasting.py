#!/usr/bin/env python3
"""Learn which lines of a log are worth keeping (gitmem/promotion/lasting.json) from bench/log_days.

    python tools/train_lasting.py [--dry-run]

Logistic regression with an L2 penalty, by Newton's method; the hands of `bench/promote.HELD_OUT` are left out. Prints
F1 of lines with each hand left out in turn. The same each time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.promote import DAYS, HELD_OUT  # noqa: E402
from gitmem.promotion import lasting  # noqa: E402
from gitmem.promotion.log_lines import Candidate, languages_of  # noqa: E402
from gitmem.promotion.rules_model import cues_of_line  # noqa: E402

FILE = Path(lasting.__file__).with_name("lasting.json")
PENALTY = 1.0
NEARNESS = 2.0  # times which a vector counts beside the other features: the larger, the less its weights are held back
LEAN = 0.4  # log-odds for keeping: what is offered in vain a person leaves out, what is not offered is lost
SELDOM = 4  # lines in which a cue must stand
ROUNDS = 12

Array = np.ndarray[Any, Any]


class Line(NamedTuple):
    """A line of a hand, with what is known of it and whether it is worth keeping."""

    hand: str
    features: dict[str, float]
    meaning: Array
    kept: bool


def lines() -> list[Line]:
    """The lines to learn from."""
    found = []
    for path in sorted(DAYS.glob("*.txt")):
        if path.stem in HELD_OUT:
            continue
        for row in path.read_text(encoding="utf-8").splitlines():
            mark, _, text = row.partition(" ")
            if mark in ("+", "-"):
                result = cues_of_line(Candidate(1, text, text, languages=languages_of(text)))
                vector = NEARNESS * np.array(lasting.meaning(text))
                found.append(Line(path.stem, lasting.features(text, result), vector, mark == "+"))
    return found


def fitted(rows: Array, kept: Array, counts: Array | float = 1.0) -> Array:
    """The weights of each column, that of `any` last and not held back; `counts` is how much each row counts."""
    weights = np.zeros(rows.shape[1])
    penalty = np.diag([*[PENALTY] * (rows.shape[1] - 1), 0.01])
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (likely - kept)) + penalty @ weights
        curve = (rows * (counts * likely * (1 - likely))[:, None]).T @ rows + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Learn, and print the F1 of each language, no hand judged by what was learned from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true")
    wanted = parser.parse_args()
    known = lines()
    often = Counter(name for line in known for name in line.features)
    names = [name for name in sorted(often) if not name.startswith("cue ") or often[name] >= SELDOM]
    mean = np.mean([line.meaning for line in known], axis=0)
    rows = np.array(
        [[*(line.features.get(name, 0.0) for name in names), *(line.meaning - mean), 1.0] for line in known]
    )
    kept = np.array([line.kept for line in known], float)
    hands = np.array([line.hand for line in known])
    cues = np.array([line.features["cues"] for line in known])
    odds = np.zeros(len(known))
    for hand in sorted(set(hands)):
        own = hands == hand
        odds[own] = rows[own] @ fitted(rows[~own], kept[~own])
    for language in ("", "en", "ko", "ja", "zh"):
        some = np.char.startswith(hands, language)
        chosen, right = (odds[some] > -LEAN) | (cues[some] >= lasting.ALONE), kept[some] > 0
        f1 = 2 * (chosen & right).sum() / max(1, chosen.sum() + right.sum())
        print(f"{language or 'all'}: F1 {f1:.3f} of {some.sum()} lines by {len(set(hands[some]))} hands")
    if not wanted.dry_run:
        weights = fitted(rows, kept)
        features, numbers, rest = weights[: len(names)], weights[len(names) : -1], weights[-1]
        learned = {
            "features": {
                "any": round(float(rest + LEAN - mean @ numbers), 3),
                **{name: round(float(weight), 3) for name, weight in zip(names, features, strict=True)},
            },
            "meaning": [round(NEARNESS * float(number), 3) for number in numbers],
        }
        FILE.write_text(json.dumps(learned, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
