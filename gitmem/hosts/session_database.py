"""Read sessions from a host's SQLite database, each as the bytes of a transcript. Never writes.

The database belongs to another program that may be running: each call opens it, reads and closes it.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from gitmem.hosts.host import SessionDatabase, StoredSession
from gitmem.regular_file import read_start

MAGIC = b"SQLite format 3\0"
MAX_VALUE_BYTES = 64 << 20  # a longer value is an error
LOCK_WAIT_SECONDS = 5.0  # while the host writes


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database. Raises OSError if it cannot be read."""
    return read_start(path, len(MAGIC))[0] == MAGIC


def stored_sessions(path: Path, form: SessionDatabase) -> list[StoredSession]:
    """The sessions of a database; [] for a database with other tables. Raises OSError if it cannot be read."""
    with _open_database(path) as connection:
        try:
            return list(form.sessions(connection))
        except sqlite3.OperationalError as error:
            if "no such" in str(error):
                return []
            raise


def read_session(path: Path, form: SessionDatabase, session: str) -> bytes:
    """The bytes of the transcript of one session; a transcript without messages if the database has no such session.
    Raises OSError if it cannot be read, and with SQLite's message if it has other tables."""
    with _open_database(path) as connection:
        return form.transcript(connection, session)


@contextmanager
def _open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened for reading. Errors of SQLite are raised as OSError."""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=LOCK_WAIT_SECONDS)
        ) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA trusted_schema = 0")
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise OSError(errno.EIO, f"SQLite says: {error}") from None
