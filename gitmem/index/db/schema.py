"""The tables of the search index, described and in SQL. Only `index/db/` executes the statements.

The index holds no text that an answer could quote: only oids, line numbers, hashes, word postings and vectors.

* `blob`: one row per parsed Git blob, by oid (raw bytes). `shape`: JSON of `Shape` (db/values.py): lines of fences,
  tables and headings, and the keys of the front matter. `skipped`: why the blob has no chunks, "" if it has.
* `chunk`: one row per distinct text (headings, then lines), by the first 16 bytes of its SHA-256. Its id is the rowid
  of `words` and, with the embedder's number above bit 40, of `code` and `vector`. `length`: its number of words, -1
  while `words` has no row for it (during `index --full`).
* `line`: the packed units of a chunk (`units.pack`); a table of its own, so that rows of `chunk` stay close together.
* `place`: the lines of a chunk in a blob. `heading`: the line of the heading above it, 0 for none.
* `words`: FTS5 without content over the words of `terms.terms`. `instance`, `vocabulary`: its postings.
* `embedder`, `code`, `vector`: vectors of a chunk, `code` with 1 bit per dimension, `vector` as int8. `in_force`: 1 for
  the embedder whose vectors are compared, 0 if its vectors are not complete yet, -1 if they are only a cache. `sum`:
  CRC-32 of both, by which `index --full` keeps only valid vectors.
* `snapshot`: a set of (path, blob), by key (of a tree or a work tree). `norms`: one byte per chunk id, 0 outside the
  snapshot, otherwise the chunk's length in steps of `LENGTH_STEP` words, plus 1. `seen`: time of the last use. `scan`:
  hash of the work tree's stat data when all of it was indexed.
* `entry`: the (path, blob) pairs of a snapshot. `corpus`: 1 for files of the default search, 0 for files that are
  searched if `--path` names them, below 0 for files without a blob (`worktree_record`). `stat`: in a work tree, the
  stat data of the file when it was read.
* `name`: the words of file names (`paths.file_name_words`), one row per word and path of any snapshot. The word ""
  marks a path whose words are stored.
* `line_day`: the day of each line of a blob at a path, from the blame at the commit `at`; `runs` is `values.pack_days`.
  It is a cache: searches by day fill it, and without a row Git is asked again.
* `covered`: ref -> its tree whose memory blobs are all indexed. `meta`: settings, such as the size of chunks.
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
# Tables that FTS5 makes for itself. Any other table in the file is not ours.
SHADOWS = frozenset(f"words_{part}" for part in ("data", "idx", "docsize", "config"))
