"""Search over the repositories that a caller may see, with the flow and ranking of `search/search` over PostgreSQL.

The lines of a hit are read by blob from the mirror of a repository that has the blob at that path. A passage that
several repositories have is shown once, under the repository that was added first.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gitmem.claims.cited_code import changed_code
from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.chunks import shape_of
from gitmem.index.db.values import Shape, Snapshot
from gitmem.index.index_file import OpenIndex
from gitmem.index.line_days import line_days
from gitmem.memory.code_state import CitedCode
from gitmem.memory.forgotten import Forgotten
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.commit_hits import PassagesWithCommits, with_history
from gitmem.search.file_reading import FileReader, SearchedMemory, commit_time
from gitmem.search.hits import Hit, with_authors
from gitmem.search.memory_file import FileKey, MemoryFile
from gitmem.search.passages import Passages
from gitmem.search.search import Answer, Query, search
from gitmem.server.keys import Keyring
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.compute_lock import computing
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.hnsw import MIN_CHUNKS
from gitmem.server.postgres.index import PostgresIndex
from gitmem.server.postgres.signs import FOLDER, SignTables
from gitmem.server.shared_history import BOUNDS
from gitmem.server.telemetry import cached, stage

MAX_CACHED_SHAPES = 1_000  # blobs whose shape is cached
MAX_CACHED_NORM_BYTES = 4 << 20  # cached norms of sets of snapshots, one byte for each chunk
DOUBT_SECONDS = 60.0  # minimum time between two checks of the same mirror
LATEST = "branches"  # stands for the commit of an answer over the tips of several repositories


class Searched(NamedTuple):
    """A searched branch or tag of a repository. `snapshot`: number of its snapshot. `repository`, `name`: number and
    name of the repository. `commit`: hex. `has_unfetched`: any permitted repository waits for its first fetch, which
    has not failed."""

    snapshot: int
    repository: int
    name: str
    commit: str
    has_unfetched: bool = False


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
        searched too; NotARepository is raised if it has no mirror. Else raises as `search.search.search`.
        """
        searched: list[Searched] = []
        copy = ExitStack()
        repo: Any = None

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
                index.snapshots = [one.snapshot for one in searched]
                index.repositories = {one.snapshot: one.repository for one in searched}
                files = MirrorFiles(self, tenant, index, {one.repository: one for one in searched})
                index.shapes = files.shapes
                snapshot = Snapshot(0, "", self._norms_of(tenant, index))
            except BaseException:
                index.close()
                raise
            if query.history and searched:
                return self._with_history(repo, query.history, files, searched[0].commit, (index, snapshot))
            return OpenIndex(index, snapshot, "", LATEST, passages=files.passages(Passages))

        with computing(), copy:
            if query.history:  # of one repository
                assert permitted is not None
                repo = copy.enter_context(self.mirrors.lent(tenant, permitted[0]))
            answer = search(repo, self.config, query._replace(history=""), now, opener=opener)
        stale = answer.stale or any(one.has_unfetched for one in searched)
        return answer._replace(at=ref or LATEST, stale=stale), [one.repository for one in searched]

    def _with_history(
        self, repo: Repository, how: str, files: MirrorFiles, commit: str, of: tuple[PostgresIndex, Snapshot]
    ) -> OpenIndex:
        """An open index over the memory and the commits of one repository; closing it closes both. Raises what opening
        the history raises, with the memory index closed."""
        index, snapshot = of
        try:
            made = OpenIndex(index, snapshot, "", commit, passages=files.passages(PassagesWithCommits))
            return with_history(repo, self.config, made, how, BOUNDS)
        except BaseException:
            index.close()
            raise

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
            last, moment = self._doubted.get((tenant, repository)), time.monotonic()
            if last is not None and moment - last < self.doubt_seconds:
                return
            self._doubted[tenant, repository] = moment
        self.mirrors.doubt(tenant, repository)
        self.mirrors.close(tenant, repository)
        with self.database.tenant(tenant) as connection:
            connection.execute(
                "SELECT put_job(repository, 'fetch', '0') FROM idle_repositories()"
                " WHERE tenant = %s AND repository = %s",
                (tenant, repository),
            )

    def _norms_of(self, tenant: int, index: PostgresIndex) -> bytes:
        """The norms of the chunks of the index's snapshots, cached by the set of snapshots."""
        key = (tenant, tuple(sorted(index.snapshots)))
        with self._lock:
            known = self._norms.get(key)
            if known is not None:
                self._norms.move_to_end(key)
        cached("norms", known is not None)
        if known is None:
            known = index.snapshot().norms
            with self._lock:
                self._norms[key] = known
                while len(self._norms) > 1 and sum(map(len, self._norms.values())) > MAX_CACHED_NORM_BYTES:
                    self._norms.popitem(last=False)
        return known

    def shape(self, tenant: int, oid: str, data: bytes) -> Shape:
        """The shape (`index.chunks.shape_of`) of a blob. MAX_CACHED_SHAPES shapes are cached by tenant and oid; for a
        cached one `data` is not read."""
        with self._lock:
            known = self._shapes.get((tenant, oid))
        cached("shapes", known is not None)
        if known is None:
            known = shape_of(data)
            with self._lock:
                self._shapes[tenant, oid] = known
                while len(self._shapes) > MAX_CACHED_SHAPES:
                    self._shapes.popitem(last=False)
        return known


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


