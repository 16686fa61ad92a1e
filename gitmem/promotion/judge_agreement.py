"""Whether a judge agrees with the rules in the logs of this repository: what it may be believed in depends on that.

The examples that calibrate a judge are invented, and real logs are harder: a model can tell the examples apart and
know nothing of a log. What the rules are clear about in the very logs is the test: where the judge's numbers do not
even tell that apart, it is not believed. Measured on real logs, this agreement is about as high as that with people.
Kept by model and language in `gitmem/judgements/`, so that days with few lines add up; hashes and numbers, never text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.git.worktree import write_atomic
from gitmem.models.judgement_cache import FOLDER
from gitmem.promotion.judge_calibration import area
from gitmem.regular_file import read_regular

MIN_STATEMENTS = 8  # statements of either kind from which agreement can be told
MAX_STATEMENTS = 100  # statements of either kind that are kept, the latest
AGREES = 0.6  # area under the curve from which a judge agrees with the rules: .67 and more of a judge, .52 of none
CLEAR = -1.0  # the rules' log-odds below which they are clear that a line passes
MAX_FILE_BYTES = 1 << 16  # bytes of a file


class Agreement:
    """(number of the judge, whether the rules offer it) by statement, of one model in one language."""

    def __init__(self, state: Path | None, model: str, language: str) -> None:
        name = hashlib.sha256(json.dumps([model, language]).encode()).hexdigest()[:16]
        self._state, self._name = state, f"{FOLDER}/agreement-{name}.json"
        if state:
            self._rows = _read(state / self._name)
        else:
            self._rows = {}

    def missing(self) -> int:
        """How many statements of either kind would help."""
        kinds = [offered for _, offered in self._rows.values()]
        return max(0, 3 * MIN_STATEMENTS - min(kinds.count(True), kinds.count(False)))

    def add(self, rows: Mapping[str, tuple[float, bool]]) -> None:
        """Keep what was judged of statements. A folder that cannot be written is no error."""
        for statement, row in rows.items():
            self._rows[hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest()[:16]] = row
        kept = dict[str, tuple[float, bool]]()
        for kind in (True, False):
            kept |= dict([(key, row) for key, row in self._rows.items() if row[1] is kind][-MAX_STATEMENTS:])
        self._rows = kept
        if self._state is not None and rows:
            try:
                (self._state / FOLDER).mkdir(mode=0o700, exist_ok=True)
                write_atomic(self._state, self._name, json.dumps(kept).encode("ascii"), private=True)
            except (OSError, GitMemError):
                return

    def area(self) -> float | None:
        """The area under the curve of the judge's numbers against the rules; None where that cannot be told yet."""
        offered = [number for number, kind in self._rows.values() if kind]
        others = [number for number, kind in self._rows.values() if not kind]
        if min(len(offered), len(others)) >= MIN_STATEMENTS:
            return area(offered, others)
        return None


def _read(file: Path) -> dict[str, tuple[float, bool]]:
    try:
        value = json.loads(read_regular(file, MAX_FILE_BYTES))
        return {str(key): (float(number), bool(kind)) for key, (number, kind) in value.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
