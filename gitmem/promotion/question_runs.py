"""Compares a run of `git mem eval` over a person's own questions with the run before.

The last run is kept in a private file of the Git directory: the ids of the facts, their figures, the commit and the
settings of search. The file has no text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from gitmem.config import Config
from gitmem.config.settings import SETTINGS, git_name, tunable
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.json_values import json_keys, parse_json
from gitmem.plural import counted
from gitmem.search.evaluation import QuestionResult

QUESTIONS, RUN = "questions.jsonl", "questions-run.json"  # files in the folder of our state
MAX_RUN_BYTES = 16 << 20
FIGURES = ("hit@1", "hit@5", "share@1000")  # the compared figures


class ChangedSetting(NamedTuple):
    """A changed setting. `old`, `new`: its values at the earlier run and now."""

    name: str
    old: str
    new: str


@json_keys("at commits settings figures=rounded_figures")
@dataclass(frozen=True, slots=True)
class RunDifferences:
    """The differences from the run before.

    JSON: `at`: the time of that run. `commits`: null if the last run's commit is no ancestor.
    """

    at: str  # time of that run, ISO
    commits: int | None  # commits since then, None when its commit is not an ancestor of this one
    settings: tuple[ChangedSetting, ...]
    figures: tuple[tuple[str, float, float], ...]  # (name, then, now) over the questions of both runs
    gained: tuple[str, ...]  # questions answered within five hits now and not then
    lost: tuple[str, ...]  # questions answered then and not now

    @property
    def rounded_figures(self) -> dict[str, dict[str, float]]:
        return {name: {"old": round(old, 4), "new": round(new, 4)} for name, old, new in self.figures}

    @property
    def sentence(self) -> str:
        """One line for a person: the time of the run before, the commits since, the changed settings, each figure then
        and now."""
        changes = ["another history" if self.commits is None else counted(self.commits, "commit")]
        changes += [f"{name} {old} -> {new}" for name, old, new in self.settings]
        figures = ", ".join(f"{name} {old:.3f} -> {new:.3f}" for name, old, new in self.figures)
        return f"since {self.at[:16].replace('T', ' ')} ({', '.join(changes)}): {figures}"


def compare_and_save(
    repo: Repository, config: Config, results: Sequence[QuestionResult], now: datetime
) -> RunDifferences | None:
    """The differences from the run before; None for the first run, and when the file of that run is damaged. The file
    then has this run. Only questions about a fact are kept. Raises GitMemError if the folder of our state cannot be
    made."""
    folder = state_dir(repo.common_dir)
    head = repo.head() or ""
    run = {
        "at": now.isoformat(timespec="seconds"), "commit": head, "settings": _settings(config),
        "facts": {r.question.fact: {name: r.figures[name] for name in FIGURES} for r in results if r.question.fact},
    }  # fmt: skip
    last_run = _read(folder)
    write_atomic(folder, RUN, json.dumps(run).encode(), private=True)
    if not last_run:
        return None
    return _differences(repo, last_run, run, results)


def _read(folder: Path) -> dict[str, Any]:
    """The JSON of the run before; {} when the file is missing or damaged."""
    try:
        value: dict[str, Any] = parse_json(read_bytes(folder, RUN, MAX_RUN_BYTES))
        shape = {"at": str, "commit": str, "settings": dict, "facts": dict}
        if not all(isinstance(value[key], form) for key, form in shape.items()):
            return {}
        return value
    except (OSError, GitMemError, ValueError, KeyError, TypeError):
        return {}


def _differences(
    repo: Repository, last_run: Mapping[str, Any], run: Mapping[str, Any], results: Sequence[QuestionResult]
) -> RunDifferences:
    """The differences of `run`, with `results`, from `last_run`."""
    shared = [result for result in results if result.question.fact in last_run["facts"]]
    old_figures = {result.question.fact: _figures(last_run["facts"][result.question.fact]) for result in shared}
    differences = [(r.question.query, r.figures["hit@5"] - old_figures[r.question.fact]["hit@5"]) for r in shared]
    names = sorted(last_run["settings"].keys() & run["settings"].keys())  # another version may have other settings
    pairs = {name: (last_run["settings"][name], run["settings"][name]) for name in names}
    figures = []
    for name in FIGURES if shared else ():
        old_mean = sum(old_figures[result.question.fact][name] for result in shared) / len(shared)
        figures.append((name, old_mean, sum(result.figures[name] for result in shared) / len(shared)))
    return RunDifferences(
        str(last_run["at"]),
        _commits_between(repo, last_run["commit"], run["commit"]),
        tuple(ChangedSetting(name, str(old), str(new)) for name, (old, new) in pairs.items() if old != new),
        tuple(figures),
        tuple(query for query, difference in differences if difference > 0),
        tuple(query for query, difference in differences if difference < 0),
    )


def _figures(row: Any) -> dict[str, float]:
    """The FIGURES of one fact in the file; 0 for a missing or damaged value."""
    figures = dict.fromkeys(FIGURES, 0.0)
    if isinstance(row, dict):
        figures |= {name: float(row[name]) for name in FIGURES if isinstance(row.get(name), (int, float))}
    return figures


def _commits_between(repo: Repository, old: str, new: str) -> int | None:
    """The number of commits from `old` to `new`; None when `old` is not an ancestor of `new`."""
    if old == new:
        return 0
    try:
        if not old or not new or not repo.is_ancestor(old, new):
            return None
        return sum(1 for _ in repo.log([new, f"^{old}"]))
    except GitMemError:
        return None


def _settings(config: Config) -> dict[str, str]:
    """The settings of search: name -> value. Of a path only the last part is kept."""
    values = [(git_name(name), getattr(config, name)) for name in SETTINGS if tunable(name)]
    return {name: str(value).rpartition("/")[2] for name, value in values}
