"""The index file: the only package with SQL and apsw. Opens it with care, reads it for search, writes it for the
indexer.

Never parses Markdown, never asks Git, never returns text of memory: a hit is a path, a blob and line numbers,
whose text the caller reads from the blob or the work tree. Every failure of SQLite leaves here as
`IndexUnusable`, or as `IndexDamaged` when only a rebuild helps.

What search needs, in order:

    index = open_index(directory)                       # or freshness.ready(...), which brings it up to date too
    with index.reading():                               # one state for all of it, whatever a writer does
        snap = index.snapshot(key)                      # what may be answered; None: not indexed yet
        norms = index.select(snap, lambda path: ...)    # snap.norms, or fewer chunks: --path, --since ...
        index.frequency(term); index.postings(term)     # lexical lane: (chunk, column), once an occurrence
        index.in_force(); index.nearest(vector, norms, k)   # vector lane: (chunk, cosine)
        index.places(snap, chunk_ids)                   # chunk -> where it stands in this snapshot
        index.shapes(oids)                              # fences, tables, headings of the blobs to read

A norm is a chunk's byte in `norms`: 0 outside, else length // LENGTH_STEP + 1. One indexed byte says membership
and BM25's document length both: `(norm - 1) * LENGTH_STEP`.
"""

from __future__ import annotations

from gitmem.index.db.connection import FILE, open_index, open_writer, remove
from gitmem.index.db.reader import Index
from gitmem.index.db.schema import LENGTH_STEP
from gitmem.index.db.values import BlobRow, ChunkRow, EntryRow, Place, Shape, Snapshot

__all__ = [
    "FILE",
    "LENGTH_STEP",
    "BlobRow",
    "ChunkRow",
    "EntryRow",
    "Index",
    "Place",
    "Shape",
    "Snapshot",
    "open_index",
    "open_writer",
    "remove",
]
