"""Adds parsed blobs to the index: their chunks, words and vectors. An `index/store.BlobStore`.

Every change is made inside `with writer.writing():`; `Database.execute` asserts that. `snapshots`, `removal` and
`reembedding` have the other changes of an index, as functions on `writer.database`.

In SQL, `carray(?1)` is the list of values that `Database.rows_among` passes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from itertools import count
from zlib import crc32

from gitmem.errors import IndexDamaged
from gitmem.index.db import values
from gitmem.index.db.reader import Index
from gitmem.index.db.removal import NO_WORDS
from gitmem.index.db.schema import REBUILD
from gitmem.index.db.sqlite import Database


class Writer(Index):
    """An index open for writing, which can read like `Index`. The process holds the writer lock."""

    def writing(self) -> AbstractContextManager[None]:
        """Run the `with` block as one transaction: all its writes are stored or none, also if the process is killed."""
        return self.database.writing()

    def prepare_for_many_writes(self) -> None:
        """Use a larger cache, and merge the write-ahead log less often."""
        self.database.pragma("cache_size", -49152)  # KiB
        self.database.pragma("wal_autocheckpoint", 8000)  # pages

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting, which `meta` reads; one with the same key is replaced. Only inside `writing`."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    # -- blobs and chunks ------------------------------------------------------------------------------------

    def holds_blobs(self) -> bool:
        """Whether the index has any blob."""
        return self.database.value("SELECT 1 FROM blob LIMIT 1") is not None

    def missing_blobs(self, oids: Iterable[str]) -> list[str]:
        """Those of `oids` that are not indexed, each once and in order."""
        wanted = list(dict.fromkeys(oids))
        indexed = blob_ids(self.database, wanted)
        return [oid for oid in wanted if oid not in indexed]

    def stored_chunks(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these chunk hashes whose words and lines the index has."""
        sql = f"SELECT hash FROM chunk WHERE length <> {NO_WORDS} AND hash IN (SELECT value FROM carray(?1))"
        return {chunk_hash for (chunk_hash,) in self.database.rows_among(sql, tuple(hashes))}

    def all_stored_chunks(self) -> frozenset[bytes]:
        """The hashes of all chunks whose words and lines are stored."""
        rows = self.database.rows(f"SELECT hash FROM chunk WHERE length <> {NO_WORDS}")
        return frozenset(chunk_hash for (chunk_hash,) in rows)

    def all_embedded_chunks(self, embedder_id: int) -> frozenset[bytes]:
        """The hashes of all chunks that have a vector of this embedder."""
        sql = "SELECT hash FROM chunk JOIN code ON code.id = chunk.id + ?"
        rows = self.database.rows(sql, values.vector_id(embedder_id, 0))
        return frozenset(chunk_hash for (chunk_hash,) in rows)

    def add_blobs(self, blobs: Sequence[values.BlobRow]) -> dict[int, values.ChunkRow]:
        """Add parsed blobs that are not indexed, with the places, words and lines of their chunks, without vectors.
        Returns the chunks whose words the index lacked, chunk id -> row: these need vectors. Only inside `writing`."""
        chunks: dict[bytes, values.ChunkRow] = {}
        for blob in blobs:
            for chunk in blob.chunks:
                chunks.setdefault(chunk.hash, chunk)
        chunk_ids, stored = self._assign_chunk_ids(tuple(chunks))
        new_chunks = {chunk_ids[chunk.hash]: chunk for chunk in chunks.values() if chunk.hash not in stored}
        self._insert_blobs(blobs, chunk_ids)
        self._insert_chunks(new_chunks)
        return new_chunks

    def _assign_chunk_ids(self, hashes: tuple[bytes, ...]) -> tuple[dict[bytes, int], set[bytes]]:
        """(hash -> chunk id, the hashes whose words are stored). A chunk that is not indexed gets the next free id.

        A chunk that lost its words to `index --full` keeps its id, and so its vector.
        """
        sql = "SELECT hash, id, length FROM chunk WHERE hash IN (SELECT value FROM carray(?1))"
        rows = self.database.rows_among(sql, hashes)
        chunk_ids = {chunk_hash: chunk_id for chunk_hash, chunk_id, _ in rows}
        stored = {chunk_hash for chunk_hash, _, length in rows if length != NO_WORDS}
        free_ids = count(1 + self.database.value("SELECT coalesce(max(id), 0) FROM chunk"))
        for chunk_hash in hashes:
            if chunk_hash not in chunk_ids:
                chunk_ids[chunk_hash] = next(free_ids)
        return chunk_ids, stored

    def _insert_blobs(self, blobs: Sequence[values.BlobRow], chunk_ids: Mapping[bytes, int]) -> None:
        """Add blobs, and the places of their chunks."""
        first_id = 1 + self.database.value("SELECT coalesce(max(id), 0) FROM blob")
        blob_rows, place_rows = [], []
        for blob_id, blob in enumerate(blobs, first_id):
            oid, shape = bytes.fromhex(blob.oid), values.pack_shape(blob.shape)
            blob_rows.append((blob_id, oid, blob.bytes, blob.secrets, blob.problems, blob.skipped, shape))
            for ordinal, chunk in enumerate(blob.chunks):
                chunk_id = chunk_ids[chunk.hash]
                place_rows.append((blob_id, ordinal, chunk_id, chunk.start, chunk.end, chunk.heading))
        self.database.execute_for_each(
            "INSERT INTO blob(id, oid, bytes, secrets, problems, skipped, shape) VALUES (?, ?, ?, ?, ?, ?, ?)",
            blob_rows,
        )
        self.database.execute_for_each(
            "INSERT INTO place(blob, ordinal, chunk, first, last, heading) VALUES (?, ?, ?, ?, ?, ?)", place_rows
        )

    def _insert_chunks(self, chunks: Mapping[int, values.ChunkRow]) -> None:
        """Add chunks, chunk id -> row, with their lines and words. A chunk may have a row without words already."""
        self.database.execute_for_each(
            "INSERT INTO chunk(id, hash, length) VALUES (?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET length = excluded.length",
            [(chunk_id, chunk.hash, chunk.length) for chunk_id, chunk in chunks.items()],
        )
        self.database.execute_for_each(
            "INSERT OR REPLACE INTO line(chunk, record) VALUES (?, ?)",
            [(chunk_id, chunk.lines) for chunk_id, chunk in chunks.items()],
        )
        self.database.execute_for_each(
            "INSERT INTO words(rowid, heading, body) VALUES (?, ?, ?)",
            [(chunk_id, chunk.heading_words, chunk.body_words) for chunk_id, chunk in chunks.items()],
        )

    # -- vectors ---------------------------------------------------------------------------------------------

    def register_embedder(self, name: str, spec: str, dims: int) -> int:
        """Add an embedder, or update the `spec` of a registered one. Returns its id.

        `spec`: the setting that opens it. `dims`: numbers in a vector. The first embedder of an index is in force at
        once: searches compare its vectors. Another one, also one that was replaced before, is INCOMPLETE until
        `reembedding.put_in_force`.
        """
        in_force = values.IN_FORCE
        if self.database.rows("SELECT 1 FROM embedder"):
            in_force = values.INCOMPLETE
        self.database.execute(
            f"""
            INSERT INTO embedder(name, spec, dims, in_force) VALUES (?, ?, ?, ?)
            ON CONFLICT(name) DO UPDATE SET spec = excluded.spec,
                in_force = CASE in_force WHEN {values.CACHE_ONLY} THEN {values.INCOMPLETE} ELSE in_force END
            """,
            name,
            spec,
            dims,
            in_force,
        )
        return self.embedder_id(name)

    def embedder_id(self, name: str) -> int:
        """The id of a registered embedder. Raises IndexDamaged if there is none of this name."""
        embedder_id = self.database.value("SELECT id FROM embedder WHERE name = ?", name)
        if embedder_id is None:
            raise IndexDamaged("the index lacks an embedder that it had.", REBUILD)
        return int(embedder_id)

    def unembedded(self, embedder_id: int, chunk_ids: Iterable[int]) -> list[int]:
        """Those of `chunk_ids` that have no vector of this embedder."""
        chunk_of_vector = {values.vector_id(embedder_id, chunk_id): chunk_id for chunk_id in chunk_ids}
        sql = "SELECT id FROM code WHERE id IN (SELECT value FROM carray(?1))"
        for (stored,) in self.database.rows_among(sql, array("q", chunk_of_vector)):
            del chunk_of_vector[stored]
        return list(chunk_of_vector.values())

    def add_vectors(self, embedder_id: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add vectors of this embedder: (chunk id, (signs as `values.bits`, numbers as `values.int8`)). A stored vector
        is not replaced. Only inside `writing`."""
        rows = [(values.vector_id(embedder_id, chunk_id), bits, value) for chunk_id, (bits, value) in vectors]
        self.database.execute_for_each(
            "INSERT OR IGNORE INTO code(id, bits) VALUES (?, ?)", [(row_id, bits) for row_id, bits, _ in rows]
        )
        self.database.execute_for_each(
            "INSERT OR IGNORE INTO vector(id, value, sum) VALUES (?, ?, ?)",
            [(row_id, value, crc32(bits + value)) for row_id, bits, value in rows],
        )

    # -- days of lines ---------------------------------------------------------------------------------------

    def put_line_days(self, rows: Iterable[tuple[str, str, str, tuple[date, ...]]]) -> None:
        """Store blame dates: (path, oid of the blob, commit that was blamed, day of each line). A row replaces the
        stored one of the same path and blob. Only inside `writing`."""
        self.database.execute_for_each(
            "INSERT OR REPLACE INTO line_day(path, oid, at, runs) VALUES (?, ?, ?, ?)",
            [
                (values.pack_path(path), bytes.fromhex(oid), bytes.fromhex(at), values.pack_days(days))
                for path, oid, at, days in rows
            ],
        )


def blob_ids(database: Database, oids: Iterable[str]) -> dict[str, int]:
    """oid -> `blob.id`, for those of `oids` that are indexed."""
    sql = "SELECT oid, id FROM blob WHERE oid IN (SELECT value FROM carray(?1))"
    rows = database.rows_among(sql, tuple(map(bytes.fromhex, oids)))
    return {oid.hex(): blob_id for oid, blob_id in rows}
