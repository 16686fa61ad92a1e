"""One update of the index: its limits, the folder that it writes to, and what it has done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import IndexDamaged
from gitmem.git.opening import Repository
from gitmem.index import db
from gitmem.index.blob_indexer import BlobIndexer, Say, Work
from gitmem.index.index_file import directory


class Bounds(NamedTuple):
    """Limits of an update. `budget`: seconds of work. `wait`: seconds for another writer. `make`: make the folder of
    the index if it is missing."""

    budget: float = float("inf")
    wait: float = 30.0
    make: bool = True


class Update:
    """One update. It holds no lock, and no connection between its calls. Its budget runs from the construction on.

    `folder`: of the index file, the repository's own unless it is set. `work`: what was done.
    """

    def __init__(
        self,
        repo: Repository,
        config: Config,
        bounds: Bounds,
        clock: Callable[[], float] = time.monotonic,
        say: Say = lambda text: None,
    ) -> None:
        self.repo = repo
        self.config = config
        self.bounds = bounds
        self.folder = directory(repo)
        self.work = Work()
        self._clock = clock
        self._say = say
        self._deadline = clock() + bounds.budget

    def remaining(self) -> float:
        """Seconds of work until the budget is used up; below 0 after that."""
        return self._deadline - self._clock()

    def is_late(self) -> bool:
        """Whether the budget is used up."""
        return self.remaining() < 0

    def note_rebuild(self, damage: IndexDamaged) -> None:
        """Tell the person that a damaged index is built again."""
        self.work.notes.append(f"{damage.message} It is built again.")

    @contextmanager
    def blob_indexer(self) -> Iterator[BlobIndexer]:
        """A context manager that opens the index in `folder` for writing and gives its `BlobIndexer`. A damaged file is
        replaced by an empty one.

        The caller holds the writer lock, or is the only user of the folder. Raises IndexUnusable if the index cannot be
        opened for writing, BadConfig for an unknown embedder.
        """
        try:
            writer = db.open_writer(self.folder, self.bounds.make)
        except IndexDamaged as error:
            self.note_rebuild(error)
            db.remove(self.folder)
            writer = db.open_writer(self.folder, self.bounds.make)
        with closing(writer):
            yield BlobIndexer(self.repo, self.config, writer, self.work, self.is_late, self._say)
