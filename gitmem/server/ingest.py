"""Ingest: fetch a repository into its mirror and index its branches and tags in PostgreSQL, or remove it from both.

It uses the parser and embedder of a local index (`index/blob_indexer`): a line with a secret gets no words, no vector
and no hash.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from gitmem import system
from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, NotARepository, TooManyFiles, UnknownRevision
from gitmem.gate.withholding import name_for_model
from gitmem.git.opening import Repository
from gitmem.git.revision import resolve_at
from gitmem.index import history_indexer
from gitmem.index.blob_indexer import BlobIndexer, Work
from gitmem.index.db.connection import HISTORY
from gitmem.index.db.values import EntryRow, corpus_of
from gitmem.index.history_tips import Bounds
from gitmem.index.index_file import directory
from gitmem.index.store import BlobStore
from gitmem.memory.snapshot import tree_files, tree_key
from gitmem.server.keys import Keyring
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.database import Database
from gitmem.server.postgres.signs import FOLDER, forget
from gitmem.server.postgres.writer import PostgresWriter

REF_PREFIXES = ("refs/heads/", "refs/tags/")
INGEST_WAIT_SECONDS = 2.0  # for which a search with `at` waits for a running ingest of its tenant
MAX_TREE_FILES = 200_000  # a few nested trees that contain each other can stand for any number of files
BATCHES_PER_TRANSACTION = 4  # batches of blobs (256 KiB each); the words of a transaction become one segment
HISTORY_BOUNDS = Bounds(wait=5.0)  # of an update of a history index
MAX_REFS = 1_000  # indexed branches and tags of a repository: its own branch, then the first by name


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of one run: the numbers of indexed refs, added blobs and chunks, and removed blobs and chunks.
    `problem`: which branches were left out for too many files, "" if none."""

    refs: int = 0
    blobs: int = 0
    chunks: int = 0
    removed_blobs: int = 0
    removed_chunks: int = 0
    problem: str = ""


