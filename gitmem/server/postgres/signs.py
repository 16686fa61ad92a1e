"""The tables of signs of the tenants that a server was asked of last.

Chunks never change and their numbers ascend as they are committed, so a table is only ever added to; a chunk that is
gone stands in no snapshot. A tenant whose index is made anew has another epoch, and another table.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from gitmem.index.db.sign_table import Table, extended

MOST_BYTES = 40 << 20  # of all tables of a process

Key = tuple[int, int, str]  # tenant, embedder, epoch


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