class MirrorFiles:
    """What one search reads from the mirrors. `homes`: (path, oid) -> the repository whose mirror has the file; filled
    by `contents`."""

    def __init__(
        self, shared: SharedSearch, tenant: int, index: PostgresIndex, repositories: Mapping[int, Searched]
    ) -> None:
        self.shared = shared
        self.tenant = tenant
        self.index = index
        self.repositories = repositories
        self.homes: dict[tuple[str, str], Searched] = {}
        self._forgotten: dict[int, Forgotten] = {}
        self._read: dict[str, bytes] = {}

    def lent(self, repository: int) -> AbstractContextManager[Repository]:
        """The mirror of a repository, for a `with` block."""
        return self.shared.mirrors.lent(self.tenant, repository)

    def contents(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """The bytes of files, by (path, oid). A file that no searched snapshot has is left out. So is a file that its
        mirror does not have; then a fetch that checks the mirror is queued."""
        homes: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for key, repository in self.index.holders(wanted).items():
            self.homes[key] = self.repositories[repository]
            homes[repository].append(key)
        contents: dict[tuple[str, str], bytes] = {}
        for repository, keys in homes.items():
            try:
                with stage("git"), self.lent(repository) as repo:
                    texts = dict(repo.read_many(dict.fromkeys(oid for _, oid in keys)))
            except GitMemError:
                texts = {}
            missing = {oid for _, oid in keys if texts.get(oid) is None}
            if missing:
                with suppress(GitMemError):
                    texts |= self.shared.mirrors.read_by_git(self.tenant, repository, missing)
            if any(texts.get(oid) is None for oid in missing):
                self.shared.doubt(self.tenant, repository)
            for path, oid in keys:
                data = texts.get(oid)
                if data is not None:
                    contents[path, oid] = self._read[oid] = data
        return contents

    def forgotten(self, repository: int) -> Forgotten:
        """The forgotten texts of a repository by its own branch, cached for this search."""
        if repository not in self._forgotten:
            with self.lent(repository) as repo:
                try:
                    found = forgotten_texts(repo)
                except GitMemError:  # a mirror with a broken branch: the indexed commit has the forgotten texts too
                    self.shared.doubt(self.tenant, repository)
                    found = forgotten_texts(repo, self.repositories[repository].commit)
                self._forgotten[repository] = found
        return self._forgotten[repository]

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """The shapes of the given blobs that `contents` read; the others are left out."""
        return {oid: self.shared.shape(self.tenant, oid, self._read[oid]) for oid in oids if oid in self._read}

    def passages(self, kind: type[Passages]) -> Callable[..., Passages]:
        """Makes the passages of a search in these mirrors."""
        return partial(kind, reader=partial(MirrorReader, self))


class MirrorReader(FileReader):
    """Reads the files of one search from the mirrors of several repositories. `mirrors`: these files."""

    def __init__(self, mirrors: MirrorFiles, memory: SearchedMemory) -> None:
        super().__init__(memory)
        self.mirrors = mirrors
        self.repository_name = next((home.name for home in mirrors.repositories.values()), "")

    def repository(self, file: MemoryFile) -> int:
        home = self.mirrors.homes.get(file.key)
        if home is not None:
            return home.repository
        return next(iter(self.mirrors.repositories))  # the hit is a commit: exactly one repository is searched

    def contents(self, wanted: Sequence[FileKey]) -> Mapping[FileKey, bytes]:
        return self.mirrors.contents(wanted)

    def days_of_lines(self, undated: Mapping[FileKey, int]) -> Mapping[FileKey, Sequence[date]]:
        by_home: dict[int, dict[FileKey, int]] = defaultdict(dict)
        for key, count in undated.items():
            by_home[self.mirrors.homes[key].repository][key] = count
        memory = self.memory
        days: dict[FileKey, Sequence[date]] = {}
        for number, files in by_home.items():
            commit = self.mirrors.repositories[number].commit
            with self.mirrors.lent(number) as repo:
                days |= line_days(repo, memory.config, memory.index_reader, files, commit, memory.today)
        return days

    def time_of_commit(self, file: MemoryFile, line: int) -> str:
        home = self.mirrors.homes[file.key]
        with self.mirrors.lent(home.repository) as repo:
            return commit_time(repo, file.path, line, home.commit, self.memory.today)

    def cited_code(self, cited: Mapping[FileKey, Sequence[str]]) -> Mapping[FileKey, Mapping[str, CitedCode]]:
        by_home: dict[int, list[FileKey]] = defaultdict(list)
        for key, values in cited.items():
            if values and key in self.mirrors.homes:
                by_home[self.mirrors.homes[key].repository].append(key)
        code: dict[FileKey, Mapping[str, CitedCode]] = {}
        for number, keys in by_home.items():
            codes = dict.fromkeys(value for key in keys for value in cited[key])
            with suppress(GitMemError), self.mirrors.lent(number) as repo:
                code |= dict.fromkeys(keys, changed_code(repo, codes, self.mirrors.repositories[number].commit))
        return code

    def forgotten(self, file: MemoryFile) -> Forgotten:
        return self.mirrors.forgotten(self.repository(file))

    def with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        made = []
        for hit in hits:
            home = self.mirrors.homes[hit.path, hit.blob]
            if blame:
                with self.mirrors.lent(home.repository) as repo:
                    (hit,) = with_authors(repo, [hit], home.commit)
            made.append(hit._replace(repository=home.name, commit=hit.commit or home.commit))
        return made
