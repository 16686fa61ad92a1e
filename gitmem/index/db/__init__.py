"""The index file of SQLite. Only this package has SQL and apsw: it opens the file, reads it for search, writes it.

It never parses Markdown, never asks Git and never returns text of memory: a hit is a path, a blob and line numbers, and
the caller reads the text from the blob or the work tree. Every failure of SQLite becomes `IndexUnusable`, or
`IndexDamaged` if only a rebuild helps.

A search calls, in this order:

    index = open_index(directory)                       # or freshness.ready(...), which updates the index first
    with index.reading():                               # one state for all reads, whatever a writer does
        snap = index.snapshot(key)                      # the set of files to search; None: not indexed yet
        norms = index.select(snap, lambda path: ...)    # snap.norms, or fewer chunks: --path, --since ...
        index.frequency(term); index.postings(term)     # lexical lane: (chunk, column) of each occurrence
        index.in_force(); index.nearest(vector, norms, k)   # vector lane: (chunk, cosine)
        index.places(snap, chunk_ids)                   # chunk -> its places in this snapshot
        index.shapes(oids)                              # fences, tables, headings of the blobs to read

An update of a tree calls, under the writer lock:

    writer = open_writer(directory)
    writer.missing_blobs(oids)                          # the blobs that must be parsed
    with writer.writing():                              # one transaction
        fresh = writer.add_blobs(rows)                  # chunks whose text is new
        writer.add_vectors(embedder_id, vectors)        # of those without a vector of this embedder
        snapshots.put(writer.database, row, files)      # the tree is searched from now on

A norm is the byte of a chunk in `norms`: 0 if the chunk is outside, otherwise length // LENGTH_STEP + 1. So one byte
tells both whether a chunk is in the set and its document length for BM25: `(norm - 1) * LENGTH_STEP`.
"""

from __future__ import annotations

from gitmem.index.db.connection import FILE, open_index, open_writer, remove

__all__ = ["FILE", "open_index", "open_writer", "remove"]
