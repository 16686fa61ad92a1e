"""Reads files outside the repository that a person, a host or a saved state names, with a size limit.

The functions never wait for a pipe, never read a device, and never hold more than their limit in memory. `read_bytes`
of `git/worktree.py` does the same for files of the work tree. Symbolic links are followed, since a person may keep
transcripts behind one. `append_private` appends to logs of ours.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, cast

from gitmem import system
from gitmem.errors import GitMemError
from gitmem.messages import Message

MAX_INPUT_BYTES = 256 << 20


def read_regular(path: Path, limit: int = MAX_INPUT_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes.

    Raises OSError for anything else: a folder, a pipe, a device, a file of `/proc`, a longer file, or a string that
    cannot be a path. Its `strerror` is a sentence for a person.
    """
    with open_regular(path) as file:
        data = _read_at_most(file, limit)
        if data and not os.fstat(file.fileno()).st_size:
            raise OSError(errno.EINVAL, "it is no regular file")
        return data


def read_start(path: Path, limit: int) -> tuple[bytes, bool]:
    """(the first `limit` bytes of a regular file, whether the file has no more). Raises OSError if it cannot be opened,
    and for a folder, a pipe or a device."""
    with open_regular(path) as file:
        data = file.read(limit + 1) or b""
        return data[:limit], len(data) <= limit


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading. Raises OSError if it cannot be opened, and for a folder, a pipe or a device;
    its `strerror` is a sentence for a person."""
    try:
        handle = os.open(path, os.O_RDONLY | system.NONBLOCK | system.RAW | system.NOCTTY)
    except ValueError:
        raise OSError(errno.EINVAL, "it is no path") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, "it is a folder")
        raise OSError(errno.EINVAL, "it is no regular file")
    return cast(BinaryIO, os.fdopen(handle, "rb", buffering=0))


def _read_at_most(file: BinaryIO, limit: int) -> bytes:
    """The rest of `file`. Raises OSError (EFBIG) when the rest is longer than `limit` bytes."""
    parts, remaining = [], limit + 1
    while remaining > 0 and (part := file.read(min(remaining, 1 << 20))):
        parts.append(part)
        remaining -= len(part)
    if remaining <= 0:
        raise OSError(errno.EFBIG, f"it is longer than {_size(limit)}")
    return b"".join(parts)


def _size(limit: int) -> str:
    """A limit for a message: whole MiB, rounded down, or bytes below one MiB."""
    if limit >= 1 << 20:
        return f"{limit >> 20} MiB"
    return f"{limit} bytes"


def append_private(path: Path, data: bytes) -> int:
    """Append bytes to a file, and return the file's new size in bytes. A file that does not exist is made for its owner
    alone (mode 0600); the mode of an existing file stays. A symbolic link is not followed. Raises OSError if the file
    cannot be written."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.NONBLOCK | system.RAW
    with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        file.write(data)
        return file.tell()


def read_input(path: Path, standard_input: BinaryIO, limit: int = MAX_INPUT_BYTES) -> bytes:
    """The bytes of the file that a person named on the command line, or of standard input for `-`.

    Raises GitMemError with the reason when the file cannot be read or is longer than `limit` bytes.
    """
    try:
        if str(path) == "-":
            return _read_at_most(standard_input, limit)
        return read_regular(path, limit)
    except OSError as error:
        hint = ""
        if error.errno == errno.EINVAL:
            hint = "'-' reads standard input"
        raise GitMemError(Message("cannot read '{}': {}", path, error.strerror), hint) from None


def writable_file(path: Path) -> Path:
    """The path that a write to `path` replaces or creates: `path` with symbolic links followed. Nothing is written.

    Raises GitMemError for a folder, a pipe or a device, because a rename would replace it.
    """
    try:
        real = path.resolve()
        is_writable = not real.exists() or real.is_file()
    except (OSError, ValueError, RuntimeError):
        is_writable = False
    if not is_writable or not path.name:
        raise GitMemError(
            Message("cannot write '{}': it is no regular file", path), "leave -o away to write to standard output"
        )
    return real
