"""Adds parsed blobs to the index: their chunks, words and vectors. An `index/store.BlobStore`.

Every method that changes something is called inside `with writer.writing():`. `snapshots`, `removal` and `reembedding`
have the other changes of an index, as functions on `writer.database`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from itertools import count
from zlib import crc32

from gitmem.index.db.reader import Index
from gitmem.index.db.removal import NO_WORDS
from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import (
    CACHE_ONLY,
    IN_FORCE,
    INCOMPLETE,
    BlobRow,
    ChunkRow,
    pack_days,
    pack_path,
    pack_shape,
    vector_id,
)


class Writer(Index):
    """An index open for writing. The process holds the writer lock."""

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all writes of the block are stored or none, also if the process is killed."""
        return self.database.writing()

    def bulk(self) -> None:
        """Set up for many writes: a larger cache, and a write-ahead log that is merged less often."""
        self.database.pragma("cache_size", -49152)  # KiB
        self.database.pragma("wal_autocheckpoint", 8000)  # pages

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting, read by `meta`."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    # -- blobs and chunks ------------------------------------------------------------------------------------

    def holds_blobs(self) -> bool:
        """Whether the index has any blob."""
        return self.database.value("SELECT 1 FROM blob LIMIT 1") is not None

    def missing(self, oids: Iterable[str]) -> list[str]:
        """Those of `oids` that are not indexed, each once and in order."""
        wanted = list(dict.fromkeys(oids))
        indexed = blob_ids(self.database, wanted)
        return [oid for oid in wanted if oid not in indexed]

    def stored_chunks(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these chunk hashes whose words and lines are stored."""
        sql = f"SELECT hash FROM chunk WHERE length <> {NO_WORDS} AND hash IN (SELECT value FROM carray(?1))"
        return {key for (key,) in self.database.rows_among(sql, tuple(hashes))}

    def known_chunks(self, number: int | None) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The hashes of all chunks with stored words and lines, and of all with a vector of the embedder `number`.

        The second set is empty if `number` is None.
        """
        worded = self.database.rows(f"SELECT hash FROM chunk WHERE length <> {NO_WORDS}")
        embedded: list[tuple[bytes]] = []
        if number is not None:
            sql = "SELECT hash FROM chunk JOIN code ON code.id = chunk.id + ?"
            embedded = self.database.rows(sql, vector_id(number, 0))
        return frozenset(key for (key,) in worded), frozenset(key for (key,) in embedded)

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs that are not indexed. Returns chunk id -> row of the chunks that were not indexed before."""
        database = self.database
        chunks: dict[bytes, ChunkRow] = {}
        for blob in blobs:
            for chunk in blob.chunks:
                chunks.setdefault(chunk.hash, chunk)

        # A chunk without words is one of before `index --full`: it keeps its id, and so its vector.
        sql = "SELECT hash, id, length FROM chunk WHERE hash IN (SELECT value FROM carray(?1))"
        stored = database.rows_among(sql, tuple(chunks))
        ids = {key: number for key, number, _ in stored}
        worded = {key for key, _, length in stored if length != NO_WORDS}
        next_ids = count(1 + database.value("SELECT coalesce(max(id), 0) FROM chunk"))
        ids.update((key, next(next_ids)) for key in chunks if key not in ids)
        fresh = {ids[key]: chunk for key, chunk in chunks.items() if key not in worded}

        first_blob = 1 + database.value("SELECT coalesce(max(id), 0) FROM blob")
        database.execute_for_each(
            "INSERT INTO blob(id, oid, bytes, secrets, problems, skipped, shape) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, bytes.fromhex(b.oid), b.bytes, b.secrets, b.problems, b.skipped, pack_shape(b.shape))
                for number, b in enumerate(blobs, first_blob)
            ],
        )
        database.execute_for_each(
            "INSERT INTO chunk(id, hash, length) VALUES (?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET length = excluded.length",
            [(number, chunk.hash, chunk.length) for number, chunk in fresh.items()],
        )
        database.execute_for_each(
            "INSERT OR REPLACE INTO line(chunk, record) VALUES (?, ?)",
            [(number, chunk.lines) for number, chunk in fresh.items()],
        )
        database.execute_for_each(
            "INSERT INTO place(blob, ordinal, chunk, first, last, heading) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (number, ordinal, ids[chunk.hash], chunk.start, chunk.end, chunk.heading)
                for number, blob in enumerate(blobs, first_blob)
                for ordinal, chunk in enumerate(blob.chunks)
            ],
        )
        database.execute_for_each(
            "INSERT INTO words(rowid, heading, body) VALUES (?, ?, ?)",
            [(number, chunk.heading_words, chunk.body_words) for number, chunk in fresh.items()],
        )
        return fresh

    # -- vectors ---------------------------------------------------------------------------------------------

    def embedder(self, name: str, spec: str, dims: int) -> int:
        """The number of an embedder, which is registered if it is new. The first one is in force at once."""
        database = self.database
        number = database.value("SELECT id FROM embedder WHERE name = ?", name)
        if number is not None:
            database.execute("UPDATE embedder SET spec = ? WHERE id = ?", spec, number)
            database.execute(
                f"UPDATE embedder SET in_force = {INCOMPLETE} WHERE id = ? AND in_force = {CACHE_ONLY}", number
            )
            return int(number)
        in_force = IN_FORCE
        if database.rows("SELECT 1 FROM embedder"):
            in_force = INCOMPLETE
        sql = "INSERT INTO embedder(name, spec, dims, in_force) VALUES (?, ?, ?, ?) RETURNING id"
        return int(database.value(sql, name, spec, dims, in_force))

    def embedder_number(self, name: str) -> int:
        """The number of a registered embedder."""
        return int(self.database.value("SELECT id FROM embedder WHERE name = ?", name))

    def unembedded(self, number: int, chunks: Iterable[int]) -> list[int]:
        """Those of `chunks` that have no vector of the embedder `number`."""
        low = vector_id(number, 0)
        ids = array("q", (low + chunk for chunk in chunks))
        rows = self.database.rows_among("SELECT id FROM code WHERE id IN (SELECT value FROM carray(?1))", ids)
        embedded = {vector for (vector,) in rows}
        return [vector - low for vector in ids if vector not in embedded]

    def add_vectors(self, number: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add vectors, (chunk, (`bits`, `int8`)), of the embedder `number`. A stored vector is not replaced."""
        low = vector_id(number, 0)
        rows = [(low + chunk, bits, value) for chunk, (bits, value) in vectors]
        self.database.execute_for_each(
            "INSERT OR IGNORE INTO code(id, bits) VALUES (?, ?)", [(vector, bits) for vector, bits, _ in rows]
        )
        self.database.execute_for_each(
            "INSERT OR IGNORE INTO vector(id, value, sum) VALUES (?, ?, ?)",
            [(vector, value, crc32(bits + value)) for vector, bits, value in rows],
        )

    # -- days of lines ---------------------------------------------------------------------------------------

    def put_line_days(self, rows: Iterable[tuple[str, str, str, tuple[date, ...]]]) -> None:
        """Store blame dates, rows as from `line_days`. A row replaces the stored one of the same path and blob."""
        self.database.execute_for_each(
            "INSERT OR REPLACE INTO line_day(path, oid, at, runs) VALUES (?, ?, ?, ?)",
            [(pack_path(path), bytes.fromhex(oid), bytes.fromhex(at), pack_days(days)) for path, oid, at, days in rows],
        )


def blob_ids(database: Database, oids: Iterable[str]) -> dict[str, int]:
    """oid -> `blob.id`, for those of `oids` that are indexed."""
    sql = "SELECT oid, id FROM blob WHERE oid IN (SELECT value FROM carray(?1))"
    rows = database.rows_among(sql, tuple(map(bytes.fromhex, oids)))
    return {oid.hex(): number for oid, number in rows}
