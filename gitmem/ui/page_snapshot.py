"""The snapshot that a page shows: the work tree, or a commit named by a revision, a branch or a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gitmem.config import Config
from gitmem.git.repository import Repository
from gitmem.git.revision import resolve_at
from gitmem.memory.snapshot import read_work_tree


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a page shows. `named`: the revision in the URL, "" for the present. `commit`: the oid of the commit that is
    shown, "" for the work tree. `when`: the date of that commit, None for the work tree."""

    named: str = ""
    commit: str = ""
    when: datetime | None = None

    @property
    def past(self) -> bool:
        """Whether the snapshot is a commit, so that its page cannot make changes. In a bare repository every snapshot
        is one."""
        return bool(self.commit)


def snapshot(repo: Repository, named: str, now: datetime) -> Snapshot:
    """The snapshot of `named`: a revision, a branch, a day, or "" for the present. The present is the work tree; in a
    bare repository it is HEAD, without a commit before the first one. Raises UnknownRevision if `named` names no
    commit, UsageError for any `named` in a repository without commits."""
    if not named and repo.root is not None:
        return Snapshot()
    commit = repo.head() or ""
    if named:
        commit = resolve_at(repo, named, now)
    if not commit:
        return Snapshot(named)
    return Snapshot(named, commit, repo.commit(commit).commit_date)


def memory_key(repo: Repository, config: Config) -> str:
    """A key for the current memory, which is equal for equal commits and memory files."""
    scan = read_work_tree(repo, config.memory_paths).scan.hex() if repo.root is not None else ""
    return f"{repo.head() or ''}-{scan}"
