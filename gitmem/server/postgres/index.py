"""The index of one tenant in PostgreSQL for reading: an `index/store.IndexReader`.

It is open for one search, in one transaction that sees one state of the tenant's rows. It searches the union of several
snapshots: the branches of the repositories that the caller may see.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from gitmem.index.db.reader import MAX_NAME_PAIRS, OVERFETCH
from gitmem.index.db.sign_scan import TIE_FACTOR
from gitmem.index.db.sign_table import nearest
from gitmem.index.db.values import InForce, Place, Shape, Snapshot, bits, int8
from gitmem.index.line_records import Packed, unpack
from gitmem.server.keys import Keys
from gitmem.server.postgres import arrays, hnsw
from gitmem.server.postgres.compute_lock import waiting
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.signs import SignTables
from gitmem.server.telemetry import stage

Shapes = Callable[[Iterable[str]], dict[str, Shape]]
BEGINNING = "\0"  # with a character after it, stands for all words that begin with the character
MAX_SHARE_BY_ID = 0.25  # share of the tenant's chunks; below it the vectors are selected by id
RUN = struct.Struct("<II")  # first chunk and length of a run of consecutive chunks


class _Embedder(NamedTuple):
    """The embedder in force. `epoch`: another one after vectors of existing chunks have changed, "" if none was
    recorded."""

    name: str
    spec: str
    number: int
    dims: int
    epoch: str


class PostgresIndex:
    """The index that one search reads; `close` ends its transaction. The caller sets the next three fields.

    `snapshots`: numbers of the searched snapshots. `repositories`: snapshot -> repository. `shapes`: a function, oids
    -> structure of the blobs, which reads the blobs, because a shape has text of the front matter and the database has
    no text.
    """

    frozen = True

    def __init__(
        self, database: Database, tenant: int, keys: Keys, path: Path, tables: SignTables | None = None
    ) -> None:
        self.path = path
        self.snapshots: list[int] = []
        self.repositories: dict[int, int] = {}
        self.shapes: Shapes = lambda oids: {}
        self._database = database
        self.tenant = tenant
        self._keys = keys
        self._transaction: AbstractContextManager[psycopg.Connection[Any]] | None = database.tenant(tenant)
        with waiting():
            self._connection = self._transaction.__enter__()
        self._tables = tables
        self.approximate_from = hnsw.MIN_CHUNKS  # chunks; a tenant with more uses its approximate index, if it has one
        # Results of earlier statements.
        self._chunks: dict[str, dict[int, tuple[int, int, int, int]]] = {}
        self._secrets: dict[str, int] = {}
        self._homes: dict[tuple[str, str], int] = {}
        self._frequencies: dict[str, int] = {}
        self._expected: dict[str, list[int]] = {}
        self._in_force: _Embedder | None = None

    def close(self) -> None:
        """End the transaction; a second call does nothing."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            with waiting():
                transaction.__exit__(None, None, None)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Does nothing: the whole search is one transaction."""
        yield

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with stage("statement"), self._database.unusable_on_error(), waiting():
            return self._connection.execute(query, values, binary=True).fetchall()

    def tenant_rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query whose first parameter is the tenant. The condition prunes the partitions; row-level
        security keeps other tenants' rows out."""
        return self._rows(query, self.tenant, *values)

    # -- snapshots -------------------------------------------------------------------------------------------

    def snapshot(self, key: str = "") -> Snapshot:
        """The union of the searched snapshots as one snapshot. `key`: only stored in the result."""
        rows = self.tenant_rows("SELECT norms FROM snapshot WHERE tenant = %s AND id = ANY(%s)", self.snapshots)
        return Snapshot(0, key, united(bytes(runs) for (runs,) in rows))

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """The norms of the searched files whose path `keep` accepts: a byte for each chunk id, above 0 for the chunks
        that shall be searched (`IndexReader.select`)."""
        if keep is None and not everything:
            return snapshot.norms
        rows = self.tenant_rows(
            "SELECT DISTINCT path, blob FROM entry WHERE tenant = %s AND snapshot = ANY(%s) AND corpus >= %s",
            self.snapshots, 0 if everything else 1,
        )  # fmt: skip
        blobs = [blob for path, blob in rows if keep is None or keep(path_of(path))]
        with self._database.unusable_on_error(), waiting():
            return united([runs_of(norms_of(self._connection, self.tenant, blobs))])

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) -> those of `terms` that are words of the file's name, for searched files that have any
        (`IndexReader.named`)."""
        term_of_key = {self._keys.term(term): term for term in terms}
        rows = self.tenant_rows(
            "SELECT entry.path, blob.oid, file_name.term FROM file_name JOIN entry ON entry.tenant = file_name.tenant"
            " AND entry.snapshot = file_name.snapshot AND entry.path = file_name.path"
            " JOIN blob ON blob.tenant = entry.tenant AND blob.id = entry.blob WHERE file_name.tenant = %s"
            " AND file_name.term = ANY(%s::bigint[]) AND file_name.snapshot = ANY(%s) AND corpus = 1 LIMIT %s",
            arrays.numbers("bigint", list(term_of_key)), self.snapshots, MAX_NAME_PAIRS,
        )  # fmt: skip
        words_by_file: dict[tuple[str, str], set[str]] = {}
        for path, oid, term in rows:
            words_by_file.setdefault((path_of(path), oid.hex()), set()).add(term_of_key[term])
        return {file: frozenset(words) for file, words in words_by_file.items()}

    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the default corpus in all searched snapshots (`snapshots`), in path order, a path
        once for each of its versions. `snapshot` is not used; `IndexReader.files` has it."""
        rows = self.tenant_rows(
            "SELECT DISTINCT path, oid FROM entry JOIN blob ON blob.tenant = entry.tenant AND blob.id = entry.blob"
            " WHERE entry.tenant = %s AND snapshot = ANY(%s) AND corpus = 1 ORDER BY path",
            self.snapshots,
        )
        return [(path_of(path), oid.hex()) for path, oid in rows]

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """Chunk id -> its places in the searched snapshots, in path order (`IndexReader.places`). The same path and
        blob in several repositories is one place."""
        chunk_ids = list(chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in chunk_ids}
        rows = self.tenant_rows(
            "SELECT place.chunk, entry.path, blob.oid, first, last, heading, ordinal, corpus, blob.id, blob.secrets,"
            " entry.snapshot FROM place JOIN entry ON entry.tenant = place.tenant AND entry.blob = place.blob"
            " JOIN blob ON blob.tenant = place.tenant AND blob.id = place.blob"
            " WHERE place.tenant = %s AND place.chunk = ANY(%s) AND entry.snapshot = ANY(%s) AND corpus >= 0"
            " ORDER BY entry.path, ordinal",
            chunk_ids, self.snapshots,
        )  # fmt: skip
        seen_places: set[tuple[int, bytes, bytes, int]] = set()
        oid_of_chunk: dict[tuple[int, int], str] = {}
        for chunk, stored, raw_oid, first, last, heading, ordinal, corpus, blob, secrets, holder in rows:
            path, oid, repository = path_of(stored), raw_oid.hex(), self.repositories.get(holder)
            if repository is not None:
                self._homes[path, oid] = min(repository, self._homes.get((path, oid), repository))
            if (chunk, stored, raw_oid, ordinal) in seen_places:
                continue
            seen_places.add((chunk, stored, raw_oid, ordinal))
            self._secrets[oid] = secrets
            oid_of_chunk.update({(blob, ordinal + step): oid for step in (-1, 0, 1)})
            places[chunk].append(Place(chunk, path, oid, first, last, heading, ordinal, corpus > 0))
        self._read_chunks(oid_of_chunk)
        return places

    def holders(self, files: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """(path, oid) -> the repository with the lowest number whose searched snapshot has this blob at this path. A
        file that none has is left out."""
        keys = list(files)
        unknown = [key for key in keys if key not in self._homes]
        if unknown:
            rows = self.tenant_rows(
                "SELECT entry.path, blob.oid, entry.snapshot FROM blob"
                " JOIN entry ON entry.tenant = blob.tenant AND entry.blob = blob.id"
                " WHERE blob.tenant = %s AND blob.oid = ANY(%s) AND entry.snapshot = ANY(%s)",
                [bytes.fromhex(oid) for _, oid in unknown], self.snapshots,
            )  # fmt: skip
            for stored, raw, holder in rows:
                key, repository = (path_of(stored), raw.hex()), self.repositories[holder]
                self._homes[key] = min(repository, self._homes.get(key, repository))
        return {key: self._homes[key] for key in keys if key in self._homes}

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """The chunks around the chunk number `ordinal` of a blob, and that chunk: (chunk id, first line, last line,
        line of its heading or 0) (`IndexReader.neighbours`)."""
        ordinals = range(max(0, ordinal - reach), ordinal + reach + 1)
        chunks = self._chunks.get(oid, {})
        if reach > 1 or ordinal not in chunks:
            rows = self.tenant_rows("SELECT id FROM blob WHERE tenant = %s AND oid = %s", bytes.fromhex(oid))
            self._read_chunks({(row[0], number): oid for row in rows for number in ordinals})
            chunks = self._chunks.get(oid, {})
        return [chunks[number] for number in ordinals if number in chunks]

    def _read_chunks(self, places: Mapping[tuple[int, int], str]) -> None:
        """Cache the chunks at these (blob, ordinal) -> oid in one statement, because a search reads the neighbours of
        nearly every hit."""
        oids = {blob: oid for (blob, _), oid in places.items()}
        rows = self._rows(
            "SELECT blob, ordinal, chunk, first, last, heading"
            " FROM unnest(%s::int[], %s::int[]) AS wanted (of_blob, at)"
            " JOIN place ON blob = of_blob AND ordinal = at WHERE tenant = %s",
            arrays.numbers("int", [blob for blob, _ in places]), arrays.numbers("int", [at for _, at in places]),
            self.tenant,
        )  # fmt: skip
        for blob, ordinal, chunk, first, last, heading in rows:
            self._chunks.setdefault(oids[blob], {})[ordinal] = (chunk, first, last, heading)

    def secrets(self, oid: str) -> int:
        """The number of lines of a blob that are not indexed because of a secret; 0 for a blob that is not indexed."""
        if oid in self._secrets:
            return self._secrets[oid]
        rows = self.tenant_rows("SELECT secrets FROM blob WHERE tenant = %s AND oid = %s", bytes.fromhex(oid))
        if not rows:
            return 0
        return int(rows[0][0])

    def withheld(self, snapshot: Snapshot) -> int:
        """The number of lines of the searched files that are not indexed because of a secret. A file in several
        repositories counts for each."""
        rows = self.tenant_rows(
            "SELECT coalesce(sum(secrets), 0) FROM entry"
            " JOIN blob ON blob.tenant = entry.tenant AND blob.id = entry.blob"
            " WHERE entry.tenant = %s AND snapshot = ANY(%s) AND corpus = 1",
            self.snapshots,
        )
        return int(rows[0][0])

    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """Always []: the database caches no blame, which is read from the mirror."""
        return []

    # -- words -----------------------------------------------------------------------------------------------

    def _term(self, term: str) -> int:
        if term[:1] == BEGINNING:
            return self._keys.beginning(term[1:])
        return self._keys.term(term)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Word -> the number of chunks of the tenant's whole index in which it occurs, read in one statement."""
        term_of_key = {self._term(term): term for term in terms}
        rows = self.tenant_rows(
            "SELECT term, sum(chunks)::bigint FROM posting WHERE tenant = %s AND term = ANY(%s::bigint[])"
            " GROUP BY term", arrays.numbers("bigint", list(term_of_key)),
        )  # fmt: skip
        self._frequencies.update(dict.fromkeys(term_of_key.values(), 0))
        self._frequencies.update({term_of_key[term]: int(count) for term, count in rows})
        return {term: self._frequencies[term] for term in term_of_key.values()}

    def frequency(self, term: str) -> int:
        """The number of chunks of the tenant's whole index in which a word occurs."""
        count = self._frequencies.get(term)
        if count is None:
            return self.frequencies([term])[term]
        return count

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """One term that stands for all words with the prefix, a single character, and the number of its chunks: [(term,
        number)], or [] without such words. `limit` is not used."""
        term = BEGINNING + prefix
        count = self.frequency(term)
        return [(term, count)] if count else []

    def expect(self, terms: Iterable[str]) -> None:
        """Read the occurrences of these words in one statement, so that `occurrences` need not ask the database for
        each."""
        term_of_key = {self._term(term): term for term in terms}
        parts: dict[str, list[bytes]] = {term: [] for term in term_of_key.values()}
        for term, rows in self.tenant_rows(
            "SELECT term, rows FROM posting WHERE tenant = %s AND term = ANY(%s::bigint[]) ORDER BY segment",
            arrays.numbers("bigint", list(term_of_key)),
        ):
            parts[term_of_key[term]].append(bytes(rows))
        self._expected.update({term: unpacked(some) for term, some in parts.items()})

    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word as one number, by ascending chunk: chunk id, position, bit of the heading
        (`IndexReader.occurrences`)."""
        if term not in self._expected:
            self.expect([term])
        return self._expected[term]

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """Chunk id -> the packed records of its statements, for those of `chunks` that exist."""
        rows = self.tenant_rows("SELECT id, record FROM chunk WHERE tenant = %s AND id = ANY(%s)", list(set(chunks)))
        return {chunk: unpack(bytes(record)) for chunk, record in rows}

    # -- meaning ---------------------------------------------------------------------------------------------

    def _embedder(self) -> _Embedder | None:
        """The embedder in force; None if the tenant has none."""
        # No `cached_property`: in Python 3.11 it holds a lock of the class while the thread waits for the database.
        if self._in_force is not None:
            return self._in_force
        rows = self.tenant_rows(
            "SELECT name, spec, id, dims,"
            " coalesce((SELECT value FROM meta WHERE meta.tenant = embedder.tenant AND key = 'epoch'), '')"
            " FROM embedder WHERE tenant = %s AND in_force"
        )
        if rows:
            self._in_force = _Embedder(*rows[0])
        return self._in_force

    def in_force(self) -> InForce | None:
        """The embedder whose vectors are compared; None if the tenant has none."""
        embedder = self._embedder()
        if not embedder:
            return None
        return InForce(embedder.name, embedder.spec)

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the k chunks nearest to a float32 vector, best first (`IndexReader.nearest`), with
        SQLite's method: a scan of the signs, then exact cosines of OVERFETCH * k chunks. A large tenant uses its
        approximate index if it has one. `norms`: a byte for each chunk id; only chunks where it is above 0 count."""
        embedder = self._embedder()
        if embedder is None or len(vector) != 4 * embedder.dims or not any(vector):
            return []
        signs, numbers = vector_columns(bits(vector), int8(vector))
        number = embedder.number
        if len(norms) > self.approximate_from and len(norms) - norms.count(0) >= MAX_SHARE_BY_ID * len(norms):
            rows = self._approximate(number, embedder.dims, norms, signs, numbers, k)
            if rows is not None:
                return [(chunk, cosine) for chunk, cosine in rows if cosine == cosine]
        table = None
        if self._tables is not None:
            key = (self.tenant, number, embedder.epoch)
            table = self._tables.table(key, len(norms) - 1, lambda after, most: self._signs(number, after, most))
        if table is None:
            rows = self._scanned(number, norms, signs, numbers, k)
        else:
            count = k * OVERFETCH
            near = nearest(table, bits(vector), norms, count, TIE_FACTOR * count)
            rows = self._rows(
                "SELECT id, 1 - (embedding <=> %s::halfvec) AS cosine FROM chunk WHERE tenant = %s"
                " AND id = ANY(%s::int[]) ORDER BY cosine DESC, id LIMIT %s",
                numbers, self.tenant, arrays.numbers("int", near), k,
            )  # fmt: skip
        return [(chunk, cosine) for chunk, cosine in rows if cosine == cosine]

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Chunk id -> cosine of its vector with a float32 vector of the embedder in force, for those of `chunks` with a
        vector."""
        embedder = self._embedder()
        chunk_ids = list(set(chunks))
        if embedder is None or not chunk_ids or len(vector) != 4 * embedder.dims or not any(vector):
            return {}
        _, numbers = vector_columns(bits(vector), int8(vector))
        rows = self._rows(
            "SELECT id, 1 - (embedding <=> %s::halfvec) FROM chunk WHERE tenant = %s AND embedder = %s"
            " AND bits IS NOT NULL AND id = ANY(%s)",
            numbers, self.tenant, embedder.number, chunk_ids,
        )  # fmt: skip
        return {chunk: cosine for chunk, cosine in rows if cosine == cosine}

    def _approximate(
        self, number: int, dims: int, norms: bytes, signs: Any, numbers: Any, k: int
    ) -> list[tuple[Any, ...]] | None:
        """The rows of `nearest`, (chunk, cosine), by the tenant's approximate index; None if it has none. `number`,
        `dims`: of the embedder. `signs`, `numbers`: of the vector, as `vector_columns` gives them."""
        with stage("statement"), self._database.unusable_on_error():
            if not hnsw.is_there(self._connection, hnsw.name_of(self.tenant, number, dims)):
                return None
        count = TIE_FACTOR * k * OVERFETCH
        self._rows(hnsw.SETTINGS, str(min(hnsw.MAX_CANDIDATES, count)), "off")
        rows = self._rows(
            hnsw.statement(self.tenant, number, dims), numbers, len(norms), norms, signs, count, k
        )  # fmt: skip
        self._rows(hnsw.SETTINGS, "40", "on")
        return rows

    def _signs(self, number: int, after: int, count: int) -> bytes:
        """The `read` of `SignTables.table`: number, count of bits and signs of at most `count` chunks after `after`."""
        rows = self._rows(
            "SELECT string_agg(int4send(id) || varbit_send(bits), ''::bytea ORDER BY id)"
            " FROM (SELECT id, bits FROM chunk WHERE tenant = %s AND embedder = %s AND bits IS NOT NULL AND id > %s"
            " ORDER BY id LIMIT %s) AS signed",
            self.tenant, number, after, count,
        )  # fmt: skip
        return bytes(rows[0][0] or b"")

    def _scanned(self, number: int, norms: bytes, signs: Any, numbers: Any, k: int) -> list[tuple[Any, ...]]:
        """The rows of `nearest`, (chunk, cosine), by the database alone, for a tenant whose sign table is over the
        limit. `number`: of the embedder. `signs`, `numbers`: of the vector, as `vector_columns` gives them."""
        inside = len(norms) - norms.count(0)
        # CASE, because `get_byte` past the end raises and PostgreSQL may evaluate conditions in any order.
        where, values = "CASE WHEN id < %s THEN get_byte(%s, id) > 0 ELSE false END", [len(norms), norms]
        if inside < MAX_SHARE_BY_ID * len(norms):
            where, values = "id = ANY(%s)", [[chunk for chunk, norm in enumerate(norms) if norm]]
        size = len(signs)
        return self._rows(
            "SELECT id, 1 - (embedding <=> %s::halfvec) AS cosine FROM (SELECT id, embedding FROM chunk"
            f" WHERE tenant = %s AND embedder = %s AND bits IS NOT NULL AND {where}"
            f" ORDER BY bits::bit({size}) <~> %s::bit({size}) FETCH FIRST %s ROWS WITH TIES) AS near"
            " ORDER BY cosine DESC, id LIMIT %s",
            numbers, self.tenant, number, *values, signs, k * OVERFETCH, k,
        )  # fmt: skip


def path_of(stored: bytes) -> str:
    """The text of a stored path. Paths are stored as Git's bytes, which may not be UTF-8."""
    return bytes(stored).decode("utf-8", "surrogateescape")


def vector_columns(signs: bytes, numbers: bytes) -> tuple[str | None, str | None]:
    """(signs, numbers) of a vector as pgvector's text, from `values.bits` and `values.int8`; (None, None) for zeros. A
    half float stores every int8 exactly."""
    if not any(numbers):
        return None, None
    return f"{int.from_bytes(signs, 'big'):0{8 * len(signs)}b}", f"[{','.join(map(str, array('b', numbers)))}]"


def unpacked(parts: Iterable[bytes]) -> list[int]:
    """The occurrences of a word from the packed rows of several segments (`postings.Posting.rows`): the numbers of
    `IndexReader.occurrences`, ascending; [] without segments."""
    numbers = array("q")
    for part in parts:
        numbers.frombytes(part)
    if sys.byteorder == "big":
        numbers.byteswap()
    rows = numbers.tolist()
    rows.sort()
    return rows


def norms_of(connection: psycopg.Connection[Any], tenant: int, blobs: Iterable[int]) -> dict[int, int]:
    """Chunk id -> its length in one byte (`values.norm`), for the chunks of the blobs with these numbers.

    Two statements instead of a join: for a tenant that was added since the last ANALYZE the planner expects one row and
    would read all of the tenant's chunks for each place.
    """
    places = "SELECT DISTINCT chunk FROM place WHERE tenant = %s AND blob = ANY(%s)"
    chunks = [chunk for (chunk,) in connection.execute(places, (tenant, list(blobs)), binary=True)]
    norms = "SELECT id, norm FROM chunk WHERE tenant = %s AND id = ANY(%s)"
    return dict(connection.execute(norms, (tenant, chunks), binary=True).fetchall())


def runs_of(norms: Mapping[int, int]) -> bytes:
    """Norms (chunk id -> byte) as stored in `snapshot.norms`: runs of consecutive chunk ids, which are long within a
    repository; first id and length before the bytes of each."""
    runs: list[tuple[int, bytearray]] = []
    for chunk in sorted(norms):
        if runs and runs[-1][0] + len(runs[-1][1]) == chunk:
            runs[-1][1].append(norms[chunk])
        else:
            runs.append((chunk, bytearray([norms[chunk]])))
    return b"".join(RUN.pack(first, len(run)) + bytes(run) for first, run in runs)


def united(snapshots: Iterable[bytes]) -> bytes:
    """The norms of the union of snapshots: one byte for each chunk id, 0 for a chunk in none of them. `snapshots`: the
    bytes of `runs_of` for each. A chunk has the same norm in every snapshot."""
    norms = bytearray(1)
    for runs in snapshots:
        offset = 0
        while offset < len(runs):
            first, count = RUN.unpack_from(runs, offset)
            offset += RUN.size
            if len(norms) < first + count:
                norms.extend(bytes(first + count - len(norms)))
            norms[first : first + count] = runs[offset : offset + count]
            offset += count
    return bytes(norms)
