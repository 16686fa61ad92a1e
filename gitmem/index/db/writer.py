"""Writes the index, for the indexer. Every method that changes something is called inside `with writer.writing():`."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from zlib import crc32

import apsw

from gitmem.index.db.reader import Index
from gitmem.index.db.schema import (
    ALL_WORDS_STORED,
    CACHE_ONLY,
    EMBEDDER_SHIFT,
    IN_DEFAULT_CORPUS,
    IN_FORCE,
    INCOMPLETE,
    NO_WORDS,
)
from gitmem.index.db.sqlite import translated
from gitmem.index.db.values import BlobRow, ChunkRow, EntryRow, norm, pack_days, pack_shape
from gitmem.paths import file_name_words
from gitmem.text.terms import terms

VALUES_PER_QUERY = 2000
MAX_ADJUSTED_FILES = 2000  # in one change of a snapshot; above it all norms are computed again


class Writer(Index):
    """An index open for writing. The process holds the writer lock."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all writes of the block are stored or none, also if the process is killed."""
        with translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def bulk(self) -> None:
        """Set up for many writes: a larger cache, and a write-ahead log that is merged less often."""
        with translated():
            self._db.pragma("cache_size", -49152)
            self._db.pragma("wal_autocheckpoint", 8000)

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting, read by `meta`."""
        with translated():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # -- blobs and chunks ------------------------------------------------------------------------------------

    def missing(self, oids: Iterable[str]) -> list[str]:
        """Those of `oids` that are not indexed, each once and in order."""
        wanted = list(dict.fromkeys(oids))
        known = self._numbers(wanted)
        return [oid for oid in wanted if oid not in known]

    def holds_blobs(self) -> bool:
        """Whether the index has any blob."""
        return bool(self._rows("SELECT 1 FROM blob LIMIT 1"))

    def _numbers(self, oids: Sequence[str]) -> dict[str, int]:
        """oid -> row id in `blob`, for those of `oids` that are indexed."""
        numbers: dict[str, int] = {}
        for at in range(0, len(oids), VALUES_PER_QUERY):
            raw = tuple(map(bytes.fromhex, oids[at : at + VALUES_PER_QUERY]))
            rows = self._rows(
                "SELECT oid, id FROM blob WHERE oid IN (SELECT value FROM carray(?))", (apsw.carray(raw),)
            )
            numbers.update((oid.hex(), number) for oid, number in rows)
        return numbers

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs that are not indexed. Returns chunk id -> row of the chunks that were not indexed before."""
        db = self._db
        fresh: dict[int, ChunkRow] = {}
        with translated():
            next_blob = db.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]  # type: ignore[index]
            next_chunk = db.execute("SELECT coalesce(max(id), 0) FROM chunk").fetchone()[0]  # type: ignore[index]
            hashes = list(dict.fromkeys(chunk.hash for blob in blobs for chunk in blob.chunks))
            known, forgotten = self._chunk_numbers(hashes)
            blob_rows, place_rows, chunk_rows, line_rows, word_rows = [], [], [], [], []
            for blob in blobs:
                next_blob += 1
                blob_rows.append(
                    (
                        next_blob,
                        bytes.fromhex(blob.oid),
                        blob.bytes,
                        blob.secrets,
                        blob.problems,
                        blob.skipped,
                        pack_shape(blob.shape),
                    )
                )
                for ordinal, chunk in enumerate(blob.chunks):
                    number = known.get(chunk.hash)
                    if number is None or chunk.hash in forgotten:
                        forgotten.discard(chunk.hash)
                        if number is None:
                            next_chunk += 1
                            number = known[chunk.hash] = next_chunk
                        chunk_rows.append((number, chunk.hash, chunk.length))
                        line_rows.append((number, chunk.lines))
                        word_rows.append((number, chunk.heading_words, chunk.body_words))
                        fresh[number] = chunk
                    place_rows.append((next_blob, ordinal, number, chunk.start, chunk.end, chunk.heading))
            db.executemany("INSERT INTO blob VALUES (?, ?, ?, ?, ?, ?, ?)", blob_rows)
            db.executemany(
                "INSERT INTO chunk VALUES (?, ?, ?) ON CONFLICT(id) DO UPDATE SET length = excluded.length",
                chunk_rows,
            )
            db.executemany("INSERT OR REPLACE INTO line VALUES (?, ?)", line_rows)
            db.executemany("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?)", place_rows)
            db.executemany("INSERT INTO words(rowid, heading, body) VALUES (?, ?, ?)", word_rows)
        return fresh

    def _chunk_numbers(self, hashes: Sequence[bytes]) -> tuple[dict[bytes, int], set[bytes]]:
        """Hash -> chunk id of the stored chunks, and the hashes of those without words (during `index --full`)."""
        known: dict[bytes, int] = {}
        forgotten: set[bytes] = set()
        same = "SELECT hash, id, length FROM chunk WHERE hash IN (SELECT value FROM carray(?))"
        for at in range(0, len(hashes), VALUES_PER_QUERY):
            for key, number, length in self._rows(same, (apsw.carray(tuple(hashes[at : at + VALUES_PER_QUERY])),)):
                known[key] = number
                if length == NO_WORDS:
                    forgotten.add(key)
        return known, forgotten

    def forget_blobs(self) -> None:
        """Delete all but the chunks' hashes, their valid vectors and the packed lines, so that `index --full` embeds no
        text again."""
        with translated():
            for table in ("place", "blob", "entry", "snapshot", "covered", "name", "line_day"):
                self._db.execute(f"DELETE FROM {table}")
            self._db.execute("INSERT INTO words(words) VALUES ('delete-all')")
            self._db.execute(f"UPDATE chunk SET length = {NO_WORDS}")
            good = {
                number
                for number, code, value, total in self._db.execute(
                    "SELECT vector.id, bits, value, sum FROM vector JOIN code ON code.id = vector.id"
                )
                if crc32(code + value) == total
            }
            for table in ("code", "vector"):
                for (number,) in self._rows(f"SELECT id FROM {table}"):
                    if number not in good:
                        self._db.execute(f"DELETE FROM {table} WHERE id = ?", (number,))

    def prune(self, keep: Iterable[str]) -> tuple[int, int]:
        """Delete all blobs that are not in `keep`, chunks without a blob, and vectors of old embedders.

        Returns the numbers of deleted blobs and chunks.
        """
        db = self._db
        with translated():
            kept = {bytes.fromhex(oid) for oid in keep}
            gone = array("q", (number for number, oid in self._rows("SELECT id, oid FROM blob") if oid not in kept))
            if gone:
                numbers = apsw.carray(gone)
                db.execute("DELETE FROM place WHERE blob IN (SELECT value FROM carray(?))", (numbers,))
                db.execute("DELETE FROM blob WHERE id IN (SELECT value FROM carray(?))", (numbers,))
                db.execute(
                    "DELETE FROM snapshot WHERE id IN (SELECT snapshot FROM entry WHERE blob IN"
                    " (SELECT value FROM carray(?)))",
                    (numbers,),
                )
                db.execute("DELETE FROM entry WHERE snapshot NOT IN (SELECT id FROM snapshot)")
            db.execute("DELETE FROM name WHERE path NOT IN (SELECT path FROM entry)")
            db.execute("DELETE FROM line_day WHERE oid NOT IN (SELECT oid FROM blob)")
            orphans = self._rows("SELECT id, length FROM chunk WHERE id NOT IN (SELECT chunk FROM place)")
            for number, length in orphans:
                if length != NO_WORDS:
                    db.execute("DELETE FROM words WHERE rowid = ?", (number,))
                db.execute("DELETE FROM chunk WHERE id = ?", (number,))
                db.execute("DELETE FROM line WHERE chunk = ?", (number,))
            mask = (1 << EMBEDDER_SHIFT) - 1
            for table in ("code", "vector"):
                db.execute(
                    f"DELETE FROM {table} WHERE id & ? NOT IN (SELECT id FROM chunk)"
                    f" OR id >> {EMBEDDER_SHIFT} NOT IN (SELECT id FROM embedder WHERE in_force <> {CACHE_ONLY})",
                    (mask,),
                )
            db.execute(f"DELETE FROM embedder WHERE in_force = {CACHE_ONLY}")
        return len(gone), len(orphans)

    def compact(self) -> None:
        """Shrink the file by its free pages. Must not run in a transaction."""
        with translated():
            self._db.execute("INSERT INTO words(words) VALUES ('optimize')")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- vectors ---------------------------------------------------------------------------------------------

    def embedder(self, name: str, spec: str, dims: int) -> int:
        """The number of an embedder, which is registered if it is new. The first one is in force at once."""
        with translated():
            rows = self._rows("SELECT id, in_force FROM embedder WHERE name = ?", (name,))
            if rows:
                self._db.execute("UPDATE embedder SET spec = ? WHERE id = ?", (spec, rows[0][0]))
                if rows[0][1] == CACHE_ONLY:
                    self._db.execute("UPDATE embedder SET in_force = ? WHERE id = ?", (INCOMPLETE, rows[0][0]))
                return int(rows[0][0])
            in_force = INCOMPLETE if self._rows("SELECT 1 FROM embedder") else IN_FORCE
            self._db.execute(
                "INSERT INTO embedder(name, spec, dims, in_force) VALUES (?, ?, ?, ?)", (name, spec, dims, in_force)
            )
            return self._db.last_insert_rowid()

    def embedder_number(self, name: str) -> int:
        """The number of a registered embedder."""
        return int(self._rows("SELECT id FROM embedder WHERE name = ?", (name,))[0][0])

    def put_in_force(self, number: int) -> None:
        """Make searches compare this embedder's vectors. Those of others stay as a cache until `prune`."""
        with translated():
            self._db.execute(
                f"UPDATE embedder SET in_force = CASE WHEN id = ?1 THEN {IN_FORCE}"
                f" WHEN in_force = {IN_FORCE} THEN {CACHE_ONLY} ELSE in_force END",
                (number,),
            )

    def unembedded(self, number: int, chunks: Iterable[int]) -> list[int]:
        """Those of `chunks` that have no vector of the embedder `number`."""
        low = number << EMBEDDER_SHIFT
        ids = array("q", (low + chunk for chunk in chunks))
        if not ids:
            return []
        rows = self._rows("SELECT id FROM code WHERE id IN (SELECT value FROM carray(?))", (apsw.carray(ids),))
        stored = {number for (number,) in rows}
        return [number - low for number in ids if number not in stored]

    def stored_chunks(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these chunk hashes whose words and lines are stored."""
        stored: set[bytes] = set()
        query = f"SELECT hash FROM chunk WHERE length <> {NO_WORDS} AND hash IN (SELECT value FROM carray(?))"
        for at in range(0, len(hashes), VALUES_PER_QUERY):
            some = apsw.carray(tuple(hashes[at : at + VALUES_PER_QUERY]))
            stored.update(key for (key,) in self._rows(query, (some,)))
        return stored

    def known_chunks(self, number: int | None) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The hashes of all chunks with stored words and lines, and of all with a vector of the embedder `number`.

        The second set is empty if `number` is None.
        """
        stored = frozenset(key for (key,) in self._rows(f"SELECT hash FROM chunk WHERE length <> {NO_WORDS}"))
        if number is None:
            return stored, frozenset()
        embedded = "SELECT hash FROM chunk JOIN code ON code.id = chunk.id + ?"
        return stored, frozenset(key for (key,) in self._rows(embedded, (number << EMBEDDER_SHIFT,)))

    def add_vectors(self, number: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add vectors, (chunk, (`bits`, `int8`)), of the embedder `number`. A stored vector is not replaced."""
        low = number << EMBEDDER_SHIFT
        rows = list(vectors)
        with translated():
            self._db.executemany("INSERT OR IGNORE INTO code VALUES (?, ?)", [(low + c, b) for c, (b, _) in rows])
            self._db.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?, ?)", [(low + c, v, crc32(b + v)) for c, (b, v) in rows]
            )

    def blobs_without_vectors(self, number: int) -> list[str]:
        """The oids of the blobs with a chunk that has no vector of the embedder `number`."""
        low = number << EMBEDDER_SHIFT
        rows = self._rows(
            "SELECT DISTINCT blob.oid FROM chunk JOIN place ON place.chunk = chunk.id JOIN blob ON blob.id = place.blob"
            " WHERE chunk.id + ? NOT IN (SELECT id FROM code)",
            (low,),
        )
        return [oid.hex() for (oid,) in rows]

    def chunks_of(self, oid: str) -> list[int]:
        """The chunk ids of a blob, in order."""
        rows = self._rows(
            "SELECT chunk FROM place WHERE blob = (SELECT id FROM blob WHERE oid = ?) ORDER BY ordinal",
            (bytes.fromhex(oid),),
        )
        return [number for (number,) in rows]

    # -- snapshots -------------------------------------------------------------------------------------------

    def put_snapshot(self, key: str, entries: Iterable[EntryRow], seen: int, scan: bytes = b"") -> None:
        """Write or replace a snapshot. An entry whose blob is not indexed is left out.

        `seen`: the time of use, ns. `scan`: the hash of the work tree's stat data, b"" if not complete.
        """
        db = self._db
        with translated():
            db.execute(
                "INSERT INTO snapshot(key, seen, scan, norms) VALUES (?1, ?2, ?3, x'')"
                " ON CONFLICT(key) DO UPDATE SET seen = ?2, scan = ?3",
                (key, seen, scan),
            )
            number = self._rows("SELECT id FROM snapshot WHERE key = ?", (key,))[0][0]
            db.execute("DELETE FROM entry WHERE snapshot = ?", (number,))
            self._insert_entries(number, entries)
            self._write_norms(number)

    def change_snapshot(
        self, key: str, gone: Iterable[str], entries: Sequence[EntryRow], seen: int, scan: bytes
    ) -> None:
        """Remove the paths `gone` from a snapshot and add or replace `entries`. `seen`, `scan` as in `put_snapshot`."""
        db = self._db
        with translated():
            rows = self._rows("SELECT id, norms FROM snapshot WHERE key = ?", (key,))
            if not rows:
                self.put_snapshot(key, entries, seen, scan)
                return
            number, norms = rows[0][0], bytearray(rows[0][1])
            touched: set[int] = set()
            paths = [_stored(path) for path in (*gone, *(entry.path for entry in entries))]
            drop = "DELETE FROM entry WHERE snapshot = ? AND path IN (SELECT value FROM carray(?)) RETURNING blob"
            for at in range(0, len(paths), VALUES_PER_QUERY):
                some = apsw.carray(tuple(paths[at : at + VALUES_PER_QUERY]))
                touched.update(blob for (blob,) in self._rows(drop, (number, some)))
            self._insert_entries(number, entries)
            if len(touched) + len(entries) > MAX_ADJUSTED_FILES:
                self._write_norms(number)
            else:
                self._adjust_norms(number, norms, touched, [entry.path for entry in entries])
            db.execute("UPDATE snapshot SET seen = ?, scan = ? WHERE id = ?", (seen, scan, number))

    def _insert_entries(self, snapshot: int, entries: Iterable[EntryRow]) -> None:
        rows = list(entries)
        numbers = self._numbers(list({row.oid for row in rows if row.oid}))
        self._db.executemany(
            "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)",
            [
                (snapshot, _stored(row.path), numbers.get(row.oid, 0), row.corpus, row.stat)
                for row in rows
                if row.oid in numbers or row.corpus < 0
            ],
        )
        self._insert_names([row.path for row in rows if row.oid in numbers])

    def _insert_names(self, paths: Sequence[str]) -> None:
        """Store the words of the names of these files, unless they are stored."""
        known: set[bytes] = set()
        raw = list(map(_stored, paths))
        query = f"SELECT path FROM name WHERE term = '{ALL_WORDS_STORED}' AND path IN (SELECT value FROM carray(?))"
        for at in range(0, len(raw), VALUES_PER_QUERY):
            some = tuple(raw[at : at + VALUES_PER_QUERY])
            known.update(path for (path,) in self._rows(query, (apsw.carray(some),)))
        new = [
            (word, stored)
            for path, stored in zip(paths, raw, strict=True)
            if stored not in known
            for word in {ALL_WORDS_STORED, *terms(file_name_words(path))}
        ]
        self._db.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", new)

    def _write_norms(self, snapshot: int) -> None:
        """Compute and store the norms of a snapshot from all its entries."""
        rows = self._rows(f"SELECT blob FROM entry WHERE snapshot = ? AND corpus = {IN_DEFAULT_CORPUS}", (snapshot,))
        norms = self._norms(blob for (blob,) in rows)
        self._db.execute("UPDATE snapshot SET norms = ? WHERE id = ?", (norms, snapshot))

    def _adjust_norms(self, snapshot: int, norms: bytearray, gone: set[int], paths: list[str]) -> None:
        """Change the stored `norms` of a snapshot for the removed blobs `gone` and the added or replaced `paths`."""
        for blob in gone:
            for (chunk,) in self._rows("SELECT chunk FROM place WHERE blob = ?", (blob,)):
                if chunk < len(norms) and not self._rows(
                    "SELECT 1 FROM place JOIN entry ON entry.blob = place.blob AND entry.snapshot = ?"
                    f" WHERE place.chunk = ? AND corpus = {IN_DEFAULT_CORPUS} LIMIT 1",
                    (snapshot, chunk),
                ):
                    norms[chunk] = 0
        for at in range(0, len(paths), VALUES_PER_QUERY):
            for chunk, length in self._rows(
                "SELECT place.chunk, length FROM entry JOIN place ON place.blob = entry.blob"
                f" JOIN chunk ON chunk.id = place.chunk WHERE entry.snapshot = ? AND corpus = {IN_DEFAULT_CORPUS}"
                " AND entry.path IN (SELECT value FROM carray(?))",
                (snapshot, apsw.carray(tuple(map(_stored, paths[at : at + VALUES_PER_QUERY])))),
            ):
                if chunk >= len(norms):
                    norms.extend(bytes(chunk + 1 - len(norms)))
                norms[chunk] = norm(length)
        self._db.execute("UPDATE snapshot SET norms = ? WHERE id = ?", (bytes(norms), snapshot))

    def sort_entries(self, key: str) -> None:
        """Write the entries of a snapshot again in path order; in any other order pages stay half empty."""
        with translated():
            rows = self._rows(
                "SELECT * FROM entry WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?) ORDER BY path", (key,)
            )
            if rows:
                self._db.execute("DELETE FROM entry WHERE snapshot = ?", (rows[0][0],))
                self._db.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", rows)
                self._db.execute("REINDEX entry_blob")

    def stamp(self, key: str, seen: int) -> None:
        """Set the time at which a snapshot was used, ns."""
        with translated():
            self._db.execute("UPDATE snapshot SET seen = ? WHERE key = ?", (seen, key))

    def evict(self, prefix: str, keep: int) -> None:
        """Delete the snapshots whose keys begin with `prefix`, except the `keep` last used. Their blobs stay."""
        with translated():
            old = self._rows(
                "SELECT id FROM snapshot WHERE substr(key, 1, length(?1)) = ?1 ORDER BY seen DESC, id DESC"
                " LIMIT -1 OFFSET ?2",
                (prefix, keep),
            )
            for (number,) in old:
                self._db.execute("DELETE FROM entry WHERE snapshot = ?", (number,))
                self._db.execute("DELETE FROM snapshot WHERE id = ?", (number,))

    def drop_snapshot(self, key: str) -> None:
        """Delete one snapshot, such as that of a removed work tree. Its blobs stay."""
        with translated():
            self._db.execute("DELETE FROM entry WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)", (key,))
            self._db.execute("DELETE FROM snapshot WHERE key = ?", (key,))

    def put_line_days(self, rows: Iterable[tuple[str, str, str, tuple[date, ...]]]) -> None:
        """Store blame dates, rows as from `line_days`. A row replaces the stored one of the same path and blob."""
        with translated():
            self._db.executemany(
                "INSERT OR REPLACE INTO line_day VALUES (?, ?, ?, ?)",
                [
                    (_stored(path), bytes.fromhex(oid), bytes.fromhex(at), pack_days(days))
                    for path, oid, at, days in rows
                ],
            )

    def cover(self, trees: Mapping[str, str]) -> None:
        """Record that all memory blobs of these trees are indexed: ref -> tree. Replaces the last record."""
        with translated():
            self._db.execute("DELETE FROM covered")
            self._db.executemany("INSERT INTO covered VALUES (?, ?)", list(trees.items()))


def _stored(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
