"""The one module that differs by operating system: file flags, owners, locks, signals, temporary folders, memory.

On Windows files have no owner and no mode to check, folders cannot be opened, signals cannot be blocked, and a symbolic
link is looked for before a file is opened, not by the opening itself.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

POSIX = hasattr(os, "geteuid") and hasattr(os, "O_DIRECTORY")
RAW = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)  # for every file we open
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
NOCTTY: int = getattr(os, "O_NOCTTY", 0)
BLOCKABLE_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name))


def is_ours(status: os.stat_result) -> bool:
    """Whether the user of this process owns the file. Always True on Windows."""
    return not POSIX or status.st_uid == os.geteuid()


def is_root() -> bool:
    """Whether this process runs as root. Always False on Windows."""
    return POSIX and os.geteuid() == 0


def lock(handle: int) -> None:
    """Lock an open file against other processes, without waiting; closing the handle unlocks it. Raises OSError when
    another process has the lock."""
    try:
        import fcntl
    except ImportError:
        import msvcrt  # Windows locks bytes, not files: one byte is enough

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def terminal_echoes(handle: int) -> bool:
    """Whether the terminal behind a file descriptor shows typed characters. A passphrase prompt and a full-screen
    program turn that off.

    True for a handle that is not a terminal, and on Windows.
    """
    try:
        import termios
    except ImportError:
        return True
    try:
        return bool(termios.tcgetattr(handle)[3] & termios.ECHO)
    except termios.error:
        return True


# Errors of an operation that the file system does not have.
NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux (renameat2) and RENAME_SWAP of macOS (renamex_np)
_AT_FDCWD = -100  # paths are relative to the working directory


def exchange(first: Path, second: Path) -> bool:
    """Let two files change places in one step. Returns False if the system or the file system cannot do that.

    Raises OSError if it fails for another reason.
    """
    import ctypes

    if not POSIX:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    if hasattr(libc, "renameat2"):
        code = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)
    elif hasattr(libc, "renamex_np"):
        code = libc.renamex_np(names[0], names[1], _EXCHANGE)
    else:
        return False
    number = ctypes.get_errno()
    if code and number not in NOT_SUPPORTED:
        raise OSError(number, os.strerror(number), str(second))
    return not code


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGALRM within the `with` block; signals that arrive are delivered at its end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKABLE_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block when SIGTERM arrives, so that what the block wrote is put back as after
    Ctrl-C; once the block has ended, SIGTERM ends the process.

    Does nothing outside the main thread, and in a process that has a handler for SIGTERM or ignores it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    arrived = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal arrived
        arrived = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if arrived:
            os.kill(os.getpid(), signal.SIGTERM)


def unblock_signals() -> None:
    """Unblock the signals in a child process that was forked within `blocked_signals`, so that its own handlers get
    them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, BLOCKABLE_SIGNALS)


# -- private folders for files that another program reads -----------------------------------------------------

# A process locks its folder while it lives. A folder without a lock was left by a killed process, and the next
# `make_folder` of any process removes it. On Windows folders cannot be locked: a process removes its own folders only.
PREFIX = "git-mem-tmp-"
_lock_handles: dict[Path, int] = {}  # folder of this process -> the open handle that locks it


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder (mode 0700), removed when the `with` block ends. Raises OSError if it cannot be made."""
    folder = make_folder()
    try:
        yield folder
    finally:
        remove_folder(folder)


def make_folder() -> Path:
    """A new folder (mode 0700) for the caller to remove with `remove_folder`.

    If the process ends without that, the next `make_folder` of any process removes the folder. Raises OSError if the
    folder cannot be made.
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
            _lock_handles[folder] = handle
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # a sweep of another process came between


def remove_folder(folder: Path) -> None:
    """Remove a folder of `make_folder` and its contents, and unlock it. What cannot be removed stays, without an
    error."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    handle = _lock_handles.pop(folder, None)
    if handle is not None:
        os.close(handle)


def _sweep() -> None:
    """Remove the temporary folders of this program whose process has ended. Errors are ignored."""
    import shutil
    import tempfile

    with suppress(OSError):
        for name in os.listdir(tempfile.gettempdir()):
            folder = Path(tempfile.gettempdir(), name)
            if not name.startswith(PREFIX) or folder in _lock_handles:
                continue
            handle = _locked(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _locked(folder: Path) -> int | None:
    """An open handle that locks the folder; None when another process has the lock, or it is gone or not ours."""
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


# -- glibc's heap, for long-lived processes; with another C library these functions do nothing ----------------

ARENA_MAX = -8  # M_ARENA_MAX in glibc's malloc.h


def use_one_heap_arena() -> None:
    """Make threads that start from now on share one heap arena, which saves memory; only one of our threads runs at a
    time."""
    _call("mallopt", ARENA_MAX, 1)


def return_free_heap() -> None:
    """Return free heap memory to the operating system. Without this call the heap keeps its largest size."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the C library. Nothing happens if the library or the function is missing; its result is
    ignored."""
    import ctypes

    try:
        function = getattr(ctypes.CDLL(None), name)
    except (OSError, TypeError, AttributeError):
        return
    function(*arguments)


def limit_memory(pid: int, size: int) -> None:
    """Limit the memory of the child process `pid` to `size` bytes. It works on Linux only; elsewhere, and if the system
    refuses, nothing happens."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
    except (ImportError, AttributeError, OSError, ValueError):
        return
