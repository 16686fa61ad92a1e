"""The index file: where it is, an open index with its freshness, whether its chunks fit the settings, deleting it."""

from __future__ import annotations

from pathlib import Path

from gitmem.config import Config
from gitmem.errors import IndexDamaged
from gitmem.git.repository import Repository
from gitmem.git.worktree import locked
from gitmem.index.db.connection import open_index, remove
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Cut, Snapshot
from gitmem.light_typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitmem.index.store import IndexReader


class Freshness(NamedTuple):
    """Whether an answer may miss something, and why."""

    stale: bool = False
    reason: str = ""


class IndexKeeper(Protocol):
    """Who keeps an index open between searches (`kept_index.KeptIndex`)."""

    def open(self, directory: Path) -> Index | None:
        """As `open_index`."""

    def holds(self, index: IndexReader) -> bool:
        """Whether this one stays open."""

    def close(self) -> None:
        """Close the index that is open."""


class OpenIndex:
    """An index that a search may ask, closed after it unless it is `kept`.

    `index` and `snapshot` are None where nothing is indexed and nothing could be.

    `commit` is "" for the work tree. `passages` makes what reads the hits (`search/passages.Passages`) where it
    is another. `notes` are for the person: a rebuilt index, a missing model. A plain class,
    since a search makes it when it starts and a dataclass takes half a millisecond.
    """

    __slots__ = ("commit", "freshness", "index", "kept", "notes", "passages", "snapshot")

    def __init__(
        self,
        index: IndexReader | None,
        snapshot: Snapshot | None,
        freshness: Freshness = Freshness(),  # noqa: B008 - a tuple
        commit: str = "",
        notes: tuple[str, ...] = (),
        kept: IndexKeeper | None = None,
        passages: Callable[..., Any] | None = None,
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.freshness = freshness
        self.commit = commit
        self.notes = notes
        self.kept = kept
        self.passages = passages

    @property
    def chunks(self) -> int:
        """How many chunks of memory may be found, 0 without an index."""
        if self.snapshot is None:
            return 0
        return self.snapshot.chunks

    def close(self, *, damaged: bool = False) -> None:
        """End the search; a damaged index does not stay open."""
        if self.index is None:
            return
        if self.kept is None or not self.kept.holds(self.index):
            self.index.close()
        elif damaged:
            self.kept.close()


LOCKED = "locked"  # the key in `meta` that says: encrypted blobs were left out, as no key was here


def directory(repo: Repository) -> Path:
    """Where the index of a repository and all its work trees lies."""
    return repo.common_dir / "gitmem"


def cut_as_set(repo: Repository, index: Index, config: Config) -> bool:
    """Whether chunks are of the size that is set, and nothing was left out that a key opens by now; where nothing may
    be written, any size will do."""
    if index.frozen or not config.auto_index:
        return True
    if index.meta("cut") != Cut(config.chunk_size, config.chunk_overlap).id:
        return False
    return not index.meta(LOCKED) or repo.git_crypt() is None


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
