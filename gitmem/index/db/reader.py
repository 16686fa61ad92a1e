"""What search and status read from the index. Numbers, paths and oids only: no text of memory comes from here."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import wraps
from pathlib import Path

import apsw

from gitmem.errors import IndexDamaged
from gitmem.index.db.schema import EMBEDDER_SHIFT, LENGTH_STEP
from gitmem.index.db.sqlite import REBUILD, drop_copy, extension, translated
from gitmem.index.db.values import PLACE_BITS, Place, Shape, Snapshot, bits, int8, unpack_days, unpack_shape
from gitmem.index.line_records import Packed, unpack
from gitmem.light_typing import TYPE_CHECKING
from gitmem.messages import Message

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from gitmem.index.db.sign_table import Table

    Method = TypeVar("Method", bound=Callable[..., Any])


def stored(method: Method) -> Method:
    """What a method reads may be anything a damaged file makes of it: a value of another kind is damage."""

    @wraps(method)
    def read(*args: Any, **more: Any) -> Any:
        try:
            return method(*args, **more)
        except (TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
            raise IndexDamaged(Message("the index is damaged ({}).", type(error).__name__), REBUILD) from error

    return read  # type: ignore[return-value]


class ReaderCache:
    """What was read of an index that stays open, for as long as nobody writes to it (`version`)."""

    def __init__(self) -> None:
        self.version: object = None
        self.neighbours: dict[tuple[str, int, int], list[tuple[int, int, int, int]]] = {}
        self.lines: dict[int, Packed] = {}
        self.shapes: dict[str, Shape] = {}
        self.signs: Table | None = None

    def ensure_of(self, version: object) -> None:
        """Forget what was read at another version, and all when it is much."""
        if version != self.version or len(self.lines) > REMEMBERED or len(self.shapes) > REMEMBERED:
            self.__init__()  # type: ignore[misc]
            self.version = version


REMEMBERED = 20_000  # chunks, or files, that are remembered of an index: of a chunk some two kilobytes
PAYS = 400_000  # chunks compared in an index that stays open, from which its signs are kept: SQLite took NumPy's import
MAX_NAME_PAIRS = 5_000  # (file, word) pairs that are looked at where words of a question stand in names of files
OVERFETCH = 10  # candidates of the binary scan for each vector asked for, rescored exactly
EQUALS = 2  # times as many where others are as near as the last: it is not for a chunk's number to say which counts


class Index:
    """An open index; for one thread. Readers never wait for a writer nor it for them."""

    def __init__(self, connection: apsw.Connection, path: Path, frozen: bool, copy: Path | None = None) -> None:
        self._db = connection
        self._copy = copy
        self._vectors = False
        self._compared = 0
        self._remembered: ReaderCache | None = None
        self.path = path
        self.frozen = frozen

    def remember(self) -> None:
        """Keep what searches read, from now on: for an index that stays open."""
        self._remembered = ReaderCache()

    def close(self) -> None:
        """Close; SQLite folds the write-ahead log in when the last connection goes."""
        with translated():
            self._db.close()
        drop_copy(self._copy)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state for several reads, whatever a writer does meanwhile."""
        with translated():
            self._db.execute("BEGIN")
        try:
            if self._remembered is not None:
                with translated():
                    self._remembered.ensure_of(self._db.pragma("data_version"))
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
        """The snapshot of that key (`snapshot.tree_key`, `snapshot.work_tree_key`); None where never indexed."""
        rows = self._rows("SELECT id, norms FROM snapshot WHERE key = ?", (key,))
        if not rows:
            return None
        return Snapshot(rows[0][0], key, bytes(rows[0][1]))

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """Norms of the chunks at the paths `keep` accepts; in the default corpus only, unless `everything`.

        `select(snapshot)` is `snapshot.norms` and costs nothing.
        """
        if keep is None and not everything:
            return snapshot.norms
        rows = self._blobs(snapshot.id, 0 if everything else 1)
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
        """(path, oid) of each file of the snapshot, in the default corpus, whose name has some of these words, with
        these."""
        rows = self._rows(
            "SELECT entry.path, blob.oid, term FROM carray(?1) AS wanted CROSS JOIN name CROSS JOIN entry"
            " CROSS JOIN blob WHERE name.term = wanted.value AND entry.snapshot = ?2 AND entry.path = name.path"
            " AND corpus = 1 AND blob.id = entry.blob LIMIT ?3",
            (apsw.carray(tuple(terms)), snapshot.id, MAX_NAME_PAIRS),
        )
        found: dict[tuple[str, str], set[str]] = {}
        for path, oid, term in rows:
            found.setdefault((_path(path), oid.hex()), set()).add(term)
        return {file: frozenset(words) for file, words in found.items()}

    @stored
    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot in the default corpus, in path order."""
        rows = self._rows(
            "SELECT path, oid FROM entry JOIN blob ON blob.id = entry.blob WHERE snapshot = ? AND corpus = 1"
            " ORDER BY path",
            (snapshot.id,),
        )
        return [(_path(path), oid.hex()) for path, oid in rows]

    @stored
    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """Where each of these chunks stands in the snapshot, in path order (a copied file gives more than one)."""
        ids = array("q", chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in ids}
        if not ids:
            return places
        # In this order and by this index: the other way round it reads every path of the snapshot for each chunk.
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
        """(chunk, first line, last line, line of its heading) of the chunks around one, within a blob, in order."""
        if self._remembered is not None:
            known = self._remembered.neighbours
        else:
            known = {}
        rows = known.get((oid, ordinal, reach))
        if rows is None:
            rows = known[oid, ordinal, reach] = self._rows(
                "SELECT chunk, first, last, heading FROM place WHERE blob = (SELECT id FROM blob WHERE oid = ?)"
                " AND ordinal BETWEEN ? AND ? ORDER BY ordinal",
                (bytes.fromhex(oid), ordinal - reach, ordinal + reach),
            )
        return rows

    @stored
    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """The shape of each of these blobs that is indexed."""
        if self._remembered is not None:
            known = self._remembered.shapes
        else:
            known = {}
        shapes = {}
        for oid in oids:
            if oid not in known:
                rows = self._rows("SELECT shape FROM blob WHERE oid = ?", (bytes.fromhex(oid),))
                if not rows:
                    continue
                known[oid] = unpack_shape(rows[0][0])
            shapes[oid] = known[oid]
        return shapes

    @stored
    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """(path, oid, commit, the day of each line as of it) of those of these (path, oid) of which it is kept."""
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
        """How many lines of a blob were left out for a secret."""
        rows = self._rows("SELECT secrets FROM blob WHERE oid = ?", (bytes.fromhex(oid),))
        if not rows:
            return 0
        return int(rows[0][0])

    @stored
    def withheld(self, snapshot: Snapshot) -> int:
        """How many lines of the files of the snapshot, in the default corpus, were left out for a secret."""
        rows = self._rows(
            "SELECT coalesce(sum(secrets), 0) FROM entry JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = ? AND corpus = 1",
            (snapshot.id,),
        )
        return int(rows[0][0])

    @stored
    def scan(self, key: str) -> bytes | None:
        """The hash of the stat data at which a work tree's snapshot was complete; None for an unknown key."""
        rows = self._rows("SELECT scan FROM snapshot WHERE key = ?", (key,))
        if not rows:
            return None
        return bytes(rows[0][0])

    @stored
    def recorded(self, key: str) -> dict[str, tuple[str, str, int]]:
        """path -> (stat, oid or "", corpus) of every entry of a snapshot, ignored files too."""
        rows = self._rows(
            "SELECT path, stat, oid, corpus FROM entry LEFT JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)",
            (key,),
        )
        return {_path(path): (stat, oid.hex() if oid else "", corpus) for path, stat, oid, corpus in rows}

    @stored
    def file_stats(self, key: str) -> dict[str, tuple[str, int]]:
        """path -> (stat, corpus) of every entry of a snapshot, ignored files too."""
        rows = self._rows(
            "SELECT path, stat, corpus FROM entry WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)", (key,)
        )
        return {path.decode("utf-8", "surrogateescape"): (stat, corpus) for path, stat, corpus in rows}

    @stored
    def covered(self) -> dict[str, str]:
        """ref -> the tree at which everything of it was indexed."""
        return dict(self._rows("SELECT ref, tree FROM covered"))

    @stored
    def counts(self) -> dict[str, int]:
        """How many blobs, chunks, places, vectors (of the embedder in force), snapshots; bytes of the file."""
        counts = {
            name: int(self._rows(f"SELECT count(*) FROM {name}")[0][0])
            for name in ("blob", "chunk", "place", "snapshot")
        }
        rows = self._rows("SELECT id FROM embedder WHERE in_force = 1")
        low = 0
        if rows:
            low = rows[0][0] << EMBEDDER_SHIFT
        high = low + (1 << EMBEDDER_SHIFT)
        between = "SELECT count(*) FROM code WHERE id >= ? AND id < ?"
        if rows:
            counts["vector"] = int(self._rows(between, (low, high))[0][0])
        else:
            counts["vector"] = 0
        counts["bytes"] = sum(
            file.stat().st_size for suffix in ("", "-wal") if (file := Path(str(self.path) + suffix)).exists()
        )
        return counts

    @stored
    def oddities(self, key: str) -> list[tuple[str, int, int, str, int]]:
        """(path, lines left out for a secret, problems, why skipped, corpus) of entries with any, in path order."""
        rows = self._rows(
            "SELECT path, coalesce(secrets, 0), coalesce(problems, 0), coalesce(skipped, ''), corpus"
            " FROM entry LEFT JOIN blob ON blob.id = entry.blob"
            " WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)"
            " AND (corpus < 0 OR secrets > 0 OR problems > 0 OR skipped <> '') ORDER BY path",
            (key,),
        )
        return [(_path(path), secrets, problems, skipped, corpus) for path, secrets, problems, skipped, corpus in rows]

    # -- what doctor compares --------------------------------------------------------------------------------

    def integrity(self) -> str:
        """SQLite's own checks of the file: "" or the first complaint."""
        rows = self._rows("PRAGMA integrity_check(1)")
        if rows == [("ok",)]:
            return ""
        return str(rows[0][0])[:200]

    @stored
    def blob_row(self, oid: str) -> tuple[int, int, str, str, list[tuple[int, bytes, int, int, int, int]]] | None:
        """(bytes, secrets, skipped, shape, [(chunk, hash, length, first, last, heading)]) as stored."""
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
        """(word, chunk, column, position) of everything in `words`."""
        with translated():
            yield from self._db.execute("SELECT term, doc, col, offset FROM instance")

    @stored
    def stored_vector(self, chunk: int) -> tuple[bytes, bytes] | None:
        """(bits, int8) of a chunk by the embedder in force."""
        rows = self._rows(
            "SELECT bits, value FROM embedder JOIN code ON code.id = (embedder.id << ?) + ?"
            " JOIN vector ON vector.id = code.id WHERE in_force = 1",
            (EMBEDDER_SHIFT, chunk),
        )
        if not rows:
            return None
        return (bytes(rows[0][0]), bytes(rows[0][1]))

    # -- snapshots, as recorded ------------------------------------------------------------------------------

    @stored
    def keys(self, prefix: str = "") -> list[str]:
        """The keys of the recorded snapshots."""
        return [key for (key,) in self._rows("SELECT key FROM snapshot") if key.startswith(prefix)]

    @stored
    def meta(self, key: str) -> str:
        """A recorded setting, "" where there is none."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        if not rows:
            return ""
        return str(rows[0][0])

    # -- the lexical lane ------------------------------------------------------------------------------------

    @stored
    def frequency(self, term: str) -> int:
        """In how many chunks of the whole index a word of `terms.terms` occurs: no snapshot has more."""
        rows = self._rows("SELECT doc FROM vocabulary WHERE term = ?", (term,))
        if not rows:
            return 0
        return int(rows[0][0])

    def postings(self, term: str) -> list[tuple[int, str]]:
        """(chunk id, "heading" or "body") once for each occurrence, by ascending id, in the whole index.

        What is left after filtering by norms gives this snapshot's document and term frequencies.
        """
        return self._rows("SELECT doc, col FROM instance WHERE term = ?", (term,))

    @stored
    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word, by ascending chunk, each as one number: the chunk's id above `PLACE_BITS`, then
        the word's position, then a bit that is 1 in the heading. As JSON, which is read thrice as fast as rows."""
        ((text,),) = self._rows(
            "SELECT json_group_array((doc << ?2) | (offset << 1) | (col = 'heading')) FROM instance WHERE term = ?1",
            (term, PLACE_BITS),
        )
        numbers: list[int] = json.loads(text)
        sum(numbers)  # raises for what is no number
        return numbers

    @stored
    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """What is kept of the lines of each of these chunks that has any."""
        if self._remembered is not None:
            known = self._remembered.lines
        else:
            known = {}
        wanted = set(chunks)
        ids = array("q", wanted - known.keys())
        if ids:
            rows = self._rows(
                "SELECT chunk, record FROM line WHERE chunk IN (SELECT value FROM carray(?))", (apsw.carray(ids),)
            )
            for chunk, record in rows:
                known[chunk] = unpack(record)
        return {chunk: known[chunk] for chunk in wanted if chunk in known}

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """`frequency` of each of these words."""
        return {term: self.frequency(term) for term in terms}

    def expect(self, terms: Iterable[str]) -> None:
        """Nothing to do: a word costs no round trip here."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """(word, chunks) of words with a prefix, in alphabetical order."""
        return self._rows(
            "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )

    # -- the vector lane -------------------------------------------------------------------------------------

    @stored
    def in_force(self) -> tuple[str, str] | None:
        """(name, spec) of the embedder whose vectors `nearest` compares. Embed the question with it: what
        `embedders.open_in_force(spec, config)` gives, as long as its `id` is that name."""
        rows = self._rows("SELECT name, spec FROM embedder WHERE in_force = 1")
        if not rows:
            return None
        return (str(rows[0][0]), str(rows[0][1]))

    @stored
    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """The k chunks of `norms` nearest to a vector (float32, little-endian): (chunk id, cosine), best first.

        A binary scan, then exact rescoring by int8 of `OVERFETCH * k` and of those as near as the last of these. A
        chunk without a word an embedder knows (an emoji, a withheld secret) has a vector of zeros, which is near
        nothing and never among them. Empty when the vector is not of the embedder in force, or is all zeros.
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
        """The cosine of a vector (float32, little-endian) with each of these chunks that has one; {} where it is not of
        the embedder in force, or is all zeros."""
        low = self._first_vector(vector)
        ids = array("q", [low + chunk for chunk in chunks] if low is not None else [])
        if not ids:
            return {}
        rows = self._rows(
            "SELECT id - ?1, 1 - vec_distance_cosine(vec_int8(value), vec_int8(?2)) FROM vector"
            " WHERE id IN (SELECT value FROM carray(?3))",
            (low, int8(vector), apsw.carray(ids)),
        )
        return {chunk: cosine for chunk, cosine in rows if cosine is not None}

    def _scanned(self, low: int, signs: bytes, norms: bytes, count: int) -> list[int]:
        """Ids in `code` of the `count` chunks of `norms` whose signs differ least, with those as near as the last."""
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
            # To look each chunk up in `norms` costs as much as to compare it: take some more and drop those outside.
            more = 0
            if outside:
                more = count * outside // inside * 2 + 64
            nearest = self._rows(scan.format(""), (low, low + len(norms), signs, most + more))
            if more:
                kept = [row for row in nearest if norms[row[0] - low]]
            else:
                kept = nearest
            if len(kept) >= most or len(nearest) < most + more:
                return _nearest(kept[:most], count)
        only = "AND substr(?5, id - ?1 + 1, 1) > x'00' "
        return _nearest(self._rows(scan.format(only), (low, low + len(norms), signs, most, norms)), count)

    def _sign_table(self, low: int, end: int) -> Table | None:
        """The signs of all chunks below `end` in memory; None for an index that does not stay open, one that was seldom
        asked for its size, and without NumPy 2."""
        cache = self._remembered
        self._compared += end
        if cache is None or self._compared < PAYS:
            return None
        if cache.signs is None:
            try:
                from gitmem.index.db.sign_table import table_of
            except ImportError:
                self._compared = -1000 * PAYS  # not looked for again soon
                return None
            rows = self._rows("SELECT id - ?1, bits FROM code WHERE id >= ?1 AND id < ?1 + ?2 ORDER BY id", (low, end))
            cache.signs = table_of(rows)
        return cache.signs

    def _first_vector(self, vector: bytes) -> int | None:
        """The id of chunk 0 of the embedder in force; None when the vector is none of its."""
        rows = self._rows("SELECT id, dims FROM embedder WHERE in_force = 1")
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
        """Norms of the chunks of these blobs (row ids)."""
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
    """Paths are stored as Git's bytes: not every one of them is UTF-8."""
    return stored.decode("utf-8", "surrogateescape")


def _nearest(rows: Sequence[tuple[int, int]], count: int) -> list[int]:
    """The ids of the first `count` rows and of every other row with the distance of the last of them.

    `rows`: (id, distance), ordered by distance.
    """
    if len(rows) <= count:
        return [number for number, _ in rows]
    farthest = rows[count - 1][1]
    return [number for number, distance in rows if distance <= farthest]
