"""The tables of the search index, their version, and the check that a file has exactly these tables.

The index holds no text that an answer could quote: only oids, line numbers, hashes, word postings and vectors. There is
no migration: an index of an older version is built again from Git.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.errors import IndexDamaged, IndexUnusable
from gitmem.messages import Message

if TYPE_CHECKING:
    import apsw

# Raise VERSION whenever a statement of TABLES, or the meaning or packing of a stored value, changes.
VERSION = 6
APPLICATION_ID = 0x674D656D  # "gMem", in the header of the file
REBUILD = "'git mem index' builds it again."

TABLES = """
CREATE TABLE meta(             -- a setting of the index, such as the size of chunks
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Texts: a blob has places, each place has a chunk. Equal texts are one chunk, wherever they are.

CREATE TABLE blob(             -- a parsed Git blob
    id INTEGER PRIMARY KEY,
    oid BLOB NOT NULL UNIQUE,  -- raw bytes, not hexadecimal
    bytes INTEGER NOT NULL,    -- size of the blob
    secrets INTEGER NOT NULL,  -- lines with a secret
    problems INTEGER NOT NULL, -- problems of the encoding and the front matter
    skipped TEXT NOT NULL,     -- why the blob has no chunks, '' if it has
    shape TEXT NOT NULL        -- lines of fences, tables, headings; keys of the front matter (values.pack_shape)
);
CREATE TABLE place(            -- a chunk at lines of a blob
    blob INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,  -- number of the place in the blob, from 0
    chunk INTEGER NOT NULL,
    first INTEGER NOT NULL,    -- line, from 1
    last INTEGER NOT NULL,     -- line
    heading INTEGER NOT NULL,  -- line of the heading above, 0 for none
    PRIMARY KEY(blob, ordinal)
) WITHOUT ROWID;
CREATE INDEX place_chunk ON place(chunk);
CREATE TABLE chunk(            -- a distinct text: headings, then lines
    id INTEGER PRIMARY KEY,    -- also the rowid in `words`, and the position in `snapshot.norms`
    hash BLOB NOT NULL UNIQUE, -- first 16 bytes of the SHA-256 of the text
    length INTEGER NOT NULL    -- words; NO_WORDS during `index --full`, until the chunk is found again
);
CREATE TABLE line(             -- the packed units of a chunk; not in `chunk`, whose rows stay close together
    chunk INTEGER PRIMARY KEY,
    record BLOB NOT NULL       -- units.pack
);

-- Words: of chunks (terms.terms), and of file names (paths.file_name_words).

CREATE VIRTUAL TABLE words USING fts5(
    heading,                   -- words of the headings, joined by spaces; only their postings are stored
    body,                      -- words of the lines
    content='', contentless_delete=1, detail=full, tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE instance USING fts5vocab(words, instance);  -- an occurrence of a word in a chunk
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);     -- a word, with its number of chunks
CREATE TABLE name(             -- a word in the path of a file of any snapshot
    term TEXT NOT NULL,        -- ALL_WORDS_STORED marks a path whose words are all stored
    path BLOB NOT NULL,
    PRIMARY KEY(term, path)
) WITHOUT ROWID;

-- Vectors: the id of a row of `code` and `vector` is (embedder.id << EMBEDDER_SHIFT) + chunk.id.

CREATE TABLE embedder(         -- a model that made vectors
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,        -- the setting mem.embedder that opens it
    dims INTEGER NOT NULL,     -- dimensions of its vectors
    in_force INTEGER NOT NULL  -- IN_FORCE, INCOMPLETE or CACHE_ONLY
);
CREATE TABLE code(             -- the signs of a vector, for a first fast scan
    id INTEGER PRIMARY KEY,
    bits BLOB NOT NULL         -- 1 bit per dimension
);
CREATE TABLE vector(
    id INTEGER PRIMARY KEY,
    value BLOB NOT NULL,       -- int8 per dimension
    sum INTEGER NOT NULL       -- CRC-32 of `bits` and `value`; `index --full` keeps only vectors that match it
);

-- Snapshots: the sets of files that are searched, and what is known of their refs and lines.

CREATE TABLE snapshot(         -- the files of a tree or a work tree
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,  -- names the tree or the work tree
    seen INTEGER NOT NULL,     -- time of the last use, ns since the epoch
    scan BLOB NOT NULL,        -- hash of the work tree's stat data when all of it was indexed, else empty
    norms BLOB NOT NULL        -- a byte per chunk id: 0 outside the snapshot, else length // LENGTH_STEP + 1, up to 255
);
CREATE TABLE entry(            -- a file of a snapshot
    snapshot INTEGER NOT NULL,
    path BLOB NOT NULL,
    blob INTEGER NOT NULL,     -- 0 for a file that is not indexed
    corpus INTEGER NOT NULL,   -- IN_DEFAULT_CORPUS or BY_PATH_ONLY; IGNORED, LARGE or UNREADABLE if not indexed
    stat TEXT NOT NULL,        -- stat data of a work tree's file when it was read, '' for a tree
    PRIMARY KEY(snapshot, path)
) WITHOUT ROWID;
CREATE INDEX entry_blob ON entry(blob, snapshot);
CREATE TABLE covered(          -- a ref whose memory blobs are all indexed
    ref TEXT PRIMARY KEY,
    tree TEXT NOT NULL         -- the ref's tree at that time
) WITHOUT ROWID;
CREATE TABLE line_day(         -- the days of a file's lines, a cache of `git blame`
    path BLOB NOT NULL,
    oid BLOB NOT NULL,         -- of the blob, raw bytes
    at BLOB NOT NULL,          -- the commit that was blamed, raw bytes
    runs BLOB NOT NULL,        -- a day per line (values.pack_days)
    PRIMARY KEY(path, oid)
) WITHOUT ROWID;
"""

EMBEDDER_SHIFT = 40  # bits of a vector's id below its embedder's number
LENGTH_STEP = 4  # words of a chunk that one step of its norm stands for; a norm is one byte, so up to 254 steps

NO_WORDS = -1  # `chunk.length` while `words` has no row of the chunk
ALL_WORDS_STORED = ""
IN_FORCE = 1  # searches compare the embedder's vectors; at most one embedder
INCOMPLETE = 0  # some chunks have no vector of the embedder
CACHE_ONLY = -1  # vectors of a replaced embedder, until `index --prune`
IN_DEFAULT_CORPUS = 1
BY_PATH_ONLY = 0  # searched only if --path names the file
IGNORED, LARGE, UNREADABLE = -1, -2, -3  # why a file in the work tree is not indexed

FTS5_TABLES = frozenset(f"words_{part}" for part in ("data", "idx", "docsize", "config"))  # made by FTS5 for `words`


@cache
def statements() -> dict[str, str]:
    """Name of a table or index -> its statement of TABLES as the file has it: on one line, without comments.

    So the layout and the comments of TABLES can change without a new version.
    """
    code = "\n".join([line.partition("--")[0] for line in TABLES.splitlines()])
    text = " ".join(code.split()).replace("( ", "(").replace(" )", ")")
    named = {}
    for statement in text.removesuffix(";").split("; "):
        _create, _table, name, *_ = statement.replace("VIRTUAL ", "").replace("(", " ").split(" ")
        named[name] = statement
    return named


def create(connection: apsw.Connection) -> None:
    """Make the tables in an empty file, unless another process was quicker."""
    connection.pragma("page_size", 4096)
    connection.pragma("journal_mode", "wal")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            for statement in statements().values():
                connection.execute(statement)
            connection.execute("INSERT INTO words(words, rank) VALUES ('pgsz', 4050)")
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def verify(connection: apsw.Connection, path: Path) -> None:
    """Check that the file is an index of this version with exactly these tables.

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
    missing = set(statements().items())
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        if (name, sql) in missing:
            missing.discard((name, sql))
        elif not ((kind == "table" and name in FTS5_TABLES) or (kind == "index" and sql is None)):
            raise IndexDamaged("the index holds tables that are not ours.", REBUILD)
    if missing:
        raise IndexDamaged("the index lacks some of its tables.", REBUILD)
