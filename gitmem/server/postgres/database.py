"""The connection to PostgreSQL: a pool for the server's role, transactions of one tenant, and the schema's migrations.

Migrations are the numbered files of `migrations/`, plain SQL forwards, each in a transaction of its own: there is one
dialect and no model of objects that a tool could compare. The way back is a rebuild from Git. The owner of the tables
runs them; the server's own role `gitmem_server` owns nothing and cannot bypass row-level security.
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
LOCK = 0x674D656D  # of migrations and, with a tenant's number, of its writers
INGEST = LOCK + 1  # with a tenant's number, of its ingests
NEEDED = (160000, (0, 8))  # PostgreSQL 16, pgvector 0.8
LOST = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown)
WAIT = 10.0  # seconds for a free connection
STEP_TRIES, STEP_WAIT, STEP_PAUSE = 120, "500ms", 0.5  # of a step of the migrations that waits for a table
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # it quotes addresses
UNREACHABLE = "is PostgreSQL running, and is the address of the database right?"


class Database:
    """A pool of connections of the server's role."""

    def __init__(self, url: str, *, most: int = 8, wait: float = WAIT) -> None:
        """Raises IndexUnusable where no connection can be made. The address is never in a message: it may hold a
        password."""
        self._url = checked(url)
        self._pool = ConnectionPool(
            url, min_size=1, max_size=most, timeout=wait, open=False, kwargs={"autocommit": True}, configure=_configure
        )
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
        """One transaction that sees the rows of one tenant and no others, and one state of them."""
        with self._connection(IsolationLevel.REPEATABLE_READ) as connection, connection.transaction():
            connection.execute("SELECT set_config('gitmem.tenant', %s, true)", (str(number),))
            yield connection

    @contextmanager
    def writing(self, number: int) -> Iterator[psycopg.Connection[Any]]:
        """The same for one that writes; one writer a tenant at a time, readers are not waited for."""
        with self._connection() as connection, connection.transaction():
            connection.execute("SELECT set_config('gitmem.tenant', %s, true)", (str(number),))
            connection.execute("SET LOCAL statement_timeout = '10min'")
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK, number))
            yield connection

    @contextmanager
    def ingesting(self, number: int, patience: float = 3600.0) -> Iterator[None]:
        """Alone among the ingests of a tenant, over as many transactions as it takes: what one has added and no
        snapshot names yet is not taken out by another. Waits `patience` seconds for it, then raises IndexUnusable."""
        with (
            self.answering(),
            psycopg.connect(self._url, autocommit=True) as connection,
        ):  # its own: not one of the pool
            end = time.monotonic() + patience
            while connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (INGEST, number)).fetchone() != (True,):
                if time.monotonic() > end:
                    raise IndexUnusable("this is being indexed just now", "try again in a moment")
                time.sleep(0.2)
            yield

    @contextmanager
    def anyone(self) -> Iterator[psycopg.Connection[Any]]:
        """A transaction without a tenant: sees no row of any, and may call the functions granted to the server."""
        with self._connection() as connection, connection.transaction():
            yield connection

    @contextmanager
    def hearing(self) -> Iterator[Callable[[float], bool]]:
        """What waits until a job is put into the queue, so many seconds at most, and says whether one was; what was put
        since the last time counts. A connection of its own."""
        with self.answering(), psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("LISTEN gitmem_job")

            def heard(seconds: float) -> bool:
                return any([True for _ in connection.notifies(timeout=seconds, stop_after=1)])

            yield heard

    def call(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of one statement, such as a call of a function granted to the server: a transaction by itself, without
        a tenant."""
        with self._connection() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _connection(
        self, isolation: IsolationLevel = IsolationLevel.READ_COMMITTED
    ) -> Iterator[psycopg.Connection[Any]]:
        with self.answering(), self._pool.connection() as connection:
            connection.isolation_level = isolation
            yield connection

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Around statements: raises IndexUnusable where no connection is free, where one is lost and where a statement
        is ended."""
        try:
            yield
        except PoolTimeout:
            raise IndexUnusable("the database is busy", "try again in a moment") from None
        except psycopg.OperationalError as error:
            if isinstance(error, LOST) or error.sqlstate is None:  # what else waits in the pool was lost with it
                with suppress(psycopg.Error, PoolTimeout):
                    self._pool.check()
            raise IndexUnusable(f"the database does not answer ({type(error).__name__})", UNREACHABLE) from error


def checked(url: str) -> str:
    """An address of a database that libpq understands. Raises IndexUnusable: libpq's own words quote it."""
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
    """(number, name, SQL) of each step, in order."""
    steps = []
    for file in resources.files("gitmem.server.postgres.migrations").iterdir():
        named = re.fullmatch(r"(\d{4})_([a-z_]+)\.sql", file.name)
        if named:
            steps.append((int(named[1]), named[2], file.read_text(encoding="utf-8")))
    return sorted(steps)


def migrate(url: str) -> list[str]:
    """Bring the schema up to date as its owner; the names of the steps that were run.

    Makes the server's role where it is not there. Raises IndexUnusable for a PostgreSQL or pgvector too old, and for a
    schema that is newer than this program.
    """
    try:
        with psycopg.connect(checked(url), autocommit=True) as connection:
            ensure_recent(connection)
            connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
            make_role(connection)
            connection.execute("CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY, name text NOT NULL)")
            connection.execute("GRANT SELECT ON migration TO gitmem_server")
            done = {number for (number,) in connection.execute("SELECT number FROM migration").fetchall()}
            steps = migrations()
            if done - {number for number, _, _ in steps}:
                raise IndexUnusable("the database is of a newer git mem", "install that version on the server")
            run = []
            for number, name, sql in steps:
                if number in done:
                    continue
                run_step(connection, number, name, sql)
                run.append(name)
            return run
    except psycopg.Error as error:
        where = getattr(error.diag, "message_primary", "") or type(error).__name__
        raise IndexUnusable(f"the database cannot be set up ({where})", UNREACHABLE) from None


def run_step(connection: psycopg.Connection[Any], number: int, name: str, sql: str) -> None:
    """Run a step of the migrations beside a server that answers. Where a table is in use it gives up and tries again:
    whoever asks for the table meanwhile waits behind it. Raises psycopg.Error."""
    for left in reversed(range(STEP_TRIES)):
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{STEP_WAIT}'")
                connection.execute(sql)
                connection.execute("INSERT INTO migration VALUES (%s, %s)", (number, name))
            return
        except psycopg.errors.LockNotAvailable:
            if not left:
                raise
            time.sleep(STEP_PAUSE)


def ensure_recent(connection: psycopg.Connection[Any]) -> None:
    """Raises IndexUnusable for a server or a pgvector that is too old, or without pgvector."""
    least, vector = NEEDED
    if connection.info.server_version < least:
        raise IndexUnusable("PostgreSQL is older than 16", "git mem needs PostgreSQL 16 and pgvector 0.8")
    rows = connection.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'").fetchall()
    if not rows or tuple(map(int, rows[0][0].split(".")[:2])) < vector:
        raise IndexUnusable("pgvector 0.8 is not installed beside PostgreSQL", "https://github.com/pgvector/pgvector")


def make_role(connection: psycopg.Connection[Any]) -> None:
    """The role of the server: it may log in, and owns nothing."""
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchall():
        connection.execute("CREATE ROLE gitmem_server LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")


def ensure_safe(database: Database) -> None:
    """Raises IndexUnusable where the server's role could see past row-level security, or the schema is not the one
    this program was made for."""
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
                done = [number for (number,) in connection.execute("SELECT number FROM migration").fetchall()]
        except psycopg.errors.UndefinedTable:
            done = []
        if sorted(done) != [number for number, _, _ in migrations()]:
            raise IndexUnusable("the database's tables are of another version", "git mem server migrate")
