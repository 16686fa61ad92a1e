"""The commits whose history is searched: one of this repository, and one of each clone in the user's settings.

This module opens the clones. It reads no message and no index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean


class Bounds(NamedTuple):
    """Limits of an update of the history.

    `budget`: seconds of work. `wait`: seconds for another writer. `max_commits`: new commits above which the update is
    left to `git mem index`, 0 for no limit. `make`: make the folder of the index if it is missing.
    """

    budget: float = 60.0
    wait: float = 0.5
    max_commits: int = 0
    make: bool = True


class Tip(NamedTuple):
    """A commit whose history is searched, with its repository. `name`: of another clone, "" for this repository."""

    repo: Repository
    commit: str
    name: str = ""

    @property
    def key(self) -> str:
        """The key of the snapshot of the commits that this commit reaches: `place`, then the commit."""
        return f"{self.place}{self.commit}"

    @property
    def place(self) -> str:
        """The key without the commit: the repository and, in a shallow clone, a hash of its boundary, which may change
        later."""
        from gitmem.git.ranges import shallow

        boundary = "\n".join(sorted(shallow(self.repo)))
        if boundary:
            boundary = f"-{sha256(boundary.encode()).hexdigest()}"
        return f"history:{bytes(self.repo.common_dir).hex()}{boundary}:"


def tips(repo: Repository, config: Config, commit: str) -> tuple[list[Tip], list[str]]:
    """The commits whose history is searched, and notes on the clones that cannot be read: (tips, notes).

    The commits are `commit` ("" for HEAD) and HEAD of each clone in `mem.historyRepos`; with `commit` the clone's last
    commit at the time of `commit`. The caller closes the clones with `close`.
    """
    all_tips: list[Tip] = []
    own_commit = commit or repo.head()
    if own_commit:
        all_tips.append(Tip(repo, own_commit))
    notes = []
    for folder_setting in dict.fromkeys(config.history_repos):
        folder = Path(os.path.expanduser(folder_setting))
        clone = None
        clone_commit = ""
        try:
            clone = open_repository(folder, clean(repo.environ))
            if clone.common_dir != repo.common_dir:
                clone_commit = _as_of(clone, repo, commit)
        except (GitMemError, OSError) as error:
            notes.append(f"the history of '{folder_setting}' is not read: {getattr(error, 'message', error)}")
        if clone is not None and clone_commit:
            all_tips.append(Tip(clone, clone_commit, folder.name or folder_setting))
        elif clone is not None:
            clone.close()
    return all_tips, notes


def _as_of(clone: Repository, repo: Repository, commit: str) -> str:
    """HEAD of another repository; with `commit` the last of its first parents up to that commit's date; "" if none."""
    head = clone.head() or ""
    if not commit or not head:
        return head
    latest = repo.commit(commit).commit_date
    return next((entry.oid for entry in clone.log([head], first_parent=True) if entry.commit_date <= latest), "")


def close(all_tips: Sequence[Tip]) -> None:
    """Close the clones that `tips` opened. This repository stays open."""
    for tip in all_tips:
        if tip.name:
            tip.repo.close()
