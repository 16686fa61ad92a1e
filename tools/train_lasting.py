#!/usr/bin/env python3
"""Learn which lines of a log are worth keeping (gitmem/promotion/lasting.json) from bench/log_days and real logs.

    pip install --group train
    python tools/train_lasting.py [--real LABELS.jsonl ...] [--write]

Two logistic regressions with an L2 penalty. The first reads what a line says (`lasting.features`) and is learned from
bench/log_days, without the hands of `bench/promote.HELD_OUT`. The second reads a line of an agent's log
(`lasting.forms`) and is learned from real logs that readers judged; without --real it stays as it is. A row of
LABELS.jsonl is one log: `{"repository", "path", "lines": [...], "judged": [{"line": 12, "text": "...", "value": 2}]}`,
value 2 for a line worth keeping, 1 for a harmless one, 0 for any other. Such files hold what others wrote and stay out
of this repository. The tool prints how well each hand and each repository is judged by what the others taught. It gives
the same answer each time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.promote import DAYS, HELD_OUT  # noqa: E402
from gitmem.promotion import lasting  # noqa: E402
from gitmem.promotion.log_lines import Candidate, candidates_of  # noqa: E402
from gitmem.promotion.proposal import Log  # noqa: E402
from gitmem.promotion.rules_model import LABELS, cues_of_line  # noqa: E402

FILE = Path(lasting.__file__).with_name("lasting.json")
NEARNESS = 2.0  # times which a vector counts beside the other features of the first regression
LEAN_FIRST = 0.4  # log-odds for keeping: a person leaves out what is offered in vain; what is not offered is lost
LEAN_SECOND = 0.75  # ... of an agent's log: from there on about .48 of what is offered is worth keeping
SELDOM = 4  # lines in which a cue must stand to be a feature of the first regression
REPOSITORIES = 4  # in which a feature of the second must stand: no name of one owner's things is one
HARMLESS = 0.4  # how far a line that a reader found harmless counts as one to keep
FIRST_FREEDOM, SECOND_FREEDOM = 1.0, 0.06  # the inverse of the penalty
SMALL = 0.01  # weights below say nothing and are left out
FOLDS = 4
LANGUAGES = ("en", "ko", "ja", "zh")

Array = np.ndarray[Any, Any]
Features = dict[str, float]


class Line(NamedTuple):
    """One judged line: the hand or repository it is of, its candidate, its features, how far it is worth keeping."""

    source: str
    candidate: Candidate
    features: Features
    kept: float


def log_of(path: str, lines: Sequence[str]) -> Log:
    """A log of lines, read for its candidates alone."""
    return Log(path, "0" * 40, date(2026, 1, 1), tuple(lines), frozenset())


def invented() -> list[Line]:
    """The lines of bench/log_days with what the first regression reads of them, a log a day."""
    found = []
    for path in sorted(DAYS.glob("*.txt")):
        if path.stem in HELD_OUT:
            continue
        for block in path.read_text(encoding="utf-8").removeprefix("# ").split("\n# "):
            rows = block.strip().split("\n")[1:]
            for each in candidates_of(log_of(path.stem, [f"- {row[2:]}" for row in rows]), LABELS):
                features = lasting.features(each.text, cues_of_line(each))
                vector = enumerate(lasting.meaning(each.text))
                features |= {f"number {at:03}": NEARNESS * number for at, number in vector}
                found.append(Line(path.stem, each, features, float(rows[each.number - 1][0] == "+")))
    return found


def real(files: Iterable[Path]) -> list[Line]:
    """The judged lines of real logs with what the second regression reads of them."""
    found = []
    for file in files:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            judged = {(one["line"], one["text"]): (0.0, HARMLESS, 1.0)[one["value"]] for one in row["judged"]}
            for each in candidates_of(log_of(row["path"], row["lines"]), LABELS):
                kept = judged.get((each.number, " ".join(each.text.split())))
                if kept is not None and (each.topic or each.prose or not lasting.is_peoples(each)):
                    found.append(Line(row["repository"], each, lasting.forms(each, cues_of_line(each)), kept))
    return found


class Regression:
    """A logistic regression of lines over the features of these names."""

    def __init__(self, known: Sequence[Line], names: Iterable[str], freedom: float) -> None:
        chosen = frozenset(names)
        self.table = DictVectorizer()
        rows = self.table.fit_transform([_only(each.features, chosen) for each in known])
        self._chosen = chosen
        kept = np.array([each.kept for each in known])
        # A line that is kept in part is one to keep and one to leave, each with its weight.
        at = np.r_[np.flatnonzero(kept > 0), np.flatnonzero(kept < 1)]
        answers = np.r_[np.ones(int((kept > 0).sum())), np.zeros(int((kept < 1).sum()))]
        counts = np.where(answers > 0, kept[at], 1 - kept[at])
        self.model = LogisticRegression(C=freedom, max_iter=1000, tol=1e-6)
        self.model.fit(rows[at], answers, sample_weight=counts)

    def odds(self, lines: Sequence[Line]) -> Array:
        """The log-odds of each line."""
        answers: Array = self.model.decision_function(
            self.table.transform([_only(each.features, self._chosen) for each in lines])
        )
        return answers

    def weights(self, lean: float) -> Features:
        """The weight of each feature by name, `any` among them, small ones left out."""
        pairs = zip(self.table.get_feature_names_out(), self.model.coef_[0], strict=True)
        found = {str(name): round(float(weight), 3) for name, weight in pairs if abs(weight) >= SMALL}
        return {"any": round(float(self.model.intercept_[0]) + lean, 3), **found}


def _only(features: Features, names: frozenset[str]) -> Features:
    return {name: value for name, value in features.items() if name in names}


def held_out(known: Sequence[Line], names: Iterable[str], freedom: float, groups: Sequence[Sequence[str]]) -> Array:
    """The log-odds of each line by what the lines of other groups taught."""
    chosen = tuple(names)
    odds = np.zeros(len(known))
    for group in groups:
        own = np.array([each.source in group for each in known])
        taught = Regression([each for each, mine in zip(known, own, strict=True) if not mine], chosen, freedom)
        odds[own] = taught.odds([each for each, mine in zip(known, own, strict=True) if mine])
    return odds


def names_of_first(known: Sequence[Line]) -> list[str]:
    """The features of the first regression: every one but cues that hardly any line has."""
    often = Counter(name for each in known for name in each.features)
    return [name for name in often if not name.startswith("cue ") or often[name] >= SELDOM]


def names_of_second(known: Sequence[Line]) -> list[str]:
    """The features of the second regression: those of several repositories."""
    where: dict[str, set[str]] = defaultdict(set)
    for each in known:
        for name in each.features:
            where[name].add(each.source)
    return [name for name, sources in where.items() if len(sources) >= REPOSITORIES]


def report_first(known: Sequence[Line], odds: Array) -> None:
    """F1 by language, each hand judged by what others taught."""
    for language in LANGUAGES:
        own = [(each.kept > 0, at > 0) for each, at in zip(known, odds, strict=True) if each.source[:2] == language]
        good, wrong = sum(kept and chosen for kept, chosen in own), sum(kept != chosen for kept, chosen in own)
        print(f"{language}: F1 {2 * good / max(1, 2 * good + wrong):.3f} of {len(own)} lines of people's logs")


def report_second(known: Sequence[Line], odds: Array) -> None:
    """Of each repository and language how much is offered, and how much of that is worth keeping or harmless."""
    groups: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for each, at in zip(known, odds, strict=True):
        for name in (each.source, f"language {each.candidate.languages[0]}", "all"):
            groups[name].append((each.kept, bool(at >= 0)))
    for name, lines in sorted(groups.items()):
        offered = [kept for kept, chosen in lines if chosen]
        keep = sum(kept == 1 for kept, _ in lines)
        print(
            f"{name}: {len(lines)} judged, {keep} to keep; offered {len(offered)}:"
            f" {offered.count(1.0)} to keep, {offered.count(HARMLESS)} harmless"
        )


def main() -> None:
    """Learn, and print how well, no hand and no repository judged by what was learned from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", nargs="*", type=Path, default=[])
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    learned = json.loads(FILE.read_text(encoding="utf-8"))
    known = invented()
    names = names_of_first(known)
    hands = sorted({each.source for each in known})
    folds = [hands[at::FOLDS] for at in range(FOLDS)]
    report_first(known, held_out(known, names, FIRST_FREEDOM, folds) + LEAN_FIRST)
    weights = Regression(known, names, FIRST_FREEDOM).weights(LEAN_FIRST)
    numbers = [name for name in sorted(names) if name.startswith("number ")]
    learned["meaning"] = [round(NEARNESS * weights.pop(name, 0.0), 3) for name in numbers]
    learned["features"] = weights
    if wanted.real:
        judged = real(wanted.real)
        names = names_of_second(judged)
        repositories = sorted({each.source for each in judged})
        report_second(judged, held_out(judged, names, SECOND_FREEDOM, [[each] for each in repositories]) + LEAN_SECOND)
        learned["forms"] = Regression(judged, names, SECOND_FREEDOM).weights(LEAN_SECOND)
    if wanted.write:
        FILE.write_text(json.dumps(learned, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
