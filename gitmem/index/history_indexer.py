"""Updates the index of a history: reads missing messages and records the commits that each tip reaches.

`history` opens a current index without importing this module.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import islice
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, IndexDamaged, Locked
from gitmem.git.objects import LoggedCommit
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.index.blob_indexer import BlobIndexer, Say, Work
from gitmem.index.chunks import as_document
from gitmem.index.db import commits as stored
from gitmem.index.db import snapshots
from gitmem.index.db.connection import HISTORY, open_index, open_writer, remove
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Snapshot, SnapshotRow
from gitmem.index.history_tips import Bounds, Tip, close, tips
from gitmem.index.index_file import directory
from gitmem.paths import more_than_memory
from gitmem.system import make_folder, remove_folder

MAX_SNAPSHOTS = 16  # in the index; more if the repository has more refs
MAX_COMMITS_IN_ONE = 64  # new commits that are written in one transaction with their snapshot
UNWRITABLE = "the history's index cannot be written here"
MAX_LOST_COMMITS = 1_000  # of an old snapshot that the new one does not have; above it the new one is made from nothing


def index_tips(repo: Repository, config: Config, bounds: Bounds, all_tips: Sequence[Tip]) -> tuple[str, list[str]]:
    """Index the commits that these tips reach. Returns (why that is not finished or "", notes for the person). Raises
    GitFailed if the history of this repository cannot be read; for another clone a note says it."""
    work = Work()
    return _Update(repo, config, bounds, work).run(all_tips), work.notes


def temporary(
    repo: Repository, config: Config, bounds: Bounds, all_tips: Sequence[Tip]
) -> tuple[Index | None, str, list[str]]:
    """Index the history in a temporary folder that is removed when the index is closed. Returns (index, why indexing is
    not finished or "", notes for the person).

    The index is None if it cannot be made either. It uses no embedder that sends text to an endpoint: the log of sent
    text would be removed with the folder.
    """
    if config.embedder.startswith("http:"):
        config = config._replace(embedder="static")
    index, work = None, Work()
    try:
        folder = make_folder()
        try:
            stale = _Update(repo, config, bounds, work, place=folder).unlocked(all_tips)
            index = open_index(folder, HISTORY, temporary=True)
        finally:
            if index is None:
                remove_folder(folder)
    except (OSError, GitMemError) as error:
        return None, f"{UNWRITABLE} ({getattr(error, 'message', error)})", work.notes
    return index, stale, work.notes


def wanted(repo: Repository, config: Config) -> bool:
    """Whether `refresh` shall make an index of the history where there is none.

    It shall if `mem.historyRepos` names clones, or if the repository holds more than memory.
    """
    if config.history_repos:
        return True
    head = repo.head()
    return head is not None and more_than_memory(entry.path for entry in repo.entries(head))


def refresh(
    repo: Repository, config: Config, bounds: Bounds, *, full: bool = False, say: Say = lambda text: None
) -> Work:
    """Update the index of HEAD's history if it exists or is `wanted`. Returns what was done.

    It is built from nothing with `full` and if another embedder is configured. With `full` it raises Locked if another
    process writes the index for longer than `bounds.wait`.
    """
    work = Work()
    if (directory(repo) / HISTORY).exists() or wanted(repo, config):
        if full:
            discard(repo, bounds.wait)
        all_tips, notes = tips(repo, config, "")
        try:
            work.unfinished = _Update(repo, config, bounds, work, say, anew=True).run(all_tips)
            work.notes += notes
        finally:
            close(all_tips)
    return work


def discard(repo: Repository, wait: float = 30.0) -> bool:
    """Delete the index of the history. Returns whether there was one. Raises Locked if another process writes it for
    longer than `wait` seconds."""
    if not (directory(repo) / HISTORY).exists():
        return False
    with locked(repo.common_dir, "history", wait):
        return bool(remove(directory(repo), HISTORY))


class _Update:
    """One update. `anew`: build the index from nothing if another embedder is configured. `place`: its folder."""

    def __init__(
        self, repo: Repository, config: Config, bounds: Bounds, work: Work, say: Say = lambda text: None,
        *, anew: bool = False, place: Path | None = None,
    ) -> None:  # fmt: skip
        self.repo, self.config, self.bounds, self.work, self.say = repo, config, bounds, work, say
        self.anew, self.place = anew, place or directory(repo)

    def run(self, all_tips: Sequence[Tip], *, again: bool = False) -> str:
        """Index the commits that these tips reach. Returns why that is not finished, "" if it is.

        `again`: the second try, after a damaged index.
        """
        try:
            with locked(self.repo.common_dir, "history", self.bounds.wait, self.bounds.make):
                return self.unlocked(all_tips)
        except Locked:
            return "another git mem is indexing the history"
        except IndexDamaged as error:
            if again:
                return error.message
            discard(self.repo, self.bounds.wait)
            return self.run(all_tips, again=True)
        except PermissionError as error:
            return f"{UNWRITABLE} ({error.strerror})"
        except GitMemError as error:
            if os.access(self.repo.common_dir, os.W_OK):
                raise
            return f"{UNWRITABLE} ({error.message})"

    def unlocked(self, all_tips: Sequence[Tip]) -> str:
        """Index the commits that these tips reach. Returns why that is not finished, "" if it is. The caller holds the
        lock or is the only user of the folder. If Git cannot read the history of a named clone, a note says so and the
        tip is left out.

        Unlike `run` it handles no errors: raises IndexDamaged, OSError and GitMemError.
        """
        writer = open_writer(self.place, self.bounds.make, HISTORY)
        in_force = writer.in_force()
        if self.anew and in_force is not None and in_force.spec != self.config.embedder:
            writer.close()
            remove(self.place, HISTORY)
            writer = open_writer(self.place, self.bounds.make, HISTORY)
        with closing(writer):
            end = time.monotonic() + self.bounds.budget
            late = lambda: time.monotonic() > end  # noqa: E731
            indexer = BlobIndexer(self.repo, self.config, writer, self.work, late, self.say)
            indexer.messages, indexer.nouns = True, "commits"
            max_kept = max(MAX_SNAPSHOTS, (len(self.repo.refs()) + 1) * len(all_tips))
            for tip in all_tips:
                try:
                    indexed = writer.scan(tip.key) or _Snapshot(indexer, tip, self.bounds.max_commits, max_kept).bring()
                except GitFailed as error:
                    if not tip.name:
                        raise
                    self.work.notes.append(f"the history of '{tip.name}' is not read: {error.message}")
                    continue
                if not indexed:
                    return self.work.unfinished or "the history is not indexed yet; 'git mem index' does it"
        return ""


class _Snapshot:
    """Makes the snapshot of one tip. `max_commits` as in `Bounds`; `max_kept`: snapshots that stay in the index."""

    def __init__(self, indexer: BlobIndexer, tip: Tip, max_commits: int, max_kept: int) -> None:
        self.indexer, self.writer, self.tip = indexer, indexer.writer, tip
        self.max_commits, self.max_kept = max_commits, max_kept

    def bring(self) -> bool:
        """Index the missing commits and record the snapshot. Returns whether all commits are indexed.

        If the time is up, the snapshot is recorded with the newest commits only. Nothing is indexed if there are more
        than `self.max_commits` commits (0: no limit) and no older snapshot to begin with.
        """
        base = stored.latest(self.writer, self.tip.place)
        complete = self._from(base) if base else None
        if complete is not None:
            return complete
        limit = self.max_commits + 1 if self.max_commits else None
        reached = list(islice(self.tip.repo.reaches(self.tip.commit), limit))
        if self.max_commits and len(reached) > self.max_commits:
            return False
        missing = self.writer.missing_blobs(reached)
        complete = self.indexer.add(self._documents(missing), len(missing), len)
        self._record(stored.norms_of_commits(self.writer, reached), complete)
        return complete

    def _from(self, base: str) -> bool | None:
        """As `bring`, from the snapshot with the key `base`; None if its commit is gone or too many commits differ."""
        gained: list[tuple[str, bytes]] = []
        lost: list[str] = []
        old_commit = base.rpartition(":")[2]
        try:
            for commit in self.tip.repo.messages([f"{old_commit}...{self.tip.commit}"]):
                if commit.side == ">":
                    gained.append((commit.oid, _document(commit)))
                else:
                    lost.append(commit.oid)
                if len(lost) > MAX_LOST_COMMITS or (self.max_commits and len(gained) > self.max_commits):
                    return None
        except GitFailed:
            return None
        missing = set(self.writer.missing_blobs([oid for oid, _ in gained]))
        snapshot = self.writer.snapshot(base)
        if snapshot is None:
            return None
        is_small = len(missing) <= MAX_COMMITS_IN_ONE
        transaction: AbstractContextManager[None] = nullcontext()
        if is_small:
            transaction = self.writer.writing()
        with transaction:
            self.indexer.whole = is_small
            complete = self.indexer.add((row for row in gained if row[0] in missing), len(missing), len)
            self._record_from(snapshot, [oid for oid, _ in gained], lost, complete)
            self.indexer.whole = False
        return complete

    def _record_from(self, old: Snapshot, gained: Sequence[str], lost: Sequence[str], complete: bool) -> None:
        """Record the snapshot as `old` with the commits `gained` and without the commits `lost`."""
        added, removed = (stored.norms_of_commits(self.writer, oids) for oids in (gained, lost))
        union = int.from_bytes(old.norms, "little") | int.from_bytes(added, "little")
        norms = (union & ~int.from_bytes(removed, "little")).to_bytes(max(len(old.norms), len(added)), "little")
        self._record(norms, complete)

    def _documents(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for commit in self.tip.repo.messages(oids, walk=False):
            yield commit.oid, _document(commit)

    def _record(self, norms: bytes, whole: bool) -> None:
        scan = stored.COMPLETE if whole else b""
        with self.indexer.transaction():
            stored.put_norms(self.writer, SnapshotRow(self.tip.key, time.time_ns(), scan), norms)
            snapshots.evict(self.writer.database, "history:", self.max_kept)


def _document(commit: LoggedCommit) -> bytes:
    """The text of a commit that is indexed."""
    return as_document(commit.author, commit.paths, commit.message[: stored.MAX_MESSAGE_CHARACTERS])
