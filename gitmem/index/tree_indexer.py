"""Indexes the memory files of a tree: adds the blobs that the index lacks, and records the tree as a snapshot."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gitmem.git.opening import Repository
from gitmem.index.blob_indexer import BlobIndexer
from gitmem.index.db import snapshots
from gitmem.index.db.values import EntryRow, SnapshotRow, corpus_of
from gitmem.memory.snapshot import tree_files

MAX_TREE_SNAPSHOTS = 32  # in the index; older ones are dropped
COMPLETE = b"whole"  # `snapshot.scan` of a tree whose files are all indexed


def record_tree(blob_indexer: BlobIndexer, key: str, tree: str) -> None:
    """Index the memory files of a tree and record them as the snapshot `key`. If the time is up before all files are
    indexed, no snapshot is recorded; files that this clone lacks leave it incomplete, so that the next search tries
    again."""
    files, layout = tree_files(blob_indexer.repo, tree, blob_indexer.config.memory_paths)
    if not _add_files(blob_indexer, files):
        return
    rows = [EntryRow(path, oid, corpus_of(path, layout)) for path, oid in files.items()]
    writer = blob_indexer.writer
    complete = COMPLETE
    if writer.missing_blobs(files.values()):  # a partial clone left them out, and may fetch them later
        complete = b""
    with writer.writing():
        snapshots.put(writer.database, SnapshotRow(key, time.time_ns(), complete), rows)
        snapshots.evict(writer.database, "tree:", MAX_TREE_SNAPSHOTS)


def add_blobs_of_tree(blob_indexer: BlobIndexer, tree: str, indexed_tree: str) -> bool:
    """Index the memory blobs of `tree`. Returns whether all are indexed now.

    `indexed_tree`: a tree whose memory blobs are all indexed, so that only the differences must be read; "" for none.
    """
    files = None
    if indexed_tree and indexed_tree != tree and not blob_indexer.config.memory_paths:
        files = _changed_files(blob_indexer.repo, indexed_tree, tree)
    if files is None:
        files, _ = tree_files(blob_indexer.repo, tree, blob_indexer.config.memory_paths)
    return _add_files(blob_indexer, files)


def _add_files(blob_indexer: BlobIndexer, files: Mapping[str, str]) -> bool:
    """Index the blobs of files, path -> oid. Returns whether all are indexed now."""
    blob_indexer.names.update({oid: path for path, oid in files.items()})
    return blob_indexer.objects(files.values())


def _changed_files(repo: Repository, old_tree: str, new_tree: str) -> dict[str, str] | None:
    """path -> oid of the memory files that differ between two trees; None if the whole tree must be listed.

    It must if a changed file may turn a folder of notes into a memory repository or back.
    """
    from gitmem.paths import Kind, Layout, is_memory, kind

    files = {}
    for change in repo.changes(old_tree, new_tree):
        memory = is_memory(change.path, Layout())
        if memory != (kind(change.path) is not Kind.OTHER) or (not memory and change.path.endswith(".md")):
            return None
        if memory and change.status != "D" and change.new_mode in (0o100644, 0o100755):
            files[change.path] = change.new_oid
    return files
