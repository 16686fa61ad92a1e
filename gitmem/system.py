"""What operating systems do not share: flags of files, owners, locks, signals. Nowhere else is a system asked for.

Where there is no POSIX (Windows), a file has no owner and no mode to check, folders are not opened, signals are not
held back, and a link is looked for before a file is opened and not while it is.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

POSIX = hasattr(os, "geteuid") and hasattr(os, "O_DIRECTORY")
RAW = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)  # of every file we open
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
NOCTTY: int = getattr(os, "O_NOCTTY", 0)
HELD_BACK = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name))


def is_ours(status: os.stat_result) -> bool:
    """Whether a file belongs to the user whom this process runs as."""
    return not POSIX or status.st_uid == os.geteuid()


def lock(handle: int) -> None:
    """Take the lock of an open file against other processes, at once. Raises OSError where another one has it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt  # Windows: a byte stands for the file

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Let no interrupt, end or alarm come between; those that arrive do when the block is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
