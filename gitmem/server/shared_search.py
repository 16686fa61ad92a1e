"""One search over the repositories that a caller may see: the flow and the ranking of `search/search`, over PostgreSQL.

Lines are read from the mirrors by blob, of the repository that has that blob at that path; a passage that several
repositories have is shown once, under the one that was added first.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gitmem.claims.cited_code import cited_code
from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.chunks import shape_of
from gitmem.index.db.values import Shape, Snapshot
from gitmem.index.index_file import Freshness, OpenIndex
from gitmem.index.line_days import line_days
from gitmem.memory.code_state import CitedCode
from gitmem.memory.forgotten import Forgotten
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.commit_hits import PassagesWithCommits, with_history
from gitmem.search.hits import Hit, blamed
from gitmem.search.passages import File, Passages, written
from gitmem.search.search import Answer, Query, search
from gitmem.server.keys import Keyring
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.compute_lock import computing
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.hnsw import FROM
from gitmem.server.postgres.index import PostgresIndex
from gitmem.server.postgres.signs import FOLDER, SignTables
from gitmem.server.shared_history import BOUNDS
from gitmem.server.telemetry import cached, stage

KEPT_SHAPES = 1_000  # blobs of which it is remembered how they are built
KEPT_NORMS = 4 << 20  # bytes of norms, one a chunk, that are remembered of sets of snapshots
DOUBT_SECONDS = 60.0  # for which a copy that was doubted is not doubted again
LATEST = "branches"  # what stands in the place of a commit


class Searched(NamedTuple):
    """A branch or tag of a repository that a caller may see; whether another is still to be fetched for the first
    time."""

    snapshot: int
    repository: int
    name: str
    commit: str
    others_awaited: bool = False


class Shared:
    """What the searches of a server have in common. Safe for several threads."""

    def __init__(self, database: Database, mirrors: Mirrors, keyring: Keyring, config: Config, state: Path) -> None:
        self.database = database
        self.readers = database  # or a replica of it, that may lag
        self.mirrors = mirrors
        self.config = config
        self._keyring = keyring
        self._state = state
        self._signs = SignTables(state / FOLDER)
        self.doubt_seconds = DOUBT_SECONDS
        self.approximate_from = FROM
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
        """The answer over the permitted repositories (None: all of the tenant), and which they were. `ref` names a
        branch or a tag; without it each repository's own branch counts, or of those in `past` (commit, key of its
        snapshot). With `Query.history` one repository is permitted, and its commits count too. Raises as `search`."""
        asked: list[Searched] = []
        copy = ExitStack()
        repo: Any = None

        def opener(commit: str) -> OpenIndex:
            # a past tree was indexed just now
            if past:
                source = self.database
            else:
                source = self.readers
            index = PostgresIndex(source, tenant, self._keyring.of(tenant), self._state / "index", self._signs)
            index.approximate_from = self.approximate_from
            try:
                if past:
                    asked[:] = as_of(index, past)
                else:
                    asked[:] = searched(index, permitted, ref)
                index.snapshots = [one.snapshot for one in asked]
                index.repositories = {one.snapshot: one.repository for one in asked}
                files = Files(self, tenant, index, {one.repository: one for one in asked})
                index.shapes = files.shapes
                snapshot = Snapshot(0, "", self._norms_of(tenant, index))
            except BaseException:
                index.close()
                raise
            if query.history and asked:
                return self._with_history(repo, query.history, files, asked[0].commit, (index, snapshot))
            return OpenIndex(index, snapshot, Freshness(), LATEST, passages=partial(SharedPassages, files))

        with computing(), copy:
            if query.history:  # of one repository
                assert permitted is not None
                repo = copy.enter_context(self.mirrors.lent(tenant, permitted[0]))
            answer = search(repo, self.config, query._replace(history=""), now, opener=opener)
        stale = answer.stale or any(one.others_awaited for one in asked)
        return answer._replace(at=ref or LATEST, stale=stale), [one.repository for one in asked]

    def _with_history(
        self, repo: Repository, how: str, files: Files, commit: str, of: tuple[PostgresIndex, Snapshot]
    ) -> OpenIndex:
        """The memory and the history of one repository as of a commit, closed together."""
        index, snapshot = of
        try:
            made = OpenIndex(index, snapshot, Freshness(), commit, passages=partial(SharedPassagesWithCommits, files))
            return with_history(repo, self.config, made, how, BOUNDS)
        except BaseException:
            index.close()
            raise

    def branches(self, tenant: int, permitted: Sequence[int] | None) -> list[Searched]:
        """Each permitted repository's own branch, where it was indexed."""
        index = PostgresIndex(self.readers, tenant, self._keyring.of(tenant), self._state / "index")
        try:
            return searched(index, permitted, "")
        finally:
            index.close()

    def doubt(self, tenant: int, repository: int) -> None:
        """Have a worker look at a copy in which something is missing that is indexed: until then it is left out.

        Once in `doubt_seconds`, however many searches miss it, and never beside a job of the repository: one that
        failed keeps its waits."""
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
        """The norms of all that is searched; they hold for these snapshots, which never change."""
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
                while len(self._norms) > 1 and sum(map(len, self._norms.values())) > KEPT_NORMS:
                    self._norms.popitem(last=False)
        return known

    def shape(self, tenant: int, oid: str, data: bytes) -> Shape:
        """How a blob is built."""
        with self._lock:
            known = self._shapes.get((tenant, oid))
        cached("shapes", known is not None)
        if known is None:
            known = shape_of(data)
            with self._lock:
                self._shapes[tenant, oid] = known
                while len(self._shapes) > KEPT_SHAPES:
                    self._shapes.popitem(last=False)
        return known


