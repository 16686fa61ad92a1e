"""Parsing in other processes: `Workers` hands out batches of blobs, `serve` is what a child runs.

A child has two pipes and nothing else of ours: no database, no lock, no repository. It ends when its input does, so
a killed parent leaves none behind.
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
AHEAD = 3  # batches under way or waiting for us, for each child


class Task(NamedTuple):
    """What children are to do with every batch. `embeds`: make the static table's vectors of chunks. What the index
    has already is not made again: `stored` and `embedded` are the hashes of the chunks whose lines, whose vectors it
    has. `messages`: what comes is commits' messages."""

    cut: Cut
    embeds: bool
    stored: frozenset[bytes] = frozenset()
    embedded: frozenset[bytes] = frozenset()
    messages: bool = False


def parsed(batch: Batch, cut: Cut, stored: Stored, messages: bool = False) -> list[BlobRow]:
    """Rows of some blobs, or commits' `messages`, with the vectors of the lines of those chunks that `stored` does not
    name."""
    return (message_rows if messages else blob_rows)(batch, cut, line_vectors(), stored)


def embedded(rows: Iterable[BlobRow], embedder: Any, known: Set[bytes]) -> Vectors:
    """The vectors of the chunks of some rows, each distinct text once, without those whose hashes are `known`."""
    texts = {chunk.hash: chunk.text for row in rows for chunk in row.chunks if chunk.hash not in known}
    return dict(zip(texts, codes(embedder, list(texts.values())), strict=True))


def codes(embedder: Any, texts: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """What the index stores of the texts' vectors: `bits` and `int8` of each. Some embedders know a shorter way."""
    short = getattr(embedder, "codes", None)
    if short:
        stored: list[tuple[bytes, bytes]] = short(texts)
        return stored
    return [(bits(vector), int8(vector)) for vector in embedder.embed(texts)]


def line_vectors() -> LineVectors | None:
    """How the vectors of single lines are made: always by the static table, whatever embeds the chunks."""
    table = static_table()
    if table is None:
        return None
    return table.lines


def static_table() -> StaticEmbedder | None:
    """The one static table of this process; None where it is missing."""
    from gitmem.errors import ModelUnavailable
    from gitmem.models.static_embedder import shared

    try:
        return shared()
    except ModelUnavailable:
        return None


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Take a `Task`, then answer batches until the input ends."""
    table = static_table()
    if table is not None:
        table.read_all()
    # Rows hold no cycles, and looking for some among all that is remembered took a twentieth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    task: Task = _receive(source)
    while (batch := _receive(source)) is not None:
        rows = parsed(batch, task.cut, task.stored.intersection, task.messages)
        if task.embeds and table is not None:
            vectors = embedded(rows, table, task.embedded)
        else:
            vectors = {}
        _send(sink, (rows, vectors))


class Workers:
    """A few child processes. `run` gives results in the order of the batches."""

    def __init__(self, count: int) -> None:
        places = [place for place in sys.path if place]
        code = (
            f"import os, sys; sys.path[:] = {places!r}\n"
            "from gitmem.index.parse_workers import serve\n"
            "serve(os.fdopen(0, 'rb'), os.fdopen(1, 'wb'))"
        )
        # -I: the folder we were started in is somebody's repository and must not be imported from.
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
        """(rows, vectors) of each batch, vectors only where `task.embeds`. Raises ChildProcessError when a child
        dies."""
        from concurrent.futures import Future, ThreadPoolExecutor
        from queue import SimpleQueue

        idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for child in self._children:
            idle.put(child)

        started: set[int] = set()

        def ask(batch: Batch) -> Any:
            # Whoever is free: the child that shares its core with us is the slower one.
            child = idle.get()
            try:
                if child.pid not in started:
                    started.add(child.pid)
                    _tell(child, task)
                return _ask(child, batch)
            finally:
                idle.put(child)

        waiting: deque[Future[Any]] = deque()
        # One thread a child: it writes a batch, then reads the answer; so no pipe fills up.
        lanes = ThreadPoolExecutor(len(self._children))
        try:
            for batch in batches:
                waiting.append(lanes.submit(ask, batch))
                if len(waiting) >= AHEAD * len(self._children):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            lanes.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            end(child)


def count() -> int:
    """How many children pay: one a core, at most four; 0 on a single core."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    if cores > 1:
        return min(cores, 4)
    return 0


def _tell(child: subprocess.Popen[bytes], message: Any) -> None:
    assert child.stdin is not None
    try:
        _send(child.stdin, message)
    except BrokenPipeError:
        raise ChildProcessError("a parsing process ended early") from None


def _ask(child: subprocess.Popen[bytes], message: Any) -> Any:
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
    head = pipe.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    data = pipe.read(size)
    if len(data) != size:
        return None
    return pickle.loads(data)
