"""What stood once: the commit that took a path away, and where it went.

Committed history only. In a shallow clone the history that is not here says nothing, and nothing is concluded from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from gitmem.claims.tree import Tree
from gitmem.git.objects import Change
from gitmem.git.repository import Repository

STEPS = 4  # renames that are followed, one after the other


class Departure(NamedTuple):
    """A path that stood: the commit that took it away last, and its place now, "" where it has none."""

    path: str
    commit: str
    renamed_to: str = ""


class History:
    """The departures from the history of one commit."""

    def __init__(self, repo: Repository, tree: Tree) -> None:
        self.repo, self.tree = repo, tree
        self.shallow = (repo.common_dir / "shallow").exists()
        self._changes: dict[str, list[Change]] = {}
        self._removed: dict[str, str] = {}

    def look_for(self, paths: Iterable[str], ends: Iterable[str]) -> None:
        """Read the history once for these paths, and for what ends with these."""
        self._removed = self.repo.removals(self.tree.commit, sorted(set(paths)), sorted(set(ends)))

    def of_path(self, path: str) -> Departure | None:
        """The departure of a file, or of the last file of a folder, at exactly this path."""
        if commit := self._removed.get(path):
            return Departure(path, commit, self._now(path, commit))
        below = [(file, commit) for file, commit in self._removed.items() if file.startswith(f"{path}/")]
        if below:
            commit = below[0][1]
            return Departure(path, commit, self._folder_now(path, commit))
        return None

    def of_end(self, end: str) -> Departure | None:
        """The departure of something that ended with a path of two parts or more, or had this name."""
        for file, commit in self._removed.items():
            if f"/{file}".endswith(f"/{end}"):
                return Departure(file, commit, self._now(file, commit))
        if "/" in end:
            for file, commit in self._removed.items():
                at = f"/{file}".find(f"/{end}/")
                if at >= 0:
                    folder = file[: at + len(end)]
                    return Departure(folder, commit, self._folder_now(folder, commit))
        return None

    def _renames(self, commit: str) -> list[Change]:
        if commit not in self._changes:
            parents = self.repo.commit(commit).parents
            found = self.repo.changes(parents[0], commit, renames=True) if parents else []
            self._changes[commit] = [change for change in found if change.status == "R"]
        return self._changes[commit]

    def _now(self, path: str, commit: str) -> str:
        for _ in range(STEPS):
            new = next((change.path for change in self._renames(commit) if change.old_path == path), "")
            if not new or new in self.tree.oids:
                return new
            removed = self.repo.removals(self.tree.commit, [new])
            if new not in removed:
                return ""
            path, commit = new, removed[new]
        return ""

    def _folder_now(self, folder: str, commit: str) -> str:
        heads: Counter[str] = Counter()
        for change in self._renames(commit):
            if change.old_path.startswith(f"{folder}/"):
                rest = change.old_path[len(folder) + 1 :]
                if change.path.endswith(f"/{rest}"):
                    heads[change.path[: -len(rest) - 1]] += 1
        best = heads.most_common(1)
        return best[0][0] if best and best[0][0] in self.tree.folders else ""
