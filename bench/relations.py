"""What `relation` says of labelled pairs of statements: what it would do by itself, what it would ask, what it sees.

    python -m bench relations [PAIRS.jsonl ...]

Without files: every `relations*/*.jsonl` below GITMEM_BENCH_DATA, and bench/relations/pairs.txt, which one hand of ours
wrote. A row has old, new, relation, and accept, the answers that a fair reader could give too. Pairs after `other`,
`adds` and `same` hold side by side; after `replaces` and `ends` the earlier one is gone; after `conflicts` a person is
asked. The shipped weights learned from the pairs of bench/relations and of the shared sets: their held-out figures are
printed by tools/train.py relation and stand in RESULTS.md; what is printed here is held out for other files only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))

Row = dict[str, Any]
FOLDER = SOURCE / "bench/relations"
HOLD = ("other", "adds", "same")
GONE = ("replaces", "ends")
FALSE_ACTS = (0.002, 0.005, 0.01, 0.02)  # shares of pairs that hold, of the curve
FALSE_QUESTIONS = (0.05, 0.10, 0.15)
FALSE_SAME = 0.02


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_own(folder: Path) -> list[Row]:
    """The pairs of bench/relations/pairs.txt, whose first lines say how it is written."""
    rows: list[Row] = []
    language = domain = old = ""
    for line in (folder / "pairs.txt").read_text(encoding="utf-8").splitlines():
        head, bar, text = line.partition(" | ")
        if not bar or line.startswith("#"):
            continue
        if head.startswith("= "):
            (language, domain), old = head[2:].split(), text
            continue
        relation, *accept = head.split("/")
        rows.append(
            {"lang": language, "domain": f"own {domain}", "hand": "own", "old": old, "new": text, "relation": relation}
            | {"accept": accept}
        )
    return rows


def _seen(scores: Sequence[float], false: Sequence[bool], right: Sequence[bool], rate: float) -> tuple[float, float]:
    """(threshold, share of `right` above it), where `rate` of `false` are above it."""
    high = sorted((score for score, is_false in zip(scores, false, strict=True) if is_false), reverse=True)
    threshold = high[min(len(high) - 1, int(rate * len(high)))] if high else 0.0
    wanted = [score > threshold for score, is_right in zip(scores, right, strict=True) if is_right]
    return threshold, sum(wanted) / max(1, len(wanted))


def curve(rows: Sequence[Row], gone: Sequence[float], asked: Sequence[float], same: Sequence[float]) -> list[str]:
    """The lines of the curve: what is seen at which share of false acts, questions and repetitions."""
    hold = [row["relation"] in HOLD for row in rows]
    is_gone = [row["relation"] in GONE for row in rows]
    conflict = [row["relation"] == "conflicts" for row in rows]
    is_same = [row["relation"] == "same" for row in rows]
    not_same = ["same" not in (row["relation"], *row["accept"]) for row in rows]
    lines = []
    for rate in FALSE_ACTS:
        threshold, share = _seen(gone, hold, is_gone, rate)
        lines.append(f"acting, {rate:.3f} false: {share:.3f} of replaces and ends (above {threshold:.3f})")
    for rate in FALSE_QUESTIONS:
        threshold, share = _seen(asked, hold, is_gone, rate)
        lines.append(
            f"asking, {rate:.2f} false: {share:.3f} of replaces and ends, "
            f"{_seen(asked, hold, conflict, rate)[1]:.3f} of conflicts (above {threshold:.3f})"
        )
    lines.append(f"same, {FALSE_SAME} false: {_seen(same, not_same, is_same, FALSE_SAME)[1]:.3f}")
    return lines


def report(rows: Sequence[Row]) -> list[str]:
    """What the shipped judgement does with the rows, at its own thresholds and along the curve."""
    from gitmem.memory.relation import Kind, relation

    answers = [relation(row["old"], row["new"]) for row in rows]

    def share(of: Sequence[str], what: str) -> float:
        pairs = zip(answers, rows, strict=True)
        chosen: list[float] = [getattr(one, what) for one, row in pairs if row["relation"] in of]
        return sum(chosen) / max(1, len(chosen))

    right = [one.kind in (row["relation"], *row["accept"]) for one, row in zip(answers, rows, strict=True)]
    gone = [one.probabilities[Kind.REPLACES] + one.probabilities[Kind.ENDS] for one in answers]
    asked = [each + one.probabilities[Kind.CONFLICTS] for each, one in zip(gone, answers, strict=True)]
    same = [one.probabilities[Kind.SAME] for one in answers]
    return [
        f"acted on: {share(HOLD, 'automatic'):.3f} of pairs that hold, {share(GONE, 'automatic'):.3f} of the gone",
        f"asked about: {share(HOLD, 'asks'):.3f} of pairs that hold, {share(GONE, 'asks'):.3f} of replaces and ends, "
        f"{share(('conflicts',), 'asks'):.3f} of conflicts",
        f"the kind is right: {sum(right) / max(1, len(right)):.3f}",
        *curve(rows, gone, asked, same),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    data = os.environ.get("GITMEM_BENCH_DATA", "")
    files = options.files or (sorted(Path(data).glob("relations*/*.jsonl")) if data else [])
    sets = {str(path): read_rows(path) for path in files} | (
        {} if options.files else {"bench/relations": read_own(FOLDER)}
    )
    for name, rows in sets.items():
        print(f"\n{name}: {len(rows)} pairs")
        print(*report(rows), sep="\n")


if __name__ == "__main__":
    main()
