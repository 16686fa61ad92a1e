"""Compares the lines that a promotion model chooses with lines that people found worth keeping. Writes nothing.

A row of the file is `{"path", "facts": [{"text", "lines"}]}` or `{"path", "lines": [text], "keep": [{"lines",
"type"}]}`. A row without its own `lines` is about the file at `path` beside the file of rows. Lines count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.git.worktree import read_bytes
from gitmem.json_values import parse_json
from gitmem.paths import log_date
from gitmem.promotion.logs import split_log
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.regular_file import read_regular

RULES = "rules/1"  # id of the model that reads each log alone
TOP = 5  # most important facts of a log, for `LogQuality.top`
NO_BLOB = "0" * 40


@dataclass(frozen=True, slots=True)
class LogQuality:
    """The lines of one log that a model proposed beside those that people found worth keeping. `summarise` makes shares
    of them."""

    path: str
    lines: int  # number of lines
    keep: frozenset[int]  # lines worth keeping
    proposed: frozenset[int]  # lines that proposed facts cite
    top: tuple[bool, ...]  # for each of the TOP most important facts: whether it cites a line worth keeping
    types: tuple[bool, ...]  # for each cited line whose type is known: whether the fact has that type
    unsourced: int  # facts that cite no line, or one that does not exist


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures of all logs together. `logs`, `lines`, `keep`, `proposed`, `unsourced`: numbers of logs, of lines, of
    lines worth keeping, of proposed lines, and of facts without a valid source. The others are shares from 0 to 1:
    `precision` of the proposed lines that are worth keeping, `recall` of those worth keeping that are proposed, `f1` of
    both, `top_precision` of the TOP most important facts of each log that cite a line worth keeping, `type_accuracy` of
    the cited lines with a stated type whose fact has that type. A share of nothing is 0."""

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
    """(figures of the model on the rows of `file`, notes of its run).

    `rules` reads each log alone. Any other model reads all in one run, with its batches and budget, as a promotion
    does. Raises GitMemError when a row cannot be read, ModelUnavailable when the model gives no answer.
    """
    rows = list(read_rows(file))
    if model.id == RULES:
        return summarise(log_quality(log, keep, types, model) for log, keep, types in rows), ()
    numbered = [(replace(log, blob=f"{number:040x}"), keep, types) for number, (log, keep, types) in enumerate(rows, 1)]
    proposal = model.propose([log for log, _, _ in numbered], [])
    by_blob: dict[str, list[Operation]] = {}
    for operation in proposal.operations:
        blobs = {span.blob for span in operation.sources} or {numbered[0][0].blob}  # without a source: the first log
        for blob in blobs:
            by_blob.setdefault(blob, []).append(operation)
    figures = (_quality(log, keep, types, by_blob.get(log.blob, [])) for log, keep, types in numbered)
    return summarise(figures), proposal.notes


def read_rows(file: Path) -> Iterator[tuple[Log, frozenset[int], dict[int, str]]]:
    """(log, lines worth keeping, line -> type as far as the row has types) for each row that is not blank. A path
    without a day gives the day 2000-01-01. Raises GitMemError when the file, a row or the log beside it cannot be
    read."""
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"cannot read '{file}'", "a JSON object a line, UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            path = str(row["path"])
            row_facts = row.get("facts", row.get("keep"))
            types = {int(number): str(item["type"]) for item in row_facts for number in item["lines"] if "type" in item}
            keep = frozenset(int(number) for item in row_facts for number in item["lines"])
            lines = _lines(row, file.parent, path)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise GitMemError(f"'{file.name}' line {number} is no row of facts", "see docs/promotion.md") from None
        day = log_date(path) or date(2000, 1, 1)
        yield Log(path, NO_BLOB, day, lines, frozenset(range(1, len(lines) + 1))), keep, types


def _lines(row: dict[str, Any], folder: Path, path: str) -> tuple[str, ...]:
    """The lines of a row, or of the file `path` in `folder` for a row without lines. Raises GitMemError without the
    file."""
    if "lines" in row:
        return tuple(str(text) for text in row["lines"])
    try:
        return split_log(read_bytes(folder.resolve(), path))
    except OSError:
        raise GitMemError(f"there is no file '{path}' beside the rows", "give the rows their own 'lines'") from None


def log_quality(log: Log, keep: frozenset[int], types: dict[int, str], model: Model) -> LogQuality:
    """The lines that a model proposes of one log, with an empty memory, beside those worth keeping. `keep`: the numbers
    of the lines that people found worth keeping. `types`: line -> type of the fact, for lines whose type people stated.
    Raises ModelUnavailable if the model gives no answer."""
    return _quality(log, keep, types, model.propose([log], []).operations)


def _quality(log: Log, keep: frozenset[int], types: dict[int, str], operations: Iterable[Operation]) -> LogQuality:
    """The figures of a model's operations for one log; skipped lines do not count as proposed. `keep`: lines worth
    keeping. `types`: line -> type."""
    proposed = [operation for operation in operations if operation.op is not Op.SKIP]
    cited = [(operation, _cited_lines(operation, log)) for operation in proposed]
    ranked = sorted(cited, key=lambda pair: (-pair[0].importance, min(pair[1], default=0)))
    return LogQuality(
        log.path,
        len(log.lines),
        keep,
        frozenset(number for _, lines in cited for number in lines),
        tuple(bool(lines & keep) for _, lines in ranked[:TOP]),
        tuple(operation.type == types[number] for operation, lines in cited for number in lines if number in types),
        sum(not lines or not lines <= set(range(1, len(log.lines) + 1)) for _, lines in cited),
    )


def _cited_lines(operation: Operation, log: Log) -> set[int]:
    """The numbers of the lines of `log` that an operation cites."""
    spans = [span for span in operation.sources if span.blob == log.blob]
    return {number for span in spans for number in range(span.start_line, span.end_line + 1)}


def summarise(logs: Iterable[LogQuality]) -> Quality:
    """The shares over all logs, in which every line has the same weight. A share of nothing is 0."""
    rows = list(logs)
    good = sum(len(log.keep & log.proposed) for log in rows)
    proposed, keep = sum(len(log.proposed) for log in rows), sum(len(log.keep) for log in rows)
    top = [hit for log in rows for hit in log.top]
    types = [hit for log in rows for hit in log.types]
    precision, recall = good / max(1, proposed), good / max(1, keep)
    return Quality(
        len(rows), sum(log.lines for log in rows), keep, proposed, precision, recall,
        2 * precision * recall / (precision + recall) if good else 0.0,
        sum(top) / max(1, len(top)), sum(types) / max(1, len(types)), sum(log.unsourced for log in rows),
    )  # fmt: skip
