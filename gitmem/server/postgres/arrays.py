"""Encodes columns as PostgreSQL's binary arrays. psycopg encodes a list one value at a time, which took longer than the
statement.

The format is that of `array_recv` in PostgreSQL's src/backend/utils/adt/arrayfuncs.c: dimensions, whether there is a
NULL, the element's type, length and lower bound; then for each value its length and bytes, -1 for NULL.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

HEAD = struct.Struct(">iiIii")
EMPTY = struct.Struct(">iiI")
LENGTH = struct.Struct(">i")
NULL = LENGTH.pack(-1)
NUMBERS: Mapping[str, tuple[int, str]] = {"smallint": (21, ">i2"), "int": (23, ">i4"), "bigint": (20, ">i8")}
OIDS = {"bytea": 17, "text": 25, "varbit": 1562}  # of types, as in pg_type.dat


class Column(bytes):
    """An array in PostgreSQL's binary format. The statement names its type (`%s::int[]`)."""


class _ColumnDumper(Dumper):
    """Passes a `Column` to PostgreSQL unchanged, with the type of the statement's cast."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: Any) -> Buffer | None:
        return bytes(obj)


psycopg.adapters.register_dumper(Column, _ColumnDumper)


def numbers(kind: str, integers: Sequence[int] | np.ndarray[Any, Any]) -> Column:
    """Integers as an array in PostgreSQL's binary format. `kind`: their type there, a key of NUMBERS such as "int"."""
    oid, code = NUMBERS[kind]
    rows = np.empty(len(integers), dtype=[("length", ">i4"), ("value", code)])
    rows["length"] = rows.dtype["value"].itemsize
    rows["value"] = integers
    return Column(_head(oid, len(rows)) + rows.tobytes())


def values(oid: int, items: Iterable[bytes | None]) -> Column:
    """An array in PostgreSQL's binary format of values that are each in the binary format of their type; None for NULL.
    `oid`: of that type, such as 17 for bytea."""
    parts = [b""]
    add, pack = parts.append, LENGTH.pack
    count, nulls = 0, 0
    for value in items:
        count += 1
        if value is None:
            nulls = 1
            add(NULL)
        else:
            add(pack(len(value)))
            add(value)
    parts[0] = _head(oid, count, nulls)
    return Column(b"".join(parts))


def bit_string(signs: bytes) -> bytes:
    """Whole bytes as a `bit varying` in binary format."""
    return LENGTH.pack(8 * len(signs)) + signs


def half_vectors(rows: Sequence[bytes]) -> list[bytes]:
    """Vectors of int8 numbers, all of one length, as `halfvec` in binary format. A half float stores every int8
    exactly."""
    if not rows:
        return []
    dims = len(rows[0])
    head = struct.pack(">HH", dims, 0)
    table = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), dims).astype(">f2")
    return [head + row.tobytes() for row in table]


def _head(oid: int, count: int, nulls: int = 0) -> bytes:
    if count:
        return HEAD.pack(1, nulls, oid, count, 1)
    return EMPTY.pack(0, 0, oid)
