"""The values that the index takes and returns, and the stored form of vectors, shapes, paths, days and lengths.

They are named tuples: a search makes these classes at its start, and a dataclass takes half a millisecond each.
"""

from __future__ import annotations

import json
from array import array
from datetime import date
from typing import NamedTuple

from gitmem.json_values import parse_json
from gitmem.paths import Layout, in_default_corpus

# `embedder.in_force`
IN_FORCE = 1  # searches compare the embedder's vectors; at most one embedder
INCOMPLETE = 0  # some chunks have no vector of the embedder
CACHE_ONLY = -1  # vectors of a replaced embedder, until `index --prune`

# `entry.corpus`
IN_DEFAULT_CORPUS = 1
BY_PATH_ONLY = 0  # searched only if --path names the file
IGNORED, LARGE, UNREADABLE = -1, -2, -3  # why a file in the work tree is not indexed

LENGTH_STEP = 4  # words of a chunk that one step of its norm stands for; a norm is one byte, so up to 254 steps
EMBEDDER_SHIFT = 40  # bits of a vector's id below the id of its embedder: room for 10^12 chunks
PLACE_BITS = 24  # for position and column in an occurrence (`Index.occurrences`): a file of 1 MiB has fewer words


class Snapshot(NamedTuple):
    """A set of files that is searched: (path, blob) of a tree or a work tree. In the index of the history it is a set
    of commits. `id`: its row in the index. `key`: its name there (`snapshot.tree_key`, `Tip.key`). `norms[chunk id]`:
    the chunk's length (`norm`); 0 for a chunk outside the set. An id past the end is outside too, and has no norm."""

    id: int
    key: str
    norms: bytes

    @property
    def chunks(self) -> int:
        """The number of chunks in the set."""
        return len(self.norms) - self.norms.count(0)


class Place(NamedTuple):
    """One place of a chunk: lines `start` to `end` of blob `oid` at `path`.

    `chunk`: the chunk's id in the index. `heading`: the line of its heading, 0 for none. `ordinal`: the chunk's number
    in the blob, from 0. `corpus`: False for a file that is searched only if `--path` names it. In the index of commits
    `path` is "" and `oid` is the commit.
    """

    chunk: int
    path: str
    oid: str
    start: int
    end: int
    heading: int
    ordinal: int
    corpus: bool


