"""What an administrator changes, as the owner of the tables: tenants, repositories, tokens and the queue."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg

from gitmem.errors import IndexUnusable, UsageError
from gitmem.git.other_memories import shown_url
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres import hnsw
from gitmem.server.postgres.database import UNREACHABLE, checked

PREFIX = "gitmem_"  # of a token: scanners of secrets know it by that
HOLDS = "tenant = %s AND name = %s AND revoked IS NULL AND (expires IS NULL OR expires > now())"  # of a token


class Administration:
    """A connection of the owner's; for one thread."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def tenant(self, name: str, *, make: bool = False) -> int:
        """The number of a tenant. Raises UsageError for one that is not there."""
        if make:
            self._connection.execute("INSERT INTO tenant (name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,))
        row = self._connection.execute("SELECT id FROM tenant WHERE name = %s", (name,)).fetchone()
        if row is None:
            raise UsageError(f"there is no tenant '{name[:60]}'", f"git mem server tenant {name[:60]}")
        self._connection.execute("SELECT set_config('gitmem.tenant', %s, false)", (str(row[0]),))
        return int(row[0])

    def add_repository(self, tenant: int, name: str, url: str) -> int:
        """Add a repository and put its first fetch into the queue. Raises UsageError for an address with a password."""
        parts = None
        if "://" in url:
            parts = urlsplit(url)
        if parts is not None and (parts.password or (parts.username and parts.scheme in ("http", "https"))):
            raise UsageError("the address holds a name or password", "use a credential helper of Git on the server")
        self._connection.execute(
            "INSERT INTO repository (tenant, name, url) VALUES (%s, %s, %s)"
            " ON CONFLICT (tenant, name) DO UPDATE SET url = excluded.url",
            (tenant, name, url),
        )
        number = self.repository(tenant, name)
        self._connection.execute(
            "DELETE FROM job WHERE tenant = %s AND repository = %s AND kind = 'remove' AND state <> 'taken'",
            (tenant, number),
        )
        self._connection.execute("SELECT put_job(%s, 'fetch', '0')", (number,))
        return number

    def repository(self, tenant: int, name: str) -> int:
        """The number of a repository. Raises UsageError for one that is not there."""
        row = self._connection.execute(
            "SELECT id FROM repository WHERE tenant = %s AND name = %s", (tenant, name)
        ).fetchone()
        if row is None:
            raise UsageError(f"there is no repository '{name[:60]}'", "git mem server repositories")
        return int(row[0])

    def remove_repository(self, tenant: int, name: str) -> None:
        """Put the removal of a repository into the queue: its rows, what only it had, and its copy."""
        self._connection.execute("SELECT put_job(%s, 'remove', '0')", (self.repository(tenant, name),))

    def repositories(self, tenant: int) -> list[dict[str, Any]]:
        """Every repository of a tenant: name, address, when it was fetched, what is wrong with it."""
        rows = self._connection.execute(
            "SELECT name, url, fetched, problem FROM repository WHERE tenant = %s ORDER BY name", (tenant,)
        )
        return [
            {"name": name, "url": shown_url(url), "fetched": fetched and fetched.isoformat(), "problem": problem}
            for name, url, fetched, problem in rows
        ]

    def new_token(
        self, tenant: int, name: str, scope: str, repositories: Sequence[str], days: int, now: datetime
    ) -> str:
        """A token, which is shown this once: only its hash is kept. No repository named: all of the tenant's."""
        numbers = [self.repository(tenant, one) for one in repositories] or None
        return self._add_token(tenant, name, scope, numbers, now + timedelta(days=days) if days else None)

    def _add_token(
        self, tenant: int, name: str, scope: str, repositories: list[int] | None, expires: datetime | None
    ) -> str:
        token = PREFIX + secrets.token_urlsafe(32)
        self._connection.execute(
            "INSERT INTO token (tenant, hash, name, scope, repositories, expires) VALUES (%s, %s, %s, %s, %s, %s)",
            (tenant, hash_of(token), name, scope, repositories, expires),
        )
        return token

    def rotate(self, tenant: int, name: str, days: int, overlap_hours: int, now: datetime) -> str:
        """A token like the newest of that name that holds; those that hold end after some hours, or earlier as they
        would have. Raises UsageError where none holds."""
        with self._connection.transaction():
            held = self._connection.execute(
                f"SELECT scope, repositories FROM token WHERE {HOLDS} ORDER BY id DESC LIMIT 1 FOR UPDATE",
                (tenant, name),
            ).fetchone()
            if held is None:
                raise UsageError(f"no token '{name[:60]}' holds", "git mem server token TENANT NAME makes one")
            self._connection.execute(
                f"UPDATE token SET expires = least(expires, now() + make_interval(hours => %s)) WHERE {HOLDS}",
                (overlap_hours, tenant, name),
            )
            return self._add_token(tenant, name, held[0], held[1], now + timedelta(days=days) if days else None)

    def revoke(self, tenant: int, name: str) -> int:
        """Revoke every token of that name; how many."""
        return self._connection.execute(
            "UPDATE token SET revoked = now() WHERE tenant = %s AND name = %s AND revoked IS NULL", (tenant, name)
        ).rowcount

    def tokens(self, tenant: int) -> list[dict[str, Any]]:
        """Every token of a tenant, without what it is."""
        rows = self._connection.execute(
            "SELECT name, scope, repositories, created, expires, revoked FROM token WHERE tenant = %s ORDER BY id",
            (tenant,),
        )
        names = ("name", "scope", "repositories", "created", "expires", "revoked")
        return [{key: _plain(value) for key, value in zip(names, row, strict=True)} for row in rows]

    def jobs(self) -> list[dict[str, Any]]:
        """The queue, what failed for good first."""
        rows = self._connection.execute(
            "SELECT job.id, tenant.name, repository, kind, state, tries, due, problem FROM job"
            " JOIN tenant ON tenant.id = job.tenant ORDER BY state = 'dead' DESC, due"
        )
        names = ("id", "tenant", "repository", "kind", "state", "tries", "due", "problem")
        return [{key: _plain(value) for key, value in zip(names, row, strict=True)} for row in rows]

    def retry(self) -> int:
        """Make what failed for good ready again; how many."""
        self._connection.execute(
            "DELETE FROM job WHERE state = 'dead' AND EXISTS (SELECT FROM job AS newer WHERE newer.tenant = job.tenant"
            " AND newer.repository = job.repository AND newer.kind = job.kind AND newer.state = 'ready')"
        )
        return self._connection.execute(
            "UPDATE job SET state = 'ready', tries = 0, due = now() WHERE state = 'dead'"
        ).rowcount

    def audit(
        self, tenant: int, repository: str, most: int = 1000, *, mirrors: Mirrors | None = None, oid: str = ""
    ) -> dict[str, Any]:
        """What is left of a repository's number in the tables, and who asked of it: proof of a removal.

        `rows` counts rows by table, of one that was removed too, `blob` the rows of the blob `oid` that it has; `copy`
        what `mirrors` has of it, None where there are none here. Raises UsageError for a name that never was one, and
        for an oid that is none.
        """
        if oid and not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", oid):
            raise UsageError("'--blob' takes the whole oid of a blob", "git rev-parse COMMIT:PATH")
        query = "SELECT id FROM repository WHERE tenant = %s AND name = %s"
        there = self._connection.execute(query, (tenant, repository)).fetchone()
        query = "SELECT repository, at FROM removed WHERE tenant = %s AND name = %s ORDER BY at DESC"
        gone = self._connection.execute(query, (tenant, repository)).fetchall()
        if there is None and not gone:
            raise UsageError(f"there never was a repository '{repository[:60]}'", "git mem server repositories TENANT")
        numbers = [number for (number, *_) in (*([there] if there else []), *gone)]
        asked = self._connection.execute(
            "SELECT at, action, hits, status FROM audit WHERE tenant = %s AND repositories && %s::integer[]"
            " ORDER BY id DESC LIMIT %s",
            (tenant, numbers, most),
        ).fetchall()
        return {
            "repository": repository,
            "there": there is not None,
            "removed": [_plain(at) for _, at in gone],
            "rows": self._rows_of(tenant, numbers),
            "blob": self._rows_of_blob(tenant, numbers, oid) if oid else None,
            "copy": mirrors.left_of(tenant, numbers, oid) if mirrors is not None else None,
            "unreachable": self._unreachable(tenant),
            "asked": [
                {"at": _plain(at), "action": action, "hits": hits, "status": status}
                for at, action, hits, status in asked
            ],
        }

    def _rows_of(self, tenant: int, repositories: Sequence[int]) -> dict[str, int]:
        """Rows of these repositories, by table."""
        counts = {
            table: self._one_number(
                f"SELECT count(*) FROM {table} WHERE tenant = %s AND repository = ANY(%s)", tenant, list(repositories)
            )
            for table in ("ref", "snapshot")
        }
        counts["entry"] = self._one_number(
            "SELECT count(*) FROM entry JOIN snapshot ON snapshot.tenant = entry.tenant"
            " AND snapshot.id = entry.snapshot WHERE entry.tenant = %s AND snapshot.repository = ANY(%s)",
            tenant,
            list(repositories),
        )
        return counts

    def _rows_of_blob(self, tenant: int, repositories: Sequence[int], oid: str) -> int:
        return self._one_number(
            "SELECT count(*) FROM entry JOIN blob ON blob.tenant = entry.tenant AND blob.id = entry.blob"
            " JOIN snapshot ON snapshot.tenant = entry.tenant AND snapshot.id = entry.snapshot"
            " WHERE entry.tenant = %s AND blob.oid = %s AND snapshot.repository = ANY(%s)",
            tenant,
            bytes.fromhex(oid),
            list(repositories),
        )

    def approximate(self, tenant: int, *, drop: bool = False) -> int:
        """Make the approximate index of a tenant's vectors, or drop it; how many were made or dropped."""
        if drop:
            return hnsw.drop(self._connection, tenant)
        hnsw.make(self._connection, tenant)
        return 1

    def _unreachable(self, tenant: int) -> dict[str, int]:
        """Rows of the tenant that belong to no snapshot: there are none after an ingest or a removal."""
        return {
            "blobs": self._one_number(
                "SELECT count(*) FROM blob WHERE tenant = %s AND NOT EXISTS"
                " (SELECT 1 FROM entry WHERE entry.tenant = blob.tenant AND entry.blob = blob.id)", tenant,
            ),
            "chunks": self._one_number(
                "SELECT count(*) FROM chunk WHERE tenant = %s AND NOT EXISTS"
                " (SELECT 1 FROM place WHERE place.tenant = chunk.tenant AND place.chunk = chunk.id)", tenant,
            ),
        }  # fmt: skip

    def _one_number(self, query: str, *values: Any) -> int:
        row = self._connection.execute(query, values).fetchone()
        if not row:
            return 0
        return int(row[0])

    def forget_index(self, tenant: int) -> int:
        """Delete every row of a tenant's index and put a fetch of each repository into the queue; how many of these."""
        with self._connection.transaction():
            for table in (
                "posting",
                "segment",
                "place",
                "entry",
                "file_name",
                "snapshot",
                "ref",
                "chunk",
                "blob",
                "embedder",
                "meta",
            ):
                self._connection.execute(f"DELETE FROM {table} WHERE tenant = %s", (tenant,))
            self._connection.execute("UPDATE tenant SET next_chunk = 1, next_blob = 1 WHERE id = %s", (tenant,))
            rows = self._connection.execute(
                "UPDATE repository SET fetched = NULL, problem = '' WHERE tenant = %s RETURNING id", (tenant,)
            ).fetchall()
            for (number,) in rows:
                self._connection.execute("SELECT put_job(%s, 'fetch', '0')", (number,))
        return len(rows)


@contextmanager
def administration(url: str) -> Iterator[Administration]:
    """A connection of the owner's. Raises IndexUnusable where there is none, and for what the database refuses."""
    try:
        with psycopg.connect(checked(url), autocommit=True) as connection:
            yield Administration(connection)
    except psycopg.errors.CheckViolation:
        raise UsageError("that name cannot be one", "lower-case letters, digits and hyphens") from None
    except psycopg.Error as error:
        raise IndexUnusable(f"no connection to the database ({type(error).__name__})", UNREACHABLE) from None


def hash_of(token: str) -> bytes:
    """What is kept of a token: it has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value
