"""Learn what the features of `gitmem.memory.relation` are worth, and from which probability on it acts or asks.

    python tools/train_relation.py PAIRS.jsonl [MORE.jsonl ...] [--alike REAL.jsonl] [--write]

PAIRS have the form of bench/relations (JSON lines: old, new, relation, accept, hand, domain); the pairs of that folder
and those of made_relations are always read too. REAL are pairs of similar lines of real memories (old, new): nearly
all of them hold side by side, so they are learned as such, with little weight. The model is a multinomial logistic
regression. Every pair is scored by one that saw neither its hand nor its domain; the thresholds are taken from these
scores. Prints the held-out figures; with --write also writes gitmem/memory/relation/weights.json. Needs numpy; the
package does not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))

from bench.relations import FOLDER, GONE, HOLD, curve, read_own, read_rows  # noqa: E402
from gitmem.memory.relation.features import Features, of_texts  # noqa: E402
from gitmem.memory.relation.judgement import _DOUBTS, WEIGHTS, Kind  # noqa: E402
from tools import made_relations  # noqa: E402

Row = dict[str, Any]
KINDS = tuple(Kind)
PENALTY = 8.0  # of the squares of the weights
SEEN_AT_LEAST = 6  # pairs that have a feature, else it is left out
ALIKE_WEIGHT = 0.15  # of a pair of similar real lines
MADE_WEIGHT = 0.12  # of a pair of made_relations
ALIKE = (0.08, 0.17, 0.75, 0.0, 0.0, 0.0)  # what such a pair is taken for, in the order of KINDS
ACCEPTED = 0.3  # the share of a second answer that a fair reader could give
ACTED_ON = 0.003  # share of pairs that hold side by side above the threshold of `automatic`; the aim is .005
ASKED_ABOUT = 0.095  # the same of `asks`; the aim is .10
STEPS = 150
MEMORY = 10  # steps that the optimiser remembers


def targets(rows: list[Row]) -> np.ndarray:
    wanted = np.zeros((len(rows), len(KINDS)))
    for at, row in enumerate(rows):
        if "relation" not in row:
            wanted[at] = ALIKE
            continue
        wanted[at, KINDS.index(Kind(row["relation"]))] = 1 - ACCEPTED * bool(row["accept"])
        for other in row["accept"]:
            wanted[at, KINDS.index(Kind(other))] += ACCEPTED / len(row["accept"])
    return wanted


def matrix(found: list[Features], names: list[str]) -> np.ndarray:
    place = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(found), len(names)))
    for at, one in enumerate(found):
        for name, value in one.items():
            if name in place:
                table[at, place[name]] = value
    return table


def probabilities(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sums = table @ weights
    powers = np.exp(sums - sums.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def fit(table: np.ndarray, wanted: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Weights (features, kinds): the minimum of the weighted log loss, by L-BFGS with halved steps."""
    shape = (table.shape[1], wanted.shape[1])
    penalty = np.full(shape, PENALTY)
    penalty[0] = 0.0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        chances = probabilities(table, weights)
        value = -(worth[:, None] * wanted * np.log(chances + 1e-12)).sum() + 0.5 * (penalty * weights**2).sum()
        return value, (table.T @ (worth[:, None] * (chances - wanted)) + penalty * weights).ravel()

    at = np.zeros(shape).ravel()
    value, slope = loss(at)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(STEPS):
        step, kept = slope.copy(), []
        for s, y in reversed(pairs):
            kept.append((s @ step) / (y @ s))
            step -= kept[-1] * y
        if pairs:
            s, y = pairs[-1]
            step *= (s @ y) / (y @ y)
        for (s, y), share in zip(pairs, reversed(kept), strict=True):
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
            pairs = [*pairs[-MEMORY + 1 :], (change, turn)]
    return at.reshape(shape)


