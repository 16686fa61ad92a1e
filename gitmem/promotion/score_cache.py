"""What `rules` found out about each line of a log, kept by the log's blob and the state of the rules: a log that stays
is scored once, whichever process asks. The file holds numbers and names of cues, never text of a log; it stands beside
the index, in Git's own directory. A damaged or foreign file is no cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.promotion.cues import CueResult
from gitmem.promotion.proposal import Log

FILE = "log-scores.json"
LIMIT = 32 << 20  # bytes of it that are read
LOGS = 4_000  # logs whose scores are kept: those that were asked for last
WORTH_WRITING = 200  # new lines from which the file is written: fewer are scored before it is
RULES = ("promotion", "text", "memory", "models/static", "search", "provenance")  # folders on which a score depends

Scores = Mapping[str, Sequence[CueResult]]  # key of a log (`key_of`) -> the result of each of its lines, in order


class ScoreCache:
    """The scores in a folder, None for nowhere. Not safe between threads."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._rows: dict[str, tuple[CueResult, ...]] | None = None

    def of(self, log: Log, lines: int) -> Sequence[CueResult] | None:
        """The results of the lines of a log; None where they are not kept, or are of another number of lines."""
        if self._rows is None:
            self._rows = _read(self._folder)
        found = self._rows.get(key_of(log))
        if found is not None and len(found) == lines:
            return found
        return None

    def keep(self, scored: Sequence[tuple[Log, Sequence[CueResult]]]) -> None:
        """Keep the results of the lines of these logs, where they are many enough. Nothing happens where the folder
        cannot be written."""
        if self._folder is None or sum(len(results) for _, results in scored) < WORTH_WRITING:
            return
        rows = dict(self._rows if self._rows is not None else _read(self._folder))
        for log, results in scored:
            rows.pop(key_of(log), None)
            rows[key_of(log)] = tuple(results)
        self._rows = dict(list(rows.items())[-LOGS:])
        try:
            write_atomic(self._folder, FILE, _encoded(self._rows), private=True)
        except (OSError, GitMemError):
            return


def key_of(log: Log) -> str:
    """What stands for a log: its blob and its path, whose words count for a score."""
    return hashlib.sha256(f"{log.blob}\0{log.path}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


@cache
def rules_state() -> str:
    """What stands for the rules as they are: the size and the time of every file on which a score depends; "" where
    they are no files, and nothing is kept."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    try:
        for folder in RULES:
            for path in sorted((package / folder).rglob("*")):
                if path.suffix in (".py", ".json", ".bin"):
                    status = path.stat()
                    digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    except OSError:
        return ""
    return digest.hexdigest()


def _encoded(rows: Scores) -> bytes:
    """The rows as JSON: a name stands once, and a number for it in every result."""
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    logs = {
        key: [[one.score, number(one.kind), [*map(number, one.cues)], [*map(number, one.against)]] for one in results]
        for key, results in rows.items()
    }
    value = {"rules": rules_state(), "names": list(names), "logs": logs}
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _read(folder: Path | None) -> dict[str, tuple[CueResult, ...]]:
    if folder is None or not rules_state():
        return {}
    try:
        value: Any = json.loads(read_bytes(folder, FILE, LIMIT))
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
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return {}
