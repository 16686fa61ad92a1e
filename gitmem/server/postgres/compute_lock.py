"""A lock that lets one thread of an answering process compute at a time while the others wait for the database.

The interpreter runs one thread at a time anyway and switches between computing threads every few milliseconds, so that
four searches at once all end late. With the lock a search computes until it sends a statement to the database.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_turn = threading.Lock()
_own = threading.local()


@contextmanager
def computing() -> Iterator[None]:
    """Hold the lock around the body. May be nested."""
    if _has_turn():
        yield
        return
    _take()
    try:
        yield
    finally:
        _leave()


@contextmanager
def waiting() -> Iterator[None]:
    """Release the lock around a body that waits for something, so that another thread may compute. Does nothing in a
    thread without the lock."""
    if not _has_turn():
        yield
        return
    _leave()
    try:
        yield
    finally:
        _take()


def _has_turn() -> bool:
    return getattr(_own, "turn", False)


def _take() -> None:
    _turn.acquire()
    _own.turn = True


def _leave() -> None:
    _own.turn = False
    _turn.release()
