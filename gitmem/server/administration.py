"""Administration of the server, as the owner of the tables: tenants, repositories, tokens, the queue, and audits."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
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

TOKEN_PREFIX = "gitmem_"  # of a token, so that secret scanners recognise it
INDEX_TABLES = (
    "posting", "segment", "place", "entry", "file_name", "snapshot", "ref", "chunk", "blob", "embedder", "meta",
)  # fmt: skip
# The condition of a row of `token` that is valid.
VALID_TOKEN = "tenant = %s AND name = %s AND revoked IS NULL AND (expires IS NULL OR expires > now())"


class Administration:
    """The administrator's operations over the owner's connection. For one thread. `administration` opens it and turns
    errors of the database in its `with` block into GitMemErrors."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def tenant(self, name: str, *, make: bool = False) -> int:
        """The number of a tenant, which becomes the connection's tenant for row security. `make`: add it if it does
        not exist. Raises UsageError for an unknown tenant."""
        if make:
            self._connection.execute("INSERT INTO tenant (name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,))
        row = self._connection.execute("SELECT id FROM tenant WHERE name = %s", (name,)).fetchone()
        if row is None:
            raise UsageError(
                f"there is no tenant '{name[:60]}'", f"git mem server repositories {name[:60]} NAME ADDRESS adds it"
            )
        self._connection.execute("SELECT set_config('gitmem.tenant', %s, false)", (str(row[0]),))
        return int(row[0])

    def add_repository(self, tenant: int, name: str, url: str) -> int:
        """Add a repository, or change the address of one with that name, and queue a fetch. Returns its number. A
        queued removal that no worker has taken yet is dropped. Raises UsageError for an address with a password, or
        with a user name over http or https."""
        parts = urlsplit(url if "://" in url else "")
        if parts.password or (parts.username and parts.scheme in ("http", "https")):
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
        """The number of a repository. Raises UsageError for an unknown name."""
        row = self._connection.execute(
            "SELECT id FROM repository WHERE tenant = %s AND name = %s", (tenant, name)
        ).fetchone()
        if row is None:
            raise UsageError(f"there is no repository '{name[:60]}'", "git mem server repositories")
        return int(row[0])

    def remove_repository(self, tenant: int, name: str) -> None:
        """Queue the removal of a repository: its rows, the blobs and chunks that only it has, and its mirror. Raises
        UsageError for an unknown name."""
        self._connection.execute("SELECT put_job(%s, 'remove', '0')", (self.repository(tenant, name),))

    def repositories(self, tenant: int) -> list[dict[str, Any]]:
        """A row for every repository of a tenant, by name: `name`, `url` (without secrets), `fetched` (time of the last
        fetch as ISO text, None before the first) and `problem` of the last fetch ("" for none)."""
        rows = self._connection.execute(
            "SELECT name, url, fetched, problem FROM repository WHERE tenant = %s ORDER BY name", (tenant,)
        )
        shown = ((name, shown_url(url), fetched, problem) for name, url, fetched, problem in rows)
        return _as_dicts("name url fetched problem", shown)

    def new_token(
        self, tenant: int, name: str, scope: str, repositories: Sequence[str], days: int, now: datetime
    ) -> str:
        """Add a token and return it; only its hash is stored. `scope`: one of `caller.SCOPES`. `repositories`: names,
        none for all of the tenant. `days`: days from `now` until it expires, 0 for never. Raises UsageError for an
        unknown repository."""
        numbers = [self.repository(tenant, repository) for repository in repositories] or None
        return self._add_token(tenant, name, scope, numbers, _expiry(now, days))

    def _add_token(
        self, tenant: int, name: str, scope: str, repositories: list[int] | None, expires: datetime | None
    ) -> str:
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        self._connection.execute(
            "INSERT INTO token (tenant, hash, name, scope, repositories, expires) VALUES (%s, %s, %s, %s, %s, %s)",
            (tenant, hash_of(token), name, scope, repositories, expires),
        )
        return token

    def rotate(self, tenant: int, name: str, days: int, overlap_hours: int, now: datetime) -> str:
        """Add a token with the scope and repositories of the newest valid one of that name, and return it. `days`: days
        from `now` until it expires, 0 for never. The old ones expire after `overlap_hours`, or earlier if they would
        have. Raises UsageError if none is valid."""
        with self._connection.transaction():
            newest = self._connection.execute(
                f"SELECT scope, repositories FROM token WHERE {VALID_TOKEN} ORDER BY id DESC LIMIT 1 FOR UPDATE",
                (tenant, name),
            ).fetchone()
            if newest is None:
                raise UsageError(f"no token '{name[:60]}' holds", "git mem server token TENANT NAME makes one")
            self._connection.execute(
                f"UPDATE token SET expires = least(expires, now() + make_interval(hours => %s)) WHERE {VALID_TOKEN}",
                (overlap_hours, tenant, name),
            )
            return self._add_token(tenant, name, newest[0], newest[1], _expiry(now, days))

    def revoke(self, tenant: int, name: str) -> int:
        """Revoke every token of that name that was not revoked before; return their number."""
        return self._connection.execute(
            "UPDATE token SET revoked = now() WHERE tenant = %s AND name = %s AND revoked IS NULL", (tenant, name)
        ).rowcount

    def jobs(self) -> list[dict[str, Any]]:
        """A row for each job in the queue, of all tenants: first the jobs that failed for good, then by due time. `id`,
        `tenant` (name), `repository` (number), `kind` ("fetch" or "remove"), `state` ("ready", "taken" or "dead":
        failed for good), `tries`, `due` (ISO text), `problem` of the last try."""
        rows = self._connection.execute(
            "SELECT job.id, tenant.name, repository, kind, state, tries, due, problem FROM job"
            " JOIN tenant ON tenant.id = job.tenant ORDER BY state = 'dead' DESC, due"
        )
        return _as_dicts("id tenant repository kind state tries due problem", rows)

    def retry(self) -> int:
        """Make the jobs that failed for good ready again; return their number. A failed job is deleted, and not
        counted, if a ready job of the same repository and kind exists."""
        self._connection.execute(
            "DELETE FROM job WHERE state = 'dead' AND EXISTS (SELECT FROM job AS newer WHERE newer.tenant = job.tenant"
            " AND newer.repository = job.repository AND newer.kind = job.kind AND newer.state = 'ready')"
        )
        return self._connection.execute(
            "UPDATE job SET state = 'ready', tries = 0, due = now() WHERE state = 'dead'"
        ).rowcount

    def audit(
        self, tenant: int, repository: str, limit: int = 1000, *, mirrors: Mirrors | None = None, oid: str = ""
    ) -> dict[str, Any]:
        """What is left of a repository, present or removed, as proof of its removal: a dict that the command prints.

        `repository`: its name. `there`: whether it exists. `removed`: ISO times of its removals, the newest first.
        `rows`: number of its rows by table. `blob`: number of entries of the blob `oid` (None without `oid`). `copy`:
        what its mirrors on this machine still have (`Mirrors.left_of`; None without `mirrors`). `unreachable`: number
        of the tenant's `blobs` and `chunks` in no snapshot. `asked`: the newest `limit` requests (`at`, the `token`'s
        number or the `subject` of a signed token, `action`, `hits`, `status`). Raises UsageError for a name that was
        never used and for an invalid oid, GitFailed for a damaged mirror.
        """
        if oid and not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", oid):
            raise UsageError("'--blob' takes the whole oid of a blob", "git rev-parse COMMIT:PATH")
        query = "SELECT id FROM repository WHERE tenant = %s AND name = %s"
        present = self._connection.execute(query, (tenant, repository)).fetchone()
        query = "SELECT repository, at FROM removed WHERE tenant = %s AND name = %s ORDER BY at DESC"
        removals = self._connection.execute(query, (tenant, repository)).fetchall()
        if present is None and not removals:
            raise UsageError(f"there never was a repository '{repository[:60]}'", "git mem server repositories TENANT")
        numbers = [row[0] for row in (present, *removals) if row is not None]
        requests = self._connection.execute(
            "SELECT at, token, subject, action, hits, status FROM audit"
            " WHERE tenant = %s AND repositories && %s::integer[] ORDER BY id DESC LIMIT %s",
            (tenant, numbers, limit),
        ).fetchall()
        return {
            "repository": repository,
            "there": present is not None,
            "removed": [_plain(at) for _, at in removals],
            "rows": self._rows_of(tenant, numbers),
            "blob": self._rows_of_blob(tenant, numbers, oid) if oid else None,
            "copy": mirrors.left_of(tenant, numbers, oid) if mirrors is not None else None,
            "unreachable": self._unreachable(tenant),
            "asked": _as_dicts("at token subject action hits status", requests),
        }

    def _rows_of(self, tenant: int, repositories: Sequence[int]) -> dict[str, int]:
        """The number of rows of these repositories, by table."""
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
        """Make the approximate index (`hnsw`) of a tenant's vectors, unless it is there, and return 1. With `drop`,
        drop every such index of the tenant and return their number. Without `drop`, raises UsageError if the tenant has
        no vectors."""
        if drop:
            return hnsw.drop(self._connection, tenant)
        hnsw.make(self._connection, tenant)
        return 1

    def _unreachable(self, tenant: int) -> dict[str, int]:
        """The number of blobs and chunks of the tenant in no snapshot; 0 after an ingest or a removal."""
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
        """Delete every row of a tenant's index and queue a fetch of each repository. Returns the number of
        repositories. Repositories, tokens and the audit log stay."""
        with self._connection.transaction():
            for table in INDEX_TABLES:
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
    """A context manager for the administrator's operations over a new connection as the owner of the tables. Raises
    IndexUnusable if there is no connection or the database fails, UsageError for a name that it refuses."""
    try:
        with psycopg.connect(checked(url), autocommit=True) as connection:
            yield Administration(connection)
    except psycopg.errors.CheckViolation:
        raise UsageError("that name cannot be one", "lower-case letters, digits and hyphens") from None
    except psycopg.Error as error:
        raise IndexUnusable(f"no connection to the database ({type(error).__name__})", UNREACHABLE) from None


def hash_of(token: str) -> bytes:
    """The hash under which a token is stored: SHA-256, 32 bytes. A token has 256 random bits, so that a plain hash is
    enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _expiry(now: datetime, days: int) -> datetime | None:
    """The time of expiry after `days`, None for 0."""
    if not days:
        return None
    return now + timedelta(days=days)


def _as_dicts(names: str, rows: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows as dictionaries. `names`: of the columns, separated by spaces. Times become ISO texts."""
    return [{name: _plain(value) for name, value in zip(names.split(), row, strict=True)} for row in rows]


def _plain(value: Any) -> Any:
    """The value, a time as an ISO text."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value
