"""Reads the index for search, status and doctor: numbers, paths and oids only, never text of memory."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from gitmem.errors import IndexDamaged
from gitmem.index.db.schema import EMBEDDER_SHIFT, IN_DEFAULT_CORPUS, IN_FORCE, LENGTH_STEP, REBUILD
from gitmem.index.db.sqlite import drop_copy, extension, translated
from gitmem.index.db.values import PLACE_BITS, Place, Shape, Snapshot, bits, int8, unpack_days, unpack_shape
from gitmem.index.line_records import Packed, unpack
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.index.db.sign_table import Table

    Method = TypeVar("Method", bound=Callable[..., Any])


def stored(method: Method) -> Method:
    """Raise IndexDamaged if a method fails on a stored value: in a damaged file a value may be of any type."""

    @wraps(method)
    def read(*args: Any, **more: Any) -> Any:
        try:
            return method(*args, **more)
        except (TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
            raise IndexDamaged(Message("the index is damaged ({}).", type(error).__name__), REBUILD) from error

    return read  # type: ignore[return-value]


class ReaderCache:
    """Cached reads of an index that stays open, valid until somebody writes to it (`version` changes)."""

    def __init__(self) -> None:
        self.version: object = None
        self.neighbours: dict[tuple[str, int, int], list[tuple[int, int, int, int]]] = {}
        self.lines: dict[int, Packed] = {}
        self.shapes: dict[str, Shape] = {}
        self.signs: Table | None = None

    def use_version(self, version: object) -> None:
        """Empty the cache if it is of another version or too large."""
        if version != self.version or len(self.lines) > MAX_CACHED or len(self.shapes) > MAX_CACHED:
            self.__init__()  # type: ignore[misc]
            self.version = version


MAX_CACHED = 20_000  # chunks, or files, in a ReaderCache; about two kilobytes per chunk
# Chunks compared in an index that stays open, from which on all signs are kept in memory: by then SQLite took as long
# as the import of NumPy.
PAYS = 400_000
MAX_NAME_PAIRS = 5_000  # (file, word) pairs that are read to match words of a question with names of files
OVERFETCH = 10  # candidates of the binary scan for each vector wanted; they are rescored exactly
EQUALS = 2  # times as many candidates if more are as near as the last, so that the chunk's number does not decide


class Index:
    """An open index, for one thread. Readers and the writer never wait for each other."""

    def __init__(self, connection: apsw.Connection, path: Path, frozen: bool, copy: Path | None = None) -> None:
        self._db = connection
        self._copy = copy
        self._vectors = False  # whether sqlite-vec is loaded
        self._compared = 0  # chunks, in all searches by vector
        self._cache: ReaderCache | None = None
        self.path = path
        self.frozen = frozen

    def keep_reads(self) -> None:
        """Cache reads from now on, for an index that stays open."""
        self._cache = ReaderCache()

    def close(self) -> None:
        """Close the connection, and delete the private copy of the index if it was opened from one. SQLite merges the
        write-ahead log when the last connection closes."""
        with translated():
            self._db.close()
        drop_copy(self._copy)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Give all reads in the block one consistent state, whatever a writer does meanwhile."""
        with translated():
            self._db.execute("BEGIN")
        try:
            if self._cache is not None:
                with translated():
                    self._cache.use_version(self._db.pragma("data_version"))
            yield
        finally:
            with translated():
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with translated():
            return self._db.execute(sql, values).fetchall()

    # -- snapshots -------------------------------------------------------------------------------------------

    @stored
    def snapshot(self, key: str) -> Snapshot | None:
        """The snapshot with this key (`snapshot.tree_key`, `snapshot.work_tree_key`); None if it was never indexed."""
        rows = self._rows("SELECT id, norms FROM snapshot WHERE key = ?", (key,))
        if not rows:
            return None
        return Snapshot(rows[0][0], key, bytes(rows[0][1]))

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """The norms of the chunks at the paths that `keep` accepts, of the default corpus or of `everything`.

        `select(snapshot)` is `snapshot.norms` and costs nothing.
        """
        if keep is None and not everything:
            return snapshot.norms
        rows = self._blobs(snapshot.id, int(not everything))
        return self._norms([blob for path, blob in rows if keep is None or keep(path)])

    @stored
    def _blobs(self, snapshot: int, corpus: int) -> list[tuple[str, int]]:
        rows = self._rows("SELECT path, blob FROM entry WHERE snapshot = ? AND corpus >= ?", (snapshot, corpus))
        return [(_path(path), int(blob)) for path, blob in rows]

    @stored
    def entries(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of every indexed file of the snapshot, in path order."""
        rows = self._rows(
            "SELECT path, oid FROM entry JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = ? AND corpus >= 0 ORDER BY path",
            (snapshot.id,),
        )
        return [(_path(path), oid.hex()) for path, oid in rows]

    @stored
    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) -> those of `terms` that the file's name has, for files in the default corpus that have any; at
        most MAX_NAME_PAIRS pairs of a file and a term."""
        rows = self._rows(
            "SELECT entry.path, blob.oid, term FROM carray(?1) AS wanted CROSS JOIN name CROSS JOIN entry"
            " CROSS JOIN blob WHERE name.term = wanted.value AND entry.snapshot = ?2 AND entry.path = name.path"
            f" AND corpus = {IN_DEFAULT_CORPUS} AND blob.id = entry.blob LIMIT ?3",
            (apsw.carray(tuple(terms)), snapshot.id, MAX_NAME_PAIRS),
        )
        found: dict[tuple[str, str], set[str]] = {}
        for path, oid, term in rows:
            found.setdefault((_path(path), oid.hex()), set()).add(term)
        return {file: frozenset(words) for file, words in found.items()}

    @stored
    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot's default corpus, in path order."""
        rows = self._rows(
            "SELECT path, oid FROM entry JOIN blob ON blob.id = entry.blob"
            f" WHERE snapshot = ? AND corpus = {IN_DEFAULT_CORPUS}"
            " ORDER BY path",
            (snapshot.id,),
        )
        return [(_path(path), oid.hex()) for path, oid in rows]

    @stored
    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """The places of each chunk in the snapshot, in path order; more than one if a file was copied."""
        ids = array("q", chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in ids}
        if not ids:
            return places
        # With another order of the joins SQLite reads every path of the snapshot for each chunk.
        rows = self._rows(
            "SELECT place.chunk, entry.path, blob.oid, first, last, heading, ordinal, corpus FROM carray(?1) AS wanted"
            " CROSS JOIN place CROSS JOIN entry INDEXED BY entry_blob CROSS JOIN blob"
            " WHERE place.chunk = wanted.value AND entry.blob = place.blob AND entry.snapshot = ?2"
            " AND blob.id = place.blob AND corpus >= 0 ORDER BY entry.path, ordinal",
            (apsw.carray(ids), snapshot.id),
        )
        for chunk, path, oid, first, last, heading, ordinal, corpus in rows:
            places[chunk].append(Place(chunk, _path(path), oid.hex(), first, last, heading, ordinal, corpus > 0))
        return places

    @stored
    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """(chunk, first line, last line, line of its heading) of a blob's chunks at most `reach` from `ordinal`."""
        cached = (self._cache or ReaderCache()).neighbours
        rows = cached.get((oid, ordinal, reach))
        if rows is None:
            rows = cached[oid, ordinal, reach] = self._rows(
                "SELECT chunk, first, last, heading FROM place WHERE blob = (SELECT id FROM blob WHERE oid = ?)"
                " AND ordinal BETWEEN ? AND ? ORDER BY ordinal",
                (bytes.fromhex(oid), ordinal - reach, ordinal + reach),
            )
        return rows

    @stored
    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """oid -> shape, for those of `oids` that are indexed."""
        cached = (self._cache or ReaderCache()).shapes
        shapes = {}
        for oid in oids:
            if oid not in cached:
                rows = self._rows("SELECT shape FROM blob WHERE oid = ?", (bytes.fromhex(oid),))
                if not rows:
                    continue
                cached[oid] = unpack_shape(rows[0][0])
            shapes[oid] = cached[oid]
        return shapes

    @stored
    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """Stored blame dates of `files` (path, oid): (path, oid, commit of the blame, day of each line)."""
        days = []
        for path, oid in files:
            rows = self._rows(
                "SELECT at, runs FROM line_day WHERE path = ? AND oid = ?",
                (path.encode("utf-8", "surrogateescape"), bytes.fromhex(oid)),
            )
            days += [(path, oid, at.hex(), unpack_days(runs)) for at, runs in rows]
        return days

    @stored
    def secrets(self, oid: str) -> int:
        """The number of lines of a blob that are not indexed because of a secret."""
        rows = self._rows("SELECT secrets FROM blob WHERE oid = ?", (bytes.fromhex(oid),))
        if not rows:
            return 0
        return int(rows[0][0])

    @stored
    def withheld(self, snapshot: Snapshot) -> int:
        """The number of lines of the snapshot's default corpus that are not indexed because of a secret."""
        rows = self._rows(
            "SELECT coalesce(sum(secrets), 0) FROM entry JOIN blob ON blob.id = entry.blob"
            f" WHERE snapshot = ? AND corpus = {IN_DEFAULT_CORPUS}",
            (snapshot.id,),
        )
        return int(rows[0][0])

    @stored
    def scan(self, key: str) -> bytes | None:
        """The hash of the work tree's stat data when the snapshot was complete; b"" if it is not, None if unknown."""
        rows = self._rows("SELECT scan FROM snapshot WHERE key = ?", (key,))
        if not rows:
            return None
        return bytes(rows[0][0])

    @stored
    def recorded(self, key: str) -> dict[str, tuple[str, str, int]]:
        """path -> (stat, oid or "", corpus) of every entry of a snapshot, also of ignored files."""
        rows = self._rows(
            "SELECT path, stat, oid, corpus FROM entry LEFT JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)",
            (key,),
        )
        return {_path(path): (stat, oid.hex() if oid else "", corpus) for path, stat, oid, corpus in rows}

    @stored
    def file_stats(self, key: str) -> dict[str, tuple[str, int]]:
        """path -> (stat, corpus) of every entry of a snapshot, also of ignored files."""
        rows = self._rows(
            "SELECT path, stat, corpus FROM entry WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)", (key,)
        )
        return {path.decode("utf-8", "surrogateescape"): (stat, corpus) for path, stat, corpus in rows}

    @stored
    def covered(self) -> dict[str, str]:
        """ref -> its tree whose memory blobs are all indexed."""
        return dict(self._rows("SELECT ref, tree FROM covered"))

    @stored
    def counts(self) -> dict[str, int]:
        """The numbers of `blob`, `chunk`, `place`, `snapshot`, `vector` (of the embedder in force); `bytes` on disk."""
        counts = {
            name: int(self._rows(f"SELECT count(*) FROM {name}")[0][0])
            for name in ("blob", "chunk", "place", "snapshot")
        }
        counts["vector"] = 0
        for (number,) in self._rows(f"SELECT id FROM embedder WHERE in_force = {IN_FORCE}"):
            low, high = number << EMBEDDER_SHIFT, (number + 1) << EMBEDDER_SHIFT
            rows = self._rows("SELECT count(*) FROM code WHERE id >= ? AND id < ?", (low, high))
            counts["vector"] = int(rows[0][0])
        counts["bytes"] = sum(
            file.stat().st_size for suffix in ("", "-wal") if (file := Path(str(self.path) + suffix)).exists()
        )
        return counts

    @stored
    def oddities(self, key: str) -> list[tuple[str, int, int, str, int]]:
        """(path, lines with a secret, problems, why skipped, corpus) of the entries with any of these, in path order.

        `key`: of the snapshot. A `corpus` below 0 is one too: the file is not indexed.
        """
        rows = self._rows(
            "SELECT path, coalesce(secrets, 0), coalesce(problems, 0), coalesce(skipped, ''), corpus"
            " FROM entry LEFT JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)"
            " AND (corpus < 0 OR secrets > 0 OR problems > 0 OR skipped <> '') ORDER BY path",
            (key,),
        )
        return [(_path(path), secrets, problems, skipped, corpus) for path, secrets, problems, skipped, corpus in rows]

    # -- for doctor ------------------------------------------------------------------------------------------

    def integrity(self) -> str:
        """The first error of SQLite's own check of the file, cut to 200 characters; "" if there is none."""
        rows = self._rows("PRAGMA integrity_check(1)")
        if rows == [("ok",)]:
            return ""
        return str(rows[0][0])[:200]

    @stored
    def blob_row(self, oid: str) -> tuple[int, int, str, str, list[tuple[int, bytes, int, int, int, int]]] | None:
        """(bytes, secrets, skipped, shape, [(chunk, hash, length, first, last, heading)]); None if not indexed."""
        rows = self._rows("SELECT id, bytes, secrets, skipped, shape FROM blob WHERE oid = ?", (bytes.fromhex(oid),))
        if not rows:
            return None
        places = self._rows(
            "SELECT chunk, hash, length, first, last, heading FROM place JOIN chunk ON chunk.id = place.chunk"
            " WHERE blob = ? ORDER BY ordinal",
            (rows[0][0],),
        )
        return (*rows[0][1:], places)

    def all_postings(self) -> Iterator[tuple[str, int, str, int]]:
        """(word, chunk, column, position) of every occurrence in the index."""
        with translated():
            yield from self._db.execute("SELECT term, doc, col, offset FROM instance")

    @stored
    def stored_vector(self, chunk: int) -> tuple[bytes, bytes] | None:
        """(`bits`, `int8`) of a chunk's vector of the embedder in force; None if it has none."""
        rows = self._rows(
            "SELECT bits, value FROM embedder JOIN code ON code.id = (embedder.id << ?) + ?"
            f" JOIN vector ON vector.id = code.id WHERE in_force = {IN_FORCE}",
            (EMBEDDER_SHIFT, chunk),
        )
        if not rows:
            return None
        return (bytes(rows[0][0]), bytes(rows[0][1]))

    # -- snapshots and settings ------------------------------------------------------------------------------

    @stored
    def keys(self, prefix: str = "") -> list[str]:
        """The keys of all snapshots that begin with `prefix`."""
        return [key for (key,) in self._rows("SELECT key FROM snapshot") if key.startswith(prefix)]

    @stored
    def meta(self, key: str) -> str:
        """The value of a setting in the index; "" if there is none."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        if not rows:
            return ""
        return str(rows[0][0])

    # -- the lexical lane ------------------------------------------------------------------------------------

    @stored
    def frequency(self, term: str) -> int:
        """The number of chunks of the whole index with a word of `terms.terms`; no snapshot has more of them."""
        rows = self._rows("SELECT doc FROM vocabulary WHERE term = ?", (term,))
        if not rows:
            return 0
        return int(rows[0][0])

    def postings(self, term: str) -> list[tuple[int, str]]:
        """(chunk id, "heading" or "body") of each occurrence in the whole index, by ascending id.

        Filtered by norms, they give the document frequency and the term frequencies of a snapshot.
        """
        return self._rows("SELECT doc, col FROM instance WHERE term = ?", (term,))

    @stored
    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word as one number, by ascending chunk.

        The number is the chunk's id above the lowest `PLACE_BITS`, then the position of the word, then 1 bit: 1 in the
        heading. SQLite returns them as JSON, because that is read three times as fast as rows.
        """
        ((text,),) = self._rows(
            "SELECT json_group_array((doc << ?2) | (offset << 1) | (col = 'heading')) FROM instance WHERE term = ?1",
            (term, PLACE_BITS),
        )
        numbers: list[int] = json.loads(text)
        sum(numbers)  # raises TypeError if an element is not a number
        return numbers

    @stored
    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """Chunk -> its packed line records, for those of `chunks` that have any."""
        cached = (self._cache or ReaderCache()).lines
        wanted = set(chunks)
        ids = array("q", wanted - cached.keys())
        if ids:
            rows = self._rows(
                "SELECT chunk, record FROM line WHERE chunk IN (SELECT value FROM carray(?))", (apsw.carray(ids),)
            )
            for chunk, record in rows:
                cached[chunk] = unpack(record)
        return {chunk: cached[chunk] for chunk in wanted if chunk in cached}

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Word -> its `frequency`."""
        return {term: self.frequency(term) for term in terms}

    def expect(self, terms: Iterable[str]) -> None:
        """Does nothing: SQLite needs no round trip for a word."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """(word, number of chunks) of at most `limit` words that begin with `prefix`, in alphabetical order."""
        return self._rows(
            "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )

    # -- the vector lane -------------------------------------------------------------------------------------

    @stored
    def in_force(self) -> tuple[str, str] | None:
        """(name, spec) of the embedder whose vectors `nearest` compares; None if there is none.

        A question is embedded by `embedders.open_in_force(spec, config)`, if its `id` is that name.
        """
        rows = self._rows(f"SELECT name, spec FROM embedder WHERE in_force = {IN_FORCE}")
        if not rows:
            return None
        return (str(rows[0][0]), str(rows[0][1]))

    @stored
    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the k chunks of `norms` nearest to a vector (float32, little-endian), best first.

        A scan by the signs finds `OVERFETCH * k` chunks and those as near as the last; these are rescored by int8. A
        chunk without a word that the embedder knows (an emoji, a withheld secret) has a vector of zeros and is never
        returned. Empty if the vector is all zeros or has another length than those of the embedder in force.
        """
        low = self._first_vector(vector)
        if low is None:
            return []
        ids = array("q", self._scanned(low, bits(vector), norms, k * OVERFETCH))
        if not ids:
            return []
        rows = self._rows(
            "SELECT id - ?1, 1 - vec_distance_cosine(vec_int8(value), vec_int8(?2)) AS cosine FROM vector"
            " WHERE id IN (SELECT value FROM carray(?3)) ORDER BY cosine DESC, id LIMIT ?4",
            (low, int8(vector), apsw.carray(ids), k),
        )
        return [(chunk, cosine) for chunk, cosine in rows if cosine is not None]  # NULL: a vector of zeros

    @stored
    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Chunk -> its cosine with a vector (float32, little-endian), for those of `chunks` that have a vector.

        Empty if the vector is all zeros or has another length than those of the embedder in force.
        """
        low = self._first_vector(vector)
        if low is None:
            return {}
        ids = array("q", [low + chunk for chunk in chunks])
        if not ids:
            return {}
        rows = self._rows(
            "SELECT id - ?1, 1 - vec_distance_cosine(vec_int8(value), vec_int8(?2)) FROM vector"
            " WHERE id IN (SELECT value FROM carray(?3))",
            (low, int8(vector), apsw.carray(ids)),
        )
        return {chunk: cosine for chunk, cosine in rows if cosine is not None}

    def _scanned(self, low: int, signs: bytes, norms: bytes, count: int) -> list[int]:
        """Ids in `code` of the `count` chunks of `norms` whose signs differ least, and of those as near as the last.

        `low`: the id of chunk 0 of the embedder in force.
        """
        most = EQUALS * count
        table = self._sign_table(low, len(norms))
        if table is not None:
            from gitmem.index.db import sign_table

            return [low + chunk for chunk in sign_table.nearest(table, signs, norms, count, most)]
        scan = (
            "SELECT id, vec_distance_hamming(vec_bit(bits), vec_bit(?3)) AS apart FROM code"
            " WHERE id >= ?1 AND id < ?2 {}ORDER BY apart, id LIMIT ?4"
        )
        outside = norms.count(0, 1)  # no chunk has the number 0
        inside = len(norms) - 1 - outside
        if outside * 4 < inside:
            # The lookup of a chunk in `norms` costs as much as its comparison: scan all, fetch more, drop the others.
            more = 0
            if outside:
                more = count * outside // inside * 2 + 64
            nearest = self._rows(scan.format(""), (low, low + len(norms), signs, most + more))
            kept = [row for row in nearest if norms[row[0] - low]]
            if len(kept) >= most or len(nearest) < most + more:
                return _nearest(kept[:most], count)
        inside_only = "AND substr(?5, id - ?1 + 1, 1) > x'00' "
        return _nearest(self._rows(scan.format(inside_only), (low, low + len(norms), signs, most, norms)), count)

    def _sign_table(self, low: int, end: int) -> Table | None:
        """The signs of all chunks below `end`, in memory.

        None if the index does not stay open, if fewer than PAYS chunks were compared so far, or without NumPy 2.
        """
        cache = self._cache
        self._compared += end
        if cache is None or self._compared < PAYS:
            return None
        if cache.signs is None:
            try:
                from gitmem.index.db.sign_table import table_of
            except ImportError:
                self._compared = -1000 * PAYS  # no more tries to import NumPy for a long time
                return None
            rows = self._rows("SELECT id - ?1, bits FROM code WHERE id >= ?1 AND id < ?1 + ?2 ORDER BY id", (low, end))
            cache.signs = table_of(rows)
        return cache.signs

    def _first_vector(self, vector: bytes) -> int | None:
        """The id of chunk 0 of the embedder in force; None if `vector` is all zeros or has another length.

        Loads sqlite-vec.
        """
        rows = self._rows(f"SELECT id, dims FROM embedder WHERE in_force = {IN_FORCE}")
        if not rows or len(vector) != 4 * rows[0][1] or not any(vector):
            return None
        if not self._vectors:
            with translated():
                self._db.enable_load_extension(True)
                try:
                    self._db.load_extension(extension())
                finally:
                    self._db.enable_load_extension(False)
            self._vectors = True
        return int(rows[0][0]) << EMBEDDER_SHIFT

    @stored
    def _norms(self, blobs: Iterable[int]) -> bytes:
        """The norms of the chunks of these blobs (row ids)."""
        ids = array("q", set(blobs))
        norms = bytearray(1 + int(self._rows("SELECT coalesce(max(id), 0) FROM chunk")[0][0]))
        if ids:
            for chunk, length in self._rows(
                "SELECT chunk, min(255, max(0, length) / ? + 1) FROM place JOIN chunk ON chunk.id = place.chunk"
                " WHERE blob IN (SELECT value FROM carray(?))",
                (LENGTH_STEP, apsw.carray(ids)),
            ):
                norms[chunk] = length  # as `norm` says
        return bytes(norms)


def _path(stored: bytes) -> str:
    """The path of its stored bytes, which need not be UTF-8."""
    return stored.decode("utf-8", "surrogateescape")


def _nearest(rows: Sequence[tuple[int, int]], count: int) -> list[int]:
    """The ids of the first `count` rows and of every other row with the distance of the last of them.

    `rows`: (id, distance), ordered by distance.
    """
    if len(rows) <= count:
        return [number for number, _ in rows]
    farthest = rows[count - 1][1]
    return [number for number, distance in rows if distance <= farthest]
