"""A cache of sign tables: the signs of all vectors of a tenant in a file that the server's processes map into memory.

Chunks never change and their numbers only grow, so that a table is only extended; a deleted chunk stays in the table
and is in no snapshot. A file is replaced and never changed: a process that has the old one mapped uses it until its
next call. A tenant whose index is rebuilt gets a new epoch and with it a new table. The files can be deleted at any
time.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gitmem.index.db.sign_table import Table, extended

FOLDER = "signs"  # below the state of a server
MAX_BYTES = 64 << 20  # of all tables of a server
HEAD = struct.Struct("=qqq")  # of a file: chunks, 64-bit words for each chunk, number up to which it has all chunks

Key = tuple[int, int, str]  # tenant, embedder, epoch
Mark = tuple[int, int]  # inode and size: they differ between a file and its replacement


class SignTables:
    """The sign tables in a folder, at most `max_bytes` bytes together; those that were not used for the longest time
    are deleted. Safe for several threads and processes."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._mapped: dict[Key, tuple[Mark, Table | None]] = {}

    def table(self, key: Key, upto: int, read: Callable[[int, int], bytes]) -> Table | None:
        """The signs of a tenant's vectors, of every chunk up to the id `upto`; None if they are larger than the limit.

        `key`: (tenant, embedder, epoch). `read(after, most)` returns the rows of at most `most` chunks after the id
        `after`: id and count of bits as big-endian 32-bit integers, then the signs. If no file can be written, each
        call reads all chunks.
        """
        exists, stored = self._known(key)
        if exists and (stored is None or upto <= stored.upto):
            with suppress(OSError):
                os.utime(self._place(key), ns=(time.time_ns(), time.time_ns()))
            return stored
        last_id = int(stored.ids[-1]) if stored is not None and len(stored.ids) else 0
        table: Table | None = extended(stored, read(last_id, self.max_bytes // 8), upto)
        if table is not None and size(table) > self.max_bytes:
            table = None
        with suppress(OSError):
            self._write(self._place(key), table)
            exists, stored = self._known(key)
            if exists:
                return stored
        return table

    def _place(self, key: Key) -> Path:
        return self.folder / "-".join(map(str, key))

    def _known(self, key: Key) -> tuple[bool, Table | None]:
        """(whether the table has a file, the mapped table). An empty file, and so None, marks a table that is too
        large."""
        try:
            status = os.stat(self._place(key))
            with self._lock:
                mark, table = self._mapped.get(key, ((0, 0), None))
            if mark == (status.st_ino, status.st_size):
                return True, table
            with open(self._place(key), "rb") as file:
                mark, table = _mapped(file)
        except (OSError, ValueError):
            with self._lock:
                self._mapped.pop(key, None)
            return False, None
        with self._lock:
            self._mapped[key] = mark, table
            for old_key in [old_key for old_key in self._mapped if not self._place(old_key).exists()]:
                del self._mapped[old_key]
        return True, table

    def _write(self, place: Path, table: Table | None) -> None:
        """Replace the file of a table atomically, and delete old tables over the limit. None writes an empty file."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number, name = tempfile.mkstemp(dir=self.folder)
        try:
            with os.fdopen(number, "wb") as file:
                if table is not None:
                    file.write(HEAD.pack(*table.signs.shape, table.upto))
                    file.write(table.ids.tobytes().ljust(_padded(table.ids.nbytes), b"\0"))
                    file.write(table.signs.tobytes())
            os.replace(name, place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._make_room(place)

    def _make_room(self, kept_file: Path) -> None:
        """Delete the files that were not used for the longest time until the others fit the limit (`max_bytes`);
        `kept_file`, the file that was just written, stays."""
        files = sorted(
            (entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in os.scandir(self.folder)
        )
        total = sum(length for _, length, _ in files)
        for _, length, path in files:
            if total > self.max_bytes and path != os.fspath(kept_file):
                os.unlink(path)
                total -= length


def forget(folder: Path, tenant: int) -> None:
    """Delete the files of a tenant's sign tables, because they may have signs of removed chunks."""
    for file in folder.glob(f"{tenant}-*"):
        file.unlink(missing_ok=True)


def size(table: Table) -> int:
    """The size of a table in bytes."""
    return int(table.ids.nbytes + table.signs.nbytes)


def _padded(length: int) -> int:
    return -(-length // 8) * 8


def _mapped(file: BinaryIO) -> tuple[Mark, Table | None]:
    """(mark, table) of a file; the table of an empty file is None. Raises ValueError for a damaged file."""
    status = os.fstat(file.fileno())
    mark = (status.st_ino, status.st_size)
    if not status.st_size:
        return mark, None
    pages = mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_READ)
    if status.st_size < HEAD.size:
        raise ValueError("no table of signs")
    count, words, upto = HEAD.unpack_from(pages)
    begin = HEAD.size + _padded(4 * count)
    if count < 0 or status.st_size != begin + 8 * count * words:
        raise ValueError("no table of signs")
    ids = np.frombuffer(pages, np.int32, count, HEAD.size)
    return mark, Table(ids, np.frombuffer(pages, np.uint64, count * words, begin).reshape(count, words), upto)
