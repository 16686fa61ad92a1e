"""What a search reads from the index: numbers, paths and oids only, never text of memory. An `index/store.IndexReader`.

`snapshots` and `inspection` have the reads of the indexer, of status and of doctor.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from gitmem.errors import IndexDamaged
from gitmem.index.db import sign_scan, values
from gitmem.index.db.schema import REBUILD
from gitmem.index.db.sqlite import Database, drop_copy, load_vector_functions, translated
from gitmem.index.line_records import Packed, unpack
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.index.db.sign_table import Table

    Read = TypeVar("Read", bound=Callable[..., Any])

MAX_CACHED = 20_000  # chunks, or files, in a ReaderCache; about two kilobytes per chunk
# Chunks compared in an index that stays open, from which on all signs are kept in memory: by then SQLite took as long
# as the import of NumPy.
MIN_COMPARED_FOR_TABLE = 400_000
MAX_NAME_PAIRS = 5_000  # (file, word) pairs that are read to match words of a question with names of files
OVERFETCH = 10  # candidates of the scan by signs for each vector wanted; they are rescored exactly
COSINE = "1 - vec_distance_cosine(vec_int8(value), vec_int8(?2))"  # NULL for a vector of zeros


def detects_damage(read: Read) -> Read:
    """A decorator: `read` raises IndexDamaged if it fails on a stored value. In a damaged file a value may be of any
    type."""

    @wraps(read)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            return read(*args, **options)
        except (TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
            raise IndexDamaged(Message("the index is damaged ({}).", type(error).__name__), REBUILD) from error

    return checked  # type: ignore[return-value]


class ReaderCache:
    """Cached reads of an index that stays open, valid until somebody writes to it.

    `version`: SQLite's `data_version`, None before the first read.
    """

    def __init__(self, version: int | None = None) -> None:
        self.version = version
        self.neighbours: dict[tuple[str, int, int], list[tuple[int, int, int, int]]] = {}
        self.lines: dict[int, Packed] = {}
        self.shapes: dict[str, values.Shape] = {}
        self.signs: Table | None = None

    def is_full(self) -> bool:
        """Whether the cache must be emptied to save memory."""
        return len(self.lines) > MAX_CACHED or len(self.shapes) > MAX_CACHED


class Index:
    """An open index, for one thread. Readers and the writer never wait for each other. `frozen`: nothing can be
    written, and the file is read as it is."""

    def __init__(self, connection: apsw.Connection, path: Path, frozen: bool, copy: Path | None = None) -> None:
        self.database = Database(connection)
        self.path = path
        self.frozen = frozen
        self._copy = copy
        self._compares_vectors = False  # whether sqlite-vec is loaded
        self._compared = 0  # chunks, in all searches by vector
        self._cache: ReaderCache | None = None

    def keep_reads(self) -> None:
        """Cache what is read from now on, for an index that stays open. `reading` empties the cache after a write of
        somebody."""
        self._cache = ReaderCache()

    def close(self) -> None:
        """Close the connection, and delete the private copy of the index if it was opened from one. SQLite merges the
        write-ahead log when the last connection closes."""
        with translated():
            self.database.connection.close()
        drop_copy(self._copy)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Give all reads in the `with` block one consistent state of the index, whatever a writer does meanwhile. The
        block must not be inside another transaction."""
        self.database.execute_alone("BEGIN")
        try:
            if self._cache is not None:
                version = self.database.pragma("data_version")
                if version != self._cache.version or self._cache.is_full():
                    self._cache = ReaderCache(version)
            yield
        finally:
            self.database.rollback()

    @detects_damage
    def meta(self, key: str) -> str:
        """The value of a setting that the index stores, such as the size of chunks; "" if there is none."""
        return str(self.database.value("SELECT value FROM meta WHERE key = ?", key) or "")

    # -- snapshots and their files ---------------------------------------------------------------------------

    @detects_damage
    def snapshot(self, key: str) -> values.Snapshot | None:
        """The snapshot (set of files) with this key of `snapshot.tree_key` or `snapshot.work_tree_key`; None if it was
        never indexed."""
        row = self.database.row("SELECT id, norms FROM snapshot WHERE key = ?", key)
        return values.Snapshot(row[0], key, bytes(row[1])) if row is not None else None

    @detects_damage
    def scan(self, key: str) -> bytes | None:
        """The hash of the work tree's stat data that is stored with a complete snapshot; b"" if not all its files are
        indexed, None if there is no such snapshot."""
        scan = self.database.value("SELECT scan FROM snapshot WHERE key = ?", key)
        return bytes(scan) if scan is not None else None

    def select(
        self, snapshot: values.Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """The norms of a part of a snapshot: a byte for each chunk id, above 0 for the chunks that shall be searched.

        `keep`: only files whose path it accepts; None for all. Without `everything` only files of the default corpus
        count, with it also those that are searched only if --path names them. `select(snapshot)` is `snapshot.norms`
        and costs nothing.
        """
        if keep is None and not everything:
            return snapshot.norms
        rows = self._blobs(snapshot.id, int(not everything))
        return norms_of_blobs(self.database, [blob for path, blob in rows if keep is None or keep(path)])

    @detects_damage
    def _blobs(self, snapshot: int, corpus: int) -> list[tuple[str, int]]:
        """(path, number of the blob) of the entries whose corpus is at least `corpus`."""
        sql = "SELECT path, blob FROM entry WHERE snapshot = ? AND corpus >= ?"
        return [(values.unpack_path(path), int(blob)) for path, blob in self.database.rows(sql, snapshot, corpus)]

    @detects_damage
    def files(self, snapshot: values.Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot's default corpus, in path order."""
        rows = self.database.rows(
            f"""
            SELECT path, oid FROM entry JOIN blob ON blob.id = entry.blob
            WHERE snapshot = ? AND corpus = {values.IN_DEFAULT_CORPUS} ORDER BY path
            """,
            snapshot.id,
        )
        return [(values.unpack_path(path), oid.hex()) for path, oid in rows]

    @detects_damage
    def named(self, snapshot: values.Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) -> those of `terms` that are words of the file's name, for files of the default corpus that have
        any; at most MAX_NAME_PAIRS pairs of a file and a term."""
        rows = self.database.rows(
            f"""
            SELECT entry.path, blob.oid, term
            FROM carray(?1) AS wanted CROSS JOIN name CROSS JOIN entry CROSS JOIN blob
            WHERE name.term = wanted.value AND entry.snapshot = ?2 AND entry.path = name.path
                AND corpus = {values.IN_DEFAULT_CORPUS} AND blob.id = entry.blob
            LIMIT {MAX_NAME_PAIRS}
            """,
            apsw.carray(tuple(terms)),
            snapshot.id,
        )
        words_by_file: dict[tuple[str, str], set[str]] = {}
        for path, oid, term in rows:
            words_by_file.setdefault((values.unpack_path(path), oid.hex()), set()).add(term)
        return {file: frozenset(words) for file, words in words_by_file.items()}

    @detects_damage
    def withheld(self, snapshot: values.Snapshot) -> int:
        """The number of lines of the snapshot's default corpus that are not indexed because of a secret."""
        lines = self.database.value(
            f"""
            SELECT coalesce(sum(secrets), 0) FROM entry JOIN blob ON blob.id = entry.blob
            WHERE snapshot = ? AND corpus = {values.IN_DEFAULT_CORPUS}
            """,
            snapshot.id,
        )
        return int(lines)

    @detects_damage
    def secrets(self, oid: str) -> int:
        """The number of lines of a blob that are not indexed because of a secret; 0 if the blob is not indexed."""
        return int(self.database.value("SELECT secrets FROM blob WHERE oid = ?", bytes.fromhex(oid)) or 0)

    @detects_damage
    def shapes(self, oids: Iterable[str]) -> dict[str, values.Shape]:
        """oid -> its structure (headings, fences, tables, front matter), for those of `oids` that are indexed."""
        cached = (self._cache or ReaderCache()).shapes
        shapes = {}
        for oid in oids:
            if oid not in cached:
                shape = self.database.value("SELECT shape FROM blob WHERE oid = ?", bytes.fromhex(oid))
                if shape is None:
                    continue
                cached[oid] = values.unpack_shape(shape)
            shapes[oid] = cached[oid]
        return shapes

    @detects_damage
    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """The stored blame dates of those of `files`, (path, oid), that have any: (path, oid, commit that was blamed,
        day of each line)."""
        sql = "SELECT at, runs FROM line_day WHERE path = ? AND oid = ?"
        days = []
        for path, oid in files:
            rows = self.database.rows(sql, values.pack_path(path), bytes.fromhex(oid))
            days += [(path, oid, commit.hex(), values.unpack_days(runs)) for commit, runs in rows]
        return days

    # -- chunks ----------------------------------------------------------------------------------------------

    @detects_damage
    def places(self, snapshot: values.Snapshot, chunks: Iterable[int]) -> dict[int, list[values.Place]]:
        """Chunk id -> its places in the snapshot, in path order: more than one if a file was copied, [] if the snapshot
        lacks the chunk."""
        ids = array("q", chunks)
        places: dict[int, list[values.Place]] = {chunk: [] for chunk in ids}
        if not ids:
            return places
        # With another order of the joins SQLite reads every path of the snapshot for each chunk.
        rows = self.database.rows(
            """
            SELECT place.chunk, entry.path, blob.oid, first, last, heading, ordinal, corpus
            FROM carray(?1) AS wanted CROSS JOIN place CROSS JOIN entry INDEXED BY entry_blob CROSS JOIN blob
            WHERE place.chunk = wanted.value AND entry.blob = place.blob AND entry.snapshot = ?2
                AND blob.id = place.blob AND corpus >= 0
            ORDER BY entry.path, ordinal
            """,
            apsw.carray(ids),
            snapshot.id,
        )
        for chunk, path, oid, first, last, heading, ordinal, corpus in rows:
            place = values.Place(chunk, values.unpack_path(path), oid.hex(), first, last, heading, ordinal, corpus > 0)
            places[chunk].append(place)
        return places

    @detects_damage
    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """The chunks around the chunk number `ordinal` (from 0) of a blob, and that chunk, in order: (chunk id, first
        line, last line, line of its heading or 0). `reach`: how many on each side. [] for a blob that is not
        indexed."""
        cached = (self._cache or ReaderCache()).neighbours
        rows = cached.get((oid, ordinal, reach))
        if rows is None:
            rows = cached[oid, ordinal, reach] = self.database.rows(
                """
                SELECT chunk, first, last, heading FROM place
                WHERE blob = (SELECT id FROM blob WHERE oid = ?) AND ordinal BETWEEN ? AND ? ORDER BY ordinal
                """,
                bytes.fromhex(oid),
                ordinal - reach,
                ordinal + reach,
            )
        return rows

    @detects_damage
    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """Chunk id -> its line records (`line_records.Packed`), for those of `chunks` that have any."""
        cached = (self._cache or ReaderCache()).lines
        chunk_ids = set(chunks)
        sql = "SELECT chunk, record FROM line WHERE chunk IN (SELECT value FROM carray(?1))"
        for chunk, record in self.database.rows_among(sql, array("q", chunk_ids - cached.keys())):
            cached[chunk] = unpack(record)
        return {chunk: cached[chunk] for chunk in chunk_ids if chunk in cached}

    # -- words -----------------------------------------------------------------------------------------------

    @detects_damage
    def frequency(self, term: str) -> int:
        """The number of chunks of the whole index that contain a word, spelled as by `terms.terms`. A snapshot may have
        fewer of them, never more."""
        return int(self.database.value("SELECT doc FROM vocabulary WHERE term = ?", term) or 0)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Word -> the number of chunks of the whole index that contain it; 0 for an unknown word."""
        return {term: self.frequency(term) for term in terms}

    def expect(self, terms: Iterable[str]) -> None:
        """Does nothing. Only an index on a server fetches the words ahead, to save round trips."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """The first `limit` words of the index that begin with `prefix`, in order of code points: (word, number of
        chunks of the whole index that contain it). `prefix` is compared as it is: words of the index are in lower
        case."""
        sql = "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?"
        return self.database.rows(sql, prefix, prefix + "\U0010ffff", limit)

    def postings(self, term: str) -> list[tuple[int, str]]:
        """(chunk id, "heading" or "body") of each occurrence of a word in the whole index, by ascending id.

        Filtered by norms, the occurrences give the document frequency and the term frequencies of a snapshot.
        """
        return self.database.rows("SELECT doc, col FROM instance WHERE term = ?", term)

    @detects_damage
    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word as one number, by ascending chunk.

        The number is the chunk's id above the lowest `PLACE_BITS`, then the position of the word, then 1 bit: 1 in the
        heading. SQLite returns them as JSON, because that is read three times as fast as rows.
        """
        text = self.database.value(
            "SELECT json_group_array((doc << ?2) | (offset << 1) | (col = 'heading')) FROM instance WHERE term = ?1",
            term,
            values.PLACE_BITS,
        )
        numbers: list[int] = json.loads(text)
        sum(numbers)  # raises TypeError if an element is not a number
        return numbers

    # -- vectors ---------------------------------------------------------------------------------------------

    @detects_damage
    def in_force(self) -> values.InForce | None:
        """The embedder whose vectors `nearest` compares; None if there is none.

        A question is embedded by `embedding.open_embedder_of_index(spec, config)`, if its `id` is that name.
        """
        row = self.database.row(f"SELECT name, spec FROM embedder WHERE in_force = {values.IN_FORCE}")
        if row is None:
            return None
        return values.InForce(str(row[0]), str(row[1]))

    @detects_damage
    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the k chunks nearest to a vector (float32, little-endian), best first.

        `norms`: a byte for each chunk id; only chunks where it is above 0 count. A scan by the signs finds `OVERFETCH *
        k` chunks and those as near as the last; these are rescored by int8. A chunk without a word that the embedder
        knows (an emoji, a withheld secret) has a vector of zeros and is never returned. [] if the vector is all zeros
        or has another length than those of the embedder in force.
        """
        first_id = self._first_vector(vector)
        if first_id is None:
            return []
        chunks = self._nearest_by_signs(first_id, values.bits(vector), norms, k * OVERFETCH)
        ids = array("q", [first_id + chunk for chunk in chunks])
        if not ids:
            return []
        rows = self.database.rows(
            f"""
            SELECT id - ?3, {COSINE} AS cosine FROM vector
            WHERE id IN (SELECT value FROM carray(?1)) ORDER BY cosine DESC, id LIMIT ?4
            """,
            apsw.carray(ids),
            values.int8(vector),
            first_id,
            k,
        )
        return [(chunk, cosine) for chunk, cosine in rows if cosine is not None]

    @detects_damage
    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Chunk id -> cosine of its vector with `vector` (float32, little-endian), for those of `chunks` that have a
        vector.

        Empty if the vector is all zeros or has another length than those of the embedder in force.
        """
        first_id = self._first_vector(vector)
        if first_id is None:
            return {}
        sql = f"SELECT id - ?3, {COSINE} FROM vector WHERE id IN (SELECT value FROM carray(?1))"
        ids = array("q", [first_id + chunk for chunk in chunks])
        rows = self.database.rows_among(sql, ids, values.int8(vector), first_id)
        return {chunk: cosine for chunk, cosine in rows if cosine is not None}

    def _first_vector(self, vector: bytes) -> int | None:
        """The id of chunk 0 of the embedder in force; None if `vector` is all zeros or has another length.

        Loads sqlite-vec.
        """
        row = self.database.row(f"SELECT id, dims FROM embedder WHERE in_force = {values.IN_FORCE}")
        if row is None or len(vector) != 4 * row[1] or not any(vector):
            return None
        if not self._compares_vectors:
            load_vector_functions(self.database)
            self._compares_vectors = True
        return values.vector_id(int(row[0]), 0)

    def _nearest_by_signs(self, first_id: int, signs: bytes, norms: bytes, count: int) -> list[int]:
        """The `count` chunks of `norms` whose signs differ least from `signs`, and those as near as the last.

        `first_id`: the id of chunk 0 of the embedder in force.
        """
        table = self._sign_table(first_id, len(norms))
        if table is None:
            return sign_scan.nearest(self.database, first_id, signs, norms, count)
        from gitmem.index.db import sign_table

        return sign_table.nearest(table, signs, norms, count, sign_scan.TIE_FACTOR * count)

    def _sign_table(self, first_id: int, end: int) -> Table | None:
        """The signs of all chunks below `end`, in memory.

        None if the index does not stay open, after fewer than MIN_COMPARED_FOR_TABLE compared chunks, and without
        NumPy 2.
        """
        cache = self._cache
        self._compared += end
        if cache is None or self._compared < MIN_COMPARED_FOR_TABLE:
            return None
        if cache.signs is None:
            try:
                from gitmem.index.db.sign_table import table_of
            except ImportError:
                self._compared = -1000 * MIN_COMPARED_FOR_TABLE  # no more tries to import NumPy for a long time
                return None
            sql = "SELECT id - ?1, bits FROM code WHERE id >= ?1 AND id < ?1 + ?2 ORDER BY id"
            cache.signs = table_of(self.database.rows(sql, first_id, end))
        return cache.signs


@detects_damage
def norms_of_blobs(database: Database, blobs: Iterable[int]) -> bytes:
    """A byte for each chunk id of the index: above 0 for the chunks of these blobs (numbers of rows, no oids), where it
    gives the chunk's length (`values.norm`); else 0."""
    norms = bytearray(1 + int(database.value("SELECT coalesce(max(id), 0) FROM chunk")))
    # The norm is that of `values.norm`.
    sql = f"""
        SELECT chunk, min(255, max(0, length) / {values.LENGTH_STEP} + 1)
        FROM place JOIN chunk ON chunk.id = place.chunk
        WHERE blob IN (SELECT value FROM carray(?1))
    """
    for chunk, norm in database.rows_among(sql, array("q", set(blobs))):
        norms[chunk] = norm
    return bytes(norms)
