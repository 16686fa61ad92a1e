"""Records the work tree in the index: the stat data of each memory file when it was read, and its blob.

It reads only files whose stat data differ from the record, a few at a time, and passes their bytes to `blob_indexer`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitmem.git.unmerged import WorkTreeReader
from gitmem.index.blob_indexer import BlobIndexer
from gitmem.index.db import snapshots
from gitmem.index.db.values import IGNORED, LARGE, UNREADABLE, EntryRow, SnapshotRow, corpus_of
from gitmem.memory.snapshot import WorkTree, racy
from gitmem.paths import MAX_MEMORY_FILE_BYTES

FILES_PER_BATCH = 128  # files that are read before the index is asked for the missing blobs
MAX_UNSORTED_FILES = 2000  # changed files in a snapshot above which its entries are sorted again
RecordedStats = Mapping[str, tuple[str, int]]


class Scan(NamedTuple):
    """A scan of a work tree. `key`: the key of its snapshot. `files`: what the scan found. `began`: its start, ns since
    the epoch."""

    key: str
    files: WorkTree
    began: int


def record(blob_indexer: BlobIndexer, scan: Scan) -> None:
    """Update the snapshot of a work tree to what a scan found. If the time is up, the snapshot has only the files that
    were added by then and is not complete."""
    writer, stats = blob_indexer.writer, scan.files.files
    stored_stats = snapshots.file_stats(writer.database, scan.key)
    recorded = stored_stats or {}
    changed = [path for path, stat in stats.items() if path not in recorded or recorded[path][0] != stat]
    gone = [path for path in recorded if path not in stats]
    ignored, different = _ignored(blob_indexer, scan, recorded)
    changed += different.difference(changed)
    files = _Files(blob_indexer, scan, ignored, is_new=stored_stats is None)
    finished = blob_indexer.add(files.blobs(_most_wanted_first(changed)), len(changed), files.publish)
    complete = b""
    if finished and not files.changed_again:
        complete = scan.files.scan
        if ignored:
            complete = scan.files.scan_of_ignored
    if gone or changed or writer.scan(scan.key) != complete:
        with blob_indexer.transaction():
            files.write(gone, files.settled, complete)
            if len(changed) > MAX_UNSORTED_FILES:
                snapshots.sort_entries(writer.database, scan.key)
            writer.set_meta("ignores:" + scan.key, scan.files.ignores)


class _Files:
    """Reads the changed files and writes their entries. `is_new`: whether the index has no snapshot of the work tree.

    `settled`: entries that the next transaction can write. `changed_again`: some file was removed after the scan, or
    may have changed after it.
    """

    def __init__(self, blob_indexer: BlobIndexer, scan: Scan, ignored: set[str], *, is_new: bool) -> None:
        self.settled: list[EntryRow] = []
        self.changed_again = False
        self._waiting: dict[str, list[EntryRow]] = {}  # oid of a blob that is not indexed yet -> its entries
        self._blob_indexer = blob_indexer
        self._scan = scan
        self._ignored = ignored
        self._is_new = is_new

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """(oid, bytes) of the blobs of these files that the index lacks, each once."""
        for start in range(0, len(paths), FILES_PER_BATCH):
            contents: dict[str, bytes] = {}
            rows_by_blob: dict[str, list[EntryRow]] = {}
            for row, data in self._read(paths[start : start + FILES_PER_BATCH]):
                if row.oid in self._waiting:
                    self._waiting[row.oid].append(row)
                elif data is None:
                    self.settled.append(row)
                else:
                    contents[row.oid] = data
                    rows_by_blob.setdefault(row.oid, []).append(row)
            missing = set(self._blob_indexer.writer.missing_blobs(contents))
            for oid, rows_of_blob in rows_by_blob.items():
                if oid not in missing:
                    self.settled += rows_of_blob
                    continue
                self._waiting[oid] = rows_of_blob
                self._blob_indexer.names[oid] = rows_of_blob[0].path
            for oid, data in contents.items():
                if oid in missing:
                    yield oid, data

    def publish(self, oids: Sequence[str]) -> int:
        """Write all entries whose blobs are indexed, after `oids` were added. Returns how many were written."""
        rows = [*self.settled, *(row for oid in oids for row in self._waiting.pop(oid, ()))]
        self.settled = []
        self.write([], rows, b"")
        return len(rows)

    def write(self, gone: Sequence[str], rows: Sequence[EntryRow], scan: bytes) -> None:
        """Remove the paths `gone` from the snapshot and add or replace `rows`. The first write makes a new snapshot."""
        database = self._blob_indexer.writer.database
        row = SnapshotRow(self._scan.key, time.time_ns(), scan)
        if self._is_new:
            snapshots.put(database, row, rows)
            self._is_new = False
        else:
            snapshots.change(database, row, gone, rows)

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[EntryRow, bytes | None]]:
        """(entry, bytes) of each file; bytes None if it is ignored, too large or unreadable. A file that is gone is
        left out. Sets `self.changed_again` if a file was changed or removed meanwhile, or may have been."""
        work_tree, repo = self._scan.files, self._blob_indexer.repo
        assert repo.root is not None
        readable: dict[str, str] = {}
        for path in paths:
            stat = work_tree.files[path]
            if racy(stat, self._scan.began):
                self.changed_again = True
                stat = "? " + stat
            if path in self._ignored:
                yield EntryRow(path, "", IGNORED, stat), None
            elif int(stat.split(" ")[-4]) > MAX_MEMORY_FILE_BYTES:
                yield EntryRow(path, "", LARGE, stat), None
            else:
                readable[path] = stat
        for path, data in WorkTreeReader(repo, work_tree.ours).read_all(readable, MAX_MEMORY_FILE_BYTES + 1):
            if isinstance(data, FileNotFoundError):
                self.changed_again = True
            elif isinstance(data, bytes):
                yield EntryRow(path, repo.hash_blob(data), corpus_of(path, work_tree.layout), readable[path]), data
            else:
                yield EntryRow(path, "", UNREADABLE, readable[path]), None


def _ignored(blob_indexer: BlobIndexer, scan: Scan, recorded: RecordedStats) -> tuple[set[str], set[str]]:
    """The files that Git ignores, and those for which that has changed since they were recorded, in either direction.

    Git is asked about new files and those ignored before, and about all files if the ignore rules changed. It is not
    asked about a folder of notes without `[memory] paths`, whose listing leaves ignored files out.
    """
    work_tree = scan.files
    if work_tree.layout.notes and not blob_indexer.config.memory_paths:
        return set(), set()
    ignored_before = {path for path, (_, corpus) in recorded.items() if corpus == IGNORED and path in work_tree.files}
    if blob_indexer.writer.meta("ignores:" + scan.key) == work_tree.ignores:
        to_check = ignored_before | (work_tree.files.keys() - recorded.keys())
    else:
        to_check = set(work_tree.files)
    ignored: set[str] = set()
    if to_check:
        ignored = blob_indexer.repo.ignored(sorted(to_check))
    return ignored | (ignored_before - to_check), ignored ^ (ignored_before & to_check)


def _most_wanted_first(paths: Iterable[str]) -> list[str]:
    """MEMORY.md first, then the latest logs: the files that a search needs most if the time is up."""
    return sorted(sorted(paths, reverse=True), key=lambda path: path != "MEMORY.md")
