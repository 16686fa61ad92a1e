"""The tables of the search index, their version, and the check that a file has exactly these tables.

The index holds no text that an answer could quote: only oids, line numbers, hashes, word postings and vectors. There is
no migration: an index of an older version is built again from Git.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from gitmem.errors import IndexDamaged, IndexUnusable
from gitmem.messages import Message

# Raise VERSION whenever a statement of TABLES, or the meaning or packing of a stored value, changes.
VERSION = 6
APPLICATION_ID = 0x674D656D  # "gMem", in the header of the file
REBUILD = "'git mem index' builds it again."

# fmt: off
TABLES = {  # name of a table or index -> its statement, word for word as the file has it
    # A setting of the index, such as the size of chunks.
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",

    # -- Texts: a blob has places, each place has a chunk. Equal texts are one chunk, wherever they are. --

    # A parsed Git blob.
    "blob": "CREATE TABLE blob("
        "id INTEGER PRIMARY KEY, "
        "oid BLOB NOT NULL UNIQUE, "   # raw bytes, not hexadecimal
        "bytes INTEGER NOT NULL, "     # size of the blob
        "secrets INTEGER NOT NULL, "   # number of lines with a secret
        "problems INTEGER NOT NULL, "  # number of problems of the encoding and the front matter
        "skipped TEXT NOT NULL, "      # why the blob has no chunks, '' if it has
        "shape TEXT NOT NULL)",        # JSON: lines of fences, tables and headings, keys of the front matter
    # A chunk at lines of a blob.
    "place": "CREATE TABLE place("
        "blob INTEGER NOT NULL, "
        "ordinal INTEGER NOT NULL, "   # number of the place in the blob, from 0
        "chunk INTEGER NOT NULL, "
        "first INTEGER NOT NULL, "     # line, from 1
        "last INTEGER NOT NULL, "      # line
        "heading INTEGER NOT NULL, "   # line of the heading above, 0 for none
        "PRIMARY KEY(blob, ordinal)) WITHOUT ROWID",
    "place_chunk": "CREATE INDEX place_chunk ON place(chunk)",
    # A distinct text: headings, then lines.
    "chunk": "CREATE TABLE chunk("
        "id INTEGER PRIMARY KEY, "     # also the rowid in `words`, and the position in `snapshot.norms`
        "hash BLOB NOT NULL UNIQUE, "  # first 16 bytes of the SHA-256 of the text
        "length INTEGER NOT NULL)",    # number of words; -1 during `index --full` until its words are stored again
    # The line records of a chunk. They are not in `chunk`, so that its rows are small and close together.
    "line": "CREATE TABLE line("
        "chunk INTEGER PRIMARY KEY, "
        "record BLOB NOT NULL)",       # one record for each unit of text (units.pack)

    # -- Words: of chunks, and of file names. A word is a normalized term, made by terms.terms. --

    # The full-text index (https://sqlite.org/fts5.html). It is contentless: it stores where each word occurs, no text.
    "words": "CREATE VIRTUAL TABLE words USING fts5("
        "heading, "                    # words of the headings, joined by spaces
        "body, "                       # words of the lines, joined by spaces
        "content='', contentless_delete=1, detail=full, tokenize=\"ascii tokenchars '_'\")",
    # Views of `words`: an occurrence of a word in a chunk; a word with its number of chunks.
    "instance": "CREATE VIRTUAL TABLE instance USING fts5vocab(words, instance)",
    "vocabulary": "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)",
    # A word in the path of a file of any snapshot.
    "name": "CREATE TABLE name("
        "term TEXT NOT NULL, "         # '' marks a path whose words are all stored
        "path BLOB NOT NULL, "
        "PRIMARY KEY(term, path)) WITHOUT ROWID",

    # -- Vectors: the id of a row of `code` and of `vector` is values.vector_id(embedder, chunk). --

    # A model that made vectors.
    "embedder": "CREATE TABLE embedder("
        "id INTEGER PRIMARY KEY, "
        "name TEXT NOT NULL UNIQUE, "
        "spec TEXT NOT NULL, "         # the setting mem.embedder that opens it
        "dims INTEGER NOT NULL, "      # dimensions of its vectors
        "in_force INTEGER NOT NULL)",  # 1: searches use its vectors; 0: some chunks have none yet; -1: it was replaced
    # The signs of a vector, for a first fast scan.
    "code": "CREATE TABLE code("
        "id INTEGER PRIMARY KEY, "
        "bits BLOB NOT NULL)",         # 1 bit per dimension
    # A vector, for the exact comparison.
    "vector": "CREATE TABLE vector("
        "id INTEGER PRIMARY KEY, "
        "value BLOB NOT NULL, "        # int8 per dimension
        "sum INTEGER NOT NULL)",       # CRC-32 of `bits` and `value`; `index --full` keeps only vectors that match it

    # -- Snapshots: the sets of files that are searched, and what is known of their refs and lines. --

    # The files of a tree or a work tree.
    "snapshot": "CREATE TABLE snapshot("
        "id INTEGER PRIMARY KEY, "
        "key TEXT NOT NULL UNIQUE, "   # names the tree or the work tree
        "seen INTEGER NOT NULL, "      # time of the last use, ns since the epoch
        "scan BLOB NOT NULL, "         # hash of the work tree's stat data when all of it was indexed, else empty
        "norms BLOB NOT NULL)",        # a byte per chunk id: 0 outside the snapshot, else its length (values.norm)
    # A file of a snapshot.
    "entry": "CREATE TABLE entry("
        "snapshot INTEGER NOT NULL, "
        "path BLOB NOT NULL, "
        "blob INTEGER NOT NULL, "      # 0 for a file that is not indexed
        "corpus INTEGER NOT NULL, "    # 1: searched; 0: searched only if --path names it; below 0: not indexed
        "stat TEXT NOT NULL, "         # stat data of a work tree's file when it was read, '' for a tree
        "PRIMARY KEY(snapshot, path)) WITHOUT ROWID",
    "entry_blob": "CREATE INDEX entry_blob ON entry(blob, snapshot)",
    # A ref whose memory blobs are all indexed.
    "covered": "CREATE TABLE covered("
        "ref TEXT PRIMARY KEY, "
        "tree TEXT NOT NULL) WITHOUT ROWID",  # the ref's tree at that time
    # The days of a file's lines, a cache of `git blame`.
    "line_day": "CREATE TABLE line_day("
        "path BLOB NOT NULL, "
        "oid BLOB NOT NULL, "          # of the blob, raw bytes
        "at BLOB NOT NULL, "           # the commit that was blamed, raw bytes
        "runs BLOB NOT NULL, "         # a day per line, equal neighbours once (values.pack_days)
        "PRIMARY KEY(path, oid)) WITHOUT ROWID",
}
# fmt: on

# FTS5 keeps the rows of `words` in these tables, which it makes itself.
FTS5_TABLES = frozenset({"words_data", "words_idx", "words_docsize", "words_config"})


def create(connection: apsw.Connection) -> None:
    """Make the tables in an empty file, unless another process was quicker."""
    connection.pragma("page_size", 4096)
    connection.pragma("journal_mode", "wal")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            for statement in TABLES.values():
                connection.execute(statement)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def verify(connection: apsw.Connection, path: Path) -> None:
    """Check that the file is an index of this version with exactly these tables.

    SQLite keeps the text of each CREATE statement in `sqlite_schema`, so equal texts are equal tables.

    Raises IndexUnusable for a newer version, IndexDamaged for anything else: then the index is built again.
    """
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID:
        raise IndexDamaged("the index file is not an index of git-mem.", REBUILD)
    if not isinstance(version, int) or version > VERSION:
        raise IndexUnusable(
            Message("the index was written by a newer git-mem (schema {}; this one knows {}).", version, VERSION),
            Message("upgrade git-mem, or delete {} and run 'git mem index'.", path),
        )
    if version < VERSION:
        raise IndexDamaged("the index was written by an older git-mem.", REBUILD)
    missing = set(TABLES.items())
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        is_automatic_index = kind == "index" and sql is None  # SQLite makes one for each UNIQUE column
        if (name, sql) in missing:
            missing.discard((name, sql))
        elif not is_automatic_index and not (kind == "table" and name in FTS5_TABLES):
            raise IndexDamaged("the index holds tables that are not ours.", REBUILD)
    if missing:
        raise IndexDamaged("the index lacks some of its tables.", REBUILD)
