"""Brings the index up to date for one search, or finds the best index that the search can have without that.

`freshness.ready` runs a `SearchUpdate` if the index is not current. The index is then current, or `stale` with a
reason: the time was too short, another process writes, or nothing can be written here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitMemError, IndexDamaged, IndexOfAnotherUser, IndexUnusable, Locked
from gitmem.git.worktree import locked
from gitmem.index import db
from gitmem.index.db import snapshots
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Snapshot
from gitmem.index.index_file import OpenIndex, cut_as_set, discard
from gitmem.index.tree_indexer import record_tree
from gitmem.index.update import Update
from gitmem.index.worktree_record import Scan, record
from gitmem.memory.snapshot import work_tree_of
from gitmem.system import make_folder, remove_folder

MAX_RETRIES = 3  # to open an index that another process is making
FIRST_WAIT_SECONDS = 20.0  # for another process that indexes, if the index has no snapshot to answer from
BUSY = "another git mem is indexing"
FOR_NOW = "nothing can be written here: the memory was indexed for this search alone"


class WantedSnapshot(NamedTuple):
    """The snapshot to bring up to date.

    `key`: its key in the index. `commit`, `tree`: oids, "" for the work tree. `scan`: of the work tree, None for a
    commit.
    """

    key: str
    commit: str
    tree: str
    scan: Scan | None


class SearchUpdate:
    """Brings one snapshot up to date, within the limits of `update`: after these the index is returned as it is, and
    `OpenIndex.stale` says so. Raises `IndexUnusable` for a newer version or a symbolic link."""

    def __init__(self, update: Update, wanted: WantedSnapshot) -> None:
        self.update = update
        self.wanted = wanted
        self.repo = update.repo
        self.wait = update.bounds.wait
        self.unwritable = False  # whether the state folder cannot be written

    def run(self) -> OpenIndex:
        """The open index with the snapshot. If it cannot be updated, the snapshot is an older one, one in a temporary
        index, or None."""
        index, reason = self._open()
        if index is not None and self._is_current(index):
            return self._opened(index, index.snapshot(self.wanted.key), "")
        if not reason:
            reason = self._why_not_to_update(index)
        if not reason:
            index, reason = self._updated(index)
        snapshot = self._snapshot(index)
        if snapshot is None and self.unwritable and (temporary := self._temporary()) is not None:
            if index is not None:
                index.close()
            return self._opened(temporary, temporary.snapshot(self.wanted.key), self.update.work.unfinished)
        return self._opened(index, snapshot, reason)

    def _opened(self, index: Index | None, snapshot: Snapshot | None, stale: str) -> OpenIndex:
        """The result. `stale`: why the index may miss something, "" if it is current."""
        return OpenIndex(index, snapshot, stale, self.wanted.commit, tuple(self.update.work.notes))

    def _open(self) -> tuple[Index | None, str]:
        """The index, or None and why ("" if it is only missing). A damaged index is deleted, to be built again."""
        try:
            return db.open_index(self.update.folder), ""
        except IndexDamaged as error:
            try:
                if discard(self.repo, self.wait, unless_mended=True):
                    self.update.note_rebuild(error)
            except Locked:
                pass  # not damaged: another process is making it
            except (GitMemError, OSError) as second:
                return None, f"{error.message} {second}"
            return None, ""
        except IndexOfAnotherUser as error:
            self.unwritable = self.update.config.auto_index
            return None, error.message

    def _is_current(self, index: Index) -> bool:
        scan = index.scan(self.wanted.key)
        if not scan or (self.wanted.scan is not None and not self.wanted.scan.files.is_recorded_as(scan)):
            return False
        return cut_as_set(self.repo, index, self.update.config)

    def _why_not_to_update(self, index: Index | None) -> str:
        """Why the index must not be updated, "" if it may be."""
        auto_index = self.update.config.auto_index
        if index is not None and index.frozen:
            self.unwritable = auto_index
            return "the index cannot be written here"
        if auto_index:
            return ""
        if index is None:
            return "there is no index; 'git mem index' builds it"
        return "mem.autoIndex is off; 'git mem index' brings it up to date"

    def _updated(self, index: Index | None) -> tuple[Index | None, str]:
        """Update the index. Returns it, opened again, and why it is not up to date, "" if it is."""
        index, reason = self._update_and_open(index)
        if reason == BUSY and not self._has_snapshot(index):
            # There is no older snapshot to answer from: wait longer for the process that builds it.
            self.wait = max(self.wait, FIRST_WAIT_SECONDS)
            index, reason = self._update_and_open(index)
        for _ in range(MAX_RETRIES):
            if reason or self._has_snapshot(index):
                break
            # Another process deleted the file between our write and our read.
            index, reason = self._update_and_open(index)
        if index is None and not reason:
            reason = BUSY
        return index, reason

    def _has_snapshot(self, index: Index | None) -> bool:
        return index is not None and index.snapshot(self.wanted.key) is not None

    def _update_and_open(self, index: Index | None) -> tuple[Index | None, str]:
        if index is not None:
            index.close()
        reason = self._update()
        return self._open()[0], reason

    def _update(self, again: bool = False) -> str:
        """Bring the snapshot up to date. Returns why that is not done, "" if it is. `again`: the second try."""
        try:
            with locked(self.repo.common_dir, "index", self.wait, self.update.bounds.make):
                self._record()
        except Locked:
            return BUSY
        except IndexDamaged as error:
            if again:
                return error.message
            self.update.note_rebuild(error)
            discard(self.repo, self.wait)
            return self._update(again=True)
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
        return self.update.work.unfinished

    def _record(self) -> None:
        """Index the files of the snapshot and record it. Raises IndexDamaged, IndexUnusable, PermissionError and other
        GitMemErrors, which `_update` handles."""
        scan = self.wanted.scan
        with self.update.blob_indexer() as blob_indexer:
            if scan is None:
                record_tree(blob_indexer, self.wanted.key, self.wanted.tree)
            elif not scan.files.is_recorded_as(blob_indexer.writer.scan(scan.key)):  # else another was quicker
                record(blob_indexer, scan)

    def _snapshot(self, index: Index | None) -> Snapshot | None:
        """The snapshot; for a work tree that was moved, the one of its old place; None if there is none."""
        if index is None:
            return None
        snapshot = index.snapshot(self.wanted.key)
        if snapshot is not None or self.wanted.commit:
            return snapshot
        keys = snapshots.keys(index.database, "work:")
        return next((index.snapshot(key) for key in keys if self._may_have_moved_from(work_tree_of(key))), None)

    def _may_have_moved_from(self, git_dir: Path) -> bool:
        """Whether this work tree may be the one of `git_dir`, which is gone: moved, or mounted elsewhere.

        A wrong guess does no harm: the file of each hit is compared with its hash before it is shown.
        """
        if git_dir.is_dir():
            return False
        own_git_dir = self.repo.git_dir
        if own_git_dir != self.repo.common_dir:  # a linked work tree
            return git_dir.parts[-2:] == own_git_dir.parts[-2:]
        return git_dir.parent.name != "worktrees"

    def _temporary(self) -> Index | None:
        """An index of this snapshot alone, in a temporary folder that is removed with `close`; None if that fails. If
        the time runs out the snapshot may be missing in it, and `update.work.unfinished` says why.

        It uses no embedder that sends text to an endpoint (`static` in its place): the log of sent text would be
        removed with the folder. `update.folder` and `update.config` stay changed, and FOR_NOW is added to the notes.
        """
        update = self.update
        if update.config.embedder.startswith("http:"):
            update.config = update.config._replace(embedder="static")
        index = None
        try:
            update.folder = make_folder()
            try:
                self._record()
                index = db.open_index(update.folder, temporary=True)
            finally:
                if index is None:
                    remove_folder(update.folder)
        except (OSError, GitMemError):
            return None
        update.work.notes.append(FOR_NOW)
        return index
