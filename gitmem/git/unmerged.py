"""Reads files of the work tree as memory: a file in conflict has conflict markers, and HEAD's version is read in its
place. A writer gets an error for such a file (`ensure_settled`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.objects import EXECUTABLE, REGULAR, Entry
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, read_files
from gitmem.messages import Message
from gitmem.shell_word import shell_word

# One of these is in the Git directory if Git's index may have an unmerged path. `git stash pop` leaves only AUTO_MERGE.
STATE = ("MERGE_HEAD", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
Ours = Mapping[str, Entry | None]


def unmerged_stages(repo: Repository) -> dict[str, dict[int, Entry]]:
    """path -> stage (1 base, 2 ours, 3 theirs) -> entry, for the files that Git could not merge."""
    from gitmem.git.write import run_git  # what most searches need not import

    stages: dict[str, dict[int, Entry]] = {}
    for row in run_git(repo, ["ls-files", "--unmerged", "-z"]).split("\0"):
        if row:
            fields, path = row.split("\t", 1)
            mode, oid, stage = fields.split()
            stages.setdefault(path, {})[int(stage)] = Entry(path, int(mode, 8), oid)
    return stages


def our_versions(repo: Repository) -> dict[str, Entry | None]:
    """path -> the file in HEAD, for the files in conflict; None if HEAD has no such file, or a link.

    Without an unfinished merge this is checked without starting git.
    """
    if repo.root is None or not any(os.path.lexists(repo.git_dir / name) for name in STATE):
        return {}
    ours: dict[str, Entry | None] = {}
    for path, stages in sorted(unmerged_stages(repo).items()):
        entry = stages.get(2)
        ours[path] = entry if entry is not None and entry.mode in (REGULAR, EXECUTABLE) else None
    return ours


def ensure_settled(ours: Ours, path: str) -> None:
    """Raise GitMemError if a file is in conflict: a line written between conflict markers is lost, or doubled, when a
    person settles the conflict. `ours`: of `our_versions`."""
    if path in ours:
        raise GitMemError(
            Message("'{}' is in conflict, and is left as it is", path),
            Message("settle it in an editor, then: {}; git status shows it", f"git add {shell_word(path)}"),
        )


class WorkTreeReader:
    """Reads files of the work tree of `repo`, which must have one. `ours`: of `our_versions`, if they are known."""

    def __init__(self, repo: Repository, ours: Ours | None = None) -> None:
        self._repo = repo
        self._ours = our_versions(repo) if ours is None else ours

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a file, at most `limit` (None: all). Raises as `worktree.read_bytes`, GitFailed if Git lacks the
        version of HEAD."""
        if path in self._ours:
            return self._in_head(path, limit)
        assert self._repo.root is not None
        return read_bytes(self._repo.root, path, limit)

    def read_all(self, paths: Iterable[str], limit: int) -> Iterator[tuple[str, bytes | Exception]]:
        """(path, the bytes that `read` returns or the error that it raises) for each path, in order. `limit`: as of
        `worktree.read_files`."""
        assert self._repo.root is not None
        for in_conflict, group in groupby(paths, key=self._ours.__contains__):
            if not in_conflict:
                yield from read_files(self._repo.root, group, limit)
                continue
            for path in group:
                try:
                    yield path, self._in_head(path, limit)
                except (OSError, GitFailed) as error:
                    yield path, error

    def _in_head(self, path: str, limit: int | None) -> bytes:
        entry = self._ours[path]
        if entry is None:
            raise FileNotFoundError(path)
        return self._repo.read(entry.oid)[:limit]
