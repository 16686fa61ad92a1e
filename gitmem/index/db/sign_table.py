"""A table of the signs of all vectors in memory, 32 bytes per chunk, for long-lived processes.

NumPy compares it in a fraction of the time that a database takes to read its rows; the database then compares the
nearest chunks exactly. The import of NumPy takes 0.1 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

if not hasattr(np, "bitwise_count"):
    raise ImportError("NumPy 2 compares signs")
ROW_HEAD = 8  # bytes of a row before its signs: the chunk's number and the number of bits

Array = np.ndarray[Any, Any]


class Table(NamedTuple):
    """The signs of chunks in memory. `ids`: the chunks' ids, ascending. `signs`: one row of 64-bit words per chunk.

    `upto`: every chunk up to this id that has a vector is in the table.
    """

    ids: Array
    signs: Array
    upto: int


def extended(table: Table | None, rows: bytes, upto: int) -> Table:
    """`table` (None: an empty table) with `rows` added: the signs of chunks after those it has, up to the id
    `upto`.

    `rows`: packed rows as the tables of PostgreSQL hold them, by ascending chunk: the chunk's id and the number of
    bits, four bytes each, then the bits.
    """
    if not rows:
        if table is None:
            return Table(np.empty(0, np.int32), np.empty((0, 1)), upto)
        return table._replace(upto=upto)
    width = -(-int.from_bytes(rows[4:ROW_HEAD], "big") // 8)
    packed_rows = np.frombuffer(rows, np.uint8).reshape(-1, ROW_HEAD + width)
    ids = np.ascontiguousarray(packed_rows[:, :4]).view(">i4").ravel().astype(np.int32)
    signs = np.zeros((len(packed_rows), -(-width // 8) * 8), np.uint8)
    signs[:, :width] = packed_rows[:, ROW_HEAD:]
    words = signs.view(np.uint64)
    if table is not None and len(table.ids):
        ids, words = np.concatenate([table.ids, ids]), np.concatenate([table.signs, words])
    return Table(ids, words, max(upto, int(ids[-1])))


def table_of(rows: Sequence[tuple[int, bytes]]) -> Table:
    """A table of (chunk id, signs), ascending by id. Raises ValueError if the signs differ in length."""
    width = len(rows[0][1]) if rows else 0
    signs = np.zeros((len(rows), -(-width // 8) * 8), np.uint8)
    signs[:, :width] = np.frombuffer(b"".join([own for _, own in rows]), np.uint8).reshape(len(rows), width)
    ids = np.array([chunk for chunk, _ in rows], np.int32)
    return Table(ids, signs.view(np.uint64), int(ids[-1]) if rows else 0)


def nearest(table: Table, signs: bytes, norms: bytes, count: int, max_found: int) -> list[int]:
    """The ids of the `count` chunks whose signs differ least from `signs`, and of those that differ as much as the
    last, in no order of nearness.

    `norms`: a byte for each chunk id; only chunks where it is above 0 count. At most `max_found` in all; of equally
    near chunks those with the lowest ids.
    """
    inside = np.frombuffer(norms, np.uint8)
    ids = table.ids[: np.searchsorted(table.ids, len(norms))]
    rows = np.flatnonzero(inside[ids])
    if not len(rows):
        return []
    padded_signs = np.zeros(8 * table.signs.shape[1], np.uint8)
    padded_signs[: len(signs)] = np.frombuffer(signs, np.uint8)
    candidates = table.signs[: len(ids)]
    if len(rows) != len(ids):
        candidates = table.signs[rows]
    counts = np.bitwise_count(candidates ^ padded_signs.view(np.uint64))
    distances = np.zeros(len(candidates), np.uint16)
    for column in counts.T:  # a third of the time of a sum along the rows
        distances += column
    if len(rows) > count:
        farthest = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
        near = np.flatnonzero(distances < farthest)
        rows = rows[np.concatenate([near, np.flatnonzero(distances == farthest)[: max_found - len(near)]])]
    nearest_ids: list[int] = ids[rows].tolist()
    return nearest_ids
