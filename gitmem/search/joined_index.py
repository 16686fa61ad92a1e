"""Joins the indexes of memory and of the commit history, so that both are searched as one index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gitmem.index.db import commits as stored
from gitmem.index.db.values import PLACE_BITS, InForce, Place, Shape, Snapshot
from gitmem.index.history import History
from gitmem.index.index_file import OpenIndex
from gitmem.index.line_records import Packed
from gitmem.search.memory_file import COMMIT, FileKey

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader


class _Part(NamedTuple):
    """One of the joined indexes. Its chunks get the numbers from `first` to before `end`: their own, plus `first`."""

    reader: IndexReader
    first: int
    end: int

    def own_numbers(self, chunks: Iterable[int]) -> list[int]:
        """The own numbers of those of these chunks that it has."""
        return [chunk - self.first for chunk in chunks if self.first <= chunk < self.end]


class JoinedIndex:
    """The indexes of memory and history as one index. The history's chunks are numbered after those of memory.

    Its methods are those of `IndexReader`. `past`: the open history. `memory`, `memory_snapshot`: the index of memory
    and its snapshot, None if nothing is indexed. `only`: whether chunks of memory are excluded. `max_commits`:
    commits that an answer may have, 0 for no limit.
    """

    def __init__(self, opened: OpenIndex, past: History, *, only: bool, max_commits: int) -> None:
        self.memory, self.memory_snapshot = opened.index, opened.snapshot
        self.past, self.max_commits = past, max_commits
        norms = b""
        if opened.snapshot is not None and opened.index is not None:
            norms = opened.snapshot.norms
        if only:
            norms = bytes(len(norms))
        self.first_of_history = len(norms or b"\0")
        self.joined = Snapshot(0, "", (norms or b"\0") + past.norms)
        self.parts: list[_Part] = []
        if opened.index is not None:
            self.parts.append(_Part(opened.index, 0, self.first_of_history))
        if past.index is not None:
            self.parts.append(_Part(past.index, self.first_of_history, len(self.joined.norms)))
        self.frozen = False
        if self.parts:
            self.frozen, self.path = self.parts[0].reader.frozen, self.parts[0].reader.path
        # The snapshot of memory that is searched, with its index.
        self.searched: tuple[IndexReader, Snapshot] | None = None
        if opened.index is not None and opened.snapshot is not None and not only:
            self.searched = opened.index, opened.snapshot
        self._commits: set[str] = set()  # oids of the commits that `places` gave

    def close(self) -> None:
        for part in self.parts:
            part.reader.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with ExitStack() as stack:
            for part in self.parts:
                stack.enter_context(part.reader.reading())
            yield

    def snapshot(self, key: str) -> Snapshot | None:
        return self.joined

    def select(
        self, snapshot: Snapshot, keep: Callable[[str], bool] | None = None, *, everything: bool = False
    ) -> bytes:
        if self.searched is None:
            return self.joined.norms
        norms = self.searched[0].select(self.searched[1], keep, everything=everything)
        return norms.ljust(self.first_of_history, b"\0")[: self.first_of_history] + self.past.norms

    def frequency(self, term: str) -> int:
        return sum(part.reader.frequency(term) for part in self.parts)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self.frequency(term) for term in terms}

    def expect(self, terms: Iterable[str]) -> None:
        for part in self.parts:
            part.reader.expect(terms)

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        words: dict[str, int] = {}
        for part in self.parts:
            for word, count in part.reader.starting(prefix, limit):
                words[word] = words.get(word, 0) + count
        return sorted(words.items())[:limit]

    def occurrences(self, term: str) -> list[int]:
        rows: list[int] = []
        for part in self.parts:
            shift, end = part.first << PLACE_BITS, part.end << PLACE_BITS
            rows += [row + shift for row in part.reader.occurrences(term) if row + shift < end]
        return rows

    def in_force(self) -> InForce | None:
        return self.parts[0].reader.in_force() if self.parts else None

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        best: list[tuple[int, float]] = []
        for part in self._comparable():
            part_norms = norms[part.first : part.end]
            if any(part_norms):
                best += [(chunk + part.first, cosine) for chunk, cosine in part.reader.nearest(vector, part_norms, k)]
        return sorted(best, key=lambda row: (-row[1], row[0]))[:k]

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        wanted = list(chunks)
        joined: dict[int, float] = {}
        for part in self._comparable():
            part_cosines = part.reader.cosines(vector, part.own_numbers(wanted))
            joined |= {chunk + part.first: cosine for chunk, cosine in part_cosines.items()}
        return joined

    def _comparable(self) -> list[_Part]:
        """The indexes with vectors of the embedder in force."""
        return [part for part in self.parts if part.reader.in_force() == self.in_force()]

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[FileKey, frozenset[str]]:
        if self.searched is None:
            return {}
        return self.searched[0].named(self.searched[1], terms)

    def files(self, snapshot: Snapshot) -> list[FileKey]:
        if self.searched is None:
            return []
        return self.searched[0].files(self.searched[1])

    def withheld(self, snapshot: Snapshot) -> int:
        if self.searched is None:
            return 0
        return self.searched[0].withheld(self.searched[1])

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        wanted = list(chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in wanted}
        first = self.first_of_history
        if self.searched is not None:
            places |= self.searched[0].places(self.searched[1], [chunk for chunk in wanted if chunk < first])
        numbers = [chunk - first for chunk in wanted if chunk >= first]
        if numbers and self.past.index is not None:
            for chunk, place in stored.commits_of(self.past.index, numbers).items():
                places[chunk + first] = [place._replace(chunk=chunk + first, path=COMMIT)]
                self._commits.add(place.oid)
        return places

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        if oid in self._commits and self.past.index is not None:
            rows = self.past.index.neighbours(oid, ordinal, reach)
            return [(chunk + self.first_of_history, first, last, heading) for chunk, first, last, heading in rows]
        if self.memory is None:
            return []
        return self.memory.neighbours(oid, ordinal, reach)

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        wanted = list(chunks)
        records: dict[int, Packed] = {}
        for part in self.parts:
            if numbers := part.own_numbers(wanted):
                records |= {chunk + part.first: packed for chunk, packed in part.reader.lines(numbers).items()}
        return records

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        return self.memory.shapes(oids) if self.memory is not None else {}

    def secrets(self, oid: str) -> int:
        return self.memory.secrets(oid) if self.memory is not None else 0

    def line_days(self, files: Iterable[FileKey]) -> list[tuple[str, str, str, tuple[date, ...]]]:
        return self.memory.line_days(files) if self.memory is not None else []
