"""Scans blobs in several processes, for ranges and histories with many of them."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, scan_blob
from gitmem.gate.policy import Policy

MAX_WAITING_CHUNKS = 4  # chunks queued for each worker, so that a long history needs little memory
CHUNK_BYTES = 1 << 16  # bytes given to a worker at once
_policy: list[Policy] = []


def scan_in_processes(blobs: Iterable[Blob], policy: Policy, workers: int) -> Iterator[tuple[Blob, list[Finding]]]:
    """Scan blobs in `workers` processes; yields (blob, its findings) in order. Raises BrokenProcessPool when a worker
    dies, since the gate must not go on without its result."""
    how = None
    if "fork" in multiprocessing.get_all_start_methods():
        how = "fork"
    context = multiprocessing.get_context(how)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_set_policy, initargs=(policy,)) as pool:
        waiting: deque[tuple[list[Blob], Future[list[list[Finding]]]]] = deque()
        try:
            for chunk in _chunks(blobs):
                waiting.append((chunk, pool.submit(_scan_chunk, chunk)))
                if len(waiting) >= workers * MAX_WAITING_CHUNKS:
                    yield from _results(*waiting.popleft())
            while waiting:
                yield from _results(*waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _results(chunk: list[Blob], future: Future[list[list[Finding]]]) -> Iterator[tuple[Blob, list[Finding]]]:
    yield from zip(chunk, future.result(), strict=True)


def _chunks(blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
    """The blobs in lists, in order. A list ends when it has CHUNK_BYTES or more, so it may be larger; none is empty."""
    chunk: list[Blob] = []
    size = 0
    for blob in blobs:
        chunk.append(blob)
        size += len(blob.data) + 256
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _set_policy(policy: Policy) -> None:
    _policy[:] = [policy]


def _scan_chunk(chunk: list[Blob]) -> list[list[Finding]]:
    return [scan_blob(blob, _policy[0]) for blob in chunk]
