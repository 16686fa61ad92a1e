"""Updates the search index, a projection of Git: finds missing blobs, parses and embeds each once, records snapshots.

A search whose index is not current calls `bring` (through `freshness.ready`); the index is then current, or `stale`
with a reason if the time was too short. `git mem index` and the Git hooks call `refresh`. This module never ranks and
never shows text.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, IndexDamaged, IndexUnusable, Locked, TooManyFiles
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.index import db
from gitmem.index.blob_indexer import BlobIndexer, Say, Work
from gitmem.index.db import removal, snapshots
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Cut, EntryRow, Snapshot, SnapshotRow, corpus_of
from gitmem.index.index_file import Freshness, OpenIndex, cut_as_set, directory, discard
from gitmem.index.worktree_record import record
from gitmem.memory.snapshot import WorkTree, read_work_tree, tree_files, tree_key, work_tree_key, work_tree_of
from gitmem.system import make_folder, remove_folder

MAX_RETRIES = 3  # to open an index that another process is making
FIRST_WAIT_SECONDS = 20.0  # for another process that indexes, if the index has no snapshot to answer from
BUSY = "another git mem is indexing"
FOR_NOW = "nothing can be written here: the memory was indexed for this search alone"
MAX_TREE_SNAPSHOTS = 32  # in the index; older ones are dropped


class Bounds(NamedTuple):
    """Limits of a refresh. `budget`: seconds of work. `wait`: seconds for another writer. `make` as for `state_dir`."""

    budget: float = float("inf")
    wait: float = 30.0
    make: bool = True


class WantedSnapshot(NamedTuple):
    """The snapshot to bring up to date.

    `key`: its key in the index. `commit`, `tree`: oids, "" for the work tree. `seen`: a scan of the work tree, None for
    a commit. `began`: start of that scan, ns since the epoch.
    """

    key: str
    commit: str
    tree: str
    seen: WorkTree | None
    began: int


def bring(
    repo: Repository,
    config: Config,
    wanted: WantedSnapshot,
    budget: float,
    wait: float,
    clock: Callable[[], float],
    say: Say = lambda text: None,
) -> OpenIndex:
    """Build the index, or bring it up to date, and return it with the snapshot `wanted`.

    Takes at most about `budget` seconds of work and `wait` seconds for another writer; after that the index is returned
    as it is and its freshness says that it is stale. Raises `IndexUnusable` as `freshness.ready`.
    """
    return _Refresh(repo, config, Bounds(budget, wait), clock, say).ready(wanted)


def refresh(
    repo: Repository,
    config: Config,
    *,
    full: bool = False,
    revs: Sequence[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008 - a tuple
    say: Say = lambda text: None,
) -> Work:
    """Bring the index up to date with the work tree, HEAD, the local branches and `revs`.

    `full`: parse everything again; vectors of unchanged text are kept. If the budget is used up or the embedder does
    not answer, `unfinished` of the result says what is missing. Raises Locked if another process writes for longer than
    `bounds.wait`, IndexUnusable if the file cannot be written.
    """
    began = time.monotonic()
    run = _Refresh(repo, config, bounds, time.monotonic, say)
    work = run.everything(full, revs)
    if not work.unfinished:
        from gitmem.index import history_indexer
        from gitmem.index.history_tips import Bounds as HistoryBounds

        remaining = HistoryBounds(bounds.budget - (time.monotonic() - began), bounds.wait, make=bounds.make)
        try:
            history = history_indexer.refresh(repo, config, remaining, full=full, say=say)
            work.commits, work.unfinished = history.blobs, history.unfinished
            work.notes += history.notes
        except GitFailed as error:  # such as a partial clone without the trees of old commits
            work.notes.append(f"no history: {error.message}")
    if run.unavailable is not None:
        # Without an embedder the words are indexed all the same.
        note = f"no vectors: {run.unavailable.message}"
        work.notes = [other for other in work.notes if other != note]
        if run.unavailable.hint:
            note += f" ({run.unavailable.hint})"
        work.unfinished = "; ".join(filter(None, (work.unfinished, note)))
    return work


def prune(repo: Repository, *, wait: float = 30.0) -> Work:
    """Delete blobs that no ref and no work tree reaches, vectors of replaced embedders, and the history's index.

    `wait`: seconds for another writer, then Locked is raised.
    """
    work = Work()
    with locked(repo.common_dir, "index", wait):
        writer = db.open_writer(directory(repo))
        try:
            keep = set(repo.reachable())
            with writer.writing():
                for key in snapshots.keys(writer.database, "work:"):
                    if work_tree_of(key).is_dir():
                        keep.update(row.oid for row in snapshots.entries(writer.database, key).values() if row.oid)
                    else:
                        snapshots.delete(writer.database, key)
                work.removed_blobs, work.removed_chunks = removal.prune(writer.database, keep)
            removal.compact(writer.database)
        finally:
            writer.close()
    from gitmem.index import history_indexer

    history_indexer.discard(repo, wait)
    return work


def cache_key(repo: Repository, config: Config) -> tuple[str, str]:
    """The cache key of an index in CI: (name of the format and the settings, tree of HEAD or `empty`)."""
    from gitmem.index.db.schema import VERSION

    head = repo.head()
    cut = Cut(config.chunk_size, config.chunk_overlap).id.replace("/", ".")
    embedder = re.sub(r"[\W_]", "-", config.embedder)
    tree = repo.tree(head) if head else "empty"
    return f"git-mem-{VERSION}-{cut}-{embedder}", tree


class _Refresh:
    """One run of `bring`, `refresh` or for a temporary index. Holds no lock and no connection between its calls."""

    def __init__(
        self,
        repo: Repository,
        config: Config,
        bounds: Bounds,
        clock: Callable[[], float],
        say: Say = lambda text: None,
    ) -> None:
        self.repo = repo
        self.config = config
        self.clock = clock
        self.deadline = clock() + bounds.budget
        self.wait = bounds.wait
        self.say = say
        self.make = bounds.make
        self.work = Work()
        self.extra = config.memory_paths
        self.unwritable = False  # whether the state folder cannot be written
        self.unavailable: GitMemError | None = None  # why the configured embedder made no vectors
        self.place = directory(repo)

    # -- for a search ----------------------------------------------------------------------------------------

    def ready(self, wanted: WantedSnapshot) -> OpenIndex:
        """The index with the snapshot `wanted`, or with an older or temporary one if it cannot be updated."""
        index, reason = self._open()
        if index is not None and self._current(index, wanted.key, wanted.seen):
            snapshot = index.snapshot(wanted.key)
            return OpenIndex(index, snapshot, Freshness(), wanted.commit, tuple(self.work.notes))
        if not reason:
            reason = self._why_not_to_update(index)
        if not reason:
            index, reason = self._updated(index, wanted)
        snapshot = self._snapshot(index, wanted)
        if snapshot is None and self.unwritable and (temporary := self._temporary(wanted)) is not None:
            if index is not None:
                index.close()
            index, snapshot, reason = temporary, temporary.snapshot(wanted.key), self.work.unfinished
        fresh = Freshness(bool(reason), reason)
        return OpenIndex(index, snapshot, fresh, wanted.commit, tuple(self.work.notes))

    def _why_not_to_update(self, index: Index | None) -> str:
        """Why the index must not be updated, "" if it may be."""
        if index is not None and index.frozen:
            self.unwritable = self.config.auto_index
            return "the index cannot be written here"
        if self.config.auto_index:
            return ""
        if index is None:
            return "there is no index; 'git mem index' builds it"
        return "mem.autoIndex is off; 'git mem index' brings it up to date"

    def _updated(self, index: Index | None, wanted: WantedSnapshot) -> tuple[Index | None, str]:
        """Update the index. Returns it, opened again, and why it is not up to date, "" if it is."""
        index, reason = self._update_and_open(index, wanted)
        if reason == BUSY and not _has(index, wanted.key):
            # There is no older snapshot to answer from: wait longer for the process that builds it.
            self.wait = max(self.wait, FIRST_WAIT_SECONDS)
            index, reason = self._update_and_open(index, wanted)
        for _ in range(MAX_RETRIES):
            if reason or _has(index, wanted.key):
                break
            # Another process deleted the file between our write and our read.
            index, reason = self._update_and_open(index, wanted)
        if index is None and not reason:
            reason = BUSY
        return index, reason

    def _update_and_open(self, index: Index | None, wanted: WantedSnapshot) -> tuple[Index | None, str]:
        if index is not None:
            index.close()
        reason = self._update(wanted)
        return self._open()[0], reason

    def _snapshot(self, index: Index | None, wanted: WantedSnapshot) -> Snapshot | None:
        """The snapshot `wanted`; for a work tree that was moved, the one of its old place; None if there is none."""
        if index is None:
            return None
        snapshot = index.snapshot(wanted.key)
        if snapshot is not None or wanted.commit:
            return snapshot
        moved = (old for old in snapshots.keys(index.database, "work:") if self._may_have_moved_from(work_tree_of(old)))
        return next(map(index.snapshot, moved), None)

    def _may_have_moved_from(self, git_dir: Path) -> bool:
        """Whether this work tree may be the one of `git_dir`, which is gone: moved, or mounted elsewhere.

        A wrong guess does no harm: the file of each hit is compared with its hash before it is shown.
        """
        if git_dir.is_dir():
            return False
        own = self.repo.git_dir
        if own != self.repo.common_dir:  # a linked work tree
            return git_dir.parts[-2:] == own.parts[-2:]
        return git_dir.parent.name != "worktrees"

    def _open(self) -> tuple[Index | None, str]:
        """The index, or None and why ("" if it is only missing). A damaged index is deleted, to be built again."""
        try:
            return db.open_index(directory(self.repo)), ""
        except IndexDamaged as error:
            try:
                if discard(self.repo, self.wait, unless_mended=True):
                    self.work.notes.append(f"{error.message} It is built again.")
            except Locked:
                pass  # not damaged: another process is making it
            except (GitMemError, OSError) as second:
                return None, f"{error.message} {second}"
            return None, ""

    def _current(self, index: Index, key: str, seen: WorkTree | None) -> bool:
        scan = index.scan(key)
        return scan is not None and (seen is None or scan == seen.scan) and cut_as_set(self.repo, index, self.config)

    def _update(self, wanted: WantedSnapshot, again: bool = False) -> str:
        """Bring one snapshot up to date. Returns why that is not done, "" if it is. `again`: the second try."""
        try:
            with locked(self.repo.common_dir, "index", self.wait, self.make):
                self._bring(wanted)
        except Locked:
            return BUSY
        except IndexDamaged as error:
            if again:
                return error.message
            self.work.notes.append(f"{error.message} It is built again.")
            discard(self.repo, self.wait)
            return self._update(wanted, again=True)
        except PermissionError as error:
            self.unwritable = True
            return f"the index cannot be written here ({error.strerror})"
        except IndexUnusable as error:
            if "another user" in error.message or "symbolic link" in error.message or "newer" in error.message:
                raise
            self.unwritable = True
            return error.message
        except GitMemError as error:
            if os.access(self.repo.common_dir, os.W_OK):
                raise
            self.unwritable = True
            return f"the index cannot be written here ({error.message})"
        return self.work.unfinished

    def _bring(self, wanted: WantedSnapshot) -> None:
        """Bring one snapshot up to date, under the writer lock. Raises what `_update` translates."""
        blob_indexer = self._open_blob_indexer()
        try:
            if wanted.seen is None:
                self._tree(blob_indexer, wanted.key, wanted.tree)
            elif blob_indexer.writer.scan(wanted.key) != wanted.seen.scan:  # if equal, another process was quicker
                record(blob_indexer, wanted.key, wanted.seen, wanted.began)
        finally:
            blob_indexer.writer.close()

    def _temporary(self, wanted: WantedSnapshot) -> Index | None:
        """An index of this snapshot alone, in a temporary folder that is removed with `close`; None if that fails.

        It uses no embedder that sends text to an endpoint: the log of sent text would be removed with the folder.
        """
        if self.config.embedder.startswith("http:"):
            self.config = self.config._replace(embedder="static")
        index = None
        try:
            self.place = make_folder()
            try:
                self._bring(wanted)
                index = db.open_index(self.place, temporary=True)
            finally:
                if index is None:
                    remove_folder(self.place)
        except (OSError, GitMemError):
            return None
        self.work.notes.append(FOR_NOW)
        return index

    def _open_blob_indexer(self) -> BlobIndexer:
        try:
            writer = db.open_writer(self.place, self.make)
        except IndexDamaged as error:
            self.work.notes.append(f"{error.message} It is built again.")
            db.remove(self.place)
            writer = db.open_writer(self.place, self.make)
        try:
            return BlobIndexer(
                self.repo, self.config, writer, self.work, lambda: self.clock() > self.deadline, self.say
            )
        except BaseException:
            writer.close()
            raise

    # -- for `git mem index` ---------------------------------------------------------------------------------

    def everything(self, full: bool, revs: Sequence[str]) -> Work:
        """Index the work tree, HEAD, the local branches and `revs`. A damaged index is deleted and built again."""
        try:
            return self._everything(full, revs)
        except IndexDamaged as error:
            self.work = Work(notes=[f"{error.message} It is built again."])
            discard(self.repo, self.wait)
            return self._everything(False, revs)

    def _everything(self, full: bool, revs: Sequence[str]) -> Work:
        began = time.time_ns()
        seen = None
        if self.repo.root is not None:
            seen = read_work_tree(self.repo, self.extra)
        with locked(self.repo.common_dir, "index", self.wait, self.make):
            blob_indexer = self._open_blob_indexer()
            try:
                if full:
                    # One transaction for all of it: searches keep the old index until the new one is whole.
                    with blob_indexer.writer.writing():
                        blob_indexer.whole = True
                        removal.forget_blobs(blob_indexer.writer.database)
                        self._all(blob_indexer, seen, began, revs)
                    blob_indexer.whole = False
                else:
                    self._all(blob_indexer, seen, began, revs)
                blob_indexer.change_embedder()
                self.unavailable = blob_indexer.unavailable
            finally:
                blob_indexer.writer.close()
        return self.work

    def _all(self, blob_indexer: BlobIndexer, seen: WorkTree | None, began: int, revs: Sequence[str]) -> None:
        """Record the work tree `seen`, if any, then index the trees of HEAD, of every local branch and of `revs` that
        are not indexed yet, HEAD's first, until time is up."""
        writer = blob_indexer.writer
        if seen is not None:
            record(blob_indexer, work_tree_key(self.repo), seen, began)
        covered = snapshots.covered(writer.database)
        trees = {name: self.repo.tree(oid) for name, oid in self.repo.refs("refs/heads/")}
        head = self.repo.head()
        if head:
            trees["HEAD"] = self.repo.tree(head)
        for rev in revs:
            trees[rev] = self.repo.tree(self.repo.resolve(rev))
        mark = ":" + tree_key("", self.extra)  # other memory paths make other memory files of the same tree
        done, left_out = set(covered.values()), set[str]()
        for name in sorted(trees, key=lambda name: name != "HEAD"):
            if trees[name] + mark in done:
                continue
            known = covered.get(name, covered.get("HEAD", "")).partition(":")[0]
            try:
                if not self._cover(blob_indexer, trees[name], known):
                    return
            except TooManyFiles as error:
                if name == "HEAD" or name in revs:
                    raise
                self.work.notes.append(f"{name.removeprefix('refs/heads/')} is left out: {error.message}")
                left_out.add(name)
                continue
            done.add(trees[name] + mark)
        now = {name: tree + mark for name, tree in trees.items() if name not in left_out}
        if now != covered:
            with blob_indexer.transaction():
                snapshots.cover(writer.database, now)
                for key in snapshots.keys(writer.database, "work:"):
                    if not work_tree_of(key).is_dir():
                        snapshots.delete(writer.database, key)

    def _cover(self, blob_indexer: BlobIndexer, tree: str, known: str) -> bool:
        """Index the memory blobs of `tree`; those of the tree `known` ("" for none) are in the index.

        Returns whether all are indexed now.
        """
        oids: Iterable[str]
        if known and known != tree and not self.extra:
            from gitmem.paths import Kind, Layout, is_memory, kind

            changes = self.repo.changes(known, tree)
            # If a changed file may turn a notes folder into a memory repository or back, list the whole tree.
            if all(is_memory(c.path, Layout()) == (kind(c.path) is not Kind.OTHER) for c in changes):
                memory = [c for c in changes if is_memory(c.path, Layout())]
                oids = [c.new_oid for c in memory if c.status != "D" and c.new_mode in (0o100644, 0o100755)]
                blob_indexer.names.update({c.new_oid: c.path for c in memory})
                if len(memory) == len(changes) or not any(c.path.endswith(".md") for c in changes if c not in memory):
                    return blob_indexer.objects(oids)
        files, _ = tree_files(self.repo, tree, self.extra)
        blob_indexer.names.update({oid: path for path, oid in files.items()})
        return blob_indexer.objects(files.values())

    def _tree(self, blob_indexer: BlobIndexer, key: str, tree: str) -> None:
        """Index the memory files of a tree and record them as the snapshot `key`, if the time suffices."""
        files, layout = tree_files(self.repo, tree, self.extra)
        blob_indexer.names.update({oid: path for path, oid in files.items()})
        if not blob_indexer.objects(files.values()):
            return
        rows = [EntryRow(path, oid, corpus_of(path, layout)) for path, oid in files.items()]
        writer = blob_indexer.writer
        with writer.writing():
            snapshots.put(writer.database, SnapshotRow(key, time.time_ns(), b"whole"), rows)
            snapshots.evict(writer.database, "tree:", MAX_TREE_SNAPSHOTS)


def _has(index: Index | None, key: str) -> bool:
    return index is not None and index.snapshot(key) is not None