class Shape(NamedTuple):
    """The structure of a blob by line numbers.

    `headings`: (line, level). `fences`, `tables`: (first line, last line). `front`: the line that closes the front
    matter, 0 for none. `keys`: (key, value) of the front matter, one pair for each element of a list.
    """

    headings: tuple[tuple[int, int], ...] = ()
    fences: tuple[tuple[int, int], ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    front: int = 0
    keys: tuple[tuple[str, str], ...] = ()


class Cut(NamedTuple):
    """How chunks are cut: `size` and `overlap` in tokens (one CJK character, or four others). `id`: the form in which
    the index stores it."""

    size: int = 200
    overlap: int = 0

    @property
    def id(self) -> str:
        return f"2/{self.size}/{self.overlap}"


class ChunkRow(NamedTuple):
    """One chunk of a parsed blob.

    `hash`: 16 bytes, of its text. `start`, `end`, `heading`: line numbers, 0 for no heading. `heading_words`,
    `body_words`: terms (`terms.terms`) joined by spaces; those of the body are the words of its units. `length`: number
    of words. `lines`: its packed line records (`units.pack`), b"" if the index has the chunk. `text`: for the embedder.
    """

    hash: bytes
    start: int
    end: int
    heading: int
    heading_words: str
    body_words: str
    length: int
    lines: bytes
    text: str


class InForce(NamedTuple):
    """The embedder whose vectors searches compare. `name`: as its `id`. `spec`: the setting that opens it."""

    name: str
    spec: str


class BlobRow(NamedTuple):
    """One blob that was parsed, or that is too large to be parsed.

    `bytes`: its size. `secrets`: number of lines with a secret. `problems`: number of problems of its encoding and
    front matter; 1 for a blob that is too large. `skipped`: why it was not read and has no chunks; "" if it was read. A
    blob that was read and has no statements has no chunks either.
    """

    oid: str
    bytes: int
    secrets: int
    problems: int
    skipped: str
    shape: Shape
    chunks: tuple[ChunkRow, ...]


class SnapshotRow(NamedTuple):
    """A snapshot to write. `key`: names a tree or a work tree. `seen`: the time of use, ns since the epoch. `scan`: the
    hash of the work tree's stat data, b"" if not all of it is indexed."""

    key: str
    seen: int
    scan: bytes = b""


class EntryRow(NamedTuple):
    """One path of a snapshot. `oid`: its blob, "" for a file that is not indexed. `corpus`: IN_DEFAULT_CORPUS,
    BY_PATH_ONLY, or below 0 why it is not indexed (IGNORED, LARGE, UNREADABLE). `stat`: stat data of the file in a work
    tree, otherwise ""."""

    path: str
    oid: str
    corpus: int
    stat: str = ""


def corpus_of(path: str, layout: Layout) -> int:
    """Whether a search reads an indexed memory file without being asked: BY_PATH_ONLY for an instruction file in the
    top folder (AGENTS.md), IN_DEFAULT_CORPUS for every other."""
    if "/" in path or in_default_corpus(path, layout):
        return IN_DEFAULT_CORPUS
    return BY_PATH_ONLY


def norm(length: int) -> int:
    """The length of a chunk in one byte: 1 plus the number of LENGTH_STEP words in it, at most 255. 0 is for a chunk
    outside the snapshot."""
    return min(255, max(0, length) // LENGTH_STEP + 1)


def vector_id(embedder_id: int, chunk_id: int) -> int:
    """The id of a chunk's vector in `code` and `vector`. The vectors of an embedder have ids in the chunks' order."""
    return (embedder_id << EMBEDDER_SHIFT) + chunk_id


def pack_shape(shape: Shape) -> str:
    """A shape as compact JSON; "" for an empty shape."""
    if shape == Shape():
        return ""
    fields = [shape.headings, shape.fences, shape.tables, shape.front, shape.keys]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def unpack_shape(text: str) -> Shape:
    """The shape whose JSON `pack_shape` made. Raises ValueError for any other text."""
    if not text:
        return Shape()
    try:
        headings, fences, tables, front, keys = parse_json(text)
        return Shape(
            tuple((int(first), int(second)) for first, second in headings),
            tuple((int(first), int(second)) for first, second in fences),
            tuple((int(first), int(second)) for first, second in tables),
            int(front),
            tuple((str(first), str(second)) for first, second in keys),
        )
    except TypeError as error:
        raise ValueError("not a shape") from error


def pack_path(path: str) -> bytes:
    """A path as the bytes that Git has; bytes that are no UTF-8 stand in the path as surrogates."""
    return path.encode("utf-8", "surrogateescape")


def unpack_path(path: bytes) -> str:
    """The path whose bytes `pack_path` made."""
    return path.decode("utf-8", "surrogateescape")


def pack_days(days: tuple[date, ...]) -> bytes:
    """The days of lines as runs of equal days: the number of lines and the ordinal of the day, four bytes each."""
    runs = array("I")
    for day in days:
        number = day.toordinal()
        if runs and runs[-1] == number:
            runs[-2] += 1
        else:
            runs.extend((1, number))
    return runs.tobytes()


def unpack_days(runs: bytes) -> tuple[date, ...]:
    """The day of each line, from the bytes that `pack_days` made. Raises ValueError or OverflowError for any other
    bytes."""
    numbers = array("I", runs)
    if len(numbers) % 2 or sum(numbers[::2]) > 1 << PLACE_BITS:
        raise ValueError("no runs of days")
    days: list[date] = []
    for count, number in zip(numbers[::2], numbers[1::2], strict=True):
        days += [date.fromordinal(number)] * count
    return tuple(days)


_FLIPPED = bytes(n ^ 128 for n in range(256))  # byte n -> the signed byte n - 128
_IS_POSITIVE = b"0" + b"1" * 127 + b"0" * 128  # highest byte of a float -> b"1" if the float is above zero


def int8(vector: bytes) -> bytes:
    """A float32 vector as int8, scaled so that its largest component is 127; a cosine does not depend on the scale. All
    zeros for a vector of zeros, or with an infinite component."""
    values = array("f", vector)
    top = max(max(values, default=0.0), -min(values, default=0.0))
    if not 0.0 < top < float("inf"):
        return bytes(len(values))
    scale = 127.0 / top
    return bytes([int(x * scale + 128.5) for x in values]).translate(_FLIPPED)


def bits(vector: bytes) -> bytes:
    """The signs of a float32 vector as bits, 1 for above zero, eight to a byte, padded with zeros."""
    high = vector[3::4]
    if 0 in high:  # the float is zero or very small, so the other bytes decide
        text = "".join(["1" if x > 0 else "0" for x in array("f", vector)])
    else:
        text = high.translate(_IS_POSITIVE).decode("ascii")
    text += "0" * (-len(text) % 8)
    return int(text or "0", 2).to_bytes(len(text) // 8, "big")
