"""Adds blobs to the index: parses and embeds each once, in this process or in others, and writes them in batches.

The caller decides which blobs and passes an open writer, which stays open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError, ModelUnavailable
from gitmem.git.opening import Repository
from gitmem.index.db.removal import forget_blobs
from gitmem.index.db.values import BlobRow, Cut, Shape
from gitmem.index.db.writer import Writer
from gitmem.index.index_file import LOCKED
from gitmem.memory.document import STILL_ENCRYPTED
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.index.parse_workers import Batch, Vectors

BATCH = 256  # blobs in a transaction
BATCH_BYTES = 256 << 10  # of the blobs in a transaction; parsing takes about twenty times as much memory
CHUNKS_PER_REPORT = 64  # that a model embeds between two reports of progress
# Parsing in child processes is worth their start from so many blobs, or so many bytes.
MIN_BLOBS_FOR_PROCESSES = 400
MIN_BYTES_FOR_PROCESSES = 4 * MAX_MEMORY_FILE_BYTES
Blobs = Iterable[tuple[str, bytes]]
Say = Callable[[str], None]


class ChunkText(NamedTuple):
    """A chunk to embed. `hash`: of the chunk. `oid`: a blob that has the chunk."""

    hash: bytes
    text: str
    oid: str


@dataclass(slots=True)
class Work:
    """Counts of a refresh. `notes`: for the person. `unfinished`: what is missing and why, "" if nothing.

    JSON: `blobs`: how many blobs were parsed. `commits`: how many commits of the history were parsed. `chunks`: how
    many chunks had new text. `embedded`: how many chunks got a vector. `removed_blobs`, `removed_chunks`: what
    `--prune` removed. `unfinished`: what is left when the time was bounded, or why there are no vectors; the exit
    code is then 3.
    """

    blobs: int = 0
    commits: int = 0
    chunks: int = 0
    embedded: int = 0
    removed_blobs: int = 0
    removed_chunks: int = 0
    notes: list[str] = field(default_factory=list)
    unfinished: str = ""


class BlobIndexer:
    """Adds blobs to one open index.

    The constructor opens the embedder (BadConfig for an unknown one), and forgets all blobs of an index whose chunks
    have another size than the configured one, or that lacks encrypted blobs which can be decrypted by now. `late`:
    whether the time is up. `whole`: the caller has opened one transaction for all blobs. `together`: batches in a
    transaction otherwise. `messages`: the blobs are messages of commits (`chunks.as_document`). `nouns`: the name of
    the blobs in reports of progress. `unavailable`: the error for which the configured embedder of a new index, or an
    embedder during the work, made no vectors; else None.
    """

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
        self.names: dict[str, str] = {}  # oid -> one of its paths, for the log of text that was sent
        self.cut = Cut(config.chunk_size, config.chunk_overlap)
        if writer.meta("cut") != self.cut.id:
            with writer.writing():
                if writer.meta("cut"):
                    forget_blobs(writer.database)
                writer.set_meta("cut", self.cut.id)
        if writer.meta(LOCKED) and repo.git_crypt() is not None:
            with writer.writing():
                forget_blobs(writer.database)
                writer.set_meta(LOCKED, "")
        self.clock = time.monotonic
        self.reported = self.clock()
        self._embedders()

    def transaction(self) -> AbstractContextManager[None]:
        """A context manager for one transaction. With `whole` it does nothing, because the caller's transaction is
        open."""
        if self.whole:
            return nullcontext()
        return self.writer.writing()

    def objects(self, oids: Iterable[str]) -> bool:
        """Read blobs from Git and add those that the index lacks, within the time. A blob larger than 1 MiB is recorded
        without chunks. Returns whether all are in the index now; a blob that this clone lacks does not count."""
        missing = self.writer.missing_blobs(oids)
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
        """Parse, embed and add blobs, (oid, bytes), that the index lacks. Returns whether all were added in time; if
        not, `work.unfinished` says how many are missing.

        `total`: the number of items for reports of progress; for 0 nothing is done. `publish` is called in each
        transaction with the oids that it added, and returns how many items are done by that.
        """
        if not total:
            return True
        done_count = 0
        with self._parsed(batches_of(blobs), total) as results:
            while group := list(islice(results, self.together)):
                with self.transaction():
                    for rows, vectors in group:
                        self._add(rows, vectors)
                        done_count += publish([row.oid for row in rows])
                self.say(f"indexed {done_count} of {total} {self.nouns}")
                if done_count < total and self.late():
                    self.work.unfinished = f"{total - done_count} {self.nouns} are not indexed yet"
                    return False
        return True

    @contextmanager
    def _parsed(self, batches: Iterator[Batch], total: int) -> Iterator[Iterator[tuple[list[BlobRow], Vectors]]]:
        """The rows of each batch and, by hash, the vectors that were made for their chunks.

        Child processes parse the batches if that is worth their start; they also make the vectors if the embedder is
        the static table. This process parses the batches otherwise, and makes no vectors here.
        """
        from gitmem.index.parse_workers import Task, Workers, parsed, usable_cores

        # Read batches until it is clear whether child processes are worth it; a new index lacks all blobs.
        read_batches, count, size = [], 0, 0
        if total >= MIN_BLOBS_FOR_PROCESSES and not self.writer.holds_blobs():
            count = total
        while count < MIN_BLOBS_FOR_PROCESSES and size < MIN_BYTES_FOR_PROCESSES:
            batch = next(batches, None)
            if batch is None:
                break
            read_batches.append(batch)
            count += len(batch)
            size += sum(len(data) for _, data in batch)
        children = 0
        if count >= MIN_BLOBS_FOR_PROCESSES or size >= MIN_BYTES_FOR_PROCESSES:
            children = usable_cores()
        if not children:
            stored = self.writer.stored_chunks
            yield ((parsed(batch, self.cut, stored, self.messages), {}) for batch in chain(read_batches, batches))
            return
        with closing(Workers(children)) as workers:
            self.writer.prepare_for_many_writes()
            embedded: frozenset[bytes] = frozenset()
            if self.static:
                embedded = self.writer.all_embedded_chunks(self.number)
            task = Task(self.cut, self.static, self.writer.all_stored_chunks(), embedded, self.messages)
            yield workers.run(chain(read_batches, batches), task)

    def _add(self, rows: Sequence[BlobRow], vectors: Vectors) -> None:
        """Add parsed blobs with the vectors of their new chunks. `vectors`: as for `embed`."""
        fresh = self.writer.add_blobs(rows)
        if any(row.skipped == STILL_ENCRYPTED for row in rows) and self.repo.git_crypt() is None:
            self.writer.set_meta(LOCKED, "yes")
        self.work.blobs += len(rows)
        self.work.chunks += len(fresh)
        home = {chunk.hash: row.oid for row in rows for chunk in row.chunks}
        self.embed({number: ChunkText(row.hash, row.text, home[row.hash]) for number, row in fresh.items()}, vectors)

    # -- vectors ---------------------------------------------------------------------------------------------

    def _embedders(self) -> None:
        """Open the embedder for new chunks: the one in force in the index, or the configured one for a new index.
        Raises BadConfig for an unknown embedder."""
        from gitmem.models.embedding import open_embedder, open_embedder_of_index

        writer = self.writer
        self.embedder: Any = None
        self.number = 0
        self.static = False
        self.unavailable: GitMemError | None = None  # why the configured embedder made no vectors
        in_force = writer.in_force()
        try:
            if in_force is None:
                configured = open_embedder(self.config.embedder, self.config, self.writer.path.parent)
                dims = configured.dims  # this may ask an endpoint, and raise
                with writer.writing():
                    self.number = writer.register_embedder(configured.id, self.config.embedder, dims)
                self.embedder, self.static = configured, self.config.embedder == "static"
                return
            current = open_embedder_of_index(in_force.spec, self.config, self.writer.path.parent)
            if current is not None and current.id == in_force.name:
                self.embedder = current
                self.static = in_force.spec == "static"
                self.number = writer.embedder_id(in_force.name)
            else:
                self.work.notes.append("the embedder has changed; 'git mem index' makes its vectors")
        except ModelUnavailable as error:
            if in_force is None:
                self.unavailable = error
            self.work.notes.append(f"no vectors: {error.message}")

    def embed(self, texts: Mapping[int, ChunkText], vectors: Vectors) -> None:
        """Add the vectors of chunks that have none, inside a transaction. Without an embedder the index only records
        that vectors are lacking.

        `texts`: by chunk id. `vectors`: by chunk hash, from a child process; other vectors are made here.
        """
        if not texts:
            return
        writer = self.writer
        if self.embedder is None:
            writer.set_meta("lacking", "yes")
            return
        from gitmem.index.parse_workers import codes

        chunk_ids = writer.unembedded(self.number, texts)
        rows = [(chunk_id, vectors[texts[chunk_id].hash]) for chunk_id in chunk_ids if texts[chunk_id].hash in vectors]
        chunks_to_embed = [chunk_id for chunk_id in chunk_ids if texts[chunk_id].hash not in vectors]
        chunks_per_call = CHUNKS_PER_REPORT
        if hasattr(self.embedder, "codes"):  # the static table takes no time worth a report
            chunks_per_call = max(1, len(chunks_to_embed))
        for start in range(0, len(chunks_to_embed), chunks_per_call):
            batch = chunks_to_embed[start : start + chunks_per_call]
            batch_texts = [texts[chunk_id] for chunk_id in batch]
            origins = [(self.names.get(text.oid, ""), text.oid) for text in batch_texts]
            try:
                rows += zip(batch, codes(self.embedder, [text.text for text in batch_texts], origins), strict=True)
            except ModelUnavailable as error:
                self.work.notes.append(f"no vectors: {error.message}")
                self.embedder, self.unavailable = None, error
                writer.set_meta("lacking", "yes")
                break
            self._report(self.work.embedded + len(rows))
        writer.add_vectors(self.number, rows)
        self.work.embedded += len(rows)

    def _report(self, embedded: int) -> None:
        """Report how many chunks have vectors by now, at most once a second."""
        if self.clock() - self.reported >= 1.0:
            self.say(f"{counted(embedded, 'chunk')} embedded")
            self.reported = self.clock()


def batches_of(blobs: Blobs) -> Iterator[Batch]:
    """The blobs in lists of at most BATCH blobs and about BATCH_BYTES."""
    batch: list[tuple[str, bytes]] = []
    size = 0
    for oid, data in blobs:
        batch.append((oid, data))
        size += len(data)
        if len(batch) >= BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
