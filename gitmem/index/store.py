"""What search asks of an index, whatever engine keeps it.

Two adapters: SQLite (`index/db/reader`), and PostgreSQL (`server/postgres/index`), held to one test suite. The ranking
is above both and the same. Numbers, paths and oids only: no text of memory comes from an index. For types alone: a
search that runs never imports this.
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
    """An open index, for one thread. Every method raises `IndexUnusable` where the engine fails, `IndexDamaged` where
    only a rebuild helps."""

    path: Path
    """A file in the folder in which embedders keep what they record; it need not be there."""
    frozen: bool
    """Whether nothing of it is written by a search."""

    def reading(self) -> AbstractContextManager[None]:
        """One consistent state for several reads, whatever a writer does meanwhile."""

    def snapshot(self, key: str) -> Snapshot | None:
        """The snapshot of a key; None where it was never indexed."""

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        """Norms of the chunks at the paths `keep` accepts; of the default corpus only, unless `everything`."""

    def frequency(self, term: str) -> int:
        """In how many chunks of the whole index a word occurs."""

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """`frequency` of each of these words, at once."""

    def expect(self, terms: Iterable[str]) -> None:
        """The `occurrences` of these words are asked for next: an engine may read them at once."""

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        """(word, chunks) of words that begin with one character of Hangul, Kana or Han, for `occurrences`."""

    def occurrences(self, term: str) -> list[int]:
        """Every occurrence of a word, by ascending chunk: chunk above `PLACE_BITS`, position, bit of the heading."""

    def in_force(self) -> tuple[str, str] | None:
        """(name, setting) of the embedder whose vectors are compared; None where there are none."""

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        """The k chunks of `norms` nearest to a float32 vector: (chunk, cosine), best first."""

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """The cosine of a float32 vector of the embedder in force with each of these chunks that has a vector."""

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """(path, oid) of each file of the snapshot, in the default corpus, whose name has some of these words, with
        these."""

    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """(path, oid) of the files of the snapshot in the default corpus, in path order."""

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        """Where each of these chunks stands in the snapshot, in path order."""

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        """(chunk, first line, last line, line of its heading) of the chunks around one, within a blob, in order."""

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        """What is kept of the lines of each of these chunks that has any."""

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """How each of these blobs that is indexed is built."""

    def secrets(self, oid: str) -> int:
        """How many lines of a blob were left out for a secret."""

    def withheld(self, snapshot: Snapshot) -> int:
        """How many lines of the files of the snapshot, in the default corpus, were left out for a secret."""

    def line_days(self, files: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        """(path, oid, commit, day of each line) of those of these (path, oid) of which that is kept."""

    def close(self) -> None:
        """End the use of it."""


class BlobStore(Protocol):
    """What takes parsed blobs (`index/blob_indexer`): every method that changes something runs inside `writing()`."""

    path: Path

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all of it or nothing."""

    def bulk(self) -> None:
        """Many blobs follow."""

    def meta(self, key: str) -> str:
        """A recorded setting, "" where there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Record a setting."""

    def in_force(self) -> tuple[str, str] | None:
        """(name, setting) of the embedder whose vectors are compared."""

    def embedder(self, name: str, spec: str, dims: int) -> int:
        """The number of an embedder, registered if it is new; the very first one is in force at once."""

    def embedder_number(self, name: str) -> int:
        """The number of a registered embedder."""

    def holds_blobs(self) -> bool:
        """Whether anything was ever added."""

    def missing(self, oids: Iterable[str]) -> list[str]:
        """Those of these oids, each once and in order, that were not added yet."""

    def stored_chunks(self, hashes: Sequence[bytes]) -> Set[bytes]:
        """Those of these chunk hashes of which words and lines are stored."""

    def known_chunks(self, number: int | None) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The hashes of all chunks that need no parsing, and of those that need no vector of the embedder."""

    def add_blobs(self, blobs: Sequence[BlobRow]) -> dict[int, ChunkRow]:
        """Add parsed blobs; the chunks new to the index, by number."""

    def unembedded(self, number: int, chunks: Iterable[int]) -> list[int]:
        """Those of these chunks that have no vector of the embedder."""

    def add_vectors(self, number: int, vectors: Iterable[tuple[int, tuple[bytes, bytes]]]) -> None:
        """(chunk, (`bits`, `int8`) of its vector)."""
