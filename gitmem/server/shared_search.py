"""Search over the repositories that a caller may see, with the flow and ranking of `search/search` over PostgreSQL.

The lines of a hit are read by blob from the mirror of a repository that has the blob at that path. A passage that
several repositories have is shown once, under the repository that was added first.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitmem.config import Config
from gitmem.index.chunks import shape_of
from gitmem.index.db.values import Shape, Snapshot
from gitmem.index.history_tips import Bounds
from gitmem.index.index_file import OpenIndex
from gitmem.search.commit_hits import PassagesWithCommits, with_history
from gitmem.search.passages import Passages
from gitmem.search.search import Answer, Query, search
from gitmem.server.keys import Keyring
from gitmem.server.mirror_files import MirrorFiles, Searched
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.compute_lock import computing
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.hnsw import MIN_CHUNKS
from gitmem.server.postgres.index import PostgresIndex
from gitmem.server.postgres.signs import FOLDER, SignTables
from gitmem.server.telemetry import cached

MAX_CACHED_SHAPES = 1_000  # blobs whose shape is cached
MAX_CACHED_NORM_BYTES = 4 << 20  # cached norms of sets of snapshots, one byte for each chunk
DOUBT_SECONDS = 60.0  # minimum time between two checks of the same mirror
HISTORY_BOUNDS = Bounds(budget=5.0)  # of an update of a history index by a search: clients wait 30 seconds
LATEST = "branches"  # stands for the commit of an answer over the tips of several repositories


class _NoRepository:
    """Stands for the repository in a search over the copies of many: it has no objects, so a partial clone can have
    left none out. Everything else is read through the index (`opener`)."""

    left_out: frozenset[str] = frozenset()

    def skipping_left_out(self) -> AbstractContextManager[None]:
        """A context that changes nothing."""
        return nullcontext()


class SharedSearch:
    """Search over the shared index, with the caches that all searches of a process use. Safe for several threads.

    `readers`: the database that searches read; it may be a replica that lags. `approximate_from`: chunks of a tenant
    from which its approximate vector index is used.
    """

    def __init__(self, database: Database, mirrors: Mirrors, keyring: Keyring, config: Config, state: Path) -> None:
        self.database = database
        self.readers = database
        self.mirrors = mirrors
        self.config = config
        self._keyring = keyring
        self._state = state
        self._signs = SignTables(state / FOLDER)
        self.doubt_seconds = DOUBT_SECONDS
        self.approximate_from = MIN_CHUNKS
        self._doubted: dict[tuple[int, int], float] = {}
        self._lock = threading.Lock()
        self._shapes: OrderedDict[tuple[int, str], Shape] = OrderedDict()
        self._norms: OrderedDict[tuple[int, tuple[int, ...]], bytes] = OrderedDict()

    def search(
        self,
        tenant: int,
        permitted: Sequence[int] | None,
        query: Query,
        now: datetime,
        ref: str = "",
        past: Mapping[int, tuple[str, str]] = MappingProxyType({}),
    ) -> tuple[Answer, list[int]]:
        """(the answer over the permitted repositories, numbers of the searched repositories).

        `permitted`: None for all of the tenant. `ref`: a branch or tag; without it each repository's own branch is
        searched. `past`: repository -> (commit, snapshot key); if given, these snapshots are searched instead, except
        those that were dropped meanwhile. With `Query.history` exactly one repository is permitted, and its commits are
        searched too; NotARepository is raised if it has no mirror. Also raises what a local search raises
        (`search.search.search`), as for a wrong query.
        """
        searched: list[Searched] = []
        copy = ExitStack()
        repo: Any = _NoRepository()

        def opener(commit: str) -> OpenIndex:
            # A past tree may have been indexed just now, and a replica may lag.
            database = self.database if past else self.readers
            index = PostgresIndex(database, tenant, self._keyring.of(tenant), self._state / "index", self._signs)
            index.approximate_from = self.approximate_from
            try:
                if past:
                    searched[:] = past_snapshots(index, past)
                else:
                    searched[:] = branch_snapshots(index, permitted, ref)
                index.snapshots = [branch.snapshot for branch in searched]
                index.repositories = {branch.snapshot: branch.repository for branch in searched}
                files = MirrorFiles(
                    self.mirrors, index, {branch.repository: branch for branch in searched},
                    partial(self.shape, tenant), partial(self.doubt, tenant),
                )  # fmt: skip
                index.shapes = files.shapes
                snapshot = Snapshot(0, "", self._norms_of(tenant, index))
                if not query.history or not searched:
                    return OpenIndex(index, snapshot, "", LATEST, passages=files.passages(Passages))
                passages = files.passages(PassagesWithCommits)
                memory = OpenIndex(index, snapshot, "", searched[0].commit, passages=passages)
                return with_history(repo, self.config, memory, query.history, HISTORY_BOUNDS)
            except BaseException:
                index.close()
                raise

        with computing(), copy:
            if query.history:  # of one repository
                assert permitted is not None
                repo = copy.enter_context(self.mirrors.lent(tenant, permitted[0]))
            answer = search(repo, self.config, query._replace(history=""), now, opener=opener)
        stale = answer.stale or any(branch.has_unfetched for branch in searched)
        return answer._replace(at=ref or LATEST, stale=stale), [branch.repository for branch in searched]

    def branches(self, tenant: int, permitted: Sequence[int] | None) -> list[Searched]:
        """The own branch of each permitted repository (None: all of the tenant) that was indexed."""
        with closing(PostgresIndex(self.readers, tenant, self._keyring.of(tenant), self._state / "index")) as index:
            return branch_snapshots(index, permitted, "")

    def doubt(self, tenant: int, repository: int) -> None:
        """Queue a fetch that checks a mirror in which an indexed blob is missing.

        Does nothing within `doubt_seconds` of the last call for the repository. Adds no job if the repository has one:
        a failed job keeps its delay before the next try.
        """
        with self._lock:
            last_doubt, now = self._doubted.get((tenant, repository)), time.monotonic()
            if last_doubt is not None and now - last_doubt < self.doubt_seconds:
                return
            self._doubted[tenant, repository] = now
        self.mirrors.doubt(tenant, repository)
        self.mirrors.close(tenant, repository)
        jobs = "SELECT put_job(repository, 'fetch', '0') FROM idle_repositories() WHERE tenant = %s AND repository = %s"
        self.database.rows(tenant, jobs, repository)

    def _norms_of(self, tenant: int, index: PostgresIndex) -> bytes:
        """The norms of the chunks of the index's snapshots, cached by the set of snapshots."""
        key = (tenant, tuple(sorted(index.snapshots)))
        with self._lock:
            norms = self._norms.get(key)
            if norms is not None:
                self._norms.move_to_end(key)
        cached("norms", norms is not None)
        if norms is None:
            norms = index.snapshot().norms
            with self._lock:
                self._norms[key] = norms
                while len(self._norms) > 1 and sum(map(len, self._norms.values())) > MAX_CACHED_NORM_BYTES:
                    self._norms.popitem(last=False)
        return norms

    def shape(self, tenant: int, oid: str, data: bytes) -> Shape:
        """The structure of a blob by line numbers (`index.chunks.shape_of`). MAX_CACHED_SHAPES of them are cached by
        tenant and oid; for a cached one `data` is not read."""
        with self._lock:
            blob_shape = self._shapes.get((tenant, oid))
        cached("shapes", blob_shape is not None)
        if blob_shape is None:
            blob_shape = shape_of(data)
            with self._lock:
                self._shapes[tenant, oid] = blob_shape
                while len(self._shapes) > MAX_CACHED_SHAPES:
                    self._shapes.popitem(last=False)
        return blob_shape


