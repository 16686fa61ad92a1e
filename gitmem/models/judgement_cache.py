"""A cache of judgements by model, rubric and statement, so that a run that is stopped loses one batch at most.

The cache is the folder `gitmem/judgements/` of the Git directory: one private file for each model and rubric, and in it
one line for each statement, with a hash of its text and a number, never the text. It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from gitmem import system
from gitmem.models.judging import Rubric
from gitmem.regular_file import read_regular

FOLDER = "judgements"
MAX_LINES = 40_000  # lines of a file; a longer file loses its older half
MAX_FILES = 16  # pairs of model and rubric; the file that was not written for the longest time is deleted
MAX_LINE_BYTES = 64
HASH_DIGITS = 32  # hex


class JudgementCache:
    """The judgements of one model by one rubric. Without a state folder they are kept in memory only."""

    def __init__(self, state: Path | None, model: str, rubric: Rubric) -> None:
        key = json.dumps([model, rubric.system, rubric.examples, rubric.yes, rubric.no], ensure_ascii=True)
        self._file = state and state / FOLDER / _hash(key)
        self._known: dict[str, float] = {}
        if self._file:
            self._known = _read(self._file)

    def get(self, statement: str) -> float | None:
        """The cached log-odds of a statement, None if there are none."""
        return self._known.get(_hash(statement))

    def put(self, judged: Mapping[str, float]) -> None:
        """Cache the log-odds of statements; in memory only if the folder cannot be written. A new file removes the
        oldest ones over MAX_FILES; a full file is begun anew with the newest half."""
        new = {_hash(statement): value for statement, value in judged.items()}
        self._known.update(new)
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            if not self._file.exists():
                files = sorted(self._file.parent.iterdir(), key=lambda path: path.stat().st_mtime)
                for old in files[: -MAX_FILES + 1]:
                    old.unlink(missing_ok=True)
            elif self._file.stat().st_size > MAX_LINES * MAX_LINE_BYTES:
                self._file.unlink(missing_ok=True)
                new = dict(list(self._known.items())[-MAX_LINES // 2 :])
            lines = "".join(f"{name} {value:.4f}\n" for name, value in new.items())
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.RAW
            with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="ascii") as file:
                file.write(lines)
        except OSError:
            return


def _read(file: Path) -> dict[str, float]:
    """The cached judgements: hash -> log odds; {} if the file is missing, unreadable or too large. Malformed lines are
    left out."""
    try:
        text = read_regular(file, 2 * MAX_LINES * MAX_LINE_BYTES).decode("ascii", "replace")
    except (OSError, ValueError):
        return {}
    known = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            known[name] = float(value)
        except ValueError:  # another process was writing the line
            continue
    return {name: value for name, value in known.items() if len(name) == HASH_DIGITS and value == value}  # no NaN


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
