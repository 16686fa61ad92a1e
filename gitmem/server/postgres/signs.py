"""The tables of signs of the tenants that a server was asked of last: files that all of its processes map, so that each
is in memory once.

Chunks never change and their numbers ascend as they are committed, so a table only ever grows; a chunk that is gone
stands in no snapshot. A file is never changed: a longer table takes its place, and who has the old one mapped keeps
that until its next look. A tenant whose index is made anew has another epoch, and another table. Nothing is lost with
these files.
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
MOST_BYTES = 64 << 20  # of all tables of a server
HEAD = struct.Struct("=qqq")  # of a file: chunks, 64-bit words of the signs of each, and up to which chunk it is whole

Key = tuple[int, int, str]  # tenant, embedder, epoch
Mark = tuple[int, int]  # what tells a file from the one that takes its place: inode and size


class SignTables:
    """The tables in a folder, at most `most` bytes; those of longest ago make room. Safe for several threads, and for
    several processes."""

    def __init__(self, folder: Path, most: int = MOST_BYTES) -> None:
        self.folder = folder
        self.most = most
        self._lock = threading.Lock()
        self._mapped: dict[Key, tuple[Mark, Table | None]] = {}

    def table(self, key: Key, upto: int, read: Callable[[int, int], bytes]) -> Table | None:
        """The table of a tenant, with every chunk up to a number; None for one that is larger than all may be.

        `read` gives the rows of the chunks after a number, that many at most: number and count of bits as big-endian
        32-bit integers, then the signs. Where nothing can be written it is asked for all of them each time.
        """
        there, known = self._known(key)
        if there and (known is None or upto <= known.upto):
            with suppress(OSError):
                os.utime(self._place(key), ns=(time.time_ns(), time.time_ns()))
            return known
        after = 0
        if known is not None and len(known.ids):
            after = int(known.ids[-1])
        made = extended(known, read(after, self.most // 8), upto)
        kept = None
        if size(made) <= self.most:
            kept = made
        with suppress(OSError):
            self._write(self._place(key), kept)
            there, known = self._known(key)
            if there:
                return known
            return kept
        return kept

    def _place(self, key: Key) -> Path:
        return self.folder / "-".join(map(str, key))

    def _known(self, key: Key) -> tuple[bool, Table | None]:
        """Whether a table has a file, and the table as it is mapped; None for one that is too large."""
        try:
            found = os.stat(self._place(key))
            with self._lock:
                mark, table = self._mapped.get(key, ((0, 0), None))
            if mark == (found.st_ino, found.st_size):
                return True, table
            with open(self._place(key), "rb") as file:
                mark, table = _mapped(file)
        except (OSError, ValueError):
            with self._lock:
                self._mapped.pop(key, None)
            return False, None
        with self._lock:
            self._mapped[key] = mark, table
            for other in [other for other in self._mapped if not self._place(other).exists()]:
                del self._mapped[other]
        return True, table

    def _write(self, place: Path, table: Table | None) -> None:
        """Put a table in the place of a file, whole or not at all."""
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

    def _make_room(self, last: Path) -> None:
        files = sorted(
            (found.stat().st_mtime_ns, found.stat().st_size, found.path) for found in os.scandir(self.folder)
        )
        total = sum(length for _, length, _ in files)
        for _, length, path in files:
            if total > self.most and path != os.fspath(last):
                os.unlink(path)
                total -= length


def forget(folder: Path, tenant: int) -> None:
    """Delete the tables of a tenant: they have what is to be gone."""
    for file in folder.glob(f"{tenant}-*"):
        file.unlink(missing_ok=True)


def size(table: Table) -> int:
    """The bytes of a table."""
    return int(table.ids.nbytes + table.signs.nbytes)


def _padded(length: int) -> int:
    return -(-length // 8) * 8


def _mapped(file: BinaryIO) -> tuple[Mark, Table | None]:
    """A file's table. Raises ValueError for a file that is none."""
    found = os.fstat(file.fileno())
    mark = (found.st_ino, found.st_size)
    if not found.st_size:
        return mark, None
    pages = mmap.mmap(file.fileno(), found.st_size, access=mmap.ACCESS_READ)
    if found.st_size >= HEAD.size:
        count, words, upto = HEAD.unpack_from(pages)
    else:
        count, words, upto = (-1, 0, 0)
    begin = HEAD.size + _padded(4 * count)
    if count < 0 or found.st_size != begin + 8 * count * words:
        raise ValueError("no table of signs")
    ids = np.frombuffer(pages, np.int32, count, HEAD.size)
    return mark, Table(ids, np.frombuffer(pages, np.uint64, count * words, begin).reshape(count, words), upto)