def held_out(rows: list[Row], table: np.ndarray, wanted: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The probabilities of every labelled pair by a model that saw neither its hand nor its domain."""
    hands = np.array([row.get("hand", "") for row in rows])
    domains = np.array([row.get("domain", "").split("-")[0] for row in rows])
    chances = np.zeros((len(rows), len(KINDS)))
    fold = np.array([int(hashlib.sha256(one.encode()).hexdigest(), 16) % 3 for one in domains])
    for hand in sorted(set(hands) - {""}):
        for number in range(3):
            test = (hands == hand) & (fold == number)
            if test.any():
                train = (hands != hand) & ((fold != number) | (hands == ""))
                chances[test] = probabilities(table[test], fit(table[train], wanted[train], worth[train]))
    return chances


def thresholds(rows: list[Row], found: list[Features], chances: np.ndarray) -> tuple[float, float]:
    gone = chances[:, KINDS.index(Kind.REPLACES)] + chances[:, KINDS.index(Kind.ENDS)]
    asked = gone + chances[:, KINDS.index(Kind.CONFLICTS)]
    hold = np.array([row.get("relation") in HOLD for row in rows])
    doubted = np.array([not _DOUBTS.isdisjoint(one) for one in found])
    acted = np.sort((gone * ~doubted)[hold])[::-1]
    questions = np.sort(asked[hold])[::-1]
    return float(acted[int(ACTED_ON * len(acted))]) + 1e-4, float(questions[int(ASKED_ABOUT * len(questions))]) + 1e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pairs", nargs="+", type=Path)
    parser.add_argument("--alike", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = [row for path in options.pairs for row in read_rows(path)] + read_own(FOLDER)
    labelled = len(rows)
    rows += made_relations.rows()
    if options.alike:
        rows += read_rows(options.alike)
    found = [of_texts(row["old"], row["new"]) for row in rows]
    seen: dict[str, int] = {}
    for one in found[:labelled]:
        for name in one:
            seen[name] = seen.get(name, 0) + 1
    names = ["bias", *sorted(name for name, count in seen.items() if count >= SEEN_AT_LEAST and name != "bias")]
    table, wanted = matrix(found, names), targets(rows)
    worth = np.array([1.0] * labelled + [MADE_WEIGHT if "relation" in row else ALIKE_WEIGHT for row in rows[labelled:]])
    chances = held_out(rows, table, wanted, worth)[:labelled]
    automatic, asks = thresholds(rows[:labelled], found[:labelled], chances)
    gone, asked = chances[:, 3] + chances[:, 4], chances[:, 3:].sum(1)
    print(
        f"{labelled} pairs, {len(rows) - labelled} more, {len(names)} features; thresholds {automatic:.3f} {asks:.3f}"
    )
    clear = np.array([_DOUBTS.isdisjoint(one) for one in found[:labelled]])
    acted, hold = (gone >= automatic) & clear, np.array([row["relation"] in HOLD for row in rows[:labelled]])
    over = np.array([row["relation"] in GONE for row in rows[:labelled]])
    print(
        f"acted on without a doubt: {acted[hold].mean():.4f} of pairs that hold, {acted[over].mean():.3f} of the others"
    )
    for language in sorted({row["lang"] for row in rows[:labelled]}):
        there = np.array([row["lang"] == language for row in rows[:labelled]])
        print(
            f"{language}: acted on {acted[there & hold].mean():.3f}, {acted[there & over].mean():.3f};",
            f"asked about {(asked >= asks)[there & hold].mean():.3f}, {(asked >= asks)[there & over].mean():.3f}",
        )
    print(*curve(rows[:labelled], gone.tolist(), asked.tolist(), chances[:, 0].tolist()), sep="\n")
    if options.write:
        weights = fit(table, wanted, worth)
        stored = {name: [round(float(x), 3) for x in row] for name, row in zip(names, weights, strict=True)}
        value = {"automatic": round(automatic, 3), "asks": round(asks, 3), "weights": stored}
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("],", "],\n")
        WEIGHTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
