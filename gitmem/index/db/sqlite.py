"""SQLite as the index uses it: a connection with translated errors, the vector extension, private copies of a file."""

from __future__ import annotations

import importlib.util
import os
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from gitmem.errors import IndexDamaged, IndexUnusable
from gitmem.index.db.schema import REBUILD
from gitmem.messages import Message

VALUES_PER_QUERY = 2000
# Invalid UTF-8 and a value larger than its page are damage as well.
DAMAGE = (
    apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.MismatchError, apsw.TooBigError,
    apsw.ConstraintError, UnicodeDecodeError,
)  # fmt: skip


class Database:
    """A connection to an index file. Raises IndexDamaged and IndexUnusable in place of SQLite's errors."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with translated():
            return self.connection.execute(sql, values).fetchall()

    def rows_among(self, sql: str, among: tuple[Any, ...] | array[int], *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query that reads the values of `among` as `carray(?1)`. The query runs once for each
        VALUES_PER_QUERY values, so an ORDER BY holds only among the rows of one run.

        `values`: the parameters from ?2 on. Without values in `among` the query does not run, and there are no rows.
        """
        rows = []
        for at in range(0, len(among), VALUES_PER_QUERY):
            rows += self.rows(sql, apsw.carray(among[at : at + VALUES_PER_QUERY]), *values)
        return rows

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row of a query; None if it has none."""
        rows = self.rows(sql, *values)
        return rows[0] if rows else None

    def value(self, sql: str, *values: Any) -> Any:
        """The first value of the first row; None if there is no row."""
        row = self.row(sql, *values)
        return row[0] if row is not None else None

    def stream(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one at a time."""
        with translated():
            yield from self.connection.execute(sql, values)

    def execute(self, sql: str, *values: Any) -> None:
        """Run a statement without rows that changes the index. Outside a transaction (`writing`) an assertion fails."""
        assert self.connection.in_transaction, "a change of the index outside writing()"
        with translated():
            self.connection.execute(sql, values)

    def execute_for_each(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement that changes the index once for each row of values. Outside a transaction an assertion
        fails."""
        assert self.connection.in_transaction, "a change of the index outside writing()"
        with translated():
            self.connection.executemany(sql, rows)

    def execute_alone(self, sql: str) -> None:
        """Run a statement that begins a transaction or must be outside of one, such as VACUUM."""
        with translated():
            self.connection.execute(sql)

    def pragma(self, name: str, *value: int) -> Any:
        """Read a setting of SQLite, or set it to `value`."""
        with translated():
            return self.connection.pragma(name, *value)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run the `with` block as one transaction: all its writes are stored or none, also if the process is killed."""
        with translated():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                self.rollback()
                raise

    def rollback(self) -> None:
        """End the transaction without its writes, if one is open."""
        with translated():
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")


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


def load_vector_functions(database: Database) -> None:
    """Load sqlite-vec into a connection. Raises IndexUnusable if it is not installed.

    Its package is not imported, because that imports NumPy if it is installed.
    """
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusable("the package sqlite-vec is not installed.", "pip install sqlite-vec")
    with translated():
        database.connection.enable_load_extension(True)
        try:
            database.connection.load_extension(os.path.join(next(iter(spec.submodule_search_locations)), "vec0"))
        finally:
            database.connection.enable_load_extension(False)


def private_copy(path: Path) -> Path:
    """A temporary folder with a copy of the index file and its -wal, for a folder that cannot be written, in which
    SQLite cannot read a -wal. The caller removes the copy (`drop_copy`). Raises OSError if it cannot be made."""
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