def searched(index: PostgresIndex, permitted: Sequence[int] | None, ref: str) -> list[Searched]:
    """The snapshot of the branch of that name in each repository, else of the tag, or of its own branch."""
    names = spellings(ref)
    rows = index.mine(
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
    """The full names that a branch's or tag's name may stand for, a branch first; none for ""."""
    if not ref:
        return []
    return [ref, f"refs/heads/{ref}", f"refs/tags/{ref}"]


def as_of(index: PostgresIndex, past: Mapping[int, tuple[str, str]]) -> list[Searched]:
    """The snapshots of repositories as of a commit of each: (commit, key of the snapshot)."""
    rows = index.mine(
        "SELECT snapshot.id, repository.id, repository.name, snapshot.key FROM repository"
        " JOIN snapshot ON snapshot.tenant = repository.tenant AND snapshot.repository = repository.id"
        " WHERE repository.tenant = %s AND repository.id = ANY(%s) AND snapshot.key = ANY(%s) ORDER BY repository.id",
        list(past), [key for _, key in past.values()],
    )  # fmt: skip
    return [Searched(row[0], row[1], row[2], past[row[1]][0]) for row in rows if past[row[1]][1] == row[3]]


class Files:
    """What one search reads of the mirrors."""

    def __init__(self, shared: Shared, tenant: int, index: PostgresIndex, repositories: Mapping[int, Searched]) -> None:
        self.shared = shared
        self.tenant = tenant
        self.index = index
        self.repositories = repositories
        self.homes: dict[tuple[str, str], Searched] = {}
        self._forgotten: dict[int, Forgotten] = {}
        self._read: dict[str, bytes] = {}

    def contents(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """The bytes of files, by (path, oid). One whose mirror is gone is left out."""
        homes: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for key, repository in self.index.holders(wanted).items():
            self.homes[key] = self.repositories[repository]
            homes[repository].append(key)
        contents: dict[tuple[str, str], bytes] = {}
        for repository, keys in homes.items():
            try:
                with stage("git"), self.shared.mirrors.lent(self.tenant, repository) as repo:
                    texts = dict(repo.read_many(dict.fromkeys(oid for _, oid in keys)))
            except GitMemError:
                texts = {}
            lost = {oid for _, oid in keys if texts.get(oid) is None}
            if lost:
                with suppress(GitMemError):
                    texts |= self.shared.mirrors.read_by_git(self.tenant, repository, lost)
            if any(texts.get(oid) is None for oid in lost):
                self.shared.doubt(self.tenant, repository)
            for path, oid in keys:
                data = texts.get(oid)
                if data is not None:
                    contents[path, oid] = self._read[oid] = data
        return contents

    def forgotten(self, repository: int) -> Forgotten:
        """The texts that people took out of a repository, by its own branch."""
        if repository not in self._forgotten:
            with self.shared.mirrors.lent(self.tenant, repository) as repo:
                try:
                    found = forgotten_texts(repo)
                except GitMemError:  # a mirror with a broken branch; the commit that was indexed says it too
                    self.shared.doubt(self.tenant, repository)
                    found = forgotten_texts(repo, self.repositories[repository].commit)
                self._forgotten[repository] = found
        return self._forgotten[repository]

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """How the blobs are built that were read."""
        return {oid: self.shared.shape(self.tenant, oid, self._read[oid]) for oid in oids if oid in self._read}


class SharedPassages(Passages):
    """Hits of several repositories."""

    def __init__(self, mirrored: Files, *given: Any) -> None:
        super().__init__(*given)
        self.mirrored = mirrored

    def _forgotten(self, file: File) -> Forgotten:
        home = self.mirrored.homes.get((file.path, file.oid))
        # a commit's: there is one
        if home:
            numbers = [home.repository]
        else:
            numbers = list(self.mirrored.repositories)
        return self.mirrored.forgotten(numbers[0])

    def _contents(self, wanted: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], bytes]:
        return self.mirrored.contents(wanted)

    def _committed(self, file: File, line: int) -> str:
        home = self.mirrored.homes[file.path, file.oid]
        with self.mirrored.shared.mirrors.lent(self.mirrored.tenant, home.repository) as repo:
            return written(repo, file.path, line, home.commit, self.filters.today)

    def _cited_code(
        self, cited: Mapping[tuple[str, str], Sequence[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, CitedCode]]:
        by_home: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for key, values in cited.items():
            if values and key in self.mirrored.homes:
                by_home[self.mirrored.homes[key].repository].append(key)
        code: dict[tuple[str, str], Mapping[str, CitedCode]] = {}
        for number, keys in by_home.items():
            asked = dict.fromkeys(value for key in keys for value in cited[key])
            home = self.mirrored.repositories[number]
            with suppress(GitMemError), self.mirrored.shared.mirrors.lent(self.mirrored.tenant, number) as repo:
                code |= dict.fromkeys(keys, cited_code(repo, asked, home.commit))
        return code

    def _repository(self, file: File) -> int:
        home = self.mirrored.homes.get((file.path, file.oid))
        # of a commit
        if home is not None:
            return home.repository
        return next(iter(self.mirrored.repositories))

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        made = []
        for hit in hits:
            home = self.mirrored.homes[hit.path, hit.blob]
            if blame:
                with self.mirrored.shared.mirrors.lent(self.mirrored.tenant, home.repository) as repo:
                    (hit,) = blamed(repo, [hit], home.commit)
            made.append(hit._replace(repository=home.name, commit=hit.commit or home.commit))
        return made

    def _read_line_days(self) -> None:
        if not (self.filters.since or self.filters.until):
            return
        undated: dict[int, dict[tuple[str, str], int]] = defaultdict(dict)
        for key, file in self.files.items():
            if file is not None and file.when is None:
                undated[self.mirrored.homes[key].repository][key] = len(file.lines)
        days: dict[tuple[str, str], Any] = {}
        for number, files in undated.items():
            home = self.mirrored.repositories[number]
            with self.mirrored.shared.mirrors.lent(self.mirrored.tenant, number) as repo:
                days |= line_days(repo, self.config, self.index, files, home.commit, self.filters.today)
        self.line_days = days


class SharedPassagesWithCommits(PassagesWithCommits, SharedPassages):
    """Hits of the files and of the commits of one repository."""

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        names = [home.name for home in self.mirrored.repositories.values()]
        made = super()._with_provenance(hits, blame)
        return [hit._replace(repository=names[0]) if hit.kind else hit for hit in made]
