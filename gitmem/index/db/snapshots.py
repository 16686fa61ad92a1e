"""Reads and writes the snapshots of the index by key: the files of a tree or a work tree that a search looks at.

Functions that change something are called inside `with writer.writing():`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from gitmem.errors import IndexDamaged
from gitmem.index.db.reader import detects_damage, norms_of_blobs
from gitmem.index.db.schema import REBUILD
from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import IN_DEFAULT_CORPUS, EntryRow, SnapshotRow, norm, pack_path, unpack_path
from gitmem.index.db.writer import blob_ids
from gitmem.paths import file_name_words
from gitmem.text.terms import terms

ALL_WORDS_STORED = ""  # `name.term` that marks a path whose words are all stored
MAX_ADJUSTED_FILES = 2000  # in one change of a snapshot; above it all norms are computed again


# -- reading -------------------------------------------------------------------------------------------------


@detects_damage
def keys(database: Database, prefix: str) -> list[str]:
    """The keys of all snapshots that begin with `prefix`."""
    return [key for (key,) in database.rows("SELECT key FROM snapshot") if key.startswith(prefix)]


@detects_damage
def entries(database: Database, key: str) -> dict[str, EntryRow]:
    """path -> row of every file of a snapshot, also of files that are not indexed. Empty if there is no such
    snapshot."""
    rows = database.rows(
        """
        SELECT path, oid, corpus, stat FROM entry LEFT JOIN blob ON blob.id = entry.blob
        WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)
        """,
        key,
    )
    return {
        path: EntryRow(path, oid.hex() if oid else "", corpus, stat)
        for path, oid, corpus, stat in ((unpack_path(row[0]), *row[1:]) for row in rows)
    }


@detects_damage
def file_stats(database: Database, key: str) -> dict[str, tuple[str, int]] | None:
    """path -> (stat data of the work tree's file or "", `EntryRow.corpus`) of every file of a snapshot; None if there
    is no such snapshot.

    It is faster than `entries`, which looks up each blob.
    """
    snapshot = database.value("SELECT id FROM snapshot WHERE key = ?", key)
    if snapshot is None:
        return None
    rows = database.rows("SELECT path, stat, corpus FROM entry WHERE snapshot = ?", snapshot)
    return {unpack_path(path): (stat, corpus) for path, stat, corpus in rows}


@detects_damage
def covered(database: Database) -> dict[str, str]:
    """ref -> the tree it had when all memory blobs of that tree were last indexed (`cover`)."""
    return dict(database.rows("SELECT ref, tree FROM covered"))


# -- writing -------------------------------------------------------------------------------------------------


def put(database: Database, row: SnapshotRow, files: Sequence[EntryRow]) -> None:
    """Write a snapshot with these files; one with the same key is replaced. A file that has an `oid` which is not
    indexed is left out."""
    snapshot = database.value(
        """
        INSERT INTO snapshot(key, seen, scan, norms) VALUES (?1, ?2, ?3, x'')
        ON CONFLICT(key) DO UPDATE SET seen = ?2, scan = ?3 RETURNING id
        """,
        *row,
    )
    database.execute("DELETE FROM entry WHERE snapshot = ?", snapshot)
    _insert_entries(database, snapshot, files)
    database.execute("UPDATE snapshot SET norms = ? WHERE id = ?", _all_norms(database, snapshot), snapshot)


def change(database: Database, row: SnapshotRow, gone: Iterable[str], files: Sequence[EntryRow]) -> None:
    """Remove the paths `gone` from a stored snapshot, and add or replace `files`. A file that has an `oid` which is not
    indexed is left out.

    Raises IndexDamaged if there is no snapshot with this key: it would have the changed files only.
    """
    stored = database.row("SELECT id, norms FROM snapshot WHERE key = ?", row.key)
    if stored is None:
        raise IndexDamaged("the index lacks a snapshot that it had.", REBUILD)
    snapshot, norms = stored
    old_blobs = database.rows_among(
        "DELETE FROM entry WHERE snapshot = ?2 AND path IN (SELECT value FROM carray(?1)) RETURNING blob",
        tuple(map(pack_path, (*gone, *(file.path for file in files)))),
        snapshot,
    )
    _insert_entries(database, snapshot, files)
    blobs = {blob for (blob,) in old_blobs}
    if len(blobs) + len(files) > MAX_ADJUSTED_FILES:
        norms = _all_norms(database, snapshot)
    else:
        norms = _adjusted_norms(database, snapshot, norms, blobs, files)
    sql = "UPDATE snapshot SET seen = ?, scan = ?, norms = ? WHERE id = ?"
    database.execute(sql, row.seen, row.scan, norms, snapshot)


def sort_entries(database: Database, key: str) -> None:
    """Write the entries of a snapshot again in path order; in any other order pages stay half empty."""
    rows = database.rows(
        """
        SELECT snapshot, path, blob, corpus, stat FROM entry
        WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?) ORDER BY path
        """,
        key,
    )
    if rows:
        database.execute("DELETE FROM entry WHERE snapshot = ?", rows[0][0])
        database.execute_for_each(_INSERT_ENTRY, rows)
        database.execute("REINDEX entry_blob")


def evict(database: Database, prefix: str, keep: int) -> None:
    """Delete the snapshots whose keys begin with `prefix`, except the `keep` last used. Their blobs stay."""
    old_keys = database.rows(
        """
        SELECT key FROM snapshot WHERE substr(key, 1, length(?1)) = ?1
        ORDER BY seen DESC, id DESC LIMIT -1 OFFSET ?2
        """,
        prefix,
        keep,
    )
    for (key,) in old_keys:
        delete(database, key)


def delete(database: Database, key: str) -> None:
    """Delete one snapshot, such as that of a removed work tree. Its blobs stay."""
    database.execute("DELETE FROM entry WHERE snapshot = (SELECT id FROM snapshot WHERE key = ?)", key)
    database.execute("DELETE FROM snapshot WHERE key = ?", key)


def cover(database: Database, trees: Mapping[str, str]) -> None:
    """Record that all memory blobs of these trees are indexed. `trees`: ref -> tree. Deletes the records of all other
    refs."""
    database.execute("DELETE FROM covered")
    database.execute_for_each("INSERT INTO covered(ref, tree) VALUES (?, ?)", trees.items())


_INSERT_ENTRY = "INSERT OR REPLACE INTO entry(snapshot, path, blob, corpus, stat) VALUES (?, ?, ?, ?, ?)"


def _insert_entries(database: Database, snapshot: int, files: Sequence[EntryRow]) -> None:
    """Add files to a snapshot, with the words of their names, except those whose blob should be indexed and is not."""
    blobs = blob_ids(database, {file.oid for file in files if file.oid})
    database.execute_for_each(
        _INSERT_ENTRY,
        [
            (snapshot, pack_path(file.path), blobs.get(file.oid, 0), file.corpus, file.stat)
            for file in files
            if file.oid in blobs or file.corpus < 0
        ],
    )
    _insert_names(database, [file.path for file in files if file.oid in blobs])


def _insert_names(database: Database, paths: Sequence[str]) -> None:
    """Store the words of the names of these files, unless they are stored."""
    sql = f"SELECT path FROM name WHERE term = '{ALL_WORDS_STORED}' AND path IN (SELECT value FROM carray(?1))"
    stored = {unpack_path(path) for (path,) in database.rows_among(sql, tuple(map(pack_path, paths)))}
    rows: list[tuple[str, bytes]] = []
    for path in paths:
        if path not in stored:
            words = {ALL_WORDS_STORED, *terms(file_name_words(path))}
            rows += [(word, pack_path(path)) for word in words]
    database.execute_for_each("INSERT OR IGNORE INTO name(term, path) VALUES (?, ?)", rows)


def _all_norms(database: Database, snapshot: int) -> bytes:
    """The norms of a snapshot, from all its entries."""
    sql = f"SELECT blob FROM entry WHERE snapshot = ? AND corpus = {IN_DEFAULT_CORPUS}"
    return norms_of_blobs(database, (blob for (blob,) in database.rows(sql, snapshot)))


def _adjusted_norms(
    database: Database, snapshot: int, norms: bytes, old_blobs: Iterable[int], files: Sequence[EntryRow]
) -> bytes:
    """The norms of a snapshot, from those before its last change. `old_blobs`: of the removed and replaced entries.

    `files`: the added and replaced entries.
    """
    adjusted = bytearray(norms)
    elsewhere = f"""
        SELECT 1 FROM place JOIN entry ON entry.blob = place.blob AND entry.snapshot = ?
        WHERE place.chunk = ? AND corpus = {IN_DEFAULT_CORPUS} LIMIT 1
    """
    chunks = database.rows_among(
        "SELECT chunk FROM place WHERE blob IN (SELECT value FROM carray(?1))", array("q", old_blobs)
    )
    for (chunk,) in chunks:
        if chunk < len(adjusted) and not database.rows(elsewhere, snapshot, chunk):
            adjusted[chunk] = 0
    added = database.rows_among(
        f"""
        SELECT place.chunk, length FROM entry
        JOIN place ON place.blob = entry.blob JOIN chunk ON chunk.id = place.chunk
        WHERE entry.snapshot = ?2 AND corpus = {IN_DEFAULT_CORPUS} AND entry.path IN (SELECT value FROM carray(?1))
        """,
        tuple(pack_path(file.path) for file in files),
        snapshot,
    )
    for chunk, length in added:
        if chunk >= len(adjusted):
            adjusted.extend(bytes(chunk + 1 - len(adjusted)))
        adjusted[chunk] = norm(length)
    return bytes(adjusted)
