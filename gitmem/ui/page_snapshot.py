"""Which memory a page shows: the work tree, or that of a commit, a branch or a day, which is read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gitmem.config import Config
from gitmem.git.repository import Repository
from gitmem.git.revision import resolve_at
from gitmem.memory.snapshot import read_work_tree

BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`named` is what the address says, "" for now; `commit` what that is, "" for the work tree; `day` the commit's."""

    named: str = ""
    commit: str = ""
    when: datetime | None = None

    @property
    def past(self) -> bool:
        """Whether nothing can be changed here: a commit is not written to, and a bare repository has no files."""
        return bool(self.commit)


def snapshot(repo: Repository, named: str, now: datetime) -> Snapshot:
    """What `named` (a revision, a branch, a day; "" for now) stands for. Raises UnknownRevision, UsageError."""
    if not named and repo.root is not None:
        return Snapshot()
    if named:
        commit = resolve_at(repo, named, now)
    else:
        commit = repo.head() or ""
    return Snapshot(named, commit, repo.commit(commit).commit_date if commit else None)


def state(repo: Repository, config: Config) -> str:
    """What stands for the memory there is: equal for equal commits and files."""
    scan = ""
    if repo.root is not None:
        scan = read_work_tree(repo, config.memory_paths).scan.hex()
    return f"{repo.head() or ''}-{scan}"


def branches(repo: Repository) -> list[str]:
    """The names of local branches, to choose from."""
    return [name.removeprefix(BRANCH) for name, _ in repo.refs(BRANCH)]
