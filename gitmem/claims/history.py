"""What stood once: the commit that took a path away, and where it went.

Committed history only. In a shallow clone the history that is not here says nothing, and nothing is concluded from it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

from gitmem.claims.departure import STEPS, Departure
from gitmem.claims.tree import Tree
from gitmem.errors import GitFailed
from gitmem.git.objects import Change
from gitmem.git.repository import Repository

MOST_COMMITS = 20_000  # with removals that are read


class History:
    """The departures from the history of one commit."""

    def __init__(self, repo: Repository, tree: Tree) -> None:
        self.repo, self.tree = repo, tree
        self.shallow = (repo.common_dir / "shallow").exists()
        self._changes: dict[str, list[Change]] = {}

    @cached_property
    def _removed(self) -> dict[str, str]:
        """Each path that went, with the last commit that took it."""
        return self.repo.removals(self.tree.commit, MOST_COMMITS)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The files that went, by each part of their path: what a folder's name may lead to, too."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._removed:
            for part in set(path.split("/")):
                found[part].append(path)
        return dict(found)

    def of_path(self, path: str) -> Departure | None:
        """The departure of a file, or of the last file of a folder, at exactly this path."""
        if commit := self._removed.get(path):
            return Departure(path, commit, self._now(path, commit))
        for file in self._by_name.get(path.rpartition("/")[2], ()):
            if file.startswith(f"{path}/"):
                commit = self._removed[file]
                return Departure(path, commit, self._folder_now(path, commit))
        return None

    def of_end(self, end: str) -> Departure | None:
        """The departure of something that ended with a path: a file, or of two parts or more a folder too."""
        files = self._by_name.get(end.rpartition("/")[2], ())
        if "/" not in end and len([file for file in files if file.endswith(end)]) > 1:
            return None  # a name that many files had says of none that it is meant
        for file in files:
            if f"/{file}".endswith(f"/{end}"):
                return Departure(file, self._removed[file], self._now(file, self._removed[file]))
        for file in files if "/" in end else ():
            at = f"/{file}".find(f"/{end}/")
            if at >= 0:
                folder = file[: at + len(end)]
                return Departure(folder, self._removed[file], self._folder_now(folder, self._removed[file]))
        return None

    def _renames(self, commit: str) -> list[Change]:
        if commit not in self._changes:
            parents = self.repo.commit(commit).parents
            try:
                if parents:
                    found = self.repo.changes(parents[0], commit, renames=True)
                else:
                    found = []
            except GitFailed:  # an object that a partial clone has not, or the parent of a shallow one
                found = []
            self._changes[commit] = [change for change in found if change.status == "R"]
        return self._changes[commit]

    def _now(self, path: str, commit: str) -> str:
        for _ in range(STEPS):
            new = next((change.path for change in self._renames(commit) if change.old_path == path), "")
            if not new or new in self.tree.oids:
                return new
            if new not in self._removed:
                return ""
            path, commit = new, self._removed[new]
        return ""

    def _folder_now(self, folder: str, commit: str) -> str:
        """Where most of a folder's files went together, "" where they did not."""
        start = f"{folder}/"
        went = sum(path.startswith(start) and by == commit for path, by in self._removed.items())
        heads: Counter[str] = Counter()
        for change in self._renames(commit):
            rest = change.old_path.removeprefix(start)
            if rest != change.old_path and change.path.endswith(f"/{rest}"):
                heads[change.path[: -len(rest) - 1]] += 1
        if heads:
            best, count = heads.most_common(1)[0]
        else:
            best, count = ("", 0)
        if count * 2 > went and best in self.tree.folders:
            return best
        return ""
