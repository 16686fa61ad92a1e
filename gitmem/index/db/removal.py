"""Removes rows from the index: all that `index --full` parses again, and all that no ref reaches any more."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from zlib import crc32

import apsw

from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import CACHE_ONLY, EMBEDDER_SHIFT

# `chunk.length` of a chunk without a row in `words`: from `forget_blobs` until `Writer.add_blobs` adds its text again.
NO_WORDS = -1


def forget_blobs(database: Database) -> None:
    """Delete all but the settings, the embedders, the chunks' hashes, the vectors with a right checksum and the packed
    lines, so that `index --full` embeds no text again. Only inside a transaction."""
    for table in ("place", "blob", "entry", "snapshot", "covered", "name", "line_day"):
        database.execute(f"DELETE FROM {table}")
    database.execute("INSERT INTO words(words) VALUES ('delete-all')")
    database.execute(f"UPDATE chunk SET length = {NO_WORDS}")
    vectors = database.stream("SELECT vector.id, bits, value, sum FROM vector JOIN code ON code.id = vector.id")
    valid = {number for number, bits, value, total in vectors if crc32(bits + value) == total}
    for table in ("code", "vector"):
        invalid = [row for row in database.rows(f"SELECT id FROM {table}") if row[0] not in valid]
        database.execute_for_each(f"DELETE FROM {table} WHERE id = ?", invalid)


def prune(database: Database, keep: Iterable[str]) -> tuple[int, int]:
    """Delete the blobs whose oids are not in `keep`, the snapshots that have one of them, the chunks that are left
    without a blob, and the vectors of replaced embedders. Returns (number of deleted blobs, of deleted chunks). Only
    inside a transaction."""
    kept = {bytes.fromhex(oid) for oid in keep}
    blobs = array("q", (number for number, oid in database.rows("SELECT id, oid FROM blob") if oid not in kept))
    if blobs:
        _delete_blobs(database, blobs)
    database.execute("DELETE FROM name WHERE path NOT IN (SELECT path FROM entry)")
    database.execute("DELETE FROM line_day WHERE oid NOT IN (SELECT oid FROM blob)")
    chunks = database.rows("SELECT id, length FROM chunk WHERE id NOT IN (SELECT chunk FROM place)")
    worded = [(number,) for number, length in chunks if length != NO_WORDS]
    database.execute_for_each("DELETE FROM words WHERE rowid = ?", worded)
    database.execute_for_each("DELETE FROM chunk WHERE id = ?", [(number,) for number, _ in chunks])
    database.execute_for_each("DELETE FROM line WHERE chunk = ?", [(number,) for number, _ in chunks])
    for table in ("code", "vector"):
        database.execute(
            f"""
            DELETE FROM {table} WHERE id & ? NOT IN (SELECT id FROM chunk)
                OR id >> {EMBEDDER_SHIFT} NOT IN (SELECT id FROM embedder WHERE in_force <> {CACHE_ONLY})
            """,
            (1 << EMBEDDER_SHIFT) - 1,
        )
    database.execute(f"DELETE FROM embedder WHERE in_force = {CACHE_ONLY}")
    return len(blobs), len(chunks)


def _delete_blobs(database: Database, blobs: array[int]) -> None:
    """Delete blobs and every snapshot that has one of them."""
    numbers = apsw.carray(blobs)
    database.execute("DELETE FROM place WHERE blob IN (SELECT value FROM carray(?))", numbers)
    database.execute("DELETE FROM blob WHERE id IN (SELECT value FROM carray(?))", numbers)
    database.execute(
        """
        DELETE FROM snapshot
        WHERE id IN (SELECT snapshot FROM entry WHERE blob IN (SELECT value FROM carray(?)))
        """,
        numbers,
    )
    database.execute("DELETE FROM entry WHERE snapshot NOT IN (SELECT id FROM snapshot)")


def compact(database: Database) -> None:
    """Merge the full-text index and shrink the file by its free pages. Must not run in a transaction."""
    database.execute_alone("INSERT INTO words(words) VALUES ('optimize')")
    database.execute_alone("VACUUM")
    database.execute_alone("PRAGMA wal_checkpoint(TRUNCATE)")
