"""Finds the commit that removed or renamed a path, in the history of one commit.

In a shallow clone older removals are unknown; `History.shallow` says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from functools import cached_property

from gitmem.claims.departure import MAX_RENAMES, Departure
from gitmem.claims.tree import Tree
from gitmem.errors import GitFailed
from gitmem.git.objects import Change
from gitmem.git.repository import Repository

MAX_COMMITS = 20_000  # commits with removals that are read


class History:
    """Finds paths that the history of the tree's commit removed or renamed. `shallow`: whether the clone is shallow, so
    that older removals are unknown."""

    def __init__(self, repo: Repository, tree: Tree) -> None:
        self.repo, self.tree = repo, tree
        self.shallow = (repo.common_dir / "shallow").exists()
        self._changes: dict[str, list[Change]] = {}

    @cached_property
    def _removed(self) -> dict[str, str]:
        """Removed path -> the last commit that removed it."""
        return self.repo.removals(self.tree.commit, MAX_COMMITS)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """File or folder name -> the removed files that have it as a part of their path."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._removed:
            for part in set(path.split("/")):
                by_name[part].append(path)
        return dict(by_name)

    def of_path(self, path: str) -> Departure | None:
        """The departure of the file or folder at exactly this path; None if no commit removed it.

        The commit of a folder's departure is one that removed a file of the folder.
        """
        if commit := self._removed.get(path):
            return Departure(path, commit, self._now(path, commit))
        for file in self._by_name.get(path.rpartition("/")[2], ()):
            if file.startswith(f"{path}/"):
                commit = self._removed[file]
                return Departure(path, commit, self._folder_now(path, commit))
        return None

    def had_file(self, path: str) -> bool:
        """Whether a commit removed a file at exactly this path, and none a file of a folder there."""
        below = f"{path}/"
        return path in self._removed and not any(file.startswith(below) for file in self._removed)

    def of_end(self, end: str) -> Departure | None:
        """The departure of a path that ended with `end`: of a file, or if `end` has at least two parts also of a
        folder.

        None without one, and for a file name that several removed files had.
        """
        files = self._by_name.get(end.rpartition("/")[2], ())
        if "/" not in end and sum(file.endswith(end) for file in files) > 1:
            return None
        for file in files:
            if f"/{file}".endswith(f"/{end}"):
                return Departure(file, self._removed[file], self._now(file, self._removed[file]))
        if "/" not in end:
            return None
        for file in files:
            start = f"/{file}".find(f"/{end}/")
            if start >= 0:
                folder = file[: start + len(end)]
                return Departure(folder, self._removed[file], self._folder_now(folder, self._removed[file]))
        return None

    def _renames(self, commit: str) -> list[Change]:
        """The renames that a commit made, compared with its first parent."""
        if commit not in self._changes:
            changes: list[Change] = []
            parents = self.repo.commit(commit).parents
            if parents:
                with suppress(GitFailed):  # a partial or shallow clone lacks an object
                    changes = self.repo.changes(parents[0], commit, renames=True)
            self._changes[commit] = [change for change in changes if change.status == "R"]
        return self._changes[commit]

    def _now(self, path: str, commit: str) -> str:
        """The path that a file has now, which `commit` removed or renamed; "" if it is gone. At most MAX_RENAMES
        renames are followed."""
        for _ in range(MAX_RENAMES):
            new_path = next((change.path for change in self._renames(commit) if change.old_path == path), "")
            if not new_path or new_path in self.tree.oids:
                return new_path
            if new_path not in self._removed:
                return ""
            path, commit = new_path, self._removed[new_path]
        return ""

    def _folder_now(self, folder: str, commit: str) -> str:
        """The folder to which `commit` moved more than half of the files that it removed from `folder`; "" without
        one."""
        start = f"{folder}/"
        removed = sum(path.startswith(start) and remover == commit for path, remover in self._removed.items())
        targets: Counter[str] = Counter()
        for change in self._renames(commit):
            inner = change.old_path.removeprefix(start)
            if inner != change.old_path and change.path.endswith(f"/{inner}"):
                targets[change.path[: -len(inner) - 1]] += 1
        for best, count in targets.most_common(1):
            if count * 2 > removed and best in self.tree.folders:
                return best
        return ""
