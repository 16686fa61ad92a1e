"""The tables of the search index, in words and in SQL. Values only: `index/db/` alone runs them.

The index holds no text that an answer could quote: oids, line numbers, hashes, word postings and vectors.

* `blob`: one row a Git blob ever parsed, by oid (raw bytes). `shape` is JSON of `Shape` (db/values.py): where
  fences, tables and headings lie, and the front matter's keys; `skipped` says why a blob has no chunks.
* `chunk`: one row a distinct text (heading, then lines), by the first 16 bytes of its SHA-256, wherever it
  occurs. Its id is the rowid of `words` and, with the embedder's number above bit 40, of `code` and `vector`.
  `length` is its number of words, -1 while `words` has no row for it (during `index --full`).
* `line`: what `lines.pack` knows of a chunk's lines, apart from `chunk` so that its rows stay close together.
* `place`: where a chunk stands in a blob; `heading` is the line of the heading it stands under, 0 for none.
* `words`: FTS5 without content over the words of `terms.terms`; `instance`, `vocabulary` read its postings.
* `embedder`, `code`, `vector`: vectors of a chunk as 1 bit and as int8 a dimension. One embedder is in force:
  the one whose vectors are compared (1); 0 is not complete yet, -1 kept as a cache. `sum` is the CRC-32 of both,
  so that `index --full` keeps good ones only.
* `snapshot`: a set of (path, blob), by key (a tree's oid or a work tree); `norms` has a byte a chunk id:
  0 outside the snapshot, else its length in steps of `LENGTH_STEP` words, plus 1. `seen` orders by last use,
  `scan` is the hash of the work tree's stat data when everything in it was indexed.
* `entry`: the pairs of a snapshot; `corpus` is 1 where the default search looks, 0 for files searched when they
  are named, -1 for files Git ignores. For a work tree, `stat` says how the file looked when it was read.
* `name`: the words of the names of files (`paths.file_name_words`), a row a word and path, whatever snapshot has the
  path; the word "" says that the path's words are there.
* `line_day`: on which day each line of a blob at a path was written, as blame had it at the commit `at`; `runs` is
  `values.pack_days`. Filled by searches that ask for days, and only a saving: without a row Git is asked again.
* `covered`: refs and the trees at which all their memory blobs were indexed. `meta`: how chunks were cut.
"""

from __future__ import annotations

VERSION = 6
APPLICATION = 0x674D656D  # "gMem"
LENGTH_STEP = 4
EMBEDDER_SHIFT = 40

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "blob": "CREATE TABLE blob(id INTEGER PRIMARY KEY, oid BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL,"
    " secrets INTEGER NOT NULL, problems INTEGER NOT NULL, skipped TEXT NOT NULL, shape TEXT NOT NULL)",
    "chunk": "CREATE TABLE chunk(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, length INTEGER NOT NULL)",
    "line": "CREATE TABLE line(chunk INTEGER PRIMARY KEY, record BLOB NOT NULL)",
    "place": "CREATE TABLE place(blob INTEGER NOT NULL, ordinal INTEGER NOT NULL, chunk INTEGER NOT NULL,"
    " first INTEGER NOT NULL, last INTEGER NOT NULL, heading INTEGER NOT NULL,"
    " PRIMARY KEY(blob, ordinal)) WITHOUT ROWID",
    "place_chunk": "CREATE INDEX place_chunk ON place(chunk)",
    "words": "CREATE VIRTUAL TABLE words USING fts5(heading, body, content='', contentless_delete=1,"
    " detail=full, tokenize=\"ascii tokenchars '_'\")",
    "instance": "CREATE VIRTUAL TABLE instance USING fts5vocab(words, instance)",
    "vocabulary": "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)",
    "embedder": "CREATE TABLE embedder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " spec TEXT NOT NULL, dims INTEGER NOT NULL, in_force INTEGER NOT NULL)",
    "code": "CREATE TABLE code(id INTEGER PRIMARY KEY, bits BLOB NOT NULL)",
    "vector": "CREATE TABLE vector(id INTEGER PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL)",
    "snapshot": "CREATE TABLE snapshot(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
    " seen INTEGER NOT NULL, scan BLOB NOT NULL, norms BLOB NOT NULL)",
    "entry": "CREATE TABLE entry(snapshot INTEGER NOT NULL, path BLOB NOT NULL, blob INTEGER NOT NULL,"
    " corpus INTEGER NOT NULL, stat TEXT NOT NULL, PRIMARY KEY(snapshot, path)) WITHOUT ROWID",
    "entry_blob": "CREATE INDEX entry_blob ON entry(blob, snapshot)",
    "name": "CREATE TABLE name(term TEXT NOT NULL, path BLOB NOT NULL, PRIMARY KEY(term, path)) WITHOUT ROWID",
    "line_day": "CREATE TABLE line_day(path BLOB NOT NULL, oid BLOB NOT NULL, at BLOB NOT NULL, runs BLOB NOT NULL,"
    " PRIMARY KEY(path, oid)) WITHOUT ROWID",
    "covered": "CREATE TABLE covered(ref TEXT PRIMARY KEY, tree TEXT NOT NULL) WITHOUT ROWID",
}
# What FTS5 makes for itself; anything else in the file is not ours.
SHADOWS = frozenset(f"words_{part}" for part in ("data", "idx", "docsize", "config"))
