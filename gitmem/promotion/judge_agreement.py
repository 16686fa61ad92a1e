"""Measures whether a judge agrees with the rules in the logs of this repository; a judge that does not is ignored.

The examples that calibrate a judge are invented, and real logs are harder. The lines about which the rules are sure are
the test: the numbers of the judge must tell proposed lines from lines that the rules leave out. On real logs this
agreement is about as high as the agreement with people. The rows are kept by model and language in
`gitmem/judgements/`, so that days with few lines add up: hashes and numbers, never text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.git.worktree import write_atomic
from gitmem.json_values import parse_json
from gitmem.models.judgement_cache import FOLDER
from gitmem.promotion.judge_calibration import area_under_curve
from gitmem.regular_file import read_regular

MIN_STATEMENTS = 8  # statements of each kind (proposed, left out) from which the agreement is computed
MAX_STATEMENTS = 100  # statements of each kind that are kept, the latest ones
MIN_AGREEMENT = 0.6  # area under the curve; a judge has .67 and more, a model that knows nothing .52
MAX_LEFT_OUT_ODDS = -1.0  # log-odds of the rules below which they are sure that a line is not worth keeping
MAX_FILE_BYTES = 1 << 16


class Agreement:
    """The judged statements of one model in one language: hash of the statement -> (number of the judge, whether the
    rules propose it).

    `state`: the folder of our state, in which the rows are kept; None to keep nothing on disk.
    """

    def __init__(self, state: Path | None, model: str, language: str) -> None:
        name = hashlib.sha256(json.dumps([model, language]).encode()).hexdigest()[:16]
        self._state, self._name = state, f"{FOLDER}/agreement-{name}.json"
        self._rows: dict[str, tuple[float, bool]] = {}
        if state:
            self._rows = _read(state / self._name)

    def missing(self) -> int:
        """How many statements are still to be judged until 3 * MIN_STATEMENTS are known of the rarer kind (proposed, or
        left out by the rules); 0 if there are enough."""
        kinds = [proposed for _, proposed in self._rows.values()]
        return max(0, 3 * MIN_STATEMENTS - min(kinds.count(True), kinds.count(False)))

    def add(self, rows: Mapping[str, tuple[float, bool]]) -> None:
        """Add judged statements (text -> (number of the judge, whether the rules propose it)) and write the file. Of
        each kind the MAX_STATEMENTS that were judged last stay. A folder that cannot be written is no error."""
        for statement, row in rows.items():
            key = hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            self._rows.pop(key, None)
            self._rows[key] = row
        kept = dict[str, tuple[float, bool]]()
        for kind in (True, False):
            kept |= dict([(key, row) for key, row in self._rows.items() if row[1] is kind][-MAX_STATEMENTS:])
        self._rows = kept
        if self._state is not None and rows:
            with suppress(OSError, GitMemError):
                (self._state / FOLDER).mkdir(mode=0o700, exist_ok=True)
                write_atomic(self._state, self._name, json.dumps(kept).encode("ascii"), private=True)

    def area(self) -> float | None:
        """The area under the curve of the judge's numbers against the rules: 1 for full agreement, 0.5 for chance; None
        for too few statements."""
        proposed = [number for number, kind in self._rows.values() if kind]
        left_out = [number for number, kind in self._rows.values() if not kind]
        if min(len(proposed), len(left_out)) < MIN_STATEMENTS:
            return None
        return area_under_curve(proposed, left_out)


def _read(file: Path) -> dict[str, tuple[float, bool]]:
    """The rows of a file; {} for a missing or damaged file."""
    try:
        value = parse_json(read_regular(file, MAX_FILE_BYTES))
        return {str(key): (float(number), bool(kind)) for key, (number, kind) in value.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
