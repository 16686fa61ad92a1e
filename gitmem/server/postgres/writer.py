"""Writes the index of one tenant: adds and removes blobs, snapshots and refs. An `index/store.BlobStore`.

The chunks of a transaction are collected and written at its end, their words as one segment. Small segments are joined
after an ingest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import psycopg

from gitmem.errors import GitMemError, Refused
from gitmem.index.db.values import BlobRow, ChunkRow, EntryRow, InForce, norm
from gitmem.paths import file_name_words
from gitmem.server.keys import Keys
from gitmem.server.postgres import arrays
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.index import norms_of, runs_of, vector_columns
from gitmem.server.postgres.postings import Words, postings, without
from gitmem.text.terms import terms

MAX_CACHED_HASHES = 20_000  # keyed hashes of chunks
MAX_SEGMENTS = 8  # from this number on small segments are joined


class PostgresWriter:
    """The index of one tenant, for writing by the ingest of one repository. Changes can be made only inside
    `writing()`."""

    def __init__(self, database: Database, tenant: int, keys: Keys, path: Path) -> None:
        self.path = path
        self._database = database
        self._tenant = tenant
        self._keys = keys
        self._keyed = lru_cache(maxsize=MAX_CACHED_HASHES)(keys.chunk)  # each is needed several times in a row
        self._connection: psycopg.Connection[Any] | None = None
        self._fresh: dict[int, tuple[ChunkRow, bytes]] = {}  # new chunks of this transaction: row, keyed hash
        self._vectors: dict[int, tuple[int, bytes, bytes]] = {}  # by new chunk: embedder, signs, int8 numbers

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A context manager for a write transaction; the tenant has no other writer meanwhile. New chunks are written
        at its end; after an error in the block nothing is."""
        with self._database.writing(self._tenant) as connection:
            self._connection = connection
            try:
                yield
                self._flush()
            finally:
                self._connection = None
                self._fresh, self._vectors = {}, {}

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query whose first parameter is the tenant."""
        parameters = (self._tenant, *values)
        if self._connection is not None:
            return self._connection.execute(query, parameters, binary=True).fetchall()
        with self._database.tenant(self._tenant) as connection:
            return connection.execute(query, parameters, binary=True).fetchall()

    @property
    def _writes(self) -> psycopg.Connection[Any]:
        assert self._connection is not None, "only inside writing()"
        return self._connection

    def _change(self, query: str, *values: Any) -> int:
        return self._writes.execute(query, (self._tenant, *values)).rowcount

    def _insert(self, into: str, **columns: Iterable[Any]) -> None:
        """Add rows of the tenant, with one array for each column: COPY does not work with row-level security. A name
        of a column has the column's type behind it, as in `id__int`."""
        names, kinds = zip(*(column.split("__") for column in columns), strict=True)
        encoded = [self._encoded(kind, items) for kind, items in zip(kinds, columns.values(), strict=True)]
        self._writes.execute(
            f"INSERT INTO {into} (tenant, {', '.join(names)})"
            f" SELECT %s, * FROM unnest({', '.join(f'%s::{kind}[]' for kind in kinds)})",
            (self._tenant, *encoded),
        )

    def _encoded(self, kind: str, items: Iterable[Any]) -> arrays.Column:
        """The values of a column of the type `kind` as an array in PostgreSQL's binary format."""
        if isinstance(items, arrays.Column):
            return items
        if kind in arrays.NUMBERS:
            return arrays.numbers(kind, list(items))
        if kind == "halfvec":
            return arrays.values(self._database.halfvec, items)
        return arrays.values(arrays.OIDS[kind], items)

    def prepare_for_many_writes(self) -> None:
        """Does nothing: PostgreSQL has no settings for a bulk load here."""

    # -- settings and embedders ------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        """The value of a setting that `set_meta` stored, such as the size of chunks; "" if there is none."""
        rows = self._rows("SELECT value FROM meta WHERE tenant = %s AND key = %s", key)
        if not rows:
            return ""
        return str(rows[0][0])

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting of the tenant's index, which `meta` reads; one with the same key is replaced. Outside
        `writing()` an assertion fails."""
        self._change(
            "INSERT INTO meta VALUES (%s, %s, %s) ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value",
            key, value,
        )  # fmt: skip

    def in_force(self) -> InForce | None:
        """The embedder whose vectors are compared; None before the first embedder."""
        rows = self._rows("SELECT name, spec FROM embedder WHERE tenant = %s AND in_force")
        if not rows:
            return None
        return InForce(str(rows[0][0]), str(rows[0][1]))

    def register_embedder(self, name: str, spec: str, dims: int) -> int:
        """Add an embedder if none of this name is registered; otherwise its `spec` and `dims` stay. Returns its id.
        `spec`: the setting that opens it. `dims`: numbers in a vector. A tenant's first embedder is in force at once:
        searches compare its vectors; another one is not. A new one begins a new epoch: cached sign tables become
        invalid. Only inside `writing()`."""
        rows = self._rows("SELECT id FROM embedder WHERE tenant = %s AND name = %s", name)
        if not rows:
            count = self._rows("SELECT count(*) FROM embedder WHERE tenant = %s")[0][0]
            self._new_epoch()
            self._change("INSERT INTO embedder VALUES (%s, %s, %s, %s, %s, %s)", count + 1, name, spec, dims, not count)
            return int(count) + 1
        return int(rows[0][0])

    def _new_epoch(self) -> None:
        """Record a new epoch, because vectors of existing chunks change: cached sign tables become invalid."""
        self.set_meta("epoch", token_hex(8))

    def embedder_id(self, name: str) -> int:
        """The id of a registered embedder. Raises IndexError for an unknown name."""
        return int(self._rows("SELECT id FROM embedder WHERE tenant = %s AND name = %s", name)[0][0])

    # -- blobs and chunks ------------------------------------------------------------------------------------

    def holds_blobs(self) -> bool:
        """Whether the tenant has any blob."""
        return bool(self._rows("SELECT 1 FROM blob WHERE tenant = %s LIMIT 1"))

    def _numbers(self, oids: Iterable[str]) -> dict[str, int]:
        raw = [bytes.fromhex(oid) for oid in oids]
        rows = self._rows("SELECT oid, id FROM blob WHERE tenant = %s AND oid = ANY(%s)", raw)
        return {bytes(oid).hex(): number for oid, number in rows}

    def missing_blobs(self, oids: Iterable[str]) -> list[str]:
        """The given oids that were not added yet, each once and in order."""
        distinct_oids = list(dict.fromkeys(oids))
        numbers = self._numbers(distinct_oids)
        return [oid for oid in distinct_oids if oid not in numbers]

    def stored_chunks(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these chunk hashes whose chunks the index has."""
        keyed = {self._keyed(plain): plain for plain in hashes}
        rows = self._rows("SELECT hash FROM chunk WHERE tenant = %s AND hash = ANY(%s)", list(keyed))
        return {keyed[bytes(key)] for (key,) in rows}

    def all_stored_chunks(self) -> frozenset[bytes]:
        """Always empty: the database has keyed hashes only, so that child processes may parse chunks that exist
        already."""
        return frozenset()

    def all_embedded_chunks(self, embedder_id: int) -> frozenset[bytes]:
        """Always empty: the database has keyed hashes only, so that child processes may make vectors that exist
        already."""
        return frozenset()

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs, without vectors. Returns the chunks that are new to the index, chunk id -> row: these need
        vectors. Blobs that the index has already are left out. Raises Refused if the tenant would be over its quota.
        Only inside `writing()`."""
        existing = self._numbers(blob.oid for blob in blobs)  # another repository's ingest may have added them
        new_blobs = [blob for blob in blobs if blob.oid not in existing]
        rows: dict[bytes, ChunkRow] = {}
        for blob in new_blobs:
            for row in blob.chunks:
                rows.setdefault(self._keyed(row.hash), row)
        chunk_numbers = {
            bytes(key): int(number)
            for key, number in self._rows("SELECT hash, id FROM chunk WHERE tenant = %s AND hash = ANY(%s)", list(rows))
        } | {key: number for number, (_, key) in self._fresh.items()}
        new_hashes = [key for key in rows if key not in chunk_numbers]
        taken = self._writes.execute("SELECT * FROM take_numbers(%s, %s)", (len(new_blobs), len(new_hashes))).fetchone()
        assert taken is not None
        next_blob, next_chunk = taken
        self._ensure_quota(next_chunk + len(new_hashes) - 1, len(new_hashes))
        for number, key in enumerate(new_hashes, next_chunk):
            chunk_numbers[key] = number
            self._fresh[number] = (rows[key], key)
        self._insert_blobs(new_blobs, next_blob)
        places = [
            (number, ordinal, chunk_numbers[self._keyed(chunk.hash)], chunk.start, chunk.end, chunk.heading)
            for number, blob in enumerate(new_blobs, next_blob)
            for ordinal, chunk in enumerate(blob.chunks)
        ]
        if places:
            names = ("blob__int", "ordinal__int", "chunk__int", "first__int", "last__int", "heading__int")
            self._insert("place", **dict(zip(names, zip(*places, strict=True), strict=True)))
        return {number: self._fresh[number][0] for number in (chunk_numbers[key] for key in new_hashes)}

    def _insert_blobs(self, blobs: Sequence[BlobRow], first_number: int) -> None:
        self._insert(
            "blob",
            id__int=range(first_number, first_number + len(blobs)),
            oid__bytea=(bytes.fromhex(blob.oid) for blob in blobs),
            bytes__int=[blob.bytes for blob in blobs],
            secrets__int=[blob.secrets for blob in blobs],
            problems__int=[blob.problems for blob in blobs],
            skipped__text=(blob.skipped.encode() for blob in blobs),
        )

    def _ensure_quota(self, number: int, new_chunks: int) -> None:
        """Raise Refused if the tenant would have more chunks than its quota. `number`: the highest number that
        a chunk would have. `new_chunks`: how many chunks are to be added."""
        quota = self._writes.execute("SELECT most_chunks FROM limits_of_tenant()").fetchone()
        if quota is None or number <= quota[0]:  # numbers are never reused, so there are no more chunks than numbers
            return
        ((present_chunks,),) = self._rows("SELECT count(*) FROM chunk WHERE tenant = %s")
        if present_chunks + len(self._fresh) + new_chunks > quota[0]:
            raise Refused(f"the tenant may have {quota[0]} chunks", "an administrator can raise the quota")

    def unembedded(self, embedder_id: int, chunk_ids: Iterable[int]) -> list[int]:
        """Those of `chunk_ids` that have no stored vector of this embedder. A chunk that this transaction added always
        counts."""
        chunks = list(chunk_ids)
        stored = [chunk for chunk in chunks if chunk not in self._fresh]
        rows = self._rows(
            "SELECT id FROM chunk WHERE tenant = %s AND id = ANY(%s) AND embedder = %s", stored, embedder_id
        )
        embedded = {chunk for (chunk,) in rows}
        return [chunk for chunk in chunks if chunk not in embedded]

    def add_vectors(self, embedder_id: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add or replace vectors of this embedder: (chunk id, (signs as `values.bits`, numbers as `values.int8`)). Only
        inside `writing()`."""
        for chunk, (signs, value) in vectors:
            if chunk in self._fresh:
                self._vectors[chunk] = (embedder_id, signs, value)
            else:
                self._new_epoch()
                self._writes.execute(
                    "UPDATE chunk SET embedder = %s, bits = %s, embedding = %s WHERE tenant = %s AND id = %s",
                    (embedder_id, *vector_columns(signs, value), self._tenant, chunk),
                )

    def _flush(self) -> None:
        """Write the new chunks of the transaction, and their words as one segment."""
        if not self._fresh:
            return
        embeddings = [self._vectors.get(number, (None, b"", b"")) for number in self._fresh]
        rows = [(row, key) for row, key in self._fresh.values()]
        vectors = iter(arrays.half_vectors([numbers for _, _, numbers in embeddings if any(numbers)]))
        self._insert(
            "chunk",
            id__int=self._fresh,
            hash__bytea=(key for _, key in rows),
            norm__smallint=[norm(row.length) for row, _ in rows],
            record__bytea=(row.lines for row, _ in rows),
            embedder__int=arrays.values(
                arrays.NUMBERS["int"][0],
                (number.to_bytes(4, "big") if number is not None else None for number, _, _ in embeddings),
            ),
            bits__varbit=(arrays.bit_string(signs) if any(numbers) else None for _, signs, numbers in embeddings),
            embedding__halfvec=(next(vectors) if any(numbers) else None for _, _, numbers in embeddings),
        )
        words = (Words(number, row.heading_words, row.body_words) for number, (row, _) in self._fresh.items())
        ((segment,),) = self._rows("SELECT coalesce(max(id), 0) + 1 FROM segment WHERE tenant = %s")
        self._change("INSERT INTO segment VALUES (%s, %s, %s, %s)", segment, min(self._fresh), max(self._fresh))
        posting_rows = postings(words, self._keys)
        self._insert(
            "posting",
            term__bigint=[posting.term for posting in posting_rows],
            segment__int=[segment] * len(posting_rows),
            chunks__int=[posting.chunks for posting in posting_rows],
            rows__bytea=(posting.rows for posting in posting_rows),
        )

    # -- snapshots -------------------------------------------------------------------------------------------

    def put_snapshot(self, repository: int, key: str, entries: Iterable[EntryRow]) -> None:
        """Record the files of a tree as a snapshot of a repository; do nothing if the key is recorded. A file whose
        blob was not added is left out."""
        inserted = self._rows(
            "INSERT INTO snapshot (tenant, repository, key, norms) VALUES (%s, %s, %s, '')"
            " ON CONFLICT DO NOTHING RETURNING id", repository, key,
        )  # fmt: skip
        if not inserted:
            return
        ((number,),) = inserted
        rows = list(entries)
        blobs = self._numbers({row.oid for row in rows})
        indexed = [row for row in rows if row.oid in blobs]
        self._insert(
            "entry",
            snapshot__int=[number] * len(indexed),
            path__bytea=(row.path.encode("utf-8", "surrogateescape") for row in indexed),
            blob__int=[blobs[row.oid] for row in indexed],
            corpus__smallint=[row.corpus for row in indexed],
        )
        words = [
            (path, self._keys.term(word))
            for path in {row.path for row in indexed}
            for word in set(terms(file_name_words(path)))
        ]
        self._insert(
            "file_name",
            snapshot__int=[number] * len(words),
            term__bigint=[term for _, term in words],
            path__bytea=(path.encode("utf-8", "surrogateescape") for path, _ in words),
        )
        shown = [blobs[row.oid] for row in rows if row.corpus == 1 and row.oid in blobs]
        norms = runs_of(norms_of(self._writes, self._tenant, shown))
        self._writes.execute(
            "UPDATE snapshot SET norms = %s WHERE tenant = %s AND id = %s", (norms, self._tenant, number)
        )

    def snapshot_keys(self, repository: int) -> set[str]:
        """The keys of a repository's snapshots; their trees need not be read again."""
        rows = self._rows("SELECT key FROM snapshot WHERE tenant = %s AND repository = %s", repository)
        return {key for (key,) in rows}

    def put_refs(
        self, repository: int, refs: Mapping[str, tuple[str, str]], head: str = "", *, rewritten: bool = False
    ) -> None:
        """Replace a repository's refs, name -> (commit, snapshot key), and its own branch `head`. Snapshots that no ref
        names are deleted. `rewritten`: history was rewritten, so that the mirror must be expired."""
        self._writes.execute(
            "UPDATE repository SET head = %s, expire = expire OR %s WHERE tenant = %s AND id = %s",
            (head, rewritten, self._tenant, repository),
        )
        self._change("DELETE FROM ref WHERE tenant = %s AND repository = %s", repository)
        self._insert(
            "ref",
            repository__int=[repository] * len(refs),
            name__text=(name.encode() for name in refs),
            commit_oid__bytea=(bytes.fromhex(commit) for commit, _ in refs.values()),
            snapshot_key__text=(key.encode() for _, key in refs.values()),
        )
        for table in ("entry", "file_name"):
            self._change(
                f"DELETE FROM {table} WHERE tenant = %s AND snapshot IN (SELECT id FROM snapshot"
                f" WHERE tenant = {table}.tenant AND repository = %s AND NOT key = ANY(%s))",
                repository, [key for _, key in refs.values()],
            )  # fmt: skip
        self._change(
            "DELETE FROM snapshot WHERE tenant = %s AND repository = %s AND NOT key = ANY(%s)",
            repository, [key for _, key in refs.values()],
        )  # fmt: skip

    def is_there(self, repository: int) -> bool:
        """Whether a repository exists."""
        return bool(self._rows("SELECT 1 FROM repository WHERE tenant = %s AND id = %s", repository))

    def forget(self, repository: int) -> None:
        """Delete a repository with its refs and snapshots. Its number and name stay for the audit log."""
        self._change(
            "INSERT INTO removed (tenant, repository, name) SELECT tenant, id, name FROM repository"
            " WHERE tenant = %s AND id = %s ON CONFLICT DO NOTHING", repository,
        )  # fmt: skip
        self._change("DELETE FROM repository WHERE tenant = %s AND id = %s", repository)

    def to_expire(self, repository: int) -> bool:
        """Whether a repository's mirror must be expired: it may have objects that a rewritten history dropped."""
        return bool(self._rows("SELECT 1 FROM repository WHERE tenant = %s AND id = %s AND expire", repository))

    def expired(self, repository: int) -> None:
        """Record that a repository's mirror was expired, so that `to_expire` is False."""
        self._change("UPDATE repository SET expire = false WHERE tenant = %s AND id = %s", repository)

    def forget_blobs(self) -> None:
        """Always raises GitMemError: a new chunk size needs a rebuild of the whole index."""
        raise GitMemError("the size of chunks has changed", "git mem server rebuild")

    # -- taking out ------------------------------------------------------------------------------------------

    def prune(self) -> tuple[int, int]:
        """Delete every blob in no snapshot, every chunk of no blob, and their words. Returns the numbers of deleted
        (blobs, chunks)."""
        blobs = self._change(
            "DELETE FROM blob WHERE tenant = %s AND NOT EXISTS"
            " (SELECT 1 FROM entry WHERE entry.tenant = blob.tenant AND entry.blob = blob.id)"
        )
        if not blobs:
            return 0, 0
        self._change(
            "DELETE FROM place WHERE tenant = %s AND NOT EXISTS"
            " (SELECT 1 FROM blob WHERE blob.tenant = place.tenant AND blob.id = place.blob)"
        )
        gone = {
            number
            for (number,) in self._rows(
                "DELETE FROM chunk WHERE tenant = %s AND NOT EXISTS"
                " (SELECT 1 FROM place WHERE place.tenant = chunk.tenant AND place.chunk = chunk.id) RETURNING id"
            )
        }
        segments = self._rows("SELECT id, first_chunk, last_chunk FROM segment WHERE tenant = %s")
        for number, first, last in segments:
            own = {chunk for chunk in gone if first <= chunk <= last}
            if own:
                self._drop_words(number, own)
        return blobs, len(gone)

    def _drop_words(self, segment: int, gone: Set[int]) -> None:
        """Remove deleted chunks from a segment's postings; only words that occur in one of them are rewritten."""
        rows = self._rows("SELECT term, rows FROM posting WHERE tenant = %s AND segment = %s", segment)
        changed = without([(term, bytes(packed)) for term, packed in rows], gone)
        self._change(
            "DELETE FROM posting WHERE tenant = %s AND segment = %s AND term = ANY(%s::bigint[])",
            segment, arrays.numbers("bigint", [posting.term for posting in changed if not posting.rows]),
        )  # fmt: skip
        remaining = [posting for posting in changed if posting.rows]
        self._writes.execute(
            "UPDATE posting SET chunks = kept.chunks, rows = kept.rows"
            " FROM unnest(%s::bigint[], %s::int[], %s::bytea[]) AS kept (term, chunks, rows)"
            " WHERE posting.tenant = %s AND posting.segment = %s AND posting.term = kept.term",
            (
                arrays.numbers("bigint", [posting.term for posting in remaining]),
                arrays.numbers("int", [posting.chunks for posting in remaining]),
                self._encoded("bytea", (posting.rows for posting in remaining)),
                self._tenant,
                segment,
            ),
        )
        self._change(
            "DELETE FROM segment WHERE tenant = %s AND id = %s AND NOT EXISTS"
            " (SELECT 1 FROM posting WHERE posting.tenant = segment.tenant AND posting.segment = segment.id)", segment,
        )  # fmt: skip

    def compact(self) -> bool:
        """If the tenant has at least MAX_SEGMENTS segments, join those smaller than half of the largest; if fewer than
        half of MAX_SEGMENTS are that small, join all. Return whether any were joined. So each posting is rewritten only
        a few times, and a word is read from few segments."""
        rows = self._rows("SELECT id, first_chunk, last_chunk FROM segment WHERE tenant = %s ORDER BY first_chunk")
        if len(rows) < MAX_SEGMENTS:
            return False
        largest = max(last - first for _, first, last in rows)
        small = [row for row in rows if row[2] - row[1] < largest / 2] or rows
        if len(small) < MAX_SEGMENTS // 2:
            small = rows
        number = 1 + max(row[0] for row in rows)
        numbers = [row[0] for row in small]
        self._change(
            "INSERT INTO segment VALUES (%s, %s, %s, %s)",
            number, min(row[1] for row in small), max(row[2] for row in small),
        )  # fmt: skip
        self._writes.execute(
            "INSERT INTO posting (tenant, term, segment, chunks, rows)"
            " SELECT tenant, term, %s, sum(chunks), string_agg(rows, ''::bytea ORDER BY segment)"
            " FROM posting WHERE tenant = %s AND segment = ANY(%s) GROUP BY tenant, term",
            (number, self._tenant, numbers),
        )
        self._change("DELETE FROM posting WHERE tenant = %s AND segment = ANY(%s)", numbers)
        self._change("DELETE FROM segment WHERE tenant = %s AND id = ANY(%s)", numbers)
        return True
