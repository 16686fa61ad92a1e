"""A lock that lets one thread of an answering process compute at a time while the others wait for the database.

The interpreter runs one thread at a time anyway and switches between computing threads every few milliseconds, so that
four searches at once all end late. With the lock a search computes until it sends a statement to the database.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_thread = threading.local()  # `computes`: whether this thread holds the lock


@contextmanager
def computing() -> Iterator[None]:
    """A context manager that holds the lock of computing threads around its block. Must not be nested."""
    _take()
    try:
        yield
    finally:
        _release()


@contextmanager
def waiting() -> Iterator[None]:
    """A context manager that releases the lock around a block that waits for something, so that another thread may
    compute. Does nothing in a thread without the lock."""
    if not getattr(_thread, "computes", False):
        yield
        return
    _release()
    try:
        yield
    finally:
        _take()


def _take() -> None:
    _lock.acquire()
    _thread.computes = True


def _release() -> None:
    _thread.computes = False
    _lock.release()
