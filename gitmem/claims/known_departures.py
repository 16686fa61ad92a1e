"""Where single paths went: asked of Git a path at a time, remembered in `gitmem/departures.json` of the Git directory.

What was found of a path stays true as long as the commit that took it is part of the history that is asked. The file
may be lost or spoiled: it is then made again. Nothing here lists a tree or reads the whole history.
"""

from __future__ import annotations

import json

from gitmem.claims.departure import STEPS, Departure
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

FILE = "departures.json"
MOST_KNOWN = 2_000  # paths that are remembered


class KnownDepartures:
    """The departures of paths from the history of one commit."""

    def __init__(self, repo: Repository, head: str, most_new: int) -> None:
        self.repo, self.head = repo, head
        self.asked, self.most_new = 0, most_new
        self._rows: dict[str, Any] | None = None
        self._reached: dict[str, bool] = {}

    def of_path(self, path: str) -> Departure | None:
        """The commit that took a path away and where it went; None where none did, or Git was asked often enough."""
        head, commit, now = _row(self._known().get(path))
        if head and self._holds(head, commit):
            if not commit:
                return None
            return Departure(path, commit, now)
        if self.asked >= self.most_new:
            return None
        self.asked += 1
        found = self._asked(path)
        self._known()[path] = [self.head, found.commit if found else "", found.renamed_to if found else ""]
        return found

    def keep(self) -> None:
        """Remember what Git was asked for; a Git directory that cannot be written stays as it is."""
        if not self.asked or self._rows is None:
            return
        rows = dict(list(self._rows.items())[-MOST_KNOWN:])
        try:
            write_atomic(state_dir(self.repo.common_dir, make=False), FILE, json.dumps(rows).encode(), private=True)
        except (GitMemError, OSError):
            return

    def _known(self) -> dict[str, Any]:
        if self._rows is None:
            try:
                rows = json.loads(read_bytes(state_dir(self.repo.common_dir, make=False), FILE, 1 << 20))
            except (GitMemError, OutsideRepository, OSError, ValueError, RecursionError):
                rows = {}
            if isinstance(rows, dict):
                self._rows = rows
            else:
                self._rows = {}
        return self._rows

    def _holds(self, head: str, commit: str) -> bool:
        """Whether what was found at a `head` is true of this history."""
        if head == self.head:
            return True
        if commit and commit not in self._reached:
            self._reached[commit] = self.repo.is_ancestor(commit, self.head)
        return self._reached.get(commit, False)

    def _asked(self, path: str) -> Departure | None:
        """Follow a path through the commits that renamed or deleted it; None when no commit did."""
        first, at = "", path
        for _ in range(STEPS):
            commit = next(iter(self.repo.log([self.head], [at], limit=1)), None)
            if commit is None or not commit.parents:
                break
            changes = self.repo.changes(commit.parents[0], commit.oid, renames=True)
            went = next((one for one in changes if at in (one.old_path, one.path) and one.status in ("R", "D")), None)
            if went is None or (went.status == "R" and went.old_path != at):
                break
            first = first or commit.oid
            at = ""
            if went.status == "R":
                at = went.path
            if not at or self.repo.blobs(self.head, [at]):
                break
        if not first:
            return None
        return Departure(path, first, at if at != path else "")


def _row(row: object) -> tuple[str, str, str]:
    """The head that was asked, the commit that took a path, and where it went; empty words for what is no such row."""
    if isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row):
        return row[0], row[1], row[2]
    return "", "", ""
