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

from gitmem.index.db.values import BlobRow, ChunkRow, Place, Shape, Snapshot
from gitmem.index.line_records import Packed


class IndexReader(Protocol):
    """An open index, for one thread. Every method raises `IndexUnusable`, or `IndexDamaged` if only a rebuild helps.

    `path`: a file, which need not exist, in the folder for the logs of embedders. `frozen`: searches must not write to
    the index.
    """

    path: Path
    frozen: bool

    def reading(self) -> AbstractContextManager[None]:
        """Give all reads in the block one consistent state, whatever a writer does meanwhile."""

    def snapshot(self, key: str) -> Snapshot | None:
        """The snapshot of a key; None if it was never indexed."""

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """The norms of the chunks at the paths that `keep` accepts, of the default corpus or of `everything`."""

    def frequency(self, term: str) -> int:
        """The number of chunks of the whole index in which a word occurs."""

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Word -> its `frequency`, read at once."""

    def expect(self, terms: Iterable[str]) -> None:
        """Announce that `occurrences` of these words are read next, so that an engine may read them at once."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """(word, number of chunks) of at most `limit` words that begin with `prefix`, a character of Hangul, Kana or
        Han, in alphabetical order. An engine may return one term that stands for all of them."""

    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word, by ascending chunk: chunk above `PLACE_BITS`, position, bit of the heading."""

    def in_force(self) -> tuple[str, str] | None:
        """(name, setting) of the embedder whose vectors are compared; None if there is none."""

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """(chunk, cosine) of the k chunks of `norms` nearest to a float32 vector, best first. [] without an embedder in
        force, for a vector of zeros, and for one of another length."""

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Chunk -> its cosine with a float32 vector of the embedder in force, for those of `chunks` with a vector.
        Empty as for `nearest`."""

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) -> those of `terms` that the file's name has, for files in the default corpus that have any."""

    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot's default corpus, in path order."""

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """Chunk -> its places in the snapshot, in path order; [] if the snapshot lacks it."""

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """(chunk, first line, last line, line of its heading) of a blob's chunks at most `reach` from `ordinal`, in
        order, with the chunk at `ordinal` itself. [] for a blob that is not indexed."""

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """Chunk -> its line records, for those of `chunks` that have any."""

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """oid -> structure of the blob, for those of `oids` that are indexed."""

    def secrets(self, oid: str) -> int:
        """The number of lines of a blob that are not indexed because of a secret; 0 for a blob that is not indexed."""

    def withheld(self, snapshot: Snapshot) -> int:
        """The number of lines of the snapshot's default corpus that are not indexed because of a secret."""

    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """Stored blame dates of `files` (path, oid): (path, oid, commit of the blame, day of each line)."""

    def close(self) -> None:
        """Close the index."""


class BlobStore(Protocol):
    """Stores parsed blobs (for `index/blob_indexer`). Methods that change something are called inside `writing()`."""

    path: Path

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all writes of the block or none."""

    def prepare_for_many_writes(self) -> None:
        """Change settings of the engine that make many writes faster."""

    def meta(self, key: str) -> str:
        """The value of a setting in the index; "" if there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting."""

    def in_force(self) -> tuple[str, str] | None:
        """(name, setting) of the embedder whose vectors are compared; None if there is none."""

    def register_embedder(self, name: str, spec: str, dims: int) -> int:
        """Add an embedder, or find the one of this name. Returns its id. `spec`: the setting that opens it. `dims`:
        numbers in a vector. The first one is in force at once, another one is not."""

    def embedder_id(self, name: str) -> int:
        """The id of a registered embedder."""

    def holds_blobs(self) -> bool:
        """Whether the store has any blob."""

    def missing_blobs(self, oids: Iterable[str]) -> list[str]:
        """Those of these oids, each once and in order, that were not added yet."""

    def stored_chunks(self, hashes: Sequence[bytes]) -> Set[bytes]:
        """Those of these chunk hashes of which words and lines are stored."""

    def all_stored_chunks(self) -> frozenset[bytes]:
        """The hashes of chunks whose words and lines are stored; empty if the store cannot list them."""

    def all_embedded_chunks(self, embedder_id: int) -> frozenset[bytes]:
        """The hashes of chunks that have a vector of this embedder; empty if the store cannot list them."""

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs, without vectors. Returns chunk id -> row of the chunks whose words this call stored, as the
        index lacked them."""

    def unembedded(self, embedder_id: int, chunk_ids: Iterable[int]) -> list[int]:
        """Those of `chunk_ids` that have no vector of this embedder."""

    def add_vectors(self, embedder_id: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """Add vectors of this embedder: (chunk id, (`bits`, `int8`))."""
