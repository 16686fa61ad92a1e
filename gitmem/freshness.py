"""Whether the index is current, for those that ask it: opened as it is where nothing changed, and brought up to date
first where something did.

`ready` is what a search calls. Writes nothing itself: a search that finds all current never imports what does
(`indexer`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.db.index import Index
from gitmem.db.opening import open_index, remove
from gitmem.db.values import Cut, Snapshot
from gitmem.errors import IndexDamaged
from gitmem.git.protocol import Repository
from gitmem.snapshot import look, tree_key, work_tree_key
from gitmem.worktree import locked


class Freshness(NamedTuple):
    """Whether an answer may miss something, and why."""

    stale: bool = False
    reason: str = ""


class Ready:
    """What a search may ask. `index` and `snapshot` are None where nothing is indexed and nothing could be.

    `commit` is "" for the work tree. `notes` are for the person: a rebuilt index, a missing model. A plain class,
    since a search makes it when it starts and a dataclass takes half a millisecond.
    """

    __slots__ = ("commit", "freshness", "index", "notes", "snapshot")

    def __init__(
        self,
        index: Index | None,
        snapshot: Snapshot | None,
        freshness: Freshness = Freshness(),  # noqa: B008 - a tuple
        commit: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.freshness = freshness
        self.commit = commit
        self.notes = notes

    def close(self) -> None:
        if self.index is not None:
            self.index.close()


def directory(repo: Repository) -> Path:
    """Where the index of a repository and all its work trees lies."""
    return repo.common_dir / "gitmem"


def ready(
    repo: Repository,
    config: Config,
    commit: str = "",
    *,
    budget: float = 60.0,
    wait: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
) -> Ready:
    """The index and the snapshot of `commit` ("": the work tree, HEAD in a bare repository), current if possible.

    Takes at most about `budget` seconds of work and `wait` for another writer; then it is stale and says so. Damage
    is met by rebuilding. Raises `IndexUnusable` for what a person must mend (a newer version, a foreign owner).
    """
    if not commit and repo.root is None:
        commit = repo.head() or ""
        if not commit:
            return Ready(None, None, Freshness(), "", ("there is no commit yet",))
    began = time.time_ns()
    tree = repo.tree(commit) if commit else ""
    key = tree_key(tree, config.memory_paths) if commit else work_tree_key(repo)
    seen = None if commit else look(repo, config.memory_paths)
    try:
        index = open_index(directory(repo))
        if index is not None:
            scan = index.scan(key)
            if scan is not None and (seen is None or scan == seen.scan) and cut_as_set(index, config):
                return Ready(index, index.snapshot(key), Freshness(), commit)
            index.close()
    except IndexDamaged:
        pass  # met again, and mended, by what brings it up to date
    from gitmem.indexer import Wanted, bring

    return bring(repo, config, Wanted(key, commit, tree, seen, began), budget, wait, clock)


def cut_as_set(index: Index, config: Config) -> bool:
    """Whether chunks are of the size that is set; where nothing may be written, any size will do."""
    return index.frozen or not config.auto_index or index.meta("cut") == Cut(config.chunk_size, config.chunk_overlap).id


def discard(repo: Repository, wait: float = 5.0, *, unless_mended: bool = False) -> bool:
    """Delete a damaged index, under the writer lock; whether it was deleted.

    `unless_mended` keeps one that can be opened now that nobody writes it: what looked damaged was only being made.
    """
    with locked(repo.common_dir, "index", wait):
        if unless_mended:
            try:
                index = open_index(directory(repo))
            except IndexDamaged:
                index = None
            if index is not None:
                index.close()
                return False
        remove(directory(repo))
        return True
