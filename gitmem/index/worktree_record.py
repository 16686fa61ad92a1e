"""The work tree, recorded in the index: how each memory file looked when it was read, and which blob it was.

Reads only files that look otherwise than recorded, a few at a time; what they hold goes to `blob_indexer`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.git.worktree import read_files
from gitmem.index.blob_indexer import BlobIndexer
from gitmem.index.db.values import EntryRow
from gitmem.memory.snapshot import WorkTree, racy
from gitmem.paths import MAX_MEMORY_FILE_BYTES, in_default_corpus

IGNORED, LARGE, UNREADABLE = -1, -2, -3  # `corpus` of a work-tree entry that has no blob in the index
FILES_PER_BATCH = 128  # files read before the index is asked which of them it has
RecordedStats = Mapping[str, tuple[str, int]]


def record(blob_indexer: BlobIndexer, key: str, seen: WorkTree, began: int) -> None:
    """Bring the snapshot `key` to how the work tree was seen by a scan that began at `began` (ns)."""
    writer = blob_indexer.writer
    recorded = writer.file_stats(key)
    changed = [path for path, stat in seen.files.items() if path not in recorded or recorded[path][0] != stat]
    gone = [path for path in recorded if path not in seen.files]
    ignored = _ignored(blob_indexer, key, seen, recorded, changed)
    files = _Files(blob_indexer, key, seen, ignored, began)
    finished = blob_indexer.add(files.blobs(_first_things_first(changed)), len(changed), files.publish)
    scan = b""
    if finished and not files.late:
        scan = seen.scan
    if gone or changed or writer.scan(key) != scan:
        with blob_indexer.transaction():
            writer.change_snapshot(key, gone, files.settled, time.time_ns(), scan)
            if len(changed) > 2000:
                writer.sort_entries(key)
            writer.set_meta("ignores:" + key, seen.ignores)


class _Files:
    """Changed files on their way into the index. `settled` are entries to write with the next transaction; `late` that
    some could not be read as they were seen."""

    def __init__(self, blob_indexer: BlobIndexer, key: str, seen: WorkTree, ignored: set[str], began: int) -> None:
        self.settled: list[EntryRow] = []
        self.late = False
        self._waiting: dict[str, list[EntryRow]] = {}  # by blob, until that is in the index
        self._blob_indexer = blob_indexer
        self._key = key
        self._seen = seen
        self._ignored = ignored
        self._began = began

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The blobs of these files that the index lacks, each once."""
        for at in range(0, len(paths), FILES_PER_BATCH):
            contents: dict[str, bytes] = {}
            rows: dict[str, list[EntryRow]] = {}
            for row, data in self._read(paths[at : at + FILES_PER_BATCH]):
                if row.oid in self._waiting:
                    self._waiting[row.oid].append(row)
                elif data is None:
                    self.settled.append(row)
                else:
                    contents[row.oid] = data
                    rows.setdefault(row.oid, []).append(row)
            missing = set(self._blob_indexer.writer.missing(contents))
            for oid, same in rows.items():
                if oid not in missing:
                    self.settled += same
                    continue
                self._waiting[oid] = same
                self._blob_indexer.names[oid] = same[0].path
            for oid, data in contents.items():
                if oid in missing:
                    yield oid, data

    def publish(self, oids: Sequence[str]) -> int:
        """Write the entries that are settled now that these blobs are in the index; how many."""
        rows = [*self.settled, *(row for oid in oids for row in self._waiting.pop(oid, ()))]
        self.settled = []
        self._blob_indexer.writer.change_snapshot(self._key, [], rows, time.time_ns(), b"")
        return len(rows)

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[EntryRow, bytes | None]]:
        seen, repo = self._seen, self._blob_indexer.repo
        assert repo.root is not None
        readable: dict[str, str] = {}
        for path in paths:
            stat = seen.files[path]
            if racy(stat, self._began):
                self.late = True
                stat = "? " + stat
            if path in self._ignored:
                yield EntryRow(path, "", IGNORED, stat), None
            elif int(stat.split(" ")[-4]) > MAX_MEMORY_FILE_BYTES:
                yield EntryRow(path, "", LARGE, stat), None
            else:
                readable[path] = stat
        for path, data in read_files(repo.root, readable, MAX_MEMORY_FILE_BYTES + 1):
            if isinstance(data, FileNotFoundError):
                self.late = True
            elif isinstance(data, bytes):
                corpus = int("/" in path or in_default_corpus(path, seen.layout))
                yield EntryRow(path, repo.hash_blob(data), corpus, readable[path]), data
            else:
                yield EntryRow(path, "", UNREADABLE, readable[path]), None


def _ignored(
    blob_indexer: BlobIndexer, key: str, seen: WorkTree, recorded: RecordedStats, changed: list[str]
) -> set[str]:
    """Which files Git ignores: asked for new ones, and for all when the rules changed. Adds to `changed`."""
    if seen.layout.notes and not blob_indexer.config.memory_paths:
        return set()
    if blob_indexer.writer.meta("ignores:" + key) != seen.ignores:
        asked = list(seen.files)
    else:
        asked = [path for path in seen.files if path not in recorded or recorded[path][1] == IGNORED]
    if asked:
        ignored = blob_indexer.repo.ignored(asked)
    else:
        ignored = set()
    known = {path for path, row in recorded.items() if row[1] == IGNORED and path in seen.files}
    more = (ignored ^ (known & set(asked))) - set(changed)
    changed.extend(more)
    return ignored | (known - set(asked))


def _first_things_first(paths: Iterable[str]) -> list[str]:
    """MEMORY.md, then the latest logs: what a search that runs out of time should have."""
    return sorted(sorted(paths, reverse=True), key=lambda path: path != "MEMORY.md")
