"""What the indexer writes. Every method runs inside `with writer.writing():`, one transaction: all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gitmem.db.index import Index
from gitmem.db.opening import translated


class Writer(Index):
    """An index open for writing; its process holds the writer lock."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: whatever happens to the process, all of it or nothing is there afterwards."""
        with translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    # -- blobs and chunks ------------------------------------------------------------------------------------

    def missing(self, oids: Iterable[str]) -> list[str]:
        """Those of these oids (each once, in order) that have no row in `blob`."""
        execute = self._db.execute
        with translated():
            return [
                oid
                for oid in dict.fromkeys(oids)
                if not execute("SELECT 1 FROM blob WHERE oid = ?", (bytes.fromhex(oid),)).fetchone()
            ]
