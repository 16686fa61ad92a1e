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

    `budget`: seconds of work. `wait`: seconds for another writer. `most`: new commits above which the update is left to
    `git mem index`, 0 for no limit. `make`: make the folder of the index if it is missing.
    """

    budget: float = 60.0
    wait: float = 0.5
    most: int = 0
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
    found: list[Tip] = []
    own = commit or repo.head()
    if own:
        found.append(Tip(repo, own))
    notes = []
    for place in dict.fromkeys(config.history_repos):
        folder = Path(os.path.expanduser(place))
        other = None
        at = ""
        try:
            other = open_repository(folder, clean(repo.environ))
            if other.common_dir != repo.common_dir:
                at = _as_of(other, repo, commit)
        except (GitMemError, OSError) as error:
            notes.append(f"the history of '{place}' is not read: {getattr(error, 'message', error)}")
        if other is not None and at:
            found.append(Tip(other, at, folder.name or place))
        elif other is not None:
            other.close()
    return found, notes


def _as_of(other: Repository, repo: Repository, commit: str) -> str:
    """HEAD of another repository; with `commit` the last of its first parents up to that commit's date; "" if none."""
    head = other.head() or ""
    if not commit or not head:
        return head
    then = repo.commit(commit).commit_date
    return next((old.oid for old in other.log([head], first_parent=True) if old.commit_date <= then), "")


def close(found: Sequence[Tip]) -> None:
    """Close the clones that `tips` opened. This repository stays open."""
    for tip in found:
        if tip.name:
            tip.repo.close()
