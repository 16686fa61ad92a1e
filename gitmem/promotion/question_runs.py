"""What `git mem eval` found at the last run over a person's own questions, and what differs now.

Kept in the Git directory, private, without text: the id of each fact, its figures, the commit, the settings in force.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gitmem.config import Config, git_name, keys, tunable
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.plural import counted
from gitmem.search.evaluation import QuestionResult

QUESTIONS, RUN = "questions.jsonl", "questions-run.json"  # files in the folder of our state
RUN_LIMIT = 16 << 20  # bytes
FIGURES = ("hit@1", "hit@5", "share@1000")  # that are compared


@dataclass(frozen=True, slots=True)
class Since:
    """What differs from the last run: when it was, the commits since (-1 where its commit is no ancestor), settings
    (name, then, now), figures over the questions of both, and the questions won and lost within five hits."""

    at: str
    commits: int
    settings: tuple[tuple[str, str, str], ...]
    figures: tuple[tuple[str, float, float], ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def as_value(self) -> dict[str, Any]:
        """The JSON of docs/json.md, "eval"."""
        return {
            "at": self.at, "commits": self.commits if self.commits >= 0 else None,
            "settings": [{"name": name, "old": old, "new": new} for name, old, new in self.settings],
            "figures": {name: {"old": round(old, 4), "new": round(new, 4)} for name, old, new in self.figures},
        }  # fmt: skip

    @property
    def sentence(self) -> str:
        """One line for a person."""
        changes = [counted(self.commits, "commit") if self.commits >= 0 else "another history"]
        changes += [f"{name} {old} -> {new}" for name, old, new in self.settings]
        figures = ", ".join(f"{name} {old:.3f} -> {new:.3f}" for name, old, new in self.figures)
        return f"since {self.at[:16].replace('T', ' ')} ({', '.join(changes)}): {figures}"


def compare_and_keep(
    repo: Repository, config: Config, results: Sequence[QuestionResult], now: datetime
) -> Since | None:
    """What differs from the run before, None for the first one; this run takes its place."""
    folder = state_dir(repo.common_dir)
    head = repo.head() or ""
    run = {
        "at": now.isoformat(timespec="seconds"), "commit": head, "settings": _settings(config),
        "facts": {r.question.fact: {name: r.figures[name] for name in FIGURES} for r in results if r.question.fact},
    }  # fmt: skip
    before = _read(folder)
    write_atomic(folder, RUN, json.dumps(run).encode(), private=True)
    if not before:
        return None
    return _since(repo, before, run, results)


def _read(folder: Path) -> dict[str, Any]:
    """The run before; {} where there is none or it cannot be read."""
    try:
        value: dict[str, Any] = json.loads(read_bytes(folder, RUN, RUN_LIMIT))
        shape = {"at": str, "commit": str, "settings": dict, "facts": dict}
        if not all(isinstance(value[key], form) for key, form in shape.items()):
            return {}
        return value
    except (OSError, GitMemError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _since(
    repo: Repository, old: Mapping[str, Any], new: Mapping[str, Any], results: Sequence[QuestionResult]
) -> Since:
    both = [result for result in results if result.question.fact in old["facts"]]
    then = {fact: _figures(old["facts"][fact]) for fact in (result.question.fact for result in both)}
    moved = [(r.question.query, r.figures["hit@5"] - then[r.question.fact]["hit@5"]) for r in both]
    return Since(
        str(old["at"]),
        _commits_between(repo, old["commit"], new["commit"]),
        tuple(
            (name, str(old["settings"].get(name)), str(new["settings"].get(name)))
            for name in sorted({*old["settings"], *new["settings"]})
            if old["settings"].get(name) != new["settings"].get(name)
        ),
        tuple(
            (
                name,
                sum(then[r.question.fact][name] for r in both) / len(both),
                sum(r.figures[name] for r in both) / len(both),
            )
            for name in FIGURES
            if both
        ),
        tuple(query for query, by in moved if by > 0),
        tuple(query for query, by in moved if by < 0),
    )


def _figures(row: Any) -> dict[str, float]:
    if isinstance(row, dict):
        given = row
    else:
        given = {}
    return {name: float(value) if isinstance(value := given.get(name), (int, float)) else 0.0 for name in FIGURES}


def _commits_between(repo: Repository, old: str, new: str) -> int:
    """How many commits lead from one to the other, -1 where they do not."""
    try:
        if not old or not new or not repo.is_ancestor(old, new):
            if old == new:
                return 0
            return -1
        return sum(1 for _ in repo.log([new, f"^{old}"]))
    except GitMemError:
        return -1


def _settings(config: Config) -> dict[str, str]:
    """The settings of search that are in force, without a path: a model by its name alone."""
    named = [(git_name(name), getattr(config, name)) for name, _ in keys() if tunable(name)]
    return {name: str(value).rpartition("/")[2] for name, value in named}
