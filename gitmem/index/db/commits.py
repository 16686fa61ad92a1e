"""What the index of a history is asked beside `Index` and `Writer`: which commits a snapshot has, whose chunk one is.

A commit is a row of `blob` by its own oid, and no two share a chunk (`chunks.message_rows`): the norms of a snapshot
say which commits it has, and `entry` stays empty. The key of a snapshot is `history:PLACE:COMMIT`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import apsw

from gitmem.index.db.reader import Index, stored
from gitmem.index.db.sqlite import translated
from gitmem.index.db.values import Place

if TYPE_CHECKING:
    from gitmem.index.db.writer import Writer

MAX_MESSAGE_CHARACTERS = 1 << 16  # characters of a message that are indexed


@stored
def commits_of(index: Index, chunks: Iterable[int]) -> dict[int, Place]:
    """Which commit each of these chunks is of: `oid` of the place, whose path is empty."""
    ids = array("q", chunks)
    if not ids:
        return {}
    rows = index._rows(
        "SELECT place.chunk, oid, first, last, heading, ordinal FROM carray(?1) AS wanted CROSS JOIN place"
        " CROSS JOIN blob WHERE place.chunk = wanted.value AND blob.id = place.blob",
        (apsw.carray(ids),),
    )
    return {
        chunk: Place(chunk, "", oid.hex(), first, last, heading, ordinal, True)
        for chunk, oid, first, last, heading, ordinal in rows
    }


@stored
def naming(index: Index, prefix: str, norms: bytes, limit: int) -> list[int]:
    """The chunks with a word that begins with `prefix`, of those with a norm: what names a commit by its oid, however
    shortened."""
    chunks = {chunk for word, _ in index.starting(prefix) for chunk, _ in index.postings(word)}
    return [chunk for chunk in sorted(chunks) if chunk < len(norms) and norms[chunk]][:limit]


@stored
def phrase(index: Index, words: Sequence[str], norms: bytes, limit: int) -> list[int]:
    """The chunks in which these words of `terms.terms` follow each other, of those with a norm."""
    if not words:
        return []
    with translated():
        rows = index._db.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{" ".join(words)}"',))
        return list(islice((chunk for (chunk,) in rows if chunk < len(norms) and norms[chunk]), limit))


@stored
def latest(index: Index, prefix: str) -> str:
    """The whole snapshot with this prefix of key that was used last, "" for none."""
    rows = index._rows(
        "SELECT key FROM snapshot WHERE substr(key, 1, length(?1)) = ?1 AND scan = x'01' ORDER BY seen DESC LIMIT 1",
        (prefix,),
    )
    if not rows:
        return ""
    return str(rows[0][0])


def norms_of(writer: Writer, commits: Sequence[str]) -> bytes:
    """The norms of these commits, of those that are indexed."""
    return writer._norms(writer._numbers(commits).values())


def put_norms(writer: Writer, key: str, norms: bytes, seen: int, *, whole: bool) -> None:
    """Record a snapshot; one that is not `whole` lacks commits that are not indexed yet."""
    with translated():
        writer._db.execute(
            "INSERT INTO snapshot(key, seen, scan, norms) VALUES (?1, ?2, ?3, ?4)"
            " ON CONFLICT(key) DO UPDATE SET seen = ?2, scan = ?3, norms = ?4",
            (key, seen, b"\x01" if whole else b"", norms),
        )
