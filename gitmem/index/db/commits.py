"""Reads and writes that only the index of a history needs, beside `Index` and `Writer`.

A commit is a row of `blob` with the commit's oid, and no two commits share a chunk (`chunks.message_rows`). So the
norms of a snapshot tell which commits it has, and `entry` stays empty. The key of a snapshot is `history:PLACE:COMMIT`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from gitmem.index.db.reader import Index, detects_damage, norms_of_blobs
from gitmem.index.db.values import Place, SnapshotRow

if TYPE_CHECKING:
    from gitmem.index.db.writer import Writer

COMPLETE = b"\x01"  # `snapshot.scan` of a history all of whose commits are indexed
MAX_MESSAGE_CHARACTERS = 1 << 16  # of a message that are indexed


@detects_damage
def commits_of(index: Index, chunks: Iterable[int]) -> dict[int, Place]:
    """Chunk id -> its place in the message of its commit; `oid` is the commit, `path` is "". Unknown ids are left
    out."""
    rows = index.database.rows_among(
        """
        SELECT place.chunk, oid, first, last, heading, ordinal
        FROM carray(?1) AS wanted CROSS JOIN place CROSS JOIN blob
        WHERE place.chunk = wanted.value AND blob.id = place.blob
        """,
        array("q", chunks),
    )
    return {
        chunk: Place(chunk, "", oid.hex(), first, last, heading, ordinal, True)
        for chunk, oid, first, last, heading, ordinal in rows
    }


@detects_damage
def naming(index: Index, prefix: str, norms: bytes, limit: int) -> list[int]:
    """At most `limit` ids of chunks, ascending, with a word that begins with `prefix`, the first digits of a commit's
    oid.

    `norms`: a byte for each chunk id; a chunk counts where it is above 0. Only the first 20 such words of the index
    count.
    """
    chunks = {chunk for word, _ in index.starting(prefix) for chunk, _ in index.postings(word)}
    return [chunk for chunk in sorted(chunks) if chunk < len(norms) and norms[chunk]][:limit]


@detects_damage
def phrase(index: Index, words: Sequence[str], norms: bytes, limit: int) -> list[int]:
    """At most `limit` ids of chunks in which these words (as `terms.terms` spells them) follow each other. `norms`: a
    byte for each chunk id; a chunk counts where it is above 0. [] for no words."""
    if not words:
        return []
    rows = index.database.stream("SELECT rowid FROM words WHERE words MATCH ?", f'"{" ".join(words)}"')
    return list(islice((chunk for (chunk,) in rows if chunk < len(norms) and norms[chunk]), limit))


@detects_damage
def latest(index: Index, prefix: str) -> str:
    """The key of the last used snapshot whose key begins with `prefix` and whose commits are all indexed; "" if there
    is none."""
    key = index.database.value(
        """
        SELECT key FROM snapshot WHERE substr(key, 1, length(?1)) = ?1 AND scan = ?2
        ORDER BY seen DESC LIMIT 1
        """,
        prefix,
        COMPLETE,
    )
    return str(key or "")


def norms_of_commits(writer: Writer, commits: Sequence[str]) -> bytes:
    """A byte for each chunk id: above 0 for the chunks of those of `commits` that are indexed, which it gives the
    length of (`values.norm`)."""
    from gitmem.index.db.writer import blob_ids

    return norms_of_blobs(writer.database, blob_ids(writer.database, commits).values())


def put_norms(writer: Writer, row: SnapshotRow, norms: bytes) -> None:
    """Store a snapshot of commits with its norms; one with the same key is replaced. `row.scan`: COMPLETE if all its
    commits are indexed."""
    writer.database.execute(
        """
        INSERT INTO snapshot(key, seen, scan, norms) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT(key) DO UPDATE SET seen = ?2, scan = ?3, norms = ?4
        """,
        *row,
        norms,
    )
