"""Helpers for SQLite that know nothing of the index: translated errors, the vector extension, private copies."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from gitmem.errors import IndexDamaged, IndexUnusable
from gitmem.index.db.schema import REBUILD
from gitmem.messages import Message

# Invalid UTF-8 and a value larger than its page are damage as well.
DAMAGE = (
    apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.MismatchError, apsw.TooBigError,
    apsw.ConstraintError, UnicodeDecodeError,
)  # fmt: skip


@contextmanager
def translated() -> Iterator[None]:
    """Raise IndexDamaged or IndexUnusable in place of SQLite's errors: damage, a full disk, a lock, permissions."""
    try:
        yield
    except DAMAGE as error:
        raise IndexDamaged(Message("the index is damaged ({}).", _short(error)), REBUILD) from error
    except apsw.FullError as error:
        raise IndexUnusable(
            "the disk is full: the index could not be written.", "free some space, then 'git mem index'."
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise IndexUnusable("the index is locked by another process.", "try again in a moment.") from error
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise IndexUnusable(
            Message("the index cannot be read or written ({}).", _short(error)), "check the disk and the permissions."
        ) from error
    except (PermissionError, NotADirectoryError) as error:
        raise IndexUnusable(
            Message("the index cannot be opened: {}.", error.strerror), "check the folder's permissions."
        ) from error


def _short(error: Exception) -> str:
    return type(error).__name__.removesuffix("Error")


def extension() -> str:
    """The path of sqlite-vec's library. Its package is not imported, because that imports NumPy if it is installed.

    Raises IndexUnusable if it is not installed.
    """
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusable("the package sqlite-vec is not installed.", "pip install sqlite-vec")
    return os.path.join(next(iter(spec.submodule_search_locations)), "vec0")


def private_copy(path: Path) -> Path:
    """A temporary folder with a copy of the index and its -wal, which cannot be replayed in a read-only folder."""
    import shutil

    from gitmem.system import make_folder

    folder = make_folder()
    for suffix in ("", "-wal"):
        shutil.copyfile(path.with_name(path.name + suffix), folder / (path.name + suffix))
    return folder


def drop_copy(copy: Path | None) -> None:
    """Delete the private copy of an index, if there is one."""
    if copy is not None:
        from gitmem.system import remove_folder

        remove_folder(copy)
