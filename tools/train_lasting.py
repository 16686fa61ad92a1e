#!/usr/bin/env python3
"""Learn which lines of a log are worth keeping (gitmem/promotion/lasting.json) from bench/log_days and real logs.

    python tools/train_lasting.py [--real LABELS.jsonl ...] [--dry-run]

Two logistic regressions with an L2 penalty, by Newton's method: of what a line says, learned from bench/log_days, and
of its form and its log's, learned from real logs too. A row of LABELS.jsonl is a log of agents that a reader judged:
`{"repository", "path", "lines": [...], "judged": {"12": 2, ...}}`, 2 for a line worth keeping, 1 for a harmless one, 0
for any other. Such files hold what others wrote and stay out of this repository. The hands of `bench/promote.HELD_OUT`
are left out. Prints F1 of lines with each hand left out in turn, and what is proposed of each real repository by what
the others taught. The same each time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.promote import DAYS, HELD_OUT  # noqa: E402
from gitmem.promotion import lasting  # noqa: E402
from gitmem.promotion.cues import CueResult  # noqa: E402
from gitmem.promotion.log_lines import Candidate, candidates_of  # noqa: E402
from gitmem.promotion.proposal import Log  # noqa: E402
from gitmem.promotion.rules_model import LABELS, cues_of_line  # noqa: E402

FILE = Path(lasting.__file__).with_name("lasting.json")
PENALTY = 1.0
NEARNESS = 2.0  # times which a vector counts beside the other features: the larger, the less its weights are held back
LEAN = 0.4  # log-odds for keeping: what is offered in vain a person leaves out, what is not offered is lost
SELDOM = 4  # lines in which a cue must stand
ROUNDS = 12

Array = np.ndarray[Any, Any]


HARMLESS = 0.3  # how far a line that a reader found harmless counts as one to keep
HELD_BACK = 6.0  # the penalty of the second regression: it has few real logs to learn from
FOLDS = 4  # the answers of the first that the second learns from are of hands it did not see
LANGUAGES = ("en", "ko", "ja", "zh")


class Line(NamedTuple):
    """A line of a hand (`real ...` for a repository), with what is known of it and how far it is worth keeping."""

    hand: str
    candidate: Candidate
    result: CueResult
    features: dict[str, float]
    meaning: Array
    kept: float

    @property
    def real(self) -> bool:
        return self.hand.startswith("real ")


def line(hand: str, candidate: Candidate, kept: float) -> Line:
    """A line with its features."""
    result = cues_of_line(candidate)
    vector = NEARNESS * np.array(lasting.meaning(candidate.text))
    return Line(hand, candidate, result, lasting.features(candidate.text, result), vector, kept)


def log_of(path: str, lines: Sequence[str]) -> Log:
    """A log of lines, read for its candidates alone."""
    return Log(path, "0" * 40, date(2026, 1, 1), tuple(lines), frozenset())


def invented() -> list[Line]:
    """The lines of bench/log_days, a log a day."""
    found = []
    for path in sorted(DAYS.glob("*.txt")):
        if path.stem in HELD_OUT:
            continue
        for block in path.read_text(encoding="utf-8").removeprefix("# ").split("\n# "):
            rows = block.strip().split("\n")[1:]
            for each in candidates_of(log_of(path.stem, [f"- {row[2:]}" for row in rows]), LABELS):
                found.append(line(path.stem, each, float(rows[each.number - 1][0] == "+")))
    return found


def real(files: Iterable[Path]) -> list[Line]:
    """The judged lines of real logs."""
    found = []
    for file in files:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            judged = {int(number): (0.0, HARMLESS, 1.0)[value] for number, value in row["judged"].items()}
            for each in candidates_of(log_of(row["path"], row["lines"]), LABELS):
                if each.number in judged:
                    found.append(line(f"real {row['repository']}", each, judged[each.number]))
    return found


def fitted(rows: Array, kept: Array, counts: Array | float = 1.0, penalty: float = PENALTY) -> Array:
    """The weights of each column, that of `any` last and not held back; `counts` is how much each row counts."""
    weights = np.zeros(rows.shape[1])
    held_back = np.diag([*[penalty] * (rows.shape[1] - 1), 0.01])
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (likely - kept)) + held_back @ weights
        curve = (rows * (counts * likely * (1 - likely))[:, None]).T @ rows + held_back
        weights -= np.linalg.solve(curve, slope)
    return weights


def columns(found: Sequence[dict[str, float]], names: Sequence[str]) -> Array:
    """Features as rows of numbers, with a last column of ones."""
    return np.array([[*(each.get(name, 0.0) for name in names), 1.0] for each in found])


class First:
    """The first regression: what a line says."""

    def __init__(self, known: Sequence[Line]) -> None:
        often = Counter(name for each in known for name in each.features)
        self.names = [name for name in sorted(often) if not name.startswith("cue ") or often[name] >= SELDOM]
        self.mean = np.mean([each.meaning for each in known], axis=0)

    def rows(self, known: Sequence[Line]) -> Array:
        numbers = np.array([each.meaning - self.mean for each in known])
        return np.hstack([numbers, columns([each.features for each in known], self.names)])


def report(known: Sequence[Line], odds: Array) -> None:
    """F1 by language of the invented logs, and of each real repository how much of what is proposed is what."""
    for language in LANGUAGES:
        own = [
            (each.kept > 0, at > -LEAN) for each, at in zip(known, odds, strict=True) if each.hand[:3] == f"{language}-"
        ]
        good, wrong = sum(kept and chosen for kept, chosen in own), sum(kept != chosen for kept, chosen in own)
        print(f"{language}: F1 {2 * good / max(1, 2 * good + wrong):.3f} of {len(own)} lines")
    for hand in sorted({each.hand for each in known if each.real}):
        own = [each.kept for each, at in zip(known, odds, strict=True) if each.hand == hand and at >= 0]
        print(f"{hand}: {len(own)} proposed, {own.count(1.0)} to keep, {own.count(HARMLESS)} harmless")


def main() -> None:
    """Learn, and print how well, no hand judged by what was learned from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", nargs="*", type=Path, default=[])
    parser.add_argument("--dry-run", action="store_true")
    wanted = parser.parse_args()
    made = invented()
    known = [*made, *real(wanted.real)]
    first = First(made)
    rows, kept = first.rows(known), np.array([each.kept for each in known])
    hands = np.array([each.hand for each in known])
    is_real = np.array([each.real for each in known])
    weights = fitted(rows[~is_real], kept[~is_real])
    odds = rows @ weights + LEAN
    order = sorted(set(hands[~is_real]))
    for fold in range(FOLDS):
        own = np.isin(hands, order[fold::FOLDS])
        odds[own] = LEAN + rows[own] @ fitted(rows[~is_real & ~own], kept[~is_real & ~own])
    found = [lasting.forms(each.candidate, each.result, at) for each, at in zip(known, odds, strict=True)]
    names = sorted({name for each in found for name in each})
    seen = columns(found, names)
    judged = np.zeros(len(known))
    for hand in sorted(set(hands)):
        own = hands == hand
        judged[own] = seen[own] @ fitted(seen[~own], kept[~own], penalty=HELD_BACK)
    both = [lasting.mixed(one.candidate, *each) for one, *each in zip(known, odds, judged + LEAN, strict=True)]
    final = [lasting.decided(one.candidate, one.result, at) for one, at in zip(known, both, strict=True)]
    report(known, np.array(final))
    if not wanted.dry_run:
        numbers, said = weights[: len(first.mean)], weights[len(first.mean) : -1]
        second = fitted(seen, kept, penalty=HELD_BACK)
        learned = {
            "features": {
                "any": round(float(weights[-1] + LEAN - first.mean @ numbers), 3),
                **{name: round(float(weight), 3) for name, weight in zip(first.names, said, strict=True)},
            },
            "meaning": [round(NEARNESS * float(number), 3) for number in numbers],
            "forms": {
                "any": round(float(second[-1]) + LEAN, 3),
                **{name: round(float(weight), 3) for name, weight in zip(names, second[:-1], strict=True)},
            },
        }
        FILE.write_text(json.dumps(learned, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
