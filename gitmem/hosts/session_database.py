"""A host's SQLite database of sessions: which it holds, and each as the bytes of a transcript. Reads, never writes.

The database is another program's and may be in use: each look opens it anew, reads and closes it.
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
MAX_VALUE_BYTES = 64 << 20  # bytes of one value; a longer one is an error
WAIT = 5.0  # seconds for a host that writes at this moment


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database. Raises OSError where it cannot be read."""
    return read_start(path, len(MAGIC))[0] == MAGIC


def stored_sessions(path: Path, form: SessionDatabase) -> list[StoredSession]:
    """The sessions of a database, [] where it is of another form. Raises OSError where it cannot be read."""
    with _opened(path) as connection:
        try:
            return list(form.sessions(connection))
        except sqlite3.OperationalError as error:
            if "no such" in str(error):
                return []
            raise


def read_session(path: Path, form: SessionDatabase, session: str) -> bytes:
    """One session as a transcript. Raises OSError where it cannot be read."""
    with _opened(path) as connection:
        return form.transcript(connection, session)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, for reading. What SQLite says against it is an OSError."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=WAIT)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA trusted_schema = 0")
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise OSError(errno.EIO, f"SQLite says: {error}") from None
