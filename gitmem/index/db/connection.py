"""Opens the index file: private to the user, hardened, its tables checked (docs/threats.md, A29, A30)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from gitmem import system
from gitmem.errors import IndexOfAnotherUser, IndexUnusable
from gitmem.git.worktree import hint_for_another_owner
from gitmem.index.db import schema
from gitmem.index.db.reader import Index
from gitmem.index.db.sqlite import drop_copy, private_copy, translated
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.index.db.writer import Writer

FILE = "index.sqlite"
HISTORY = "history.sqlite"  # the same tables for the messages of commits (`index/history`)


def open_index(directory: Path, name: str = FILE, *, temporary: bool = False) -> Index | None:
    """Open the index in `directory` (the state folder) for reading; None if there is none.

    `temporary`: the directory (`system.make_folder`) is removed when the index is closed. If nothing can be written
    (permissions, a full disk), the file is read as it is (`index.frozen`). Raises `IndexDamaged` if the file is no
    index of this version, `IndexUnusable` for a newer version, a symbolic link or another owner.
    """
    path = directory / name
    with translated():
        if not ensure_ours(directory, name):
            return None
        frozen = not os.access(directory, os.W_OK) or not os.access(path, os.W_OK)
        try:
            connection, copy = _connect(path, frozen, _prepare_to_read)
        except (apsw.IOError, apsw.FullError, apsw.CantOpenError):
            if frozen:
                raise
            frozen = True  # a full disk has no room for the -shm that SQLite makes to read
            connection, copy = _connect(path, frozen, _prepare_to_read)
        return Index(connection, path, frozen, directory if temporary else copy)


def open_writer(directory: Path, make: bool = True, name: str = FILE) -> Writer:
    """Open the index for writing; the file is made if there is none. The caller holds the writer lock.

    `make`: make the folder, too; without `make` FileNotFoundError is raised if it is missing. Raises IndexUnusable if
    the folder or the file cannot be written, is a symbolic link, another user's or of a newer version, and IndexDamaged
    if the file is no index of this version.
    """
    from gitmem.index.db.writer import Writer

    path = directory / name
    with translated():
        _make_private(directory, make)
        _make_file(path)
        if not os.access(directory, os.W_OK) or not os.access(path, os.W_OK):
            raise IndexUnusable(Message("the index folder cannot be written: {}", directory), "check its permissions.")
        connection, copy = _connect(path, False, _prepare_to_write)
        return Writer(connection, path, frozen=False, copy=copy)


def remove(directory: Path, name: str = FILE) -> list[str]:
    """Delete the index file, its -wal, -shm and -journal. Returns the names that existed. Raises IndexUnusable if one
    cannot be deleted."""
    gone = []
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(directory / (name + suffix))
            gone.append(name + suffix)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise IndexUnusable(
                Message("cannot delete {}: {}", directory / name, error.strerror), "check its permissions."
            ) from None
    return gone


def ensure_ours(directory: Path, name: str = FILE) -> bool:
    """Whether there is an index file in `directory`. Raises `IndexUnusable` if the folder, the file, its -wal or its
    -shm is a symbolic link or belongs to another user."""
    path = directory / name
    try:
        _check(directory, stat.S_ISDIR)
        _check(path, stat.S_ISREG)
    except FileNotFoundError:
        return False
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            _check(path.with_name(path.name + suffix), stat.S_ISREG)
    return True


def _check(path: Path, kind: Callable[[int], bool]) -> os.stat_result:
    """The status of `path`. Raises IndexOfAnotherUser if another user owns it, IndexUnusable if it is a symbolic link
    or not of that kind, FileNotFoundError if it is missing."""
    status = os.lstat(path)
    if not kind(status.st_mode):
        raise IndexUnusable(Message("{} is a symbolic link or no plain file or folder.", path), "delete it, try again.")
    if not system.is_ours(status):
        raise IndexOfAnotherUser(Message("'{}' belongs to another user", path), hint_for_another_owner(path))
    return status


def _make_private(directory: Path, make: bool) -> None:
    """Make the folder with mode 0700, if `make`; one that is there gets this mode if the group or others have rights.

    Raises FileNotFoundError if its parent is missing, or the folder itself without `make`; IndexUnusable if it is a
    symbolic link, no folder, or another user's.
    """
    try:
        if not make:
            raise FileExistsError
        os.mkdir(directory, 0o700)
    except FileExistsError:
        if stat.S_IMODE(_check(directory, stat.S_ISDIR).st_mode) & 0o077:
            os.chmod(directory, 0o700)


def _make_file(path: Path) -> None:
    """Create an empty file with mode 0600, whatever the umask is (docs/threats.md, A29).

    SQLite gives -wal and -shm the mode of the file.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.RAW, 0o600))
    except FileExistsError:
        ensure_ours(path.parent, path.name)
        if stat.S_IMODE(os.lstat(path).st_mode) & 0o077:
            os.chmod(path, 0o600)


def _connect(
    path: Path, frozen: bool, prepare: Callable[[apsw.Connection, Path], None]
) -> tuple[apsw.Connection, Path | None]:
    """(a hardened connection, prepared by `prepare`; the folder of the private copy that it has open, or None).

    `frozen`: nothing can be written, so the file is opened read-only, or, if it has a -wal, a copy of both, which the
    caller removes (`drop_copy`). Raises apsw.Error if SQLite cannot open it, OSError if it cannot be copied."""
    copy = None
    if frozen:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            copy = private_copy(path)
            connection = apsw.Connection(str(copy / path.name), flags=apsw.SQLITE_OPEN_READWRITE)
        else:
            from urllib.parse import quote

            uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
            connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    else:
        connection = apsw.Connection(
            os.path.realpath(path.parent) + "/" + path.name,
            flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW,
        )
    try:
        _harden(connection)
        prepare(connection, path)
    except BaseException:
        connection.close()
        drop_copy(copy)
        raise
    return connection, copy


def _prepare_to_read(connection: apsw.Connection, path: Path) -> None:
    connection.pragma("query_only", 1)
    schema.verify(connection, path)


def _prepare_to_write(connection: apsw.Connection, path: Path) -> None:
    if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        schema.create(connection)
    schema.verify(connection, path)
    # A writer must not fill the disk with its log, nor sync for each small refresh.
    connection.pragma("journal_size_limit", 16 << 20)


def _harden(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(5000)
    for option, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    ):
        connection.config(option, value)
    for name, setting in (("cell_size_check", 1), ("synchronous", 1), ("temp_store", 2), ("cache_size", -32768)):
        connection.pragma(name, setting)
