"""Signs in memory name the same chunks as a scan of all of them, whatever was read before."""

from __future__ import annotations

import random
import struct
from functools import partial

import pytest

from gitmem.index.db.sign_table import Table, nearest
from gitmem.server.postgres.signs import SignTables


def rows_of(signs: dict[int, bytes], after: int, most: int) -> bytes:
    """As the database gives them."""
    wanted = [number for number in sorted(signs) if number > after][:most]
    return b"".join(struct.pack(">ii", number, 8 * len(signs[number])) + signs[number] for number in wanted)


def one_by_one(signs: dict[int, bytes], asked: bytes, norms: bytes, count: int, most: int) -> set[int]:
    inside = [number for number in signs if number < len(norms) and norms[number]]
    whole = int.from_bytes(asked, "big")
    ranked = sorted(((int.from_bytes(signs[n], "big") ^ whole).bit_count(), n) for n in inside)
    return {n for apart, n in ranked[:most] if apart <= ranked[:count][-1][0]}


@pytest.mark.parametrize("width", [32, 5, 12])
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_are_those_of_a_scan_as_the_tenant_grows(seed: int, width: int) -> None:
    rng = random.Random(seed)
    tables = SignTables()
    signs: dict[int, bytes] = {}
    asked = rng.randbytes(width)
    for begin, end in ((1, 1), (1, 40), (40, 41), (41, 300)):
        signs.update({n: rng.randbytes(1) * width for n in range(begin, end) if rng.random() < 0.8})
        norms = bytes(1) + bytes(rng.randrange(2) for _ in range(max(0, end - 1)))
        table = tables.table((1, 1, "a"), len(norms) - 1, partial(rows_of, signs))
        assert table is not None
        for count, most in ((1, 1), (1, 4), (7, 14), (7, 1000), (1000, 1000)):
            assert set(nearest(table, asked, norms, count, most)) == one_by_one(signs, asked, norms, count, most)


def test_what_is_known_is_not_read_again_and_another_epoch_is() -> None:
    read: list[int] = []

    def reader(after: int, most: int) -> bytes:
        read.append(after)
        return rows_of({n: bytes([n]) * 32 for n in range(1, 9)}, after, most)

    tables = SignTables()
    for _ in range(3):
        tables.table((1, 1, "a"), 8, reader)
    assert read == [0]
    tables.table((1, 1, "a"), 12, reader)
    tables.table((1, 1, "b"), 8, reader)
    assert read == [0, 8, 0]


def test_a_tenant_that_is_too_large_has_none_and_is_not_read_again() -> None:
    read: list[int] = []

    def reader(after: int, most: int) -> bytes:
        read.append(most)
        return rows_of({n: bytes([n % 256]) * 32 for n in range(1, 2000)}, after, most)

    tables = SignTables(most=1000)
    assert [tables.table((1, 1, "a"), 1999, reader) for _ in range(3)] == [None] * 3
    assert read == [125]  # no more than shows that it is too much


def test_what_was_asked_of_longest_ago_makes_room() -> None:
    tables = SignTables(most=36 * 15)
    made: list[Table | None] = []
    for tenant in (1, 2, 1, 3, 1):
        made.append(
            tables.table(
                (tenant, 1, ""), 6, lambda after, most: rows_of({n: bytes(32) for n in range(1, 7)}, after, most)
            )
        )
    assert made[0] is made[2] is made[4] and len(tables._tables) == 2
