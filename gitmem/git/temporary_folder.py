"""Private folders for files that another program reads: gone when they were used, and after a kill with the next one.

Each is locked while its process lives. A folder of ours that nobody holds was left by a process that was killed, and is
removed before the next is made. Where folders cannot be locked (Windows) nothing is removed but one's own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem import system

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
    if not system.POSIX:
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
    shutil.rmtree(folder, ignore_errors=True)
    handle = _held.pop(folder, None)
    if handle is not None:
        os.close(handle)


def _sweep() -> None:
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
        handle = os.open(folder, os.O_RDONLY | system.DIRECTORY | system.NOFOLLOW | system.RAW)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if system.is_ours(status) and status.st_nlink:
            system.lock(handle)
            if os.fstat(handle).st_nlink:
                return handle
    except OSError:
        pass  # another process holds it
    os.close(handle)
    return None
