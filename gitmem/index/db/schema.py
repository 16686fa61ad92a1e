"""The tables of the search index, described and in SQL. Only `index/db/` executes the statements.

The index holds no text that an answer could quote: only oids, line numbers, hashes, word postings and vectors.
"""

from __future__ import annotations

# Raise VERSION whenever a statement below, or the meaning or packing of a stored value, changes. An index with a lower
# number counts as damaged and is built again from Git; one with a higher number is refused, with the advice to upgrade.
VERSION = 6
APPLICATION_ID = 0x674D656D  # "gMem", in the header of the file

LENGTH_STEP = 4  # words of a chunk that one step of its norm stands for; a norm is one byte, so up to 254 steps
EMBEDDER_SHIFT = 40  # the id of a vector is (number of its embedder << EMBEDDER_SHIFT) + id of its chunk

NO_WORDS = -1  # `chunk.length` while `words` has no row of the chunk
IN_FORCE, INCOMPLETE, CACHE_ONLY = 1, 0, -1  # `embedder.in_force`
IN_DEFAULT_CORPUS, BY_PATH_ONLY = 1, 0  # `entry.corpus` of an indexed file
IGNORED, LARGE, UNREADABLE = -1, -2, -3  # `entry.corpus` of a file in the work tree that is not indexed
ALL_WORDS_STORED = ""  # `name.term` of the row that marks a path whose words are all stored

STATEMENTS = {  # name of a table or index -> its CREATE statement, word for word as SQLite stores it in the file
    # Settings of the index, such as the size of chunks.
    "meta": ("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"),
    # The parsed Git blobs.
    "blob": (
        "CREATE TABLE blob("
        "id INTEGER PRIMARY KEY, "
        "oid BLOB NOT NULL UNIQUE, "  # raw bytes
        "bytes INTEGER NOT NULL, "  # size of the blob
        "secrets INTEGER NOT NULL, "  # number of lines with a secret
        "problems INTEGER NOT NULL, "  # number of problems of the encoding and the front matter
        "skipped TEXT NOT NULL, "  # why the blob has no chunks, '' if it has
        "shape TEXT NOT NULL"  # values.pack_shape: lines of fences, tables and headings, and the front matter's keys
        ")"
    ),
    # The distinct texts: headings, then lines. The id is the rowid of `words`.
    "chunk": (
        "CREATE TABLE chunk("
        "id INTEGER PRIMARY KEY, "
        "hash BLOB NOT NULL UNIQUE, "  # the first 16 bytes of the SHA-256 of the text
        "length INTEGER NOT NULL"  # number of words; NO_WORDS during `index --full`, until the chunk is found again
        ")"
    ),
    # The packed units of each chunk. A table of its own, so that the rows of `chunk` stay close together.
    "line": (
        "CREATE TABLE line("
        "chunk INTEGER PRIMARY KEY, "
        "record BLOB NOT NULL"  # units.pack
        ")"
    ),
    # The places of chunks in blobs.
    "place": (
        "CREATE TABLE place("
        "blob INTEGER NOT NULL, "
        "ordinal INTEGER NOT NULL, "  # number of the place in the blob, from 0
        "chunk INTEGER NOT NULL, "
        "first INTEGER NOT NULL, "  # first and last line
        "last INTEGER NOT NULL, "
        "heading INTEGER NOT NULL, "  # line of the heading above, 0 for none
        "PRIMARY KEY(blob, ordinal)"
        ") WITHOUT ROWID"
    ),
    "place_chunk": "CREATE INDEX place_chunk ON place(chunk)",
    # Full-text search without content over the words of terms.terms, and its postings.
    "words": (
        "CREATE VIRTUAL TABLE words USING fts5("
        "heading, "
        "body, "
        "content='', "
        "contentless_delete=1, "
        "detail=full, "
        "tokenize=\"ascii tokenchars '_'\""
        ")"
    ),
    "instance": "CREATE VIRTUAL TABLE instance USING fts5vocab(words, instance)",
    "vocabulary": "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)",
    # The embedders that made vectors. At most one is in force.
    "embedder": (
        "CREATE TABLE embedder("
        "id INTEGER PRIMARY KEY, "
        "name TEXT NOT NULL UNIQUE, "
        "spec TEXT NOT NULL, "  # the setting mem.embedder that opens it
        "dims INTEGER NOT NULL, "
        "in_force INTEGER NOT NULL"  # IN_FORCE: its vectors are compared; INCOMPLETE: some are missing; CACHE_ONLY
        ")"
    ),
    # The vectors of chunks, once as signs and once as int8. The id: see EMBEDDER_SHIFT.
    "code": (
        "CREATE TABLE code("
        "id INTEGER PRIMARY KEY, "
        "bits BLOB NOT NULL"  # 1 bit per dimension
        ")"
    ),
    "vector": (
        "CREATE TABLE vector("
        "id INTEGER PRIMARY KEY, "
        "value BLOB NOT NULL, "  # int8 per dimension
        "sum INTEGER NOT NULL"  # CRC-32 of `bits` and `value`, by which `index --full` keeps only valid vectors
        ")"
    ),
    # The sets of (path, blob) that are searched.
    "snapshot": (
        "CREATE TABLE snapshot("
        "id INTEGER PRIMARY KEY, "
        "key TEXT NOT NULL UNIQUE, "  # names a tree or a work tree
        "seen INTEGER NOT NULL, "  # time of the last use
        "scan BLOB NOT NULL, "  # hash of the work tree's stat data when all of it was indexed, else empty
        "norms BLOB NOT NULL"  # a byte per chunk id: 0 outside the snapshot, else length // LENGTH_STEP + 1, up to 255
        ")"
    ),
    # The (path, blob) pairs of the snapshots.
    "entry": (
        "CREATE TABLE entry("
        "snapshot INTEGER NOT NULL, "
        "path BLOB NOT NULL, "
        "blob INTEGER NOT NULL, "  # 0 for a file that is not indexed
        "corpus INTEGER NOT NULL, "  # IN_DEFAULT_CORPUS; BY_PATH_ONLY: if --path names it; below 0: not indexed
        "stat TEXT NOT NULL, "  # in a work tree, the stat data of the file when it was read
        "PRIMARY KEY(snapshot, path)"
        ") WITHOUT ROWID"
    ),
    "entry_blob": "CREATE INDEX entry_blob ON entry(blob, snapshot)",
    # The words of file names (paths.file_name_words), for the paths of all snapshots.
    "name": (
        "CREATE TABLE name("
        "term TEXT NOT NULL, "  # a word, or ALL_WORDS_STORED
        "path BLOB NOT NULL, "
        "PRIMARY KEY(term, path)"
        ") WITHOUT ROWID"
    ),
    # The days of lines, from blame. A cache: searches by day fill it, and Git is asked again where a row is missing.
    "line_day": (
        "CREATE TABLE line_day("
        "path BLOB NOT NULL, "
        "oid BLOB NOT NULL, "  # of the blob
        "at BLOB NOT NULL, "  # the commit that was blamed
        "runs BLOB NOT NULL, "  # values.pack_days, for each line of the blob
        "PRIMARY KEY(path, oid)"
        ") WITHOUT ROWID"
    ),
    # The refs whose memory blobs are all indexed.
    "covered": (
        "CREATE TABLE covered("
        "ref TEXT PRIMARY KEY, "
        "tree TEXT NOT NULL"  # the tree of the ref at that time
        ") WITHOUT ROWID"
    ),
}
FTS5_TABLES = frozenset(f"words_{part}" for part in ("data", "idx", "docsize", "config"))  # made by FTS5 for `words`
