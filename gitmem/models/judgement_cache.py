"""A cache of judgements by judge and statement, so that a run that is stopped loses one batch at most.

A judge is a model with its rubric (`judge_key`), or a rule of this package. The cache is the folder
`gitmem/judgements/` of the Git directory: one private file for each judge, and in it one line for each statement, with
a hash of its text and a number, never the text. It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from gitmem.models.judging import Rubric
from gitmem.regular_file import append_private, read_regular

FOLDER = "judgements"
MAX_LINES = 40_000  # lines of a file; a longer file loses its older half
MAX_FILES = 16  # judges; the file that was not written for the longest time is deleted
MAX_LINE_BYTES = 64
HASH_DIGITS = 32  # hex


class JudgementCache:
    """The judgements of one judge. `state`: the folder `gitmem/` of the Git directory; without it they are kept in
    memory only. `judge`: a text that identifies the judge and all on which its judgements depend, such as one of
    `judge_key`."""

    def __init__(self, state: Path | None, judge: str) -> None:
        self._file = state and state / FOLDER / _hash(judge)
        self._known: dict[str, float] = {}
        if self._file:
            self._known = _read(self._file)

    def get(self, statement: str) -> float | None:
        """The number that `put` cached for a statement; None if there is none."""
        return self._known.get(_hash(statement))

    def put(self, judged: Mapping[str, float]) -> None:
        """Cache the numbers of statements; in memory only if the folder cannot be written. Before a new file is
        written, the oldest files above MAX_FILES are deleted; a full file is written anew with the newest half of its
        lines."""
        values = {_hash(statement): value for statement, value in judged.items()}
        self._known.update(values)
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            if not self._file.exists():
                files = sorted(self._file.parent.iterdir(), key=lambda path: path.stat().st_mtime)
                for oldest in files[: -MAX_FILES + 1]:
                    oldest.unlink(missing_ok=True)
            elif self._file.stat().st_size > MAX_LINES * MAX_LINE_BYTES:
                self._file.unlink(missing_ok=True)
                values = dict(list(self._known.items())[-MAX_LINES // 2 :])
            append_private(self._file, "".join(f"{name} {value:.4f}\n" for name, value in values.items()).encode())
        except OSError:
            return


def judge_key(model: str, rubric: Rubric) -> str:
    """The text that identifies a model with its rubric in the cache; another model or another rubric has another
    one."""
    return json.dumps([model, rubric.system, rubric.examples, rubric.yes, rubric.no], ensure_ascii=True)


def _read(file: Path) -> dict[str, float]:
    """The cached judgements: hash -> number; {} if the file is missing, unreadable or too large. Malformed lines are
    left out."""
    try:
        text = read_regular(file, 2 * MAX_LINES * MAX_LINE_BYTES).decode("ascii", "replace")
    except (OSError, ValueError):
        return {}
    values = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            values[name] = float(value)
        except ValueError:  # another process was writing the line
            continue
    return {name: value for name, value in values.items() if len(name) == HASH_DIGITS and value == value}  # no NaN


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
