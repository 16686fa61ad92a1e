"""Parses blobs in child processes. `Workers` sends them batches; a child runs `serve`.

A child has two pipes, and no database, lock or repository. It ends when its input ends, so a killed parent leaves no
child.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from gitmem.index.chunks import LineVectors, Stored, blob_rows, message_rows
from gitmem.index.db.values import BlobRow, Cut, bits, int8
from gitmem.models.child_processes import end

if TYPE_CHECKING:
    from gitmem.models.static_embedder import StaticEmbedder

Batch = Sequence[tuple[str, bytes]]
Vectors = dict[bytes, tuple[bytes, bytes]]  # chunk hash -> (bits, int8)
BATCHES_PER_CHILD = 3  # that are being parsed or wait to be taken


class Task(NamedTuple):
    """What a child does with every batch.

    `embeds`: make vectors of chunks by the static table. `stored`, `embedded`: hashes of the chunks whose lines, or
    vectors, the index has; they are not made again. `messages`: the batches are messages of commits.
    """

    cut: Cut
    embeds: bool
    stored: frozenset[bytes] = frozenset()
    embedded: frozenset[bytes] = frozenset()
    messages: bool = False


def parsed(batch: Batch, cut: Cut, stored: Stored, messages: bool = False) -> list[BlobRow]:
    """The rows of some blobs, or, with `messages`, of messages of commits. `stored`: returns which of the chunk hashes
    that it is given the index has; these chunks get no line vectors."""
    make_rows = message_rows if messages else blob_rows
    return make_rows(batch, cut, line_vectors(), stored)


def embedded(rows: Iterable[BlobRow], embedder: Any, embedded_hashes: Set[bytes]) -> Vectors:
    """Chunk hash -> vector (`bits`, `int8`), for the chunks of some rows whose hash is not in `embedded_hashes`; equal
    chunks once."""
    texts = {chunk.hash: chunk.text for row in rows for chunk in row.chunks if chunk.hash not in embedded_hashes}
    return dict(zip(texts, codes(embedder, list(texts.values())), strict=True))


def codes(embedder: Any, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[tuple[bytes, bytes]]:
    """The vector of each text as the index stores it: (signs as `values.bits`, numbers as `values.int8`). Some
    embedders make these directly. `origins`: (path, oid) of each text, for the log of text that was sent to an
    endpoint."""
    if hasattr(embedder, "codes"):
        result: list[tuple[bytes, bytes]] = embedder.codes(texts)
        return result
    return [(bits(vector), int8(vector)) for vector in embedder.embed(texts, origins)]


def line_vectors() -> LineVectors | None:
    """The function that makes line vectors, by the static table whatever embeds the chunks; None if the table is
    missing or damaged."""
    table = static_table()
    return table.lines if table is not None else None


def static_table() -> StaticEmbedder | None:
    """The static embedder that this process shares; None if its table is missing or damaged."""
    from gitmem.errors import ModelUnavailable
    from gitmem.models.static_embedder import shared

    try:
        return shared()
    except ModelUnavailable:
        return None


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Read a `Task`, then read batches and write (rows, vectors) until the input ends. The main loop of a child."""
    table = static_table()
    if table is not None:
        table.read_all()
    # Rows hold no reference cycles, and the search for cycles took a twentieth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    task: Task = _receive(source)
    while (batch := _receive(source)) is not None:
        rows = parsed(batch, task.cut, task.stored.intersection, task.messages)
        vectors: Vectors = {}
        if task.embeds and table is not None:
            vectors = embedded(rows, table, task.embedded)
        _send(sink, (rows, vectors))


class Workers:
    """`count` child processes that parse blobs. `run`, which is called once, returns results in the order of the
    batches; `close` ends the children."""

    def __init__(self, count: int) -> None:
        places = [place for place in sys.path if place]
        code = (
            f"import os, sys; sys.path[:] = {places!r}\n"
            "from gitmem.index.parse_workers import serve\n"
            "serve(os.fdopen(0, 'rb'), os.fdopen(1, 'wb'))"
        )
        # -I: nothing must be imported from the current folder, which is somebody's repository.
        self._children = [
            subprocess.Popen(
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(count)
        ]

    def run(self, batches: Iterable[Batch], task: Task) -> Iterator[tuple[list[BlobRow], Vectors]]:
        """(rows, vectors) of each batch, in the order of the batches. To be called once. The vectors are those of
        chunks that `task.embedded` lacks; none unless `task.embeds`, and none if the static table is missing. Raises
        ChildProcessError if a child dies."""
        from concurrent.futures import Future, ThreadPoolExecutor
        from queue import SimpleQueue

        idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for child in self._children:
            idle.put(child)

        started: set[int] = set()

        def ask(batch: Batch) -> Any:
            # Any idle child, because the child that shares its core with this process is slower.
            child = idle.get()
            try:
                if child.pid not in started:
                    started.add(child.pid)
                    _tell(child, task)
                return _ask(child, batch)
            finally:
                idle.put(child)

        waiting: deque[Future[Any]] = deque()
        # One thread per child writes a batch and reads the answer, so that no pipe fills up.
        threads = ThreadPoolExecutor(len(self._children))
        try:
            for batch in batches:
                waiting.append(threads.submit(ask, batch))
                if len(waiting) >= BATCHES_PER_CHILD * len(self._children):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            end(child)


def usable_cores() -> int:
    """The number of child processes that are worth their start: one per core, at most 4; 0 on a single core."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return 0 if cores < 2 else min(cores, 4)


def _tell(child: subprocess.Popen[bytes], message: Any) -> None:
    """Send a message to a child. Raises ChildProcessError if it has ended."""
    assert child.stdin is not None
    try:
        _send(child.stdin, message)
    except BrokenPipeError:
        raise ChildProcessError("a parsing process ended early") from None


def _ask(child: subprocess.Popen[bytes], message: Any) -> Any:
    """Send a message to a child and wait for its answer. Raises ChildProcessError if it has ended."""
    assert child.stdout is not None
    _tell(child, message)
    answer = _receive(child.stdout)
    if answer is None:
        raise ChildProcessError("a parsing process ended early")
    return answer


def _send(pipe: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=5)
    pipe.write(struct.pack("<Q", len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """The next value from a pipe; None at its end."""
    head = pipe.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    data = pipe.read(size)
    return None if len(data) != size else pickle.loads(data)
