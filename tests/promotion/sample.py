"""The invented logs of logs.txt as values, and a measure of lines proposed against lines worth keeping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

from gitmem.promotion.proposal import Log, Op, Operation
from gitmem.promotion.rules_model import RulesModel


def log_of(lines: Iterable[str], path: str = "memory/2026-02-05.md") -> Log:
    """A log of bullets, all of them new."""
    rows = tuple(f"- {line}" for line in lines)
    return Log(path, "a" * 40, date.fromisoformat(path[7:17]), rows, frozenset(range(1, len(rows) + 1)))


def propose(*lines: str, path: str = "memory/2026-02-05.md") -> dict[int, Operation]:
    """The operation of `rules` for each line number."""
    found = RulesModel().propose([log_of(lines, path)], []).operations
    return {operation.sources[0].start_line: operation for operation in found}


def kept(*lines: str) -> list[int]:
    """The lines `rules` would promote."""
    return [number for number, operation in propose(*lines).items() if operation.op is not Op.SKIP]


def sample() -> Iterator[tuple[str, Log, set[int]]]:
    """(language, log, lines worth keeping) of every invented log."""
    head, rows, keep = "", [], set()
    for line in [*(Path(__file__).parent / "logs.txt").read_text(encoding="utf-8").splitlines(), "== end"]:
        if line.startswith("== "):
            if head:
                path, language = head.split()[:2]
                yield language, log_of(rows, path), keep
            head, rows, keep = line[3:], [], set()
        elif "| " in line and head:
            kind, _, text = line.partition("| ")
            rows.append(text)
            if kind:
                keep.add(len(rows))
