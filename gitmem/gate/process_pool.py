"""Scanning in several processes: for ranges and histories of some hundred blobs. No policy of its own."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, scan_blob
from gitmem.gate.policy import Policy

WAITING = 4  # chunks a worker may have in store: bounds the memory of a history of any length
CHUNK = 1 << 16  # bytes handed to a worker at once
_policy: list[Policy] = []


def scan_in_processes(blobs: Iterable[Blob], policy: Policy, workers: int) -> Iterator[tuple[Blob, list[Finding]]]:
    """(blob, its findings) in order. A worker that dies raises: the gate must not go on without its answer."""
    how = None
    if "fork" in multiprocessing.get_all_start_methods():
        how = "fork"
    context = multiprocessing.get_context(how)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(policy,)) as pool:
        waiting: deque[tuple[list[Blob], Future[list[list[Finding]]]]] = deque()
        try:
            for chunk in _chunks(blobs):
                waiting.append((chunk, pool.submit(_work, chunk)))
                if len(waiting) >= workers * WAITING:
                    yield from _answers(*waiting.popleft())
            while waiting:
                yield from _answers(*waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _answers(chunk: list[Blob], future: Future[list[list[Finding]]]) -> Iterator[tuple[Blob, list[Finding]]]:
    yield from zip(chunk, future.result(), strict=True)


def _chunks(blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
    chunk: list[Blob] = []
    size = 0
    for blob in blobs:
        chunk.append(blob)
        size += len(blob.data) + 256
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _start(policy: Policy) -> None:
    _policy[:] = [policy]


def _work(chunk: list[Blob]) -> list[list[Finding]]:
    return [scan_blob(blob, _policy[0]) for blob in chunk]
