"""A cache on disk of the scores that `rules` gives to the lines of logs, so that an unchanged log is scored once.

The key of a log is its blob and path; a change of the rules empties the cache. The file is beside the index in the Git
directory; it has numbers and names of cues, never text of a log. A damaged or foreign file counts as empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.json_values import parse_json
from gitmem.package_files import state_of
from gitmem.promotion.cues import CueResult
from gitmem.promotion.proposal import Log

FILE = "log-scores.json"
MAX_FILE_BYTES = 32 << 20
MAX_LOGS = 4_000  # logs whose scores are kept, the last ones that were scored
MIN_NEW_LINES = 200  # new lines from which the file is written; fewer are scored faster than it is written
RULES = ("promotion", "text", "memory", "models/static", "search", "provenance")  # folders on which a score depends

Scores = Mapping[str, Sequence[CueResult]]  # key of a log (`log_key`) -> results of its lines, in order


class ScoreCache:
    """The scores of the lines of logs, cached in a file of `folder`; None caches nothing. Not safe between threads."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._rows: dict[str, tuple[CueResult, ...]] | None = None

    def get(self, log: Log, lines: int) -> Sequence[CueResult] | None:
        """The cached results of the candidate lines of a log, in order; None when they are not cached, or when their
        number is not `lines`."""
        if self._rows is None:
            self._rows = _read(self._folder)
        results = self._rows.get(log_key(log))
        if results is not None and len(results) == lines:
            return results
        return None

    def put(self, scored: Sequence[tuple[Log, Sequence[CueResult]]]) -> None:
        """Cache the results of these logs, unless they have fewer than MIN_NEW_LINES lines together. The cache keeps
        the MAX_LOGS logs that were cached last. A folder that cannot be written is no error."""
        if self._folder is None or sum(len(results) for _, results in scored) < MIN_NEW_LINES:
            return
        rows = dict(self._rows if self._rows is not None else _read(self._folder))
        for log, results in scored:
            rows.pop(log_key(log), None)
            rows[log_key(log)] = tuple(results)
        self._rows = dict(list(rows.items())[-MAX_LOGS:])
        with suppress(OSError, GitMemError):
            write_atomic(self._folder, FILE, _encoded(self._rows), private=True)


def log_key(log: Log) -> str:
    """The key of a log: a hash of its blob and its path, since the words of the path count for a score."""
    return hashlib.sha256(f"{log.blob}\0{log.path}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def rules_state() -> str:
    """A hash of every file on which a score depends; "" when nothing may be cached (`package_files.state_of`)."""
    return state_of(*RULES)


def _encoded(rows: Scores) -> bytes:
    """The rows as JSON, in which each name of a cue is written once and has a number."""
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    logs = {
        key: [
            [result.score, number(result.kind), [*map(number, result.cues)], [*map(number, result.against)]]
            for result in results
        ]
        for key, results in rows.items()
    }
    value = {"rules": rules_state(), "names": list(names), "logs": logs}
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _read(folder: Path | None) -> dict[str, tuple[CueResult, ...]]:
    """The rows of the file in a folder; {} for None, and for a missing, damaged or outdated file."""
    if folder is None or not rules_state():
        return {}
    try:
        value: Any = parse_json(read_bytes(folder, FILE, MAX_FILE_BYTES))
        if value["rules"] != rules_state():
            return {}
        names = [str(name) for name in value["names"]]

        def named(numbers: Sequence[int]) -> tuple[str, ...]:
            return tuple(names[number] for number in numbers)

        return {
            str(key): tuple(
                CueResult(float(score), names[kind], named(cues), named(against))
                for score, kind, cues, against in results
            )
            for key, results in value["logs"].items()
        }
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return {}
