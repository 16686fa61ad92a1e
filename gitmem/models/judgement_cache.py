"""What judges said of statements, kept by model, rubric and statement: a run that was stopped loses one batch.

In `gitmem/judgements/` of the Git directory, one private file a model and rubric, a line a statement: a hash of its
text and a number, never text. Bounded in lines; deleting it costs time, never an answer.
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
MAX_LINES = 40_000  # lines of one file; the older half goes when it has more
FILES = 16  # models and rubrics that are kept, the latest used
LINE = 64  # bytes of a line at most
NAME = 32  # hex digits of a hash


class Judgements:
    """The judgements of one model by one rubric. Without a state folder they last as long as this value."""

    def __init__(self, state: Path | None, model: str, rubric: Rubric) -> None:
        said = json.dumps([model, rubric.system, rubric.examples, rubric.yes, rubric.no], ensure_ascii=True)
        self._file = state / FOLDER / _hash(said) if state else None
        if self._file:
            self._known = _read(self._file)
        else:
            self._known = {}

    def get(self, statement: str) -> float | None:
        """The log-odds of a statement, None where it was not judged."""
        return self._known.get(_hash(statement))

    def put(self, judged: Mapping[str, float]) -> None:
        """Keep the log-odds of statements. A folder that cannot be written is no error: it is only a cache."""
        new = {_hash(statement): value for statement, value in judged.items()}
        self._known.update(new)
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            if not self._file.exists():
                for old in sorted(self._file.parent.iterdir(), key=lambda path: path.stat().st_mtime)[: -FILES + 1]:
                    old.unlink(missing_ok=True)
            elif self._file.stat().st_size > MAX_LINES * LINE:
                self._file.unlink(missing_ok=True)
                new = dict(list(self._known.items())[-MAX_LINES // 2 :])
            lines = "".join(f"{name} {value:.4f}\n" for name, value in new.items())
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.RAW
            with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="ascii") as file:
                file.write(lines)
        except OSError:
            return


def _read(file: Path) -> dict[str, float]:
    try:
        text = read_regular(file, 2 * MAX_LINES * LINE).decode("ascii", "replace")
    except (OSError, ValueError):
        return {}
    known = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            known[name] = float(value)
        except ValueError:  # a line that another process was writing
            continue
    return {name: value for name, value in known.items() if len(name) == NAME and value == value}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME]
