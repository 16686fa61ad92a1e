"""Reads the index for `git mem status` and `git mem doctor`: its size, what it leaves out, each stored value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitmem.index.db.reader import detects_damage
from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import EMBEDDER_SHIFT, IN_FORCE, unpack_path


class Counts(NamedTuple):
    """How many blobs and distinct chunks the index has, and how many vectors of the embedder whose vectors searches
    compare."""

    blobs: int
    chunks: int
    vectors: int


class FileProblems(NamedTuple):
    """A file that is not fully indexed.

    `secrets`: number of lines with a secret. `problems`: number of problems of its encoding and front matter.
    `skipped`: why the file was not read and has no chunks; "" if it was. `corpus`: below 0 for a file that is not
    indexed (`values.IGNORED`, LARGE, UNREADABLE).
    """

    path: str
    secrets: int
    problems: int
    skipped: str
    corpus: int


class StoredBlob(NamedTuple):
    """The stored row of a blob. `places`: its chunks in order, each (chunk id, hash, number of words, first line, last
    line, line of its heading or 0).

    `size`: in bytes. `secrets`: number of lines with a secret. `skipped`: why it has no chunks, "" if it was read.
    `shape`: packed (`values.pack_shape`).
    """

    size: int
    secrets: int
    skipped: str
    shape: str
    places: list[tuple[int, bytes, int, int, int, int]]


@detects_damage
def counts(database: Database) -> Counts:
    """The numbers of blobs, of distinct chunks and of vectors of the embedder in force in the whole index."""
    blobs = database.value("SELECT count(*) FROM blob")
    chunks = database.value("SELECT count(*) FROM chunk")
    vectors = database.value(
        f"""
        SELECT count(*) FROM embedder JOIN code ON code.id >= embedder.id << {EMBEDDER_SHIFT}
            AND code.id < (embedder.id + 1) << {EMBEDDER_SHIFT}
        WHERE in_force = {IN_FORCE}
        """
    )
    return Counts(int(blobs), int(chunks), int(vectors))


def bytes_on_disk(path: Path) -> int:
    """The size in bytes of the index file and its write-ahead log together; 0 for missing files."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


@detects_damage
def indexed_files(database: Database, key: str) -> int:
    """The number of files of a snapshot that are indexed; 0 if there is no such snapshot."""
    files = database.value(
        """
        SELECT count(*) FROM entry JOIN blob ON blob.id = entry.blob
        WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?) AND corpus >= 0
        """,
        key,
    )
    return int(files)


@detects_damage
def file_problems(database: Database, key: str) -> list[FileProblems]:
    """The files of a snapshot that are not fully indexed, in path order."""
    rows = database.rows(
        """
        SELECT path, coalesce(secrets, 0), coalesce(problems, 0), coalesce(skipped, ''), corpus
        FROM entry LEFT JOIN blob ON blob.id = entry.blob
        WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)
            AND (corpus < 0 OR secrets > 0 OR problems > 0 OR skipped <> '')
        ORDER BY path
        """,
        key,
    )
    return [FileProblems(unpack_path(path), *others) for path, *others in rows]


def integrity(database: Database) -> str:
    """The first error of SQLite's own check of the file, cut to 200 characters; "" if there is none."""
    error = str(database.value("PRAGMA integrity_check(1)"))
    return "" if error == "ok" else error[:200]


@detects_damage
def stored_blob(database: Database, oid: str) -> StoredBlob | None:
    """The row of a blob and its places; None if it is not indexed."""
    row = database.row("SELECT id, bytes, secrets, skipped, shape FROM blob WHERE oid = ?", bytes.fromhex(oid))
    if row is None:
        return None
    places = database.rows(
        """
        SELECT chunk, hash, length, first, last, heading FROM place JOIN chunk ON chunk.id = place.chunk
        WHERE blob = ? ORDER BY ordinal
        """,
        row[0],
    )
    _, size, secrets, skipped, shape = row
    return StoredBlob(size, secrets, skipped, shape, places)


def all_postings(database: Database) -> Iterator[tuple[str, int, str, int]]:
    """(word, chunk id, "heading" or "body", number of the word there from 0) of every occurrence in the index."""
    yield from database.stream("SELECT term, doc, col, offset FROM instance")


@detects_damage
def stored_vector(database: Database, chunk: int) -> tuple[bytes, bytes] | None:
    """A chunk's vector of the embedder in force: (its signs as `values.bits`, its numbers as `values.int8`); None if it
    has none."""
    row = database.row(
        f"""
        SELECT bits, value
        FROM embedder JOIN code ON code.id = (embedder.id << {EMBEDDER_SHIFT}) + ? JOIN vector ON vector.id = code.id
        WHERE in_force = {IN_FORCE}
        """,
        chunk,
    )
    if row is None:
        return None
    return bytes(row[0]), bytes(row[1])
