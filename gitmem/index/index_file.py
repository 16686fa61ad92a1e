"""The index file of a repository: its place, an open index, and the deletion of a damaged one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.config import Config
from gitmem.errors import GitMemError, IndexDamaged
from gitmem.git.repository import Repository
from gitmem.git.worktree import locked
from gitmem.index.db.connection import open_index, remove
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Cut, Snapshot

if TYPE_CHECKING:
    from gitmem.index.kept_index import KeptIndex
    from gitmem.index.store import IndexReader


class OpenIndex:
    """An open index with the snapshot to search.

    `index`, `snapshot`: None if nothing is indexed and could not be. `stale`: why an answer may miss something, "" if
    the index is current. `commit`: the commit that is searched, "" for the work tree. `keeper`: keeps the index open
    between searches, or None. `passages`: makes the reader of the hits if it is not `search/passages.Passages`.
    `notes`: for the person, such as a rebuilt index or a missing model. `unread`: the error for a part that the search
    asked for and that could not be opened, else None; an answer without hits raises it.

    It is a plain class, because every search makes it at its start and a dataclass takes half a millisecond.
    """

    __slots__ = ("commit", "index", "keeper", "notes", "passages", "snapshot", "stale", "unread")

    def __init__(
        self,
        index: IndexReader | None,
        snapshot: Snapshot | None,
        stale: str = "",
        commit: str = "",
        notes: tuple[str, ...] = (),
        keeper: KeptIndex | None = None,
        passages: Callable[..., Any] | None = None,
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.stale = stale
        self.commit = commit
        self.notes = notes
        self.keeper = keeper
        self.passages = passages
        self.unread: GitMemError | None = None

    @property
    def chunks(self) -> int:
        """The number of chunks that can be found; 0 without an index."""
        return self.snapshot.chunks if self.snapshot is not None else 0

    def close(self, *, damaged: bool = False) -> None:
        """Close the index, unless it is kept open; `damaged` closes it in any case."""
        if self.index is None:
            return
        if self.keeper is None or not self.keeper.holds(self.index):
            self.index.close()
        elif damaged:
            self.keeper.close()


LOCKED = "locked"  # key in `meta`: encrypted blobs were not indexed, because the clone was locked


def directory(repo: Repository) -> Path:
    """The folder of the index file, one for all work trees of a repository: our state folder in Git's directory. It
    holds other files too, and may not exist."""
    return repo.common_dir / "gitmem"


def cut_as_set(repo: Repository, index: Index, config: Config) -> bool:
    """Whether the stored chunks have the configured size, and no blob is missing that can be decrypted by now. False
    means that the index must be updated.

    Always true if the index must not or cannot be written.
    """
    if index.frozen or not config.auto_index:
        return True
    if index.meta("cut") != Cut(config.chunk_size, config.chunk_overlap).id:
        return False
    return not index.meta(LOCKED) or repo.git_crypt() is None


def discard(repo: Repository, wait: float = 5.0, *, unless_mended: bool = False) -> bool:
    """Delete a damaged index, under the writer lock. Returns False if it was kept, else True, also if there was none.

    `unless_mended`: keep the index if it can be opened now. It looked damaged while another process was making it.
    Raises Locked if another process writes it for longer than `wait` seconds, IndexUnusable if the file cannot be
    deleted or belongs to another user.
    """
    with locked(repo.common_dir, "index", wait):
        index = None
        if unless_mended:
            with suppress(IndexDamaged):
                index = open_index(directory(repo))
        if index is not None:
            index.close()
            return False
        remove(directory(repo))
        return True
