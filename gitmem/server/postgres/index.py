"""The index of one tenant in PostgreSQL, as search asks it (`index/store.IndexReader`).

It is open for one search, in one transaction that sees one state of the tenant's rows. What it searches is the union of
some snapshots: the branches of the repositories that the caller may see.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psycopg

from gitmem.index.db.reader import OVERFETCH
from gitmem.index.db.values import Place, Shape, Snapshot, bits, int8
from gitmem.index.line_records import Packed, unpack
from gitmem.server.keys import Keys
from gitmem.server.postgres.database import Database

Shapes = Callable[[Iterable[str]], dict[str, Shape]]
BEGINNING = "\0"  # before a character: all words that begin with it
FEW = 0.25  # of the tenant's chunks, below which vectors are looked up by their ids
RUN = struct.Struct("<II")  # the first chunk of a run, and how many follow each other


class PostgresIndex:
    """What one search sees, of the `snapshots` that are set; `close` ends its transaction. `shapes` is set too: it
    reads how a blob is built from the blob itself, since the values of front matter are text."""

    frozen = True

    def __init__(self, database: Database, tenant: int, keys: Keys, path: Path) -> None:
        self.path = path
        self.snapshots: list[int] = []
        self.shapes: Shapes = lambda oids: {}
        self._tenant = tenant
        self._keys = keys
        self._held: AbstractContextManager[psycopg.Connection[Any]] | None = database.tenant(tenant)
        self._connection = self._held.__enter__()
        self._chunks: dict[str, list[tuple[int, int, int]]] = {}  # of the blobs of places that were asked for

    def close(self) -> None:
        """End the transaction; a second call does nothing."""
        held, self._held = self._held, None
        if held is not None:
            held.__exit__(None, None, None)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Nothing more: all of it is one transaction already."""
        yield

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values, binary=True).fetchall()

    def mine(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of a query whose first condition is `tenant = %s`: it prunes the partitions; the policy is what keeps
        other tenants out."""
        return self._rows(query, self._tenant, *values)

    # -- snapshots -------------------------------------------------------------------------------------------

    def snapshot(self, key: str = "") -> Snapshot:
        """All that is searched, as one snapshot."""
        rows = self.mine("SELECT norms FROM snapshot WHERE tenant = %s AND id = ANY(%s)", self.snapshots)
        return Snapshot(0, key, united(bytes(runs) for (runs,) in rows))

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """As `IndexReader.select`."""
        if keep is None and not everything:
            return snapshot.norms
        rows = self.mine(
            "SELECT DISTINCT path, blob FROM entry WHERE tenant = %s AND snapshot = ANY(%s) AND corpus >= %s",
            self.snapshots, 0 if everything else 1,
        )  # fmt: skip
        blobs = [blob for path, blob in rows if keep is None or keep(path_of(path))]
        return united([runs_of(norms_of(self._connection, self._tenant, blobs))])

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """As `IndexReader.places`; a path and blob that several repositories have is one place."""
        wanted = list(chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in wanted}
        rows = self.mine(
            "SELECT DISTINCT place.chunk, entry.path, blob.oid, first, last, heading, ordinal, corpus, blob.id"
            " FROM place JOIN entry ON entry.tenant = place.tenant AND entry.blob = place.blob"
            " JOIN blob ON blob.tenant = place.tenant AND blob.id = place.blob"
            " WHERE place.tenant = %s AND place.chunk = ANY(%s) AND entry.snapshot = ANY(%s) AND corpus >= 0"
            " ORDER BY entry.path, ordinal",
            wanted, self.snapshots,
        )  # fmt: skip
        blobs: dict[int, str] = {}
        for chunk, path, oid, first, last, heading, ordinal, corpus, blob in rows:
            if oid.hex() not in self._chunks:
                blobs[blob] = oid.hex()
            places[chunk].append(Place(chunk, path_of(path), oid.hex(), first, last, heading, ordinal, corpus > 0))
        self._read_chunks(blobs)
        return places

    def holders(self, files: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[int]]:
        """(path, oid) -> the repositories of the searched snapshots that have this blob at this path, oldest first."""
        wanted = list(files)
        rows = self.mine(
            "SELECT entry.path, blob.oid, snapshot.repository FROM entry"
            " JOIN blob ON blob.tenant = entry.tenant AND blob.id = entry.blob"
            " JOIN snapshot ON snapshot.tenant = entry.tenant AND snapshot.id = entry.snapshot"
            " WHERE entry.tenant = %s AND entry.snapshot = ANY(%s) AND blob.oid = ANY(%s) ORDER BY snapshot.repository",
            self.snapshots, [bytes.fromhex(oid) for _, oid in wanted],
        )  # fmt: skip
        holders: dict[tuple[str, str], list[int]] = {key: [] for key in wanted}
        for path, oid, repository in rows:
            there = holders.get((path_of(path), oid.hex()))
            if there is not None and repository not in there:
                there.append(repository)
        return holders

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int]]:
        """As `IndexReader.neighbours`."""
        if oid not in self._chunks:
            rows = self.mine("SELECT id FROM blob WHERE tenant = %s AND oid = %s", bytes.fromhex(oid))
            self._read_chunks({row[0]: oid for row in rows})
        return self._chunks.get(oid, [])[max(0, ordinal - reach) : ordinal + reach + 1]

    def _read_chunks(self, blobs: Mapping[int, str]) -> None:
        """The chunks of blobs, number -> oid, in one statement: of nearly every place the neighbours are asked for."""
        rows = self.mine(
            "SELECT blob, chunk, first, last FROM place WHERE tenant = %s AND blob = ANY(%s) ORDER BY blob, ordinal",
            list(blobs),
        )
        for blob, *chunk in rows:
            self._chunks.setdefault(blobs[blob], []).append((chunk[0], chunk[1], chunk[2]))

    def secrets(self, oid: str) -> int:
        """As `IndexReader.secrets`."""
        rows = self.mine("SELECT secrets FROM blob WHERE tenant = %s AND oid = %s", bytes.fromhex(oid))
        return int(rows[0][0]) if rows else 0

    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """None is kept: blame is asked of the mirror."""
        return []

    # -- words -----------------------------------------------------------------------------------------------

    def _term(self, term: str) -> int:
        return self._keys.beginning(term[1:]) if term[:1] == BEGINNING else self._keys.term(term)

    def frequency(self, term: str) -> int:
        """As `IndexReader.frequency`, of the tenant's whole index."""
        rows = self.mine("SELECT sum(chunks)::bigint FROM posting WHERE tenant = %s AND term = %s", self._term(term))
        return int(rows[0][0] or 0)

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """As `IndexReader.starting`: one word that stands for all of them."""
        term = BEGINNING + prefix
        count = self.frequency(term)
        return [(term, count)] if count else []

    def occurrences(self, term: str) -> list[int]:
        """As `IndexReader.occurrences`."""
        rows = self.mine("SELECT rows FROM posting WHERE tenant = %s AND term = %s ORDER BY segment", self._term(term))
        return unpacked(bytes(some) for (some,) in rows)

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """As `IndexReader.lines`."""
        rows = self.mine("SELECT id, record FROM chunk WHERE tenant = %s AND id = ANY(%s)", list(set(chunks)))
        return {chunk: unpack(bytes(record)) for chunk, record in rows}

    # -- meaning ---------------------------------------------------------------------------------------------

    def in_force(self) -> tuple[str, str] | None:
        """As `IndexReader.in_force`."""
        rows = self.mine("SELECT name, spec FROM embedder WHERE tenant = %s AND in_force")
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """As `IndexReader.nearest`, as SQLite's: a scan of the signs, then exactly of `OVERFETCH * k`."""
        rows = self.mine("SELECT id, dims FROM embedder WHERE tenant = %s AND in_force")
        if not rows or len(vector) != 4 * rows[0][1] or not any(vector):
            return []
        number, inside = rows[0][0], len(norms) - norms.count(0)
        signs, numbers = vector_columns(bits(vector), int8(vector))
        # `get_byte` past the end would raise, and the order of conditions means nothing to PostgreSQL.
        where, values = "CASE WHEN id < %s THEN get_byte(%s, id) > 0 ELSE false END", [len(norms), norms]
        if inside < FEW * len(norms):
            where, values = "id = ANY(%s)", [[chunk for chunk, norm in enumerate(norms) if norm]]
        size = 8 * len(bits(vector))
        found = self._rows(
            "SELECT id, 1 - (embedding <=> %s::halfvec) AS cosine FROM (SELECT id, embedding FROM chunk"
            f" WHERE tenant = %s AND embedder = %s AND bits IS NOT NULL AND {where}"
            f" ORDER BY bits::bit({size}) <~> %s::bit({size}), id LIMIT %s) AS near ORDER BY cosine DESC, id LIMIT %s",
            numbers, self._tenant, number, *values, signs, k * OVERFETCH, k,
        )  # fmt: skip
        return [(chunk, cosine) for chunk, cosine in found if cosine == cosine]


def path_of(stored: bytes) -> str:
    """Paths are kept as Git's bytes: not every one of them is UTF-8."""
    return bytes(stored).decode("utf-8", "surrogateescape")


def vector_columns(signs: bytes, numbers: bytes) -> tuple[str | None, str | None]:
    """A vector's signs and int8 numbers as pgvector reads them; None for one of zeros. Every int8 is exact in a half
    float."""
    if not any(numbers):
        return None, None
    return f"{int.from_bytes(signs, 'big'):0{8 * len(signs)}b}", f"[{','.join(map(str, array('b', numbers)))}]"


def unpacked(parts: Iterable[bytes]) -> list[int]:
    """The occurrences of a word (`postings.Posting.rows`), of several segments: ascending."""
    numbers = array("q")
    for part in parts:
        numbers.frombytes(part)
    if sys.byteorder == "big":
        numbers.byteswap()
    rows = numbers.tolist()
    rows.sort()
    return rows


def norms_of(connection: psycopg.Connection[Any], tenant: int, blobs: Iterable[int]) -> dict[int, int]:
    """chunk -> norm of the chunks of these blobs."""
    rows = connection.execute(
        "SELECT DISTINCT chunk.id, norm FROM place JOIN chunk ON chunk.tenant = place.tenant AND chunk.id = place.chunk"
        " WHERE place.tenant = %s AND blob = ANY(%s)",
        (tenant, list(blobs)),
        binary=True,
    ).fetchall()
    return dict(rows)


def runs_of(norms: Mapping[int, int]) -> bytes:
    """Norms as `snapshot.norms` has them: runs of chunks whose numbers follow each other, which those of one repository
    mostly do."""
    runs: list[tuple[int, bytearray]] = []
    for chunk in sorted(norms):
        if runs and runs[-1][0] + len(runs[-1][1]) == chunk:
            runs[-1][1].append(norms[chunk])
        else:
            runs.append((chunk, bytearray([norms[chunk]])))
    return b"".join(RUN.pack(first, len(run)) + bytes(run) for first, run in runs)


def united(snapshots: Iterable[bytes]) -> bytes:
    """One byte a chunk, 0 for one in none of the snapshots: a chunk has the same norm in each that has it."""
    norms = bytearray(1)
    for runs in snapshots:
        at = 0
        while at < len(runs):
            first, count = RUN.unpack_from(runs, at)
            at += RUN.size
            if len(norms) < first + count:
                norms.extend(bytes(first + count - len(norms)))
            norms[first : first + count] = runs[at : at + count]
            at += count
    return bytes(norms)
