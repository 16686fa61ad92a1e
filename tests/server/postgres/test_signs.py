"""Signs in memory name the same chunks as a scan of all of them, whatever was read before."""

from __future__ import annotations

import os
import random
import struct
from functools import partial
from pathlib import Path

import pytest

from gitmem.index.db.sign_table import Table, nearest
from gitmem.server.postgres.signs import SignTables, forget


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
def test_the_nearest_are_those_of_a_scan_as_the_tenant_grows(seed: int, width: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tables = SignTables(tmp_path)
    signs: dict[int, bytes] = {}
    asked = rng.randbytes(width)
    for begin, end in ((1, 1), (1, 40), (40, 41), (41, 300)):
        signs.update({n: rng.randbytes(1) * width for n in range(begin, end) if rng.random() < 0.8})
        norms = bytes(1) + bytes(rng.randrange(2) for _ in range(max(0, end - 1)))
        table = tables.table((1, 1, "a"), len(norms) - 1, partial(rows_of, signs))
        assert table is not None
        for count, most in ((1, 1), (1, 4), (7, 14), (7, 1000), (1000, 1000)):
            assert set(nearest(table, asked, norms, count, most)) == one_by_one(signs, asked, norms, count, most)


def test_what_is_known_is_not_read_again_and_another_epoch_is(tmp_path: Path) -> None:
    read: list[int] = []

    def reader(after: int, most: int) -> bytes:
        read.append(after)
        return rows_of({n: bytes([n]) * 32 for n in range(1, 9)}, after, most)

    tables, another = SignTables(tmp_path), SignTables(tmp_path)  # of another process
    for _ in range(3):
        tables.table((1, 1, "a"), 8, reader)
        another.table((1, 1, "a"), 8, reader)
    assert read == [0]
    tables.table((1, 1, "a"), 12, reader)
    another.table((1, 1, "a"), 12, reader)
    tables.table((1, 1, "b"), 8, reader)
    assert read == [0, 8, 0]


def test_a_tenant_that_is_too_large_has_none_and_is_not_read_again(tmp_path: Path) -> None:
    read: list[int] = []

    def reader(after: int, most: int) -> bytes:
        read.append(most)
        return rows_of({n: bytes([n % 256]) * 32 for n in range(1, 2000)}, after, most)

    tables = SignTables(tmp_path, max_bytes=1000)
    assert [tables.table((1, 1, "a"), 1999, reader) for _ in range(3)] == [None] * 3
    assert read == [125]  # no more than shows that it is too much


def six(after: int, most: int) -> bytes:
    return rows_of({n: bytes([n]) * 32 for n in range(1, 7)}, after, most)


def test_what_was_asked_of_longest_ago_makes_room_in_every_process(tmp_path: Path) -> None:
    tables, another = SignTables(tmp_path, max_bytes=700), SignTables(tmp_path, max_bytes=700)
    made: list[Table | None] = []
    for tenant in (1, 2, 1, 3, 1):
        made.append(tables.table((tenant, 1, ""), 6, six))
        another.table((tenant, 1, ""), 6, six)
    assert made[0] is made[2] is made[4]
    assert sorted(os.listdir(tmp_path)) == ["1-1-", "3-1-"]
    assert set(tables._mapped) == set(another._mapped) == {(1, 1, ""), (3, 1, "")}


def test_what_is_to_be_gone_is_deleted_and_read_again(tmp_path: Path) -> None:
    tables, read = SignTables(tmp_path), list[int]()

    def reader(after: int, most: int) -> bytes:
        read.append(after)
        return six(after, most)

    for tenant in (1, 11):
        tables.table((tenant, 1, "a"), 6, reader)
    forget(tmp_path, 1)
    assert os.listdir(tmp_path) == ["11-1-a"]
    tables.table((1, 1, "a"), 6, reader)
    assert read == [0, 0, 0]


@pytest.mark.parametrize("text", [b"x", b"x" * 24, bytes(200), b"\xff" * 300])
def test_a_file_that_is_no_table_and_a_folder_that_cannot_be_written_change_no_answer(
    tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "1-1-a").write_bytes(text)
    (tmp_path / "full").write_bytes(b"")
    for folder in (tmp_path, tmp_path / "full"):
        table = SignTables(folder).table((1, 1, "a"), 6, six)
        assert table is not None and nearest(table, bytes([3]) * 32, bytes([0]) + bytes([1]) * 6, 1, 1) == [3]
