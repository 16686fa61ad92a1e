"""What brings the index of a history up to date: reads the messages that are missing, records what a commit reaches.

Ranks and shows nothing; `history` opens what is current without importing this.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, IndexDamaged, Locked
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.index.blob_indexer import BlobIndexer, Say, Work
from gitmem.index.chunks import as_document
from gitmem.index.db import commits as stored
from gitmem.index.db.connection import HISTORY, open_index, open_writer, remove
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Snapshot
from gitmem.index.history_tips import Bounds, Tip, close, tips
from gitmem.index.index_file import directory
from gitmem.paths import more_than_memory
from gitmem.system import make_folder, remove_folder

MAX_SNAPSHOTS = 16  # snapshots that stay recorded; more where one for each branch is more
MAX_COMMITS_IN_ONE = 64  # new commits that are one transaction with their snapshot
UNWRITABLE = "the history's index cannot be written here"
LOST = 1_000  # commits that a snapshot may have and the next one not, for it to be made from that one


def bring(repo: Repository, config: Config, bounds: Bounds, all_tips: Sequence[Tip]) -> tuple[str, list[str]]:
    """Index what these tips reach: why that could not be done, or "", and notes for a person."""
    work = Work()
    return _Update(repo, config, bounds, work).run(all_tips), work.notes


def temporary(repo: Repository, config: Config, bounds: Bounds, all_tips: Sequence[Tip]) -> tuple[Index | None, str]:
    """The history in an index of its own, in a folder that goes when it is closed, and what it may miss; no index where
    none can be made either. No text is sent anywhere for it: the log of what was sent would go too."""
    if config.embedder.startswith("http:"):
        local = config._replace(embedder="static")
    else:
        local = config
    index = None
    try:
        folder = make_folder()
        try:
            stale = _Update(repo, local, bounds, Work(), place=folder).unlocked(all_tips)
            index = open_index(folder, HISTORY, temporary=True)
        finally:
            if index is None:
                remove_folder(folder)
    except (OSError, GitMemError) as error:
        return None, f"{UNWRITABLE} ({getattr(error, 'message', error)})"
    return index, stale


def wanted(repo: Repository, config: Config) -> bool:
    """Whether history counts where nobody asks for it: the repository holds more than memory, or others are named."""
    head = "" if config.history_repos else repo.head()
    return bool(config.history_repos) or bool(head and more_than_memory(e.path for e in repo.entries(head)))


def refresh(
    repo: Repository, config: Config, bounds: Bounds, *, full: bool = False, say: Say = lambda text: None
) -> Work:
    """Bring the history of HEAD up to date, where it is wanted or was asked for before; what was done. Where all is to
    be made anew, or the embedder has changed, it is built from nothing."""
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
    """Delete the index of the history, if there is one; it is built again where it is asked for."""
    if not (directory(repo) / HISTORY).exists():
        return False
    with locked(repo.common_dir, "history", wait):
        return bool(remove(directory(repo), HISTORY))


class _Update:
    """Bringing snapshots up to date, once; `anew` where the vectors are of another embedder than the configured one."""

    def __init__(
        self, repo: Repository, config: Config, bounds: Bounds, work: Work, say: Say = lambda text: None,
        *, anew: bool = False, place: Path | None = None,
    ) -> None:  # fmt: skip
        self.repo, self.config, self.bounds, self.work, self.say = repo, config, bounds, work, say
        self.anew, self.place = anew, place or directory(repo)

    def run(self, all_tips: Sequence[Tip], *, again: bool = False) -> str:
        """Index what these tips reach; why that could not be done, or ""."""
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
        """As `run`, by a caller that holds the lock or is the only one to know the place."""
        writer = open_writer(self.place, self.bounds.make, HISTORY)
        force = writer.in_force()
        if self.anew and force is not None and force[1] != self.config.embedder:
            writer.close()
            remove(self.place, HISTORY)
            writer = open_writer(self.place, self.bounds.make, HISTORY)
        try:
            end = time.monotonic() + self.bounds.budget
            late = lambda: time.monotonic() > end  # noqa: E731
            indexer = BlobIndexer(self.repo, self.config, writer, self.work, late, self.say)
            indexer.messages, indexer.nouns = True, "commits"
            kept = max(MAX_SNAPSHOTS, (len(self.repo.refs()) + 1) * len(all_tips))
            for tip in all_tips:
                try:
                    done = writer.scan(tip.key) or _Snapshot(indexer, tip, self.bounds.most, kept).bring()
                except GitFailed as error:
                    if not tip.name:
                        raise
                    self.work.notes.append(f"the history of '{tip.name}' is not read: {error.message}")
                    continue
                if not done:
                    return self.work.unfinished or "the history is not indexed yet; 'git mem index' does it"
        finally:
            writer.close()
        return ""


class _Snapshot:
    """What a tip reaches, on its way into the index."""

    def __init__(self, indexer: BlobIndexer, tip: Tip, most: int, kept: int) -> None:
        self.indexer, self.writer, self.tip, self.most, self.kept = indexer, indexer.writer, tip, most, kept

    def bring(self) -> bool:
        """Index what is missing and record the snapshot; whether all was done. Where time ends it is recorded as far
        as it came, newest commits first."""
        base = stored.latest(self.writer, self.tip.place)
        done = None
        if base:
            done = self._from(base)
        if done is None:
            reached = list(islice(self.tip.repo.reaches(self.tip.commit), self.most + 1 if self.most else None))
            if self.most and len(reached) > self.most:
                return False
            missing = self.writer.missing(reached)
            done = self.indexer.add(self._documents(missing), len(missing), len)
            self._record(stored.norms_of(self.writer, reached), done)
        return done

    def _from(self, base: str) -> bool | None:
        """Make it from another snapshot, as `bring`; None where that is too far away, or no longer here."""
        gained: list[tuple[str, bytes]] = []
        lost: list[str] = []
        old = base.rpartition(":")[2]
        try:
            for side, oid, author, message, paths in self.tip.repo.messages([f"{old}...{self.tip.commit}"]):
                if side == ">":
                    gained.append((oid, as_document(author, paths, message[: stored.MAX_MESSAGE_CHARACTERS])))
                else:
                    lost.append(oid)
                if len(lost) > LOST or (self.most and len(gained) > self.most):
                    return None
        except GitFailed:
            return None
        missing = set(self.writer.missing([oid for oid, _ in gained]))
        before = self.writer.snapshot(base)
        if before is None:
            return None
        few = len(missing) <= MAX_COMMITS_IN_ONE
        transaction: AbstractContextManager[None]
        if few:
            transaction = self.writer.writing()
        else:
            transaction = nullcontext()
        with transaction:
            self.indexer.whole = few
            done = self.indexer.add((row for row in gained if row[0] in missing), len(missing), len)
            self._record_from(before, [oid for oid, _ in gained], lost, done)
            self.indexer.whole = False
        return done

    def _record_from(self, before: Snapshot, gained: Sequence[str], lost: Sequence[str], done: bool) -> None:
        added, left = (stored.norms_of(self.writer, oids) for oids in (gained, lost))
        union = int.from_bytes(before.norms, "little") | int.from_bytes(added, "little")
        norms = (union & ~int.from_bytes(left, "little")).to_bytes(max(len(before.norms), len(added)), "little")
        self._record(norms, done)

    def _documents(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for _, oid, author, message, paths in self.tip.repo.messages(oids, walk=False):
            yield oid, as_document(author, paths, message[: stored.MAX_MESSAGE_CHARACTERS])

    def _record(self, norms: bytes, whole: bool) -> None:
        with self.indexer.transaction():
            stored.put_norms(self.writer, self.tip.key, norms, time.time_ns(), whole=whole)
            self.writer.evict("history:", self.kept)
