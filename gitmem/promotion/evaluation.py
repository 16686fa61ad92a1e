"""How well a promotion model chooses lines, against lines people found worth keeping. Reads files; writes nothing.

A row is `{"path", "facts": [{"text", "lines"}]}` or `{"path", "lines": [text], "keep": [{"lines", "type"}]}`: without
its own `lines`, the log is the file of that path beside the rows' file. Lines count from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.paths import log_date
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.regular_file import read_regular

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


def evaluate_promotion(file: Path, model: Model) -> Quality:
    """The figures of `model` on the rows of `file`. Raises GitMemError where a row cannot be read."""
    return summarise(log_quality(log, keep, types, model) for log, keep, types in rows(file))


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
    proposed = [o for o in model.propose([log], []).operations if o.op is not Op.SKIP]
    cited = [(operation, _cited(operation)) for operation in proposed]
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


def _cited(operation: Operation) -> set[int]:
    return {n for span in operation.sources for n in range(span.start_line, span.end_line + 1)}


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
