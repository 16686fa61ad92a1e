"""From a push to rows: a repository's branches and tags, fetched, parsed and indexed; and taken out again.

The same parser and embedder as locally (`index/blob_indexer`): a line with a secret has no words, no vector, no hash.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from gitmem import system
from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, NotARepository, TooManyFiles, UnknownRevision
from gitmem.gate.withholding import screened
from gitmem.git.opening import Repository
from gitmem.git.revision import resolve_at
from gitmem.index.blob_indexer import BlobIndexer, Work
from gitmem.index.db.values import EntryRow
from gitmem.index.store import BlobStore
from gitmem.memory.snapshot import tree_files, tree_key
from gitmem.paths import in_default_corpus
from gitmem.server.keys import Keyring
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.signs import FOLDER, forget
from gitmem.server.postgres.writer import PostgresWriter

BRANCHES = ("refs/heads/", "refs/tags/")
PATIENCE = 2.0  # seconds that a search as of a day waits for an ingest of its tenant
MOST_ENTRIES = 200_000  # files of a tree; a few trees of each other's names can stand for any number of them
TOGETHER = 4  # batches of blobs (of 256 KiB) to a transaction: their words are one segment
MOST_REFS = 1_000  # branches and tags of a repository that are indexed: its own branch, then by name


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one run did with a repository; `problem`: which branches it left out, and why."""

    refs: int = 0
    blobs: int = 0
    chunks: int = 0
    removed_blobs: int = 0
    removed_chunks: int = 0
    problem: str = ""


class Ingest:
    """Brings repositories into the index and out of it. Safe for several threads."""

    def __init__(self, database: Database, mirrors: Mirrors, keyring: Keyring, config: Config, state: Path) -> None:
        self._database = database
        self._mirrors = mirrors
        self._keyring = keyring
        self._config = config
        self._state = state

    def fetch(self, tenant: int, repository: int) -> Ingested:
        """Fetch a repository and index what its branches and tags have. Nothing for one that was removed meanwhile.

        Raises GitMemError, with a sentence that names neither address nor path.
        """
        with self._database.tenant(tenant) as connection:
            row = connection.execute(
                "SELECT url FROM repository WHERE tenant = %s AND id = %s", (tenant, repository)
            ).fetchone()
        if row is None:
            return Ingested()
        try:
            try:
                done = self._fetch(tenant, repository, row[0])
            except (GitFailed, NotARepository, UnknownRevision):
                # Where the remote answers it is the copy that is damaged: it is made anew, once.
                if not self._mirrors.is_reachable(row[0]):
                    raise
                self._mirrors.renew(tenant, repository)
                done = self._fetch(tenant, repository, row[0])
        except Exception as error:
            self._record(tenant, repository, failure_of(error))
            raise
        self._record(tenant, repository, done.problem, fetched=True)
        return done

    def _fetch(self, tenant: int, repository: int, url: str) -> Ingested:
        self._mirrors.fetch(tenant, repository, url)
        with self._database.ingesting(tenant):
            return self._index(tenant, repository)

    def _record(self, tenant: int, repository: int, problem: str, *, fetched: bool = False) -> None:
        with self._database.writing(tenant) as connection:
            connection.execute(
                "UPDATE repository SET problem = %s, fetched = CASE WHEN %s THEN now() ELSE fetched END"
                " WHERE tenant = %s AND id = %s",
                (problem, fetched, tenant, repository),
            )

    def as_of(self, tenant: int, repository: int, text: str, now: datetime) -> tuple[str, str, datetime]:
        """(commit, key of its snapshot, its date) of what `text` names on the repository's own branch: a revision or a
        day, as `--at` takes it. Its tree is indexed where it is not yet; the next fetch drops it again.

        Raises UnknownRevision, for a commit too that is no ancestor of the branch: what a rewritten history dropped;
        NotARepository where the repository was not fetched yet, or was taken out meanwhile.
        """
        with self._mirrors.lent(tenant, repository) as repo:
            commit = resolve_at(repo, text, now)
            head = repo.head()
            if head is None or not (commit == head or repo.is_ancestor(commit, head)):
                raise UnknownRevision("there is no such revision on the repository's own branch")
            tree = repo.tree(commit)
            key, date = tree_key(tree, ()), repo.commit(commit).commit_date
            writer = self._writer(tenant)
            if key not in writer.snapshot_keys(repository):
                with self._database.ingesting(tenant, PATIENCE):
                    if not writer.is_there(repository):  # nothing may be added that no later run takes out
                        raise NotARepository("there is no such repository", "")
                    entries = self._tree(self._blobs(repo, writer, Work()), repo, tree)
                    with writer.writing():
                        writer.put_snapshot(repository, key, entries)
        return commit, key, date

    def _writer(self, tenant: int) -> PostgresWriter:
        return PostgresWriter(self._database, tenant, self._keyring.of(tenant), self._state / "index")

    def _blobs(self, repo: Repository, writer: PostgresWriter, work: Work) -> BlobIndexer:
        store: BlobStore = writer
        # Until an embedder is replaced it calls what BlobStore has, and nothing else.
        indexer = BlobIndexer(repo, self._config, cast(Any, store), work, lambda: False, lambda text: None)
        indexer.together = TOGETHER
        return indexer

    @staticmethod
    def _tree(indexer: BlobIndexer, repo: Repository, tree: str) -> list[EntryRow]:
        """Index the memory files of a tree; what its snapshot has."""
        if repo.count_files(tree, MOST_ENTRIES) > MOST_ENTRIES:
            raise TooManyFiles(f"a tree has more than {MOST_ENTRIES} files", "")
        files, layout = tree_files(repo, tree, ())
        indexer.names.update({oid: path for path, oid in files.items()})
        indexer.objects(files.values())
        return [EntryRow(path, oid, int("/" in path or in_default_corpus(path, layout))) for path, oid in files.items()]

    def _index(self, tenant: int, repository: int) -> Ingested:
        writer, work = self._writer(tenant), Work()
        with self._mirrors.lent(tenant, repository) as repo:
            indexer = self._blobs(repo, writer, work)
            refs: dict[str, tuple[str, str]] = {}
            snapshots: dict[str, list[EntryRow]] = {}
            recorded = writer.snapshot_keys(repository)
            rows = heads(repo)
            head = own_branch(repo, [name for name, _, _ in rows])
            rewritten = self._rewritten(tenant, repository, repo, {name: commit for name, commit, _ in rows})
            left: list[str] = []
            for name, commit, tree in rows:
                key = tree_key(tree, ())
                try:
                    if key not in recorded and key not in snapshots:
                        snapshots[key] = self._tree(indexer, repo, tree)
                except TooManyFiles:
                    left.append(name)
                    continue
                refs[name] = (commit, key)
            if head not in refs:
                head = ""
        with writer.writing():
            for key, entries in snapshots.items():
                writer.put_snapshot(repository, key, entries)
            writer.put_refs(repository, refs, head, rewritten=rewritten)
        with writer.writing():
            removed = writer.prune()
            writer.compact()
        if writer.to_expire(repository):
            self._mirrors.expire(tenant, repository)
            forget(self._state / FOLDER, tenant)
            self._follow(tenant, repository, rewritten=True)
            with writer.writing():
                writer.expired(repository)
        else:
            self._mirrors.tidy(tenant, repository)
            self._follow(tenant, repository, rewritten=False)
        problem = ""
        if left:
            problem = f"left out for too many files: {_shown(left)}"
        return Ingested(len(refs), work.blobs, work.chunks, *removed, problem=problem)

    def _follow(self, tenant: int, repository: int, *, rewritten: bool) -> None:
        """Have the index of the history in the copy be what the branches have now."""
        from gitmem.server.shared_history import follow

        with self._mirrors.lent(tenant, repository) as repo:
            follow(repo, self._config, rewritten=rewritten)

    def _rewritten(self, tenant: int, repository: int, repo: Repository, refs: Mapping[str, str]) -> bool:
        """Whether a branch or tag is gone, or no longer has in its history what it pointed to."""
        with self._database.tenant(tenant) as connection:
            rows = connection.execute(
                "SELECT name, commit_oid FROM ref WHERE tenant = %s AND repository = %s", (tenant, repository)
            ).fetchall()
        for name, oid in rows:
            old, new = bytes(oid).hex(), refs.get(name)
            try:
                if new is None or not (old == new or repo.is_ancestor(old, new)):
                    return True
            except GitMemError:  # it is not there any more
                return True
        return False

    def give_back(self) -> None:
        """Give back the memory that was of use for the next repository: what was read of the embedder's table above
        all, some 40 MB. Another thread goes on with what it has."""
        from gitmem.models.static_embedder import shared

        shared.cache_clear()
        self._mirrors.close()
        gc.collect()
        system.give_back()

    def remove(self, tenant: int, repository: int) -> Ingested:
        """Take a repository out: its rows, what only it had, and its copy."""
        writer = self._writer(tenant)
        with self._database.ingesting(tenant), writer.writing():
            writer.put_refs(repository, {})
            writer.forget(repository)
            removed = writer.prune()
        self._mirrors.remove(tenant, repository)
        forget(self._state / FOLDER, tenant)
        return Ingested(0, 0, 0, *removed)


