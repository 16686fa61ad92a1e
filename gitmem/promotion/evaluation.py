"""How well a promotion model chooses lines, against lines people found worth keeping. Reads files; writes nothing.

A row is `{"path", "facts": [{"text", "lines"}]}` or `{"path", "lines": [text], "keep": [{"lines", "type"}]}`: without
its own `lines`, the log is the file of that path beside the rows' file. Lines count from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.paths import log_date
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.regular_file import read_regular

RULES = "rules/1"  # the id of the model that needs no run
TOP = 5
NO_BLOB = "0" * 40


@dataclass(frozen=True, slots=True)
class LogQuality:
    """One log: the lines worth keeping, those proposed, and those cited by its most important facts."""

    path: str
    lines: int
    keep: frozenset[int]
    proposed: frozenset[int]
    top: tuple[bool, ...]
    types: tuple[bool, ...]
    unsourced: int


@dataclass(frozen=True, slots=True)
class Quality:
    """All logs together. Shares are 0..1; `top_precision` is of the TOP most important facts of each log."""

    logs: int
    lines: int
    keep: int
    proposed: int
    precision: float
    recall: float
    f1: float
    top_precision: float
    type_accuracy: float
    unsourced: int


def evaluate_promotion(file: Path, model: Model) -> tuple[Quality, tuple[str, ...]]:
    """The figures of `model` on the rows of `file`, and what it says of its run. The rules read each log by itself; any
    other model all in one run, with its batches and its budget, as a promotion does.

    Raises GitMemError where a row cannot be read.
    """
    given = list(rows(file))
    if model.id == RULES:
        return summarise(log_quality(log, keep, types, model) for log, keep, types in given), ()
    numbered = [(replace(log, blob=f"{at:040x}"), keep, types) for at, (log, keep, types) in enumerate(given, 1)]
    proposal = model.propose([log for log, _, _ in numbered], [])
    own: dict[str, list[Operation]] = {}
    for operation in proposal.operations:
        for blob in {span.blob for span in operation.sources} or {numbered[0][0].blob}:  # one without a source counts
            own.setdefault(blob, []).append(operation)
    judged = (_quality(log, keep, types, own.get(log.blob, [])) for log, keep, types in numbered)
    return summarise(judged), proposal.notes


def rows(file: Path) -> Iterator[tuple[Log, frozenset[int], dict[int, str]]]:
    """(log, lines worth keeping, their types where the row has them) of every row."""
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"cannot read '{file}'", "a JSON object a line, UTF-8") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            path = str(row["path"])
            kept = row.get("facts", row.get("keep"))
            types = {int(n): str(item["type"]) for item in kept for n in item["lines"] if "type" in item}
            keep = frozenset(int(n) for item in kept for n in item["lines"])
            lines = _lines(row, file.parent, path)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise GitMemError(f"'{file.name}' line {number} is no row of facts", "see docs/promotion.md") from None
        day = log_date(path) or date(2000, 1, 1)
        yield Log(path, NO_BLOB, day, lines, frozenset(range(1, len(lines) + 1))), keep, types


def _lines(row: dict[str, Any], folder: Path, path: str) -> tuple[str, ...]:
    if "lines" in row:
        return tuple(str(text) for text in row["lines"])
    from gitmem.git.worktree import read_bytes
    from gitmem.promotion.logs import split

    try:
        return split(read_bytes(folder.resolve(), path))
    except OSError:
        raise GitMemError(f"there is no file '{path}' beside the rows", "give the rows their own 'lines'") from None


def log_quality(log: Log, keep: frozenset[int], types: dict[int, str], model: Model) -> LogQuality:
    """One log as the model reads it, with nothing in memory yet."""
    return _quality(log, keep, types, model.propose([log], []).operations)


def _quality(log: Log, keep: frozenset[int], types: dict[int, str], operations: Iterable[Operation]) -> LogQuality:
    proposed = [o for o in operations if o.op is not Op.SKIP]
    cited = [(operation, _cited(operation, log)) for operation in proposed]
    ranked = sorted(cited, key=lambda pair: (-pair[0].importance, min(pair[1], default=0)))
    return LogQuality(
        log.path,
        len(log.lines),
        keep,
        frozenset(n for _, lines in cited for n in lines),
        tuple(bool(lines & keep) for _, lines in ranked[:TOP]),
        tuple(o.type == types[n] for o, lines in cited for n in lines if n in types),
        sum(not lines or not lines <= set(range(1, len(log.lines) + 1)) for _, lines in cited),
    )


def _cited(operation: Operation, log: Log) -> set[int]:
    own = [span for span in operation.sources if span.blob == log.blob]
    return {n for span in own for n in range(span.start_line, span.end_line + 1)}


def summarise(logs: Iterable[LogQuality]) -> Quality:
    """The figures over all logs, every line weighing the same."""
    judged = list(logs)
    good = sum(len(log.keep & log.proposed) for log in judged)
    proposed, keep = sum(len(log.proposed) for log in judged), sum(len(log.keep) for log in judged)
    top = [hit for log in judged for hit in log.top]
    types = [hit for log in judged for hit in log.types]
    precision, recall = good / max(1, proposed), good / max(1, keep)
    return Quality(
        len(judged), sum(log.lines for log in judged), keep, proposed, precision, recall,
        2 * precision * recall / (precision + recall) if good else 0.0,
        sum(top) / max(1, len(top)), sum(types) / max(1, len(types)), sum(log.unsourced for log in judged),
    )  # fmt: skip