def branch_snapshots(index: PostgresIndex, permitted: Sequence[int] | None, ref: str) -> list[Searched]:
    """The snapshot of each permitted repository, by number: of the ref with the full name `ref`, else of the branch,
    else of the tag; without `ref` of the repository's own branch. A repository without that ref is left out."""
    names = spellings(ref)
    rows = index.tenant_rows(
        "SELECT DISTINCT ON (repository.id) snapshot.id, repository.id, repository.name, ref.commit_oid,"
        " (SELECT EXISTS (SELECT FROM repository AS other WHERE other.tenant = %s AND fetched IS NULL AND problem = ''"
        " AND (%s::integer[] IS NULL OR other.id = ANY(%s::integer[])))) FROM repository"
        " JOIN ref ON ref.tenant = repository.tenant AND ref.repository = repository.id"
        " JOIN snapshot ON snapshot.tenant = ref.tenant AND snapshot.repository = ref.repository"
        " AND snapshot.key = ref.snapshot_key"
        " WHERE repository.tenant = %s AND (%s::integer[] IS NULL OR repository.id = ANY(%s::integer[]))"
        " AND CASE WHEN %s THEN ref.name = ANY(%s) ELSE ref.name = repository.head END"
        " ORDER BY repository.id, array_position(%s::text[], ref.name)",
        permitted, permitted, index.tenant, permitted, permitted, bool(ref), names, names,
    )  # fmt: skip
    return [Searched(row[0], row[1], row[2], bytes(row[3]).hex(), row[4]) for row in rows]


def spellings(ref: str) -> list[str]:
    """The full ref names that `ref` may stand for: itself, then a branch's, then a tag's; [] for ""."""
    return [ref, f"refs/heads/{ref}", f"refs/tags/{ref}"] if ref else []


def past_snapshots(index: PostgresIndex, past: Mapping[int, tuple[str, str]]) -> list[Searched]:
    """The snapshots of `past`, repository -> (commit, snapshot key), by repository; one that was dropped is left
    out."""
    rows = index.tenant_rows(
        "SELECT snapshot.id, repository.id, repository.name, snapshot.key FROM repository"
        " JOIN snapshot ON snapshot.tenant = repository.tenant AND snapshot.repository = repository.id"
        " WHERE repository.tenant = %s AND repository.id = ANY(%s) AND snapshot.key = ANY(%s) ORDER BY repository.id",
        list(past), [key for _, key in past.values()],
    )  # fmt: skip
    return [Searched(row[0], row[1], row[2], past[row[1]][0]) for row in rows if past[row[1]][1] == row[3]]
