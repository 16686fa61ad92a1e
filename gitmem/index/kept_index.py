"""An index that stays open between the searches of a long-lived process, with a cache of what they read.

Another process may write to the index or replace its file. So every search checks first whether the file is the same,
and the cache is emptied once anybody has committed to the index (SQLite's `data_version`).
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
    """Keeps the index of one repository open, for one thread at a time."""

    def __init__(self) -> None:
        self._index: Index | None = None
        self._file: FileId | None = None

    def open(self, folder: Path) -> Index | None:
        """The index in `folder`: the one that is kept open if its file is still the same; otherwise that one is closed,
        and the file is opened and kept. None if there is none.

        A frozen index (nothing can be written) is not kept: the caller closes an index that `holds` denies. Raises
        IndexDamaged if the file is no index of this version, IndexUnusable for a newer version, a symbolic link or
        another owner.
        """
        if self._index is not None and self._file == _file_id(folder) and self._index.path.parent == folder:
            try:
                if ensure_ours(folder):
                    return self._index
            except IndexUnusable:
                self.close()
                raise
        self.close()
        self._file = _file_id(folder)
        index = open_index(folder)
        # A frozen index never shows a later change, so it must be opened again for every search.
        if index is None or index.frozen or self._file is None:
            return index
        self._index = index
        index.keep_reads()
        return index

    def holds(self, index: IndexReader) -> bool:
        """Whether `index` is the one that stays open, so that a search must not close it."""
        return index is self._index

    def close(self) -> None:
        """Close the open index, if there is one."""
        index, self._index = self._index, None
        if index is not None:
            index.close()


def _file_id(directory: Path) -> FileId | None:
    try:
        status = os.lstat(directory / FILE)
    except OSError:
        return None
    return status.st_dev, status.st_ino
