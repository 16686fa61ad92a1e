"""What goes into the index and what comes out, as values; and how a vector, a shape and a length are stored.

Named tuples, not dataclasses: these are made when a search starts, and a dataclass takes half a millisecond each.
"""

from __future__ import annotations

import json
from array import array
from datetime import date

from gitmem.index.db.schema import LENGTH_STEP
from gitmem.light_typing import NamedTuple

PLACE_BITS = 24  # of an occurrence (`Index.occurrences`) below its chunk: more than a file of 1 MiB has words


class Snapshot(NamedTuple):
    """A set of (path, blob) that can be searched. `norms[chunk id]` is 0 outside it (ids past its end too)."""

    id: int
    key: str
    norms: bytes

    @property
    def chunks(self) -> int:
        """How many distinct chunks."""
        return len(self.norms) - self.norms.count(0)


class Place(NamedTuple):
    """Where a chunk stands: lines `start`..`end` of blob `oid` at `path`; `heading` is a line number or 0.

    `corpus` is False for the files a search looks into only when `--path` names them.
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
    """How a blob is built, by line numbers: `headings` as (line, level), `fences` and `tables` as (first, last).

    `front` is the line that closes the front matter, 0 without one; `keys` its values as strings, a list's one
    by one (`type`, `tags`, `until`, `aliases` ...).
    """

    headings: tuple[tuple[int, int], ...] = ()
    fences: tuple[tuple[int, int], ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    front: int = 0
    keys: tuple[tuple[str, str], ...] = ()


class Cut(NamedTuple):
    """How chunks are cut, in tokens (a CJK character, or four others). Part of the index's identity."""

    size: int = 200
    overlap: int = 0

    @property
    def id(self) -> str:
        return f"2/{self.size}/{self.overlap}"


class ChunkRow(NamedTuple):
    """One chunk of a blob on its way in. Words are `terms.terms` joined by spaces, of the body those of its units
    (`units.split`), in order; `lines` is `units.pack` of them, empty for a chunk the index has already; `text` is
    what is embedded."""

    hash: bytes
    start: int
    end: int
    heading: int
    heading_words: str
    body_words: str
    length: int
    lines: bytes
    text: str


class BlobRow(NamedTuple):
    """One parsed blob on its way in; no chunks where `skipped` gives the reason. `secrets` counts lines that were
    left out, `problems` what `document.decode` and the front matter complained of."""

    oid: str
    bytes: int
    secrets: int
    problems: int
    skipped: str
    shape: Shape
    chunks: tuple[ChunkRow, ...]


class EntryRow(NamedTuple):
    """One path of a snapshot; `stat` is "" outside a work tree."""

    path: str
    oid: str
    corpus: int
    stat: str = ""


def norm(length: int) -> int:
    """The byte of a chunk of that many words; 0 is kept for "not in the snapshot"."""
    return min(255, max(0, length) // LENGTH_STEP + 1)


def pack_shape(shape: Shape) -> str:
    """Compact JSON, "" for a shape with nothing in it."""
    if shape == Shape():
        return ""
    fields = [shape.headings, shape.fences, shape.tables, shape.front, shape.keys]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def unpack_shape(text: str) -> Shape:
    """The reverse of `pack_shape`. Raises ValueError for a text it did not write."""
    if not text:
        return Shape()
    try:
        headings, fences, tables, front, keys = json.loads(text)
        return Shape(
            tuple((int(a), int(b)) for a, b in headings),
            tuple((int(a), int(b)) for a, b in fences),
            tuple((int(a), int(b)) for a, b in tables),
            int(front),
            tuple((str(a), str(b)) for a, b in keys),
        )
    except (TypeError, RecursionError) as error:
        raise ValueError("not a shape") from error


def pack_days(days: tuple[date, ...]) -> bytes:
    """Runs of equal days: how many lines, and the day's ordinal, four bytes each."""
    runs = array("I")
    for day in days:
        number = day.toordinal()
        if runs and runs[-1] == number:
            runs[-2] += 1
        else:
            runs.extend((1, number))
    return runs.tobytes()


def unpack_days(runs: bytes) -> tuple[date, ...]:
    """The reverse of `pack_days`. Raises ValueError for what it did not write."""
    numbers = array("I", runs)
    if len(numbers) % 2 or sum(numbers[::2]) > 1 << PLACE_BITS:
        raise ValueError("no runs of days")
    days: list[date] = []
    for count, number in zip(numbers[::2], numbers[1::2], strict=True):
        days += [date.fromordinal(number)] * count
    return tuple(days)


_FLIPPED = bytes(n ^ 128 for n in range(256))  # n - 128 as a signed byte
_ABOVE_ZERO = bytes(ord("0") if n == 0 or n >= 128 else ord("1") for n in range(256))  # by a float's first byte


def int8(vector: bytes) -> bytes:
    """A float32 vector as int8, its largest component at 127: a cosine does not see the scale."""
    values = array("f", vector)
    top = max(max(values, default=0.0), -min(values, default=0.0))
    if not 0.0 < top < float("inf"):
        return bytes(len(values))
    scale = 127.0 / top
    return bytes([int(x * scale + 128.5) for x in values]).translate(_FLIPPED)


def bits(vector: bytes) -> bytes:
    """The signs of a float32 vector, eight a byte, padded with zeros."""
    high = vector[3::4]
    if 0 in high:  # zero, or so small that the exponent's first bits are
        text = "".join(["1" if x > 0 else "0" for x in array("f", vector)])
    else:
        text = high.translate(_ABOVE_ZERO).decode("ascii")
    text += "0" * (-len(text) % 8)
    return int(text or "0", 2).to_bytes(len(text) // 8, "big")