def _shown(names: Sequence[str]) -> str:
    """The first of these branches and tags, each name as it may be told to a model (`screened`)."""
    shown = ", ".join(screened(name.removeprefix("refs/heads/").removeprefix("refs/tags/")) for name in names[:3])
    more = ""
    if len(names) > 3:
        more = f" and {len(names) - 3} more"
    return f"{shown}{more}"


def failure_of(error: Exception) -> str:
    """What is told of a failure: our own sentence, or of a fault its kind alone, since its words may name anything."""
    if isinstance(error, GitMemError):
        return error.message
    return f"failed ({type(error).__name__})"


def heads(repo: Repository) -> list[tuple[str, str, str]]:
    """(name, commit, tree) of every branch and tag that names a commit; HEAD's branch first."""
    named = [(name, oid) for prefix in BRANCHES for name, oid in repo.refs(prefix) if is_text(name)]
    own = own_branch(repo, [name for name, _ in named])
    named.sort(key=lambda row: (row[0] != own, row[0]))
    return [(name, oid, repo.tree(oid)) for name, oid in named[:MOST_REFS]]


def own_branch(repo: Repository, names: Sequence[str]) -> str:
    """The branch that HEAD names; where that has no commit, `main`, `master` or the first there is; "" without any."""
    wanted = [f"refs/heads/{repo.branch() or ''}", "refs/heads/main", "refs/heads/master"]
    there = [name for name in (*wanted, *names) if name in names and name.startswith("refs/heads/")]
    if not there:
        return ""
    return there[0]


def is_text(name: str) -> bool:
    """Whether a name is UTF-8: the database has no other text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
