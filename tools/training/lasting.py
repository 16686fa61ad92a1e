"""Which lines of a log are worth keeping (gitmem/promotion), from bench/log_days and real logs.

Two logistic regressions with an L2 penalty. The first reads what a line says (`lasting.person_log_features`) and is
learned from bench/log_days, without the hands of `bench/promote.HELD_OUT`. The second reads a line of an agent's log
(`lasting.agent_log_features`) and is learned from real logs that readers judged; without --real it stays as it is, and
with --further it starts from what is shipped: the penalty is that of a change. A row of LABELS.jsonl is one log:
`{"repository", "path", "lines": [...], "judged": [{"line": 12, "text": "...", "value": 2}]}`, value 2 for a line worth
keeping, 1 for a harmless one, 0 for any other. Such files hold what others wrote and stay out of this repository. It
prints how well each hand and each repository is judged by what the others taught.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.promote import DAYS, HELD_OUT
from gitmem import linear_model
from gitmem.linear_model import LinearModel
from gitmem.promotion import lasting
from gitmem.promotion.log_lines import Candidate, candidates_of
from gitmem.promotion.proposal import Log
from gitmem.promotion.rules_model import cues_of_line
from tools.training import regression
from tools.training.regression import Array

FOLDER = Path(lasting.__file__).parent
NEARNESS = 2.0  # times which a vector counts beside the other features of the first regression
NEAR_HEADING = 4.0  # times which the vector of the nearest heading counts beside the other features of the second
LEAN_FIRST = 0.4  # log-odds for keeping: a person leaves out what is offered in vain; what is not offered is lost
LEAN_SECOND = 0.5  # ... of an agent's log: from there on about .4 of what is offered is worth keeping
SELDOM = 4  # lines in which a cue must stand to be a feature of the first regression
REPOSITORIES = 4  # in which a feature of the second must stand: no name of one owner's things is one
HARMLESS = 0.4  # how far a line that a reader found harmless counts as one to keep
FIRST_PENALTY, SECOND_PENALTY = 1.0, 1 / 0.06
FURTHER_PENALTY = 64.0  # of changes of the second: of penalties from 4 on the best of whole repositories held out
SMALL = 0.01  # weights below say nothing and are left out
FOLDS = 4
LANGUAGES = ("en", "ko", "ja", "zh")


class Line(NamedTuple):
    """One judged line: the hand or repository it is of, its candidate, its features, how far it is worth keeping."""

    source: str
    candidate: Candidate
    features: dict[str, float]
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
            for each in candidates_of(log_of(path.stem, [f"- {row[2:]}" for row in rows])):
                features = lasting.person_log_features(each.text, cues_of_line(each))
                found.append(Line(path.stem, each, features, float(rows[each.number - 1][0] == "+")))
    return found


def real(files: Iterable[Path]) -> list[Line]:
    """The judged lines of real logs with what the second regression reads of them."""
    found = []
    for file in files:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            judged = {(one["line"], one["text"]): (0.0, HARMLESS, 1.0)[one["value"]] for one in row["judged"]}
            for each in candidates_of(log_of(row["path"], row["lines"])):
                kept = judged.get((each.number, " ".join(each.text.split())))
                if kept is not None and (each.topic or each.prose or not lasting.is_from_person(each)):
                    found.append(
                        Line(row["repository"], each, lasting.agent_log_features(each, cues_of_line(each)), kept)
                    )
    return found


def scale_of(name: str) -> float:
    """Times which a feature counts beside the others while weights are learned."""
    if name.startswith("meaning "):
        return NEARNESS
    if name.startswith(lasting.NEAR_MEANING):
        return NEAR_HEADING
    return 1.0


class Lines:
    """Judged lines as a table over the features of these names. With `shipped` its weights are changed, not learned
    anew."""

    def __init__(
        self, known: Sequence[Line], names: Iterable[str], penalty: float, shipped: LinearModel | None = None
    ) -> None:
        self.known = known
        self.names = sorted(names)
        self.penalty = penalty
        self.scale = np.array([scale_of(name) for name in self.names])
        self.table = regression.matrix([each.features for each in known], self.names) * self.scale
        self.kept = np.array([each.kept for each in known])
        self.start: Array | None = None
        if shipped is not None:
            weights = np.array([shipped.weights[0].get(name, 0.0) for name in self.names])
            self.start = np.concatenate([[shipped.biases[0]], weights / self.scale])

    def held_out(self, groups: Iterable[Sequence[str]]) -> Array:
        """The log-odds of each line by what the lines of other groups of sources taught."""
        splits = self._splits(groups)
        return regression.held_out(self.table, self.kept, splits, penalty=self.penalty, known=self.start)[:, 0]

    def _splits(self, groups: Iterable[Sequence[str]]) -> Iterator[tuple[Array, Array]]:
        for group in groups:
            own = np.array([each.source in group for each in self.known])
            yield ~own, own

    def write(self, file: str, lean: float) -> None:
        """Learn from all lines, and write what was learned."""
        weights = regression.fit(self.table, self.kept, penalty=self.penalty, known=self.start)
        weights[0] += lean
        weights[1:] *= self.scale[:, None]
        regression.write(regression.model(self.names, weights, ["lasting"], least=SMALL), FOLDER / file, "lasting")


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--real", nargs="*", type=Path, default=[], metavar="LABELS.jsonl")
    parser.add_argument("--further", action="store_true", help="change the shipped weights of agents' logs")
    parser.add_argument("--write", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Learn, and print how well, no hand and no repository judged by what was learned from it."""
    known = invented()
    lines = Lines(known, names_of_first(known), FIRST_PENALTY)
    hands = sorted({each.source for each in known})
    report_first(known, lines.held_out([hands[at::FOLDS] for at in range(FOLDS)]) + LEAN_FIRST)
    if options.write:
        lines.write("people_logs.tsv", LEAN_FIRST)
    if options.real:
        judged = real(options.real)
        if options.further:
            shipped = linear_model.load(lasting.__file__, "agent_logs.tsv")
            names = {*names_of_second(judged), *shipped.weights[0]}
            lines = Lines(judged, names, FURTHER_PENALTY, shipped)
        else:
            lines = Lines(judged, names_of_second(judged), SECOND_PENALTY)
        repositories = sorted({each.source for each in judged})
        report_second(judged, lines.held_out([[each] for each in repositories]) + LEAN_SECOND)
        if options.write:
            lines.write("agent_logs.tsv", LEAN_SECOND)
