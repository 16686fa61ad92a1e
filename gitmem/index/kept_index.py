"""An index that stays open between the searches of a process that lives long, with what they read of it.

Another process may write to it meanwhile, or put another file in its place: each search that opens it again looks at
the file first, and what was remembered is forgotten once anybody committed to it (SQLite's `data_version`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.errors import IndexUnusable
from gitmem.index.db.connection import FILE, ensure_ours, open_index
from gitmem.index.db.reader import Index

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader

FileId = tuple[int, int]  # device, inode


class KeptIndex:
    """The index of one repository, for one thread at a time."""

    def __init__(self) -> None:
        self._index: Index | None = None
        self._file: FileId | None = None

    def open(self, directory: Path) -> Index | None:
        """As `open_index`: the one that is open where it is still that file. Raises as `open_index`."""
        if self._index is not None and self._file == _file_id(directory) and self._index.path.parent == directory:
            try:
                if ensure_ours(directory):
                    return self._index
            except IndexUnusable:
                self.close()
                raise
        self.close()
        self._file = _file_id(directory)
        index = open_index(directory)
        # One that cannot be written is read as it was when it was opened: it has to be opened again to see a change.
        if index is None or index.frozen or self._file is None:
            return index
        self._index = index
        index.remember()
        return index

    def holds(self, index: IndexReader) -> bool:
        """Whether this one stays open: it is not to be closed after a search."""
        return index is self._index

    def close(self) -> None:
        """Close the index, if one is open."""
        index, self._index = self._index, None
        if index is not None:
            index.close()


def _file_id(directory: Path) -> FileId | None:
    try:
        status = os.lstat(directory / FILE)
    except OSError:
        return None
    return status.st_dev, status.st_ino