class Ingest:
    """Adds repositories to the index and removes them. Safe for several threads. `state`: folder of the server."""

    def __init__(self, database: Database, mirrors: Mirrors, keyring: Keyring, config: Config, state: Path) -> None:
        self._database = database
        self._mirrors = mirrors
        self._keyring = keyring
        self._config = config
        self._state = state

    def fetch(self, tenant: int, repository: int) -> Ingested:
        """Fetch a repository and index its branches and tags; do nothing if it was removed meanwhile.

        A damaged mirror of a remote that answers is made anew once. Records the time or the problem in the repository's
        row. Raises GitMemError with a message that names neither address nor path; IndexUnusable (a GitMemError) if
        another ingest of the tenant does not end in time.
        """
        rows = self._database.rows(tenant, "SELECT url FROM repository WHERE tenant = %s AND id = %s", repository)
        if not rows:
            return Ingested()
        ((url,),) = rows
        try:
            try:
                ingested = self._fetch(tenant, repository, url)
            except (GitFailed, NotARepository, UnknownRevision):
                # If the remote answers, the mirror is damaged: make it anew, once.
                if not self._mirrors.is_reachable(url):
                    raise
                self._mirrors.renew(tenant, repository)
                ingested = self._fetch(tenant, repository, url)
        except Exception as error:
            self._record(tenant, repository, failure_of(error))
            raise
        self._record(tenant, repository, ingested.problem, fetched=True)
        return ingested

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
        """(commit, key of its snapshot, commit date) for `text`, a revision or a day as `--at` takes it, on the
        repository's own branch. Indexes the commit's tree if it is not indexed; the next fetch drops it again.

        Raises UnknownRevision for an unknown revision and for a commit that is not an ancestor of the branch, such as
        one that a rewritten history dropped; NotARepository if the repository was not fetched yet or was removed
        meanwhile; IndexUnusable if another ingest of the tenant runs longer than INGEST_WAIT_SECONDS; Refused if the
        tenant would be over its quota; TooManyFiles.
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
                with self._database.ingesting(tenant, INGEST_WAIT_SECONDS):
                    if not writer.is_there(repository):  # no later run would delete rows of a removed repository
                        raise NotARepository("there is no such repository", "")
                    entries = self._index_tree(self._indexer(repo, writer, Work()), repo, tree)
                    with writer.writing():
                        writer.put_snapshot(repository, key, entries)
        return commit, key, date

    def _writer(self, tenant: int) -> PostgresWriter:
        return PostgresWriter(self._database, tenant, self._keyring.of(tenant), self._state / "index")

    def _indexer(self, repo: Repository, writer: PostgresWriter, work: Work) -> BlobIndexer:
        store: BlobStore = writer
        # Unless an embedder is replaced, the indexer calls the methods of BlobStore only.
        indexer = BlobIndexer(repo, self._config, cast(Any, store), work, lambda: False, lambda text: None)
        indexer.together = BATCHES_PER_TRANSACTION
        return indexer

    @staticmethod
    def _index_tree(indexer: BlobIndexer, repo: Repository, tree: str) -> list[EntryRow]:
        """Index the memory files of a tree and return the entries of its snapshot, one for each of these files. Raises
        TooManyFiles if the whole tree has more than MAX_TREE_FILES files, memory or not."""
        if repo.count_files(tree, MAX_TREE_FILES) > MAX_TREE_FILES:
            raise TooManyFiles(f"a tree has more than {MAX_TREE_FILES} files", "")
        files, layout = tree_files(repo, tree, ())
        indexer.names.update({oid: path for path, oid in files.items()})
        indexer.objects(files.values())
        return [EntryRow(path, oid, corpus_of(path, layout)) for path, oid in files.items()]

    def _index(self, tenant: int, repository: int) -> Ingested:
        """Index the branches and tags of a fetched mirror, delete what no snapshot names any more, and tidy the mirror;
        after a rewritten history, delete its unreachable objects. A branch with too many files is left out and named in
        `Ingested.problem`. The caller holds the tenant's ingest lock."""
        writer, work = self._writer(tenant), Work()
        with self._mirrors.lent(tenant, repository) as repo:
            indexer = self._indexer(repo, writer, work)
            refs: dict[str, tuple[str, str]] = {}
            snapshots: dict[str, list[EntryRow]] = {}
            recorded = writer.snapshot_keys(repository)
            rows = heads(repo)
            head = own_branch(repo, [name for name, _, _ in rows])
            rewritten = self._rewritten(tenant, repository, repo, {name: commit for name, commit, _ in rows})
            left_out: list[str] = []
            for name, commit, tree in rows:
                key = tree_key(tree, ())
                try:
                    if key not in recorded and key not in snapshots:
                        snapshots[key] = self._index_tree(indexer, repo, tree)
                except TooManyFiles:
                    left_out.append(name)
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
        problem = f"left out for too many files: {_ref_names(left_out)}" if left_out else ""
        return Ingested(len(refs), work.blobs, work.chunks, *removed, problem=problem)

    def _follow(self, tenant: int, repository: int, *, rewritten: bool) -> None:
        """Update the history index in the mirror, which a search with `history` reads, if a search made one. After a
        `rewritten` history delete it, because it has words of commits that no branch has any more; raises GitMemError
        if that fails."""
        with self._mirrors.lent(tenant, repository) as repo:
            if rewritten:
                history_indexer.discard(repo)
            elif (directory(repo) / HISTORY).exists():
                with suppress(GitMemError, OSError):  # the next search reports missing commits
                    history_indexer.refresh(repo, self._config, HISTORY_BOUNDS)

    def _rewritten(self, tenant: int, repository: int, repo: Repository, refs: Mapping[str, str]) -> bool:
        """Whether an indexed branch or tag was deleted or now points to a commit that is not a descendant of its
        indexed commit. `refs`: name -> commit."""
        query = "SELECT name, commit_oid FROM ref WHERE tenant = %s AND repository = %s"
        for name, oid in self._database.rows(tenant, query, repository):
            indexed, present = bytes(oid).hex(), refs.get(name)
            try:
                if present is None or not (indexed == present or repo.is_ancestor(indexed, present)):
                    return True
            except GitMemError:  # the indexed commit does not exist any more
                return True
        return False

    def give_back(self) -> None:
        """Release memory that is cached for the next repository, mainly the embedder's table (some 40 MB), and close
        the mirrors that are not lent. Safe while another thread ingests."""
        from gitmem.models.static_embedder import shared

        shared.cache_clear()
        self._mirrors.close()
        gc.collect()
        system.return_free_heap()

    def remove(self, tenant: int, repository: int) -> Ingested:
        """Remove a repository: its rows, the blobs and chunks that no other repository has, and its mirror. Returns the
        numbers of removed blobs and chunks; 0 if it was removed before. Raises IndexUnusable if another ingest of the
        tenant does not end in time."""
        writer = self._writer(tenant)
        with self._database.ingesting(tenant), writer.writing():
            writer.put_refs(repository, {})
            writer.forget(repository)
            removed = writer.prune()
        self._mirrors.remove(tenant, repository)
        forget(self._state / FOLDER, tenant)
        return Ingested(0, 0, 0, *removed)


def _ref_names(names: Sequence[str]) -> str:
    """The short names of the first three refs and the number of the others. Each name is screened for a model."""
    shown = ", ".join(name_for_model(name.removeprefix("refs/heads/").removeprefix("refs/tags/")) for name in names[:3])
    if len(names) > 3:
        return f"{shown} and {len(names) - 3} more"
    return shown


def failure_of(error: Exception) -> str:
    """The text that is stored and logged for a failure: the message of a GitMemError; of any other error its class
    alone, because its words may quote a secret or an address."""
    if isinstance(error, GitMemError):
        return error.message
    return f"failed ({type(error).__name__})"


def heads(repo: Repository) -> list[tuple[str, str, str]]:
    """(name, commit, tree) of the first MAX_REFS branches and tags: the repository's own branch, then by name. A name
    that is not UTF-8 is left out."""
    refs = [(name, oid) for prefix in REF_PREFIXES for name, oid in repo.refs(prefix) if is_text(name)]
    own_name = own_branch(repo, [name for name, _ in refs])
    refs.sort(key=lambda row: (row[0] != own_name, row[0]))
    return [(name, oid, repo.tree(oid)) for name, oid in refs[:MAX_REFS]]


def own_branch(repo: Repository, names: Sequence[str]) -> str:
    """The full name of the repository's own branch: HEAD's branch, else `main`, else `master`, else the first branch of
    `names`; each only if `names` (full names of refs) has it. "" if `names` has no branch."""
    preferred = [f"refs/heads/{repo.branch() or ''}", "refs/heads/main", "refs/heads/master"]
    branches = (name for name in (*preferred, *names) if name in names and name.startswith("refs/heads/"))
    return next(branches, "")


def is_text(name: str) -> bool:
    """Whether a ref's name is UTF-8: the database stores no other text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
