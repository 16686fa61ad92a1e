"""Whose history counts: the commit that is searched, and those of other clones that the user's settings name.

Opens the clones, reads no message and no index.
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
    """What bringing a history up to date may take: seconds of work, seconds for another that writes, and the commits
    from which it is left to `git mem index` (0: however many); `make` as for `state_dir`."""

    budget: float = 60.0
    wait: float = 0.5
    most: int = 0
    make: bool = True


class Tip(NamedTuple):
    """A commit of a repository, whose history counts. `name` is "" for the repository that is searched."""

    repo: Repository
    commit: str
    name: str = ""

    @property
    def key(self) -> str:
        """Of the snapshot: the repository, then the commit."""
        return f"{self.place}{self.commit}"

    @property
    def place(self) -> str:
        """Of the snapshot: the repository, and where its history was cut, which may be completed later."""
        from gitmem.git.ranges import shallow

        cut = "\n".join(sorted(shallow(self.repo)))
        boundary = ""
        if cut:
            boundary = f"-{sha256(cut.encode()).hexdigest()}"
        return f"history:{bytes(self.repo.common_dir).hex()}{boundary}:"


def tips(repo: Repository, config: Config, commit: str) -> tuple[list[Tip], list[str]]:
    """The commits whose history counts: `commit` ("" for HEAD), and those of `mem.historyRepos` as of the same moment;
    and why one of these does not count. The clones are open, for `close`."""
    own = commit or repo.head() or ""
    if own:
        found = [Tip(repo, own)]
    else:
        found = []
    notes = []
    for place in dict.fromkeys(config.history_repos):
        folder = Path(os.path.expanduser(place))
        other = None
        at = ""
        try:
            other = open_repository(folder, clean(repo.environ))
            at = ""
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
    """HEAD of another repository; the last of its first parents that is no later than `commit` where one is given."""
    head = other.head() or ""
    if not commit or not head:
        return head
    then = repo.commit(commit).commit_date
    return next((old.oid for old in other.log([head], first_parent=True) if old.commit_date <= then), "")


def close(found: Sequence[Tip]) -> None:
    """End the repositories that `tips` opened."""
    for tip in found:
        if tip.name:
            tip.repo.close()
