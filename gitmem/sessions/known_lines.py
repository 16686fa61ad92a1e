"""Which statements MEMORY.md and the daily logs have already, so that a session or an import does not write them again.

Reads the work tree, writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from gitmem.daily_logs import log_day, log_files
from gitmem.errors import OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.memory import facts
from gitmem.memory.fact import fact_id
from gitmem.memory.rivals import PlacedFact, with_days
from gitmem.sessions.latest_statements import unwritten_row, was_replaced
from gitmem.sessions.selection import Selected

RECENT_DAYS = 7  # days of logs whose facts are not written again
MAX_CACHED_DAYS = 60  # days whose log lines are cached; sessions are imported in order of time


class KnownStatements(NamedTuple):
    """The statements of memory. `ids`: fact ids of the facts and log lines. `rows`: the facts and log lines themselves,
    each with its path and day, the oldest day first."""

    ids: frozenset[str]
    rows: tuple[PlacedFact, ...]


def known_statements(root: Path, daily: Sequence[str], now: datetime, other_days: AbstractSet[date]) -> KnownStatements:
    """The facts of MEMORY.md and the items of the daily logs, of any agent, of the last RECENT_DAYS and of the days
    `other_days`. `daily`: patterns of daily logs outside memory/. Files that cannot be read are left out."""
    rows: list[PlacedFact] = []
    days = {now.date() - timedelta(days=back) for back in range(RECENT_DAYS)} | other_days
    for path in ("MEMORY.md", *log_files(root, daily, days)):
        day = log_day(path, daily)
        try:
            parsed = facts.parse(read_bytes(root, path)).facts
        except (OSError, OutsideRepository):
            continue
        rows += with_days(path, parsed, day.isoformat() if day else "")
    in_order = sorted(rows, key=lambda row: (row.day, row.path != "MEMORY.md", row.path, row.fact.line))
    return KnownStatements(frozenset(row.fact.id for row in rows), tuple(in_order))


def not_in_memory(selected: Iterable[Selected], memory: KnownStatements) -> tuple[list[Selected], list[str]]:
    """The statements that memory does not have yet, each once, and the texts of the others.

    Memory has a statement if it has its whole text or its core sentence without the reason. A statement that memory has
    but that a later line replaced counts as new, because the person changed it back.
    """
    seen_ids = set(memory.ids)
    rows = list(memory.rows)
    new_statements: list[Selected] = []
    known_texts: list[str] = []
    for item in selected:
        ids = {fact_id(item.text), fact_id(item.core)}
        if ids & seen_ids and not was_replaced(ids, rows, by_person=item.origin == "user"):
            known_texts.append(item.text)
        else:
            new_statements.append(item)
            rows.append(unwritten_row(item, len(rows)))
        seen_ids |= ids
    return new_statements, known_texts


class KnownLines:
    """The fact ids of MEMORY.md and of the daily logs of all agents. The ids of at most MAX_CACHED_DAYS days are cached
    at a time. `daily`: patterns of logs outside memory/."""

    def __init__(self, root: Path, daily: Sequence[str] = ()) -> None:
        self._root = root
        self._memory = self._ids("MEMORY.md")
        self._days: dict[date, set[str]] = {}
        self._logs: dict[date, list[str]] = {}
        for path, day in log_files(root, daily).items():
            self._logs.setdefault(day, []).append(path)

    def holds(self, ids: Iterable[str], day: date) -> bool:
        """Whether MEMORY.md, or a log of one of the RECENT_DAYS days up to `day`, has a line with one of these ids."""
        wanted_ids = set(ids)
        days = (day - timedelta(days=back) for back in range(RECENT_DAYS))
        return bool(wanted_ids & self._memory) or any(wanted_ids & self._of_day(earlier_day) for earlier_day in days)

    def add(self, ids: Iterable[str], path: str, day: date) -> None:
        """Add the ids of a line that will be written to the log `path` of `day`."""
        self._of_day(day).update(ids)
        logs = self._logs.setdefault(day, [])
        if path not in logs:
            logs.append(path)

    def _of_day(self, day: date) -> set[str]:
        """The ids in the logs of a day, from the cache or the files."""
        if day not in self._days:
            if len(self._days) >= MAX_CACHED_DAYS:
                self._days.pop(min(self._days))
            self._days[day] = set().union(*(self._ids(name) for name in self._logs.get(day, ())))
        return self._days[day]

    def _ids(self, path: str) -> set[str]:
        """The fact ids in a file; an empty set if it cannot be read."""
        try:
            return {fact.id for fact in facts.parse(read_bytes(self._root, path)).facts}
        except (OSError, OutsideRepository):
            return set()
