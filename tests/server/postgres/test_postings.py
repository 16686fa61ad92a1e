"""Postings of many chunks at once are those of each word one by one; columns are read back as they were given."""

from __future__ import annotations

import random
import struct
from collections import defaultdict

import psycopg
import pytest

from gitmem.index.db.values import PLACE_BITS
from gitmem.server.keys import Keys
from gitmem.server.postgres import arrays
from gitmem.server.postgres.postings import Posting, Words, postings, without

KEYS = Keys(b"k" * 40, 1)


def some_words(rng: random.Random, chunks: int) -> list[Words]:
    words = ["okapi", "a", "기린", "기", "長頸鹿", "b1", "é", "ok"]

    def text(most: int) -> str:
        return " ".join(rng.choices(words, k=rng.randrange(most)))

    return [Words(5 + 3 * number, text(4), text(30)) for number in range(chunks)]


def one_by_one(chunks: list[Words]) -> list[Posting]:
    found: dict[int, list[int]] = defaultdict(list)
    for chunk, *texts in chunks:
        for heading, text in zip((1, 0), texts, strict=True):
            for position, word in enumerate(text.split()):
                at = chunk << PLACE_BITS | position << 1 | heading
                found[KEYS.term(word)].append(at)
                if not word[0].isascii():
                    found[KEYS.beginning(word[0])].append(at)
    return [
        Posting(term, len({at >> PLACE_BITS for at in rows}), struct.pack(f"<{len(rows)}q", *rows))
        for term, rows in sorted(found.items())
    ]


@pytest.mark.parametrize("seed", range(5))
def test_postings_are_those_of_each_word(seed: int) -> None:
    chunks = some_words(random.Random(seed), 60)
    assert postings(chunks, KEYS) == one_by_one(chunks)


@pytest.mark.parametrize("chunks", [[], [Words(1, "", "")]])
def test_chunks_without_a_word_have_no_postings(chunks: list[Words]) -> None:
    assert postings(chunks, KEYS) == []


@pytest.mark.parametrize("seed", range(5))
def test_without_some_chunks_they_are_those_of_the_others(seed: int) -> None:
    chunks = some_words(random.Random(seed), 40)
    gone = {chunk.chunk for chunk in chunks[:: 2 + seed]}
    changed = {one.term: one for one in without([(one.term, one.rows) for one in postings(chunks, KEYS)], gone)}
    left = {one.term: one for one in one_by_one([chunk for chunk in chunks if chunk.chunk not in gone])}
    for before in one_by_one(chunks):
        after = left.get(before.term, Posting(before.term, 0, b""))
        assert changed.get(before.term, before) == after
        assert (before.term in changed) == (before != after)


def test_columns_are_read_back_as_they_were_given(owner_url: str) -> None:
    with psycopg.connect(owner_url) as connection:
        oid = connection.execute("SELECT 'halfvec'::regtype::oid::bigint").fetchone()
        assert oid is not None
        given = [bytes([1, 255, 0, 127]), bytes([128, 2, 3, 4])]
        rows = connection.execute(
            "SELECT * FROM unnest(%s::int[], %s::bigint[], %s::smallint[], %s::bytea[], %s::text[], %s::varbit[],"
            " %s::halfvec[])",
            (
                arrays.numbers("int", [-1, 2**31 - 1]),
                arrays.numbers("bigint", [-(2**63), 7]),
                arrays.numbers("smallint", [-3, 255]),
                arrays.values(arrays.OIDS["bytea"], [b"\0\xff", None]),
                arrays.values(arrays.OIDS["text"], ["기린".encode(), b""]),
                arrays.values(arrays.OIDS["varbit"], [None, arrays.bit_string(b"\xa5\x01")]),
                arrays.values(int(oid[0]), arrays.half_vectors(given)),
            ),
        ).fetchall()
        assert rows == [
            (-1, -(2**63), -3, b"\0\xff", "기린", None, "[1,-1,0,127]"),
            (2**31 - 1, 7, 255, None, "", "1010010100000001", "[-128,2,3,4]"),
        ]
        empty = "SELECT * FROM unnest(%s::int[], %s::text[])"
        assert (
            connection.execute(empty, (arrays.numbers("int", []), arrays.values(arrays.OIDS["text"], []))).fetchall()
            == []
        )
