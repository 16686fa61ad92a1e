"""Of the threads of a process that answers, one computes at a time, and the others wait for the database.

The interpreter lets one thread run at a time anyway, and passes between threads that compute at moments of its own:
four searches that take turns every few milliseconds all end late, and each turn costs. Here a search keeps its turn
until it asks the database for something.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_turn = threading.Lock()
_own = threading.local()


@contextmanager
def computing() -> Iterator[None]:
    """Around what computes: wait for the turn of this thread, and keep it."""
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
    """Around what waits for something else: meanwhile another thread may compute."""
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
