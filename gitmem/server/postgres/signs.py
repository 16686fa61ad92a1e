"""The signs of vectors in memory, 32 bytes a chunk: NumPy compares them in a fraction of the time in which the database
reads its rows. What it names is compared exactly there.

Chunks never change and their numbers ascend as they are committed, so a table is only ever added to; a chunk that is
gone stands in no snapshot. A tenant whose index is made anew has another epoch, and another table.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MOST_BYTES = 40 << 20  # of all tables of a process
ROW_HEAD = 8  # bytes of a row before its signs: the chunk's number and the count of bits

Array = np.ndarray[Any, Any]
Key = tuple[int, int, str]  # tenant, embedder, epoch


class Table(NamedTuple):
    """The signs of some chunks, by ascending number; every chunk up to `upto` that has a vector is among them."""

    ids: Array
    signs: Array
    upto: int


class SignTables:
    """The tables of the tenants that were asked of last, at most `MOST_BYTES`. Safe for several threads."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._tables: OrderedDict[Key, Table | None] = OrderedDict()

    def table(self, key: Key, upto: int, read: Callable[[int, int], bytes]) -> Table | None:
        """The table of a tenant, with every chunk up to a number; None for one that is larger than all may be.

        `read` gives the rows of the chunks after a number, that many at most: number and count of bits as big-endian
        32-bit integers, then the signs.
        """
        with self._lock:
            there = key in self._tables
            known = self._tables.get(key)
            if there:
                self._tables.move_to_end(key)
        if there and (known is None or upto <= known.upto):
            return known
        after = int(known.ids[-1]) if known is not None and len(known.ids) else 0
        made = extended(known, read(after, self.most // 8), upto)
        with self._lock:
            self._tables[key] = made if made is None or size(made) <= self.most else None
            self._tables.move_to_end(key)
            while sum(map(size, self._tables.values())) > self.most:
                self._tables.popitem(last=False)
            return self._tables.get(key)


def size(table: Table | None) -> int:
    """The bytes of a table."""
    return table.ids.nbytes + table.signs.nbytes if table is not None else 0


def extended(known: Table | None, rows: bytes, upto: int) -> Table:
    """A table with further rows."""
    if not rows:
        return known._replace(upto=upto) if known is not None else Table(np.empty(0, np.int32), np.empty((0, 1)), upto)
    width = -(-int.from_bytes(rows[4:ROW_HEAD], "big") // 8)
    table = np.frombuffer(rows, np.uint8).reshape(-1, ROW_HEAD + width)
    ids = np.ascontiguousarray(table[:, :4]).view(">i4").ravel().astype(np.int32)
    signs = np.zeros((len(table), -(-width // 8) * 8), np.uint8)
    signs[:, :width] = table[:, ROW_HEAD:]
    words = signs.view(np.uint64)
    if known is not None and len(known.ids):
        ids, words = np.concatenate([known.ids, ids]), np.concatenate([known.signs, words])
    return Table(ids, words, max(upto, int(ids[-1])))


def nearest(table: Table, signs: bytes, norms: bytes, count: int) -> list[int]:
    """The `count` chunks of `norms` whose signs differ least, of equal ones those of the lowest numbers."""
    inside = np.frombuffer(norms, np.uint8)
    known = table.ids[: np.searchsorted(table.ids, len(norms))]
    rows = np.flatnonzero(inside[known])
    if not len(rows):
        return []
    asked = np.zeros(8 * table.signs.shape[1], np.uint8)
    asked[: len(signs)] = np.frombuffer(signs, np.uint8)
    own = table.signs[: len(known)] if len(rows) == len(known) else table.signs[rows]
    distances = np.bitwise_count(own ^ asked.view(np.uint64)).sum(axis=1, dtype=np.int64)
    if len(rows) > count:
        farthest = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
        near = np.flatnonzero(distances < farthest)
        rows = rows[np.concatenate([near, np.flatnonzero(distances == farthest)[: count - len(near)]])]
    found: list[int] = known[rows].tolist()
    return found
