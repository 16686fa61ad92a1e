"""Blobs on their way into the index: parsed and embedded once each, here or in other processes, and added a batch to
a transaction.

Decides neither which blobs nor what they are called; it is given an open writer and leaves it open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError, ModelUnavailable
from gitmem.git.opening import Repository
from gitmem.index.db.values import BlobRow, Cut, Shape
from gitmem.index.db.writer import Writer
from gitmem.index.index_file import LOCKED
from gitmem.memory.document import STILL_ENCRYPTED
from gitmem.memory.snapshot import read, work_tree_key
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted

BATCH = 256  # blobs to a transaction
HEAVY = 256 << 10  # bytes of a batch: what is made of them is some twenty times as much while they are parsed
SLICE = 64  # chunks a model embeds between two words of progress
MIN_BLOBS_FOR_PROCESSES = 400  # blobs from which parsing in other processes pays for their start
MUCH = 4 * MAX_MEMORY_FILE_BYTES  # bytes from which it does
Blobs = Iterable[tuple[str, bytes]]
Say = Callable[[str], None]


@dataclass(slots=True)
class Work:
    """What a refresh did, counted."""

    blobs: int = 0
    commits: int = 0
    chunks: int = 0
    embedded: int = 0
    removed_blobs: int = 0
    removed_chunks: int = 0
    notes: list[str] = field(default_factory=list)
    unfinished: str = ""


class BlobIndexer:
    """What takes blobs into one open index. `late` says when to stop; `whole` that all of it is one transaction, else
    `together` how many batches are; `messages` that they are commits' messages (`chunks.as_document`)."""

    whole = False
    together = 1
    messages = False
    nouns = "files"

    def __init__(
        self, repo: Repository, config: Config, writer: Writer, work: Work, late: Callable[[], bool], say: Say
    ) -> None:
        self.repo = repo
        self.config = config
        self.writer = writer
        self.work = work
        self.late = late
        self.say = say
        self.names: dict[str, str] = {}  # oid -> a path it has, for the egress log
        self.cut = Cut(config.chunk_size, config.chunk_overlap)
        if writer.meta("cut") != self.cut.id:
            with writer.writing():
                if writer.meta("cut"):
                    writer.forget_blobs()
                writer.set_meta("cut", self.cut.id)
        if writer.meta(LOCKED) and repo.git_crypt() is not None:
            with writer.writing():
                writer.forget_blobs()
                writer.set_meta(LOCKED, "")
        self.clock = time.monotonic
        self.reported = self.clock()
        self._embedders()

    def transaction(self) -> AbstractContextManager[None]:
        """A transaction, or the one for all that is under way."""
        if self.whole:
            return nullcontext()
        return self.writer.writing()

    def objects(self, oids: Iterable[str]) -> bool:
        """Add those of these blobs that are missing, read from Git; whether all of it was done."""
        missing = self.writer.missing(oids)
        if not missing:
            return True
        sizes = self.repo.sizes(missing)
        large = [
            BlobRow(
                oid, sizes[oid], 0, 1, f"larger than 1 MiB ({sizes[oid] / MAX_MEMORY_FILE_BYTES:.1f} MiB)", Shape(), ()
            )
            for oid in missing
            if sizes.get(oid, 0) > MAX_MEMORY_FILE_BYTES
        ]
        if large:
            with self.transaction():
                self.writer.add_blobs(large)
        wanted = [oid for oid in missing if 0 <= sizes.get(oid, -1) <= MAX_MEMORY_FILE_BYTES]
        blobs = ((oid, data) for oid, data in self.repo.read_many(wanted) if data is not None)
        return self.add(blobs, len(wanted), len)

    def add(self, blobs: Blobs, total: int, publish: Callable[[Sequence[str]], int]) -> bool:
        """Parse, embed and add blobs that are not there, read one by one; whether all of it was done.

        `publish` is called in each transaction with the oids it added; it says how many of `total` that were.
        """
        if not total:
            return True
        from gitmem.index.parse_workers import Task, Workers, count, parsed

        batches = _batches(blobs)
        first, many, much = [], 0, 0
        if total >= MIN_BLOBS_FOR_PROCESSES and not self.writer.holds_blobs():
            many = total  # all of them are missing: the other processes may start meanwhile
        while many < MIN_BLOBS_FOR_PROCESSES and much < MUCH:
            batch = next(batches, None)
            if batch is None:
                break
            first.append(batch)
            many += len(batch)
            much += sum(len(data) for _, data in batch)
        children = 0
        if many >= MIN_BLOBS_FOR_PROCESSES or much >= MUCH:
            children = count()
        workers = None
        if children:
            workers = Workers(children)
        done = 0
        try:
            if workers is not None:
                self.writer.bulk()
                # Only the static table's vectors are made beside the parsing.
                known = self.writer.known_chunks(self.number if self.static else None)
                results = workers.run(chain(first, batches), Task(self.cut, self.static, *known, self.messages))
            else:
                stored = self.writer.stored_chunks
                results = ((parsed(batch, self.cut, stored, self.messages), {}) for batch in chain(first, batches))
            while some := list(islice(results, self.together)):
                with self.transaction():
                    for rows, vectors in some:
                        self._add(rows, vectors)
                        done += publish([row.oid for row in rows])
                self.say(f"indexed {done} of {total} {self.nouns}")
                if done < total and self.late():
                    self.work.unfinished = f"{total - done} {self.nouns} are not indexed yet"
                    return False
        finally:
            if workers is not None:
                workers.close()
        return True

    def _add(self, rows: Sequence[BlobRow], vectors: Mapping[bytes, tuple[bytes, bytes]]) -> None:
        fresh = self.writer.add_blobs(rows)
        if any(row.skipped == STILL_ENCRYPTED for row in rows) and self.repo.git_crypt() is None:
            self.writer.set_meta(LOCKED, "yes")
        self.work.blobs += len(rows)
        self.work.chunks += len(fresh)
        home = {chunk.hash: row.oid for row in rows for chunk in row.chunks}
        self._embed({number: (row.hash, row.text, home[row.hash]) for number, row in fresh.items()}, vectors)

    # -- vectors ---------------------------------------------------------------------------------------------

    def _embedders(self) -> None:
        """The embedder whose vectors are made: that in force, or the configured one for a new index."""
        from gitmem.models.embedding import open_embedder, open_in_force

        writer = self.writer
        self.embedder: Any = None
        self.number = 0
        self.static = False
        self.unavailable: GitMemError | None = None  # why the configured embedder made nothing
        force = writer.in_force()
        try:
            if force is None:
                made = open_embedder(self.config.embedder, self.config, self.writer.path.parent)
                dims = made.dims  # an endpoint is asked for them: it may not answer
                with writer.writing():
                    self.number = writer.embedder(made.id, self.config.embedder, dims)
                self.embedder, self.static = made, self.config.embedder == "static"
                return
            known = open_in_force(force[1], self.config, self.writer.path.parent)
            if known is not None and known.id == force[0]:
                self.embedder = known
                self.static = force[1] == "static"
                self.number = writer.embedder_number(force[0])
            else:
                self.work.notes.append("the embedder has changed; 'git mem index' makes its vectors")
        except ModelUnavailable as error:
            if force is None:
                self.unavailable = error
            else:
                self.unavailable = None
            self.work.notes.append(f"no vectors: {error.message}")

    def _embed(self, fresh: Mapping[int, tuple[bytes, str, str]], made: Mapping[bytes, tuple[bytes, bytes]]) -> None:
        """Vectors for chunks (hash, text, blob) that have none: those a child made, the rest here."""
        if not fresh:
            return
        writer = self.writer
        if self.embedder is None:
            writer.set_meta("lacking", "yes")
            return
        from gitmem.index.parse_workers import codes

        wanted = writer.unembedded(self.number, fresh)
        rows = [(number, made[fresh[number][0]]) for number in wanted if fresh[number][0] in made]
        rest = [number for number in wanted if fresh[number][0] not in made]
        # the table's take no time
        if not hasattr(self.embedder, "codes"):
            step = SLICE
        else:
            step = max(1, len(rest))
        for at in range(0, len(rest), step):
            some = rest[at : at + step]
            try:
                if hasattr(self.embedder, "origins"):
                    self.embedder.origins = [(self.names.get(fresh[n][2], ""), fresh[n][2]) for n in some]
                rows += zip(some, codes(self.embedder, [fresh[number][1] for number in some]), strict=True)
            except ModelUnavailable as error:
                self.work.notes.append(f"no vectors: {error.message}")
                self.embedder, self.unavailable = None, error
                writer.set_meta("lacking", "yes")
                break
            self._report(self.work.embedded + len(rows))
        writer.add_vectors(self.number, rows)
        self.work.embedded += len(rows)

    def _report(self, embedded: int) -> None:
        """Say how many chunks have vectors by now, once a second at most."""
        if self.clock() - self.reported >= 1.0:
            self.say(f"{counted(embedded, 'chunk')} embedded")
            self.reported = self.clock()

    def change_embedder(self) -> None:
        """Make the configured embedder's vectors for every chunk that lacks them; then put it in force.

        Where it does not answer, `unavailable` says why, and the vectors in force stay so.
        """
        from gitmem.models.embedding import open_embedder

        writer = self.writer
        if self.unavailable is not None:
            return  # asked already
        try:
            wanted = open_embedder(self.config.embedder, self.config, self.writer.path.parent)
            force = writer.in_force()
            if force is not None and force[0] == wanted.id and not writer.meta("lacking"):
                return  # every transaction that added a chunk added its vector
            dims = wanted.dims
            with writer.writing():
                number = writer.embedder(wanted.id, self.config.embedder, dims)
            lacking = writer.blobs_without_vectors(number)
            if lacking:
                self.names.update({oid: path for path, oid in self._all_names()})
                self.embedder, self.number = wanted, number
                self._fill(lacking)
                if writer.blobs_without_vectors(number):
                    return
            with writer.writing():
                writer.put_in_force(number)
                writer.set_meta("lacking", "")
        except ModelUnavailable as error:
            self.unavailable = error

    def _fill(self, oids: Sequence[str]) -> None:
        from gitmem.index.chunks import blob_row

        writer = self.writer
        for batch in _batches(self._contents(oids)):
            rows = [blob_row(oid, data, self.cut) for oid, data in batch]
            texts: dict[int, tuple[bytes, str, str]] = {}
            for row in rows:
                chunks = writer.chunks_of(row.oid)
                if len(chunks) == len(row.chunks):
                    texts.update({n: (c.hash, c.text, row.oid) for n, c in zip(chunks, row.chunks, strict=True)})
            with writer.writing():
                self._embed(texts, {})
            if self.embedder is None:
                return

    def _all_names(self) -> Iterator[tuple[str, str]]:
        for key in self.writer.keys(""):
            for path, (_, oid, _) in self.writer.recorded(key).items():
                yield path, oid

    def _contents(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Blobs from Git; those Git has not, from the work tree."""
        lost = []
        for oid, data in self.repo.read_many(oids):
            if data is None:
                lost.append(oid)
            else:
                yield oid, data
        if lost and self.repo.root is not None:
            paths = {oid: path for path, (_, oid, _) in self.writer.recorded(work_tree_key(self.repo)).items()}
            for (_, oid), data in read(self.repo, [(paths[oid], oid) for oid in lost if oid in paths]).items():
                yield oid, data


def _batches(blobs: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for oid, data in blobs:
        batch.append((oid, data))
        size += len(data)
        if len(batch) >= BATCH or size > HEAVY:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
