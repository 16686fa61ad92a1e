"""PostgreSQL for the server: a pool of connections, transactions of one tenant, and the schema's migrations.

Migrations are the numbered SQL files of `migrations/`, each run in a transaction of its own by the owner of the tables.
There are none backwards: the index can be rebuilt from Git. The server's role `gitmem_server` owns nothing and cannot
bypass row-level security.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import resources
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from gitmem.errors import IndexUnusable

ROLE = "gitmem_server"
WRITE_LOCK = 0x674D656D  # advisory lock of migrations and, with a tenant's number, of its writers
INGEST_LOCK = WRITE_LOCK + 1  # with a tenant's number, of its ingests
MIN_VERSIONS = (160000, (0, 8))  # PostgreSQL 16, pgvector 0.8
SHUTDOWNS = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown)
CONNECTION_SECONDS = 10.0  # wait for a free connection
STEP_TRIES, STEP_LOCK_TIMEOUT, STEP_PAUSE_SECONDS = 120, "500ms", 0.5  # of a migration that waits for a table
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # its messages quote addresses
UNREACHABLE = "is PostgreSQL running, and is the address of the database right?"


class Database:
    """A pool of connections, opened at once and closed by `close`. Their role is that of the address; `ensure_safe`
    checks it. The methods raise IndexUnusable if no connection is free or the database does not answer."""

    def __init__(self, url: str, *, connections: int = 8, wait: float = CONNECTION_SECONDS) -> None:
        """`connections`: how many at most. `wait`: seconds to wait for one. Raises IndexUnusable if no
        connection can be made, with a message without the address, which may have a password."""
        self._url = checked(url)
        self._pool = ConnectionPool(
            url, min_size=1, max_size=connections, timeout=wait, open=False,
            kwargs={"autocommit": True}, configure=_configure,
        )  # fmt: skip
        try:
            self._pool.open(wait=True, timeout=wait)
        except (PoolTimeout, psycopg.Error) as error:
            self._pool.close()
            raise IndexUnusable(f"no connection to the database ({type(error).__name__})", UNREACHABLE) from None

    @cached_property
    def halfvec(self) -> int:
        """The oid of pgvector's type `halfvec` in this database."""
        with self.anyone() as connection:
            row = connection.execute("SELECT 'halfvec'::regtype::oid::bigint").fetchone()
        assert row is not None
        return int(row[0])

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    @contextmanager
    def tenant(self, number: int) -> Iterator[psycopg.Connection[Any]]:
        """A context manager for a transaction that sees only the rows of one tenant, all in one state (REPEATABLE
        READ), for reading and for calls of functions that queue jobs."""
        with self._connection(IsolationLevel.REPEATABLE_READ) as connection, connection.transaction():
            connection.execute("SELECT set_config('gitmem.tenant', %s, true)", (str(number),))
            yield connection

    def rows(self, number: int, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one query of a tenant, in a transaction of its own. The tenant is the query's first parameter."""
        with self.tenant(number) as connection:
            return connection.execute(query, (number, *values)).fetchall()

    @contextmanager
    def writing(self, number: int) -> Iterator[psycopg.Connection[Any]]:
        """A context manager for a write transaction of one tenant. A tenant has one writer at a time; readers and
        writers do not wait for each other."""
        with self._connection() as connection, connection.transaction():
            connection.execute("SELECT set_config('gitmem.tenant', %s, true)", (str(number),))
            connection.execute("SET LOCAL statement_timeout = '10min'")
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (WRITE_LOCK, number))
            yield connection

    @contextmanager
    def ingesting(self, number: int, patience: float = 3600.0) -> Iterator[None]:
        """In the `with` block, hold the tenant's ingest lock, over any number of transactions, so that another ingest
        does not delete blobs that no snapshot names yet. Waits `patience` seconds for the lock, then raises
        IndexUnusable. Uses a connection outside the pool."""
        with self.unusable_on_error(), psycopg.connect(self._url, autocommit=True) as connection:
            end = time.monotonic() + patience
            lock = "SELECT pg_try_advisory_lock(%s, %s)"
            while connection.execute(lock, (INGEST_LOCK, number)).fetchone() != (True,):
                if time.monotonic() > end:
                    raise IndexUnusable("this is being indexed just now", "try again in a moment")
                time.sleep(0.2)
            yield

    @contextmanager
    def anyone(self) -> Iterator[psycopg.Connection[Any]]:
        """A context manager for a transaction without a tenant: it sees no tenant's rows and may call the functions
        granted to the server."""
        with self._connection() as connection, connection.transaction():
            yield connection

    @contextmanager
    def job_notices(self) -> Iterator[Callable[[float], bool]]:
        """A context manager that gives a function: it waits up to the given seconds for a new job in the queue and
        returns whether there was one, also one since the last call. Uses a connection outside the pool."""
        with self.unusable_on_error(), psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("LISTEN gitmem_job")

            def heard(seconds: float) -> bool:
                return any([True for _ in connection.notifies(timeout=seconds, stop_after=1)])

            yield heard

    def call(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement without a tenant, in a transaction of its own, such as a call of a function granted
        to the server."""
        with self._connection() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _connection(
        self, isolation: IsolationLevel = IsolationLevel.READ_COMMITTED
    ) -> Iterator[psycopg.Connection[Any]]:
        with self.unusable_on_error(), self._pool.connection() as connection:
            connection.isolation_level = isolation
            yield connection

    @contextmanager
    def unusable_on_error(self) -> Iterator[None]:
        """In the `with` block, turn errors into IndexUnusable: no free connection, a lost connection, a cancelled
        statement."""
        try:
            yield
        except PoolTimeout:
            raise IndexUnusable("the database is busy", "try again in a moment") from None
        except psycopg.OperationalError as error:
            if isinstance(error, SHUTDOWNS) or error.sqlstate is None:  # the pool's other connections are lost too
                with suppress(psycopg.Error, PoolTimeout):
                    self._pool.check()
            raise IndexUnusable(f"the database does not answer ({type(error).__name__})", UNREACHABLE) from error


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text: it has no NUL and no surrogate."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def checked(url: str) -> str:
    """The address of a database, unchanged. Raises IndexUnusable if libpq cannot parse it; libpq's own error would
    quote the address."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise IndexUnusable("the address of the database is none", "postgresql://NAME@HOST/DATABASE") from None
    return url


def _configure(connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET statement_timeout = '30s'")
    connection.execute("SET lock_timeout = '15s'")
    connection.execute("SET idle_in_transaction_session_timeout = '120s'")
    connection.execute("SET jit = off")


def migrations() -> list[tuple[int, str, str]]:
    """(number, name, SQL) of each migration, in order."""
    steps = []
    for file in resources.files("gitmem.server.postgres.migrations").iterdir():
        named = re.fullmatch(r"(\d{4})_([a-z_]+)\.sql", file.name)
        if named:
            steps.append((int(named[1]), named[2], file.read_text(encoding="utf-8")))
    return sorted(steps)


def migrate(url: str) -> list[str]:
    """Run the missing migrations as the owner of the tables. Returns their names.

    Makes the server's role if it does not exist. Raises IndexUnusable if PostgreSQL or pgvector is too old, the schema
    is newer than this program, or a statement fails.
    """
    try:
        with psycopg.connect(checked(url), autocommit=True) as connection:
            ensure_recent(connection)
            connection.execute("SELECT pg_advisory_lock(%s)", (WRITE_LOCK,))
            make_role(connection)
            connection.execute("CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY, name text NOT NULL)")
            connection.execute("GRANT SELECT ON migration TO gitmem_server")
            applied = {number for (number,) in connection.execute("SELECT number FROM migration").fetchall()}
            steps = migrations()
            if applied - {number for number, _, _ in steps}:
                raise IndexUnusable("the database is of a newer git mem", "install that version on the server")
            names = []
            for number, name, sql in steps:
                if number in applied:
                    continue
                run_step(connection, number, name, sql)
                names.append(name)
            return names
    except psycopg.Error as error:
        where = getattr(error.diag, "message_primary", "") or type(error).__name__
        raise IndexUnusable(f"the database cannot be set up ({where})", UNREACHABLE) from None


def run_step(connection: psycopg.Connection[Any], number: int, name: str, sql: str) -> None:
    """Run a migration while a server may answer, and record it in the table `migration`, both in one transaction. If a
    table is in use, give up after STEP_LOCK_TIMEOUT and try again, up to STEP_TRIES times: other statements queue
    behind a waiting migration. Raises psycopg.Error if a statement fails, or if the table is in use at the last try."""
    for tries_left in reversed(range(STEP_TRIES)):
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{STEP_LOCK_TIMEOUT}'")
                connection.execute(sql)
                connection.execute("INSERT INTO migration VALUES (%s, %s)", (number, name))
            return
        except psycopg.errors.LockNotAvailable:
            if not tries_left:
                raise
            time.sleep(STEP_PAUSE_SECONDS)


def ensure_recent(connection: psycopg.Connection[Any]) -> None:
    """Raise IndexUnusable if PostgreSQL, or the pgvector that it offers to install, is older than MIN_VERSIONS, or it
    offers none. The version that this database has installed already is not checked."""
    postgresql, pgvector = MIN_VERSIONS
    if connection.info.server_version < postgresql:
        raise IndexUnusable("PostgreSQL is older than 16", "git mem needs PostgreSQL 16 and pgvector 0.8")
    rows = connection.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'").fetchall()
    if not rows or tuple(map(int, rows[0][0].split(".")[:2])) < pgvector:
        raise IndexUnusable("pgvector 0.8 is not installed beside PostgreSQL", "https://github.com/pgvector/pgvector")


def make_role(connection: psycopg.Connection[Any]) -> None:
    """Make the server's role if it does not exist. It may log in and owns nothing."""
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchall():
        connection.execute("CREATE ROLE gitmem_server LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")


def ensure_safe(database: Database) -> None:
    """Raise IndexUnusable if the connection's role bypasses row-level security or owns the tables, or if the schema has
    other migrations than this program."""
    with database.anyone() as connection:
        row = connection.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if row is None or row[0]:
            raise IndexUnusable("the server must not be a role that bypasses row-level security", f"use {ROLE}")
        if connection.execute("SELECT to_regclass('token') IS NOT NULL").fetchone() == (True,) and connection.execute(
            "SELECT has_table_privilege('token', 'SELECT')"
        ).fetchone() == (True,):
            raise IndexUnusable("the server must not be the owner of the tables", f"use {ROLE}")
        try:
            with connection.transaction():
                applied = [number for (number,) in connection.execute("SELECT number FROM migration").fetchall()]
        except psycopg.errors.UndefinedTable:
            applied = []
        if sorted(applied) != [number for number, _, _ in migrations()]:
            raise IndexUnusable("the database's tables are of another version", "git mem server migrate")
