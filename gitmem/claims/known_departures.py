"""Finds the departures of single paths, with a cache in `gitmem/departures.json` of the Git directory.

Git is called for one path at a time; neither a whole tree nor the whole history is read. A cached departure stays valid
as long as its commit is an ancestor of the head. A missing or damaged cache file is created again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from gitmem.claims.departure import MAX_RENAMES, Departure
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.json_values import parse_json

FILE = "departures.json"
MAX_KNOWN_PATHS = 2_000  # paths in the cache


class KnownDepartures:
    """The departures of paths from the history of `head`. `max_lookups`: paths for which Git may be called."""

    def __init__(self, repo: Repository, head: str, max_lookups: int) -> None:
        self.repo, self.head = repo, head
        self.lookups, self.max_lookups = 0, max_lookups
        self._rows: dict[str, Any] | None = None  # path -> [head, commit, new path]
        self._reached: dict[str, bool] = {}

    def of_path(self, path: str) -> Departure | None:
        """The departure of a path; None if no commit removed or renamed it, or if the cache does not know it and Git
        has been called `max_lookups` times."""
        head, commit, new_path = _row(self._known().get(path))
        if head and self._is_valid(head, commit):
            if not commit:
                return None
            return Departure(path, commit, new_path)
        if self.lookups >= self.max_lookups:
            return None
        self.lookups += 1
        departure = self._look_up(path)
        row = [self.head, "", ""]
        if departure:
            row = [self.head, departure.commit, departure.renamed_to]
        self._known()[path] = row
        return departure

    def keep(self) -> None:
        """Write the newest MAX_KNOWN_PATHS rows of the cache if Git was called. Does nothing if the Git directory
        cannot be written."""
        if not self.lookups or self._rows is None:
            return
        rows = dict(list(self._rows.items())[-MAX_KNOWN_PATHS:])
        with suppress(GitMemError, OSError):
            write_atomic(state_dir(self.repo.common_dir, make=False), FILE, json.dumps(rows).encode(), private=True)

    def _known(self) -> dict[str, Any]:
        """The cached departures, read once; {} if the cache is missing, unreadable, too large or malformed."""
        if self._rows is None:
            try:
                rows = parse_json(read_bytes(state_dir(self.repo.common_dir, make=False), FILE, 1 << 20))
            except (GitMemError, OutsideRepository, OSError, ValueError):
                rows = {}
            self._rows = rows if isinstance(rows, dict) else {}
        return self._rows

    def _is_valid(self, head: str, commit: str) -> bool:
        """Whether a cached row is valid for this head: it was made at the same head, or its commit is an ancestor."""
        if head == self.head:
            return True
        if commit and commit not in self._reached:
            self._reached[commit] = self.repo.is_ancestor(commit, self.head)
        return self._reached.get(commit, False)

    def _look_up(self, path: str) -> Departure | None:
        """Follow a path from `head` through the commits that renamed or deleted it, MAX_RENAMES at most; None if no
        commit did. The departure has the first of these commits, and the path now, "" if it is gone."""
        first_commit, current = "", path
        for _ in range(MAX_RENAMES):
            commit = next(iter(self.repo.log([self.head], [current], limit=1)), None)
            if commit is None or not commit.parents:
                break
            changes = self.repo.changes(commit.parents[0], commit.oid, renames=True)
            change = next((c for c in changes if current in (c.old_path, c.path) and c.status in ("R", "D")), None)
            if change is None or (change.status == "R" and change.old_path != current):
                break
            first_commit = first_commit or commit.oid
            current = change.path if change.status == "R" else ""
            if not current or self.repo.blobs(self.head, [current]):
                break
        if not first_commit:
            return None
        if current == path:
            current = ""
        return Departure(path, first_commit, current)


def _row(row: object) -> tuple[str, str, str]:
    """A row of the cache: (head, commit, new path). Three times "" for a value of another form."""
    if isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row):
        return row[0], row[1], row[2]
    return "", "", ""
