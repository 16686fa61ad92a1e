"""The protocols of an index: `IndexReader` for search, `BlobStore` for the indexer.

There are two adapters under one test suite: SQLite (`index/db/reader`) and PostgreSQL (`server/postgres/index`). The
ranking is the same for both. An index returns numbers, paths and oids only, never text of memory. This module is for
type checks; a running search never imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from typing import Protocol

from gitmem.index.db.values import BlobRow, ChunkRow, InForce, Place, Shape, Snapshot
from gitmem.index.line_records import Packed


class IndexReader(Protocol):
    """An open index, for one thread. Every method raises `IndexUnusable`, or `IndexDamaged` if only a rebuild helps.

    `path`: a file, which need not exist, in the folder for the logs of embedders. `frozen`: searches must not write to
    the index.
    """

    path: Path
    frozen: bool

    def reading(self) -> AbstractContextManager[None]:
        """Give all reads in the `with` block one consistent state of the index, whatever a writer does meanwhile."""

    def snapshot(self, key: str) -> Snapshot | None:
        """The snapshot (set of files) with this key; None if it was never indexed."""

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """The norms of a part of a snapshot: a byte for each chunk id, above 0 for the chunks that shall be searched.

        `keep`: only files whose path it accepts; None for all. Without `everything` only files of the default corpus
        count, with it also those that are searched only if --path names them.
        """

    def frequency(self, term: str) -> int:
        """The number of chunks of the whole index in which a word occurs."""

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Word -> the number of chunks of the whole index in which it occurs, read at once."""

    def expect(self, terms: Iterable[str]) -> None:
        """Announce that `occurrences` of these words are read next, so that an engine may read them at once."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """(word, number of chunks) of at most `limit` words that begin with `prefix`, a character of Hangul, Kana or
        Han, in alphabetical order. An engine may return one term that stands for all of them."""

    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word as one number, by ascending chunk: the chunk's id above the lowest `PLACE_BITS`
        bits, then the position of the word, then one bit: 1 in the heading."""

    def in_force(self) -> InForce | None:
        """The embedder whose vectors searches compare; None if there is none. Its setting opens
        it."""

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the k chunks nearest to a float32 vector, best first. `norms`: a byte for each chunk
        id; only chunks where it is above 0 count. [] without an embedder in force, for a vector of zeros, and for one
        of another length."""

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Chunk id -> cosine of its vector with a float32 vector of the embedder in force, for those of `chunks` with a
        vector. Empty without an embedder in force, for a vector of zeros, and for one of another length."""

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) -> those of `terms` that are words of the file's name, for files of the default corpus that have
        any."""

    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot's default corpus, in path order."""

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """Chunk id -> its places in the snapshot, in path order; [] if the snapshot lacks the chunk."""

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """The chunks around the chunk number `ordinal` (from 0) of a blob, and that chunk, in order: (chunk id, first
        line, last line, line of its heading or 0). `reach`: how many on each side. [] for a blob that is not
        indexed."""

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """Chunk id -> the packed records of its statements, for those of `chunks` that have any."""

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """oid -> structure of the blob (headings, fences, tables, front matter), for those of `oids` that are
        indexed."""

    def secrets(self, oid: str) -> int:
        """The number of lines of a blob that are not indexed because of a secret; 0 for a blob that is not indexed."""

    def withheld(self, snapshot: Snapshot) -> int:
        """The number of lines of the snapshot's default corpus that are not indexed because of a secret."""

    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """The stored blame dates of those of `files`, (path, oid), that have any: (path, oid, commit that was blamed,
        day of each line)."""

    def close(self) -> None:
        """Close the index."""


class BlobStore(Protocol):
    """Stores parsed blobs (for `index/blob_indexer`). Methods that change something are called inside `writing()`."""

    path: Path

    def writing(self) -> AbstractContextManager[None]:
        """Run the `with` block as one transaction: all its writes are stored or none."""

    def prepare_for_many_writes(self) -> None:
        """Change settings of the engine that make many writes faster."""

    def meta(self, key: str) -> str:
        """The value of a setting that the index stores, such as the size of chunks; "" if there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting, which `meta` reads; one with the same key is replaced. Only inside `writing()`."""

    def in_force(self) -> InForce | None:
        """The embedder whose vectors searches compare; None if there is none. Its setting opens
        it."""

    def register_embedder(self, name: str, spec: str, dims: int) -> int:
        """Add an embedder, or find the one of this name. Returns its id. `spec`: the setting that opens it. `dims`:
        numbers in a vector. The first embedder is in force at once; the vectors of another one are not compared yet."""

    def embedder_id(self, name: str) -> int:
        """The id of a registered embedder."""

    def holds_blobs(self) -> bool:
        """Whether the store has any blob."""

    def missing_blobs(self, oids: Iterable[str]) -> list[str]:
        """Those of these oids, each once and in order, that were not added yet."""

    def stored_chunks(self, hashes: Sequence[bytes]) -> Set[bytes]:
        """Those of these chunk hashes whose words and lines the index has."""

    def all_stored_chunks(self) -> frozenset[bytes]:
        """The hashes of chunks whose words and lines are stored; empty if the store cannot list them."""

    def all_embedded_chunks(self, embedder_id: int) -> frozenset[bytes]:
        """The hashes of chunks that have a vector of this embedder; empty if the store cannot list them."""

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs, without vectors. Returns the chunks whose words the index lacked, chunk id -> row: these
        need vectors. Only inside `writing()`."""

    def unembedded(self, embedder_id: int, chunk_ids: Iterable[int]) -> list[int]:
        """Those of `chunk_ids` that have no vector of this embedder."""

    def add_vectors(self, embedder_id: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add vectors of this embedder: (chunk id, (signs as `values.bits`, numbers as `values.int8`)). Only inside
        `writing()`."""
