"""What operating systems do not share: flags of files, owners, locks, signals, the heap. Nowhere else is a system asked
for.

Where there is no POSIX (Windows), a file has no owner and no mode to check, folders are not opened, signals are not
held back, and a link is looked for before a file is opened and not while it is.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

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


def is_root() -> bool:
    """Whether this process is root's; False where there is no such user."""
    return POSIX and os.geteuid() == 0


def lock(handle: int) -> None:
    """Take the lock of an open file against other processes, at once. Raises OSError where another one has it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt  # Windows: a byte stands for the file

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def echoes(handle: int) -> bool:
    """Whether a terminal shows what is typed: a prompt for a passphrase, and a program that draws its own screen, turn
    that off. True for a handle that is no terminal and where terminals cannot be asked."""
    try:
        import termios
    except ImportError:
        return True
    try:
        return bool(termios.tcgetattr(handle)[3] & termios.ECHO)
    except termios.error:
        return True


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


def let_signals_come() -> None:
    """In a process that was forked while signals were held back: let them come again, with the handlers of now."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)


# -- private folders for files that another program reads -----------------------------------------------------

# Each is locked while its process lives. One that nobody holds was left by a process that was killed, and is removed
# before the next is made. Where folders cannot be locked (Windows) nothing is removed but one's own.
PREFIX = "git-mem-tmp-"
_held: dict[Path, int] = {}


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder (0700) that is gone afterwards."""
    folder = make_folder()
    try:
        yield folder
    finally:
        remove_folder(folder)


def make_folder() -> Path:
    """A new folder (0700) that stays until `remove_folder` or the end of the process, and then until the next is made.

    Raises OSError.
    """
    import shutil
    import tempfile

    if not POSIX:
        return Path(tempfile.mkdtemp(prefix=PREFIX))
    _sweep()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        handle = _locked(folder)
        if handle is not None:
            _held[folder] = handle
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # a sweep of another process came between


def remove_folder(folder: Path) -> None:
    """Remove a folder of `make_folder` with what is in it."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    handle = _held.pop(folder, None)
    if handle is not None:
        os.close(handle)


def _sweep() -> None:
    import shutil
    import tempfile

    with suppress(OSError):
        for name in os.listdir(tempfile.gettempdir()):
            folder = Path(tempfile.gettempdir(), name)
            if not name.startswith(PREFIX) or folder in _held:
                continue
            handle = _locked(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _locked(folder: Path) -> int | None:
    """A handle that holds a folder of ours; None where another process holds it, or it is gone or another's."""
    try:
        handle = os.open(folder, os.O_RDONLY | DIRECTORY | NOFOLLOW | RAW)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if is_ours(status) and status.st_nlink:
            lock(handle)
            if os.fstat(handle).st_nlink:
                return handle
    except OSError:
        pass  # another process holds it
    os.close(handle)
    return None


# -- the memory of the C library, where that is glibc, for processes that live long; elsewhere nothing is done ---

ARENA_MAX = -8  # M_ARENA_MAX in glibc's malloc.h


def one_arena() -> None:
    """Have threads that are still to come share one arena: of ours one runs at a time."""
    _call("mallopt", ARENA_MAX, 1)


def give_back() -> None:
    """Give back to the system what is free within the heap: it is as large as it ever had to be, else."""
    _call("malloc_trim", 0)


def _call(name: str, *given: Any) -> None:
    import ctypes

    try:
        function = getattr(ctypes.CDLL(None), name)
    except (OSError, TypeError, AttributeError):
        return
    function(*given)


def bound_memory(pid: int, size: int) -> None:
    """Let a child process have at most so many bytes of memory, where the system can be asked that (Linux)."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
    except (ImportError, AttributeError, OSError, ValueError):
        return
