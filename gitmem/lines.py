"""What the index keeps of a chunk's lines, packed. Holds no text.

Pure, and light: search reads it. A record a unit (`units.py`), so that the best lines of the best chunks are found
without reading or cutting any text: how many words it has (the position of a word in the chunk then tells its unit),
how many of them are its label, what kind of line it is, and its vector, shortened.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitmem.units import Unit

DIMS = 128  # of a unit's vector: the first ones, which hold most of it (bench/quality.py, row "dims")
LENGTH = 360  # of a unit's vector as signed bytes: what is longer than 127 in one dimension is cut there
_FLIPPED = bytes(n ^ 128 for n in range(256))  # a signed byte n as n + 128
_SCALE, _BIAS = 1 << 18, 1 << 31  # 255 * _SCALE * sqrt(DIMS) is below _BIAS: no lane of `cosines` overflows
HEADING, FENCE, ROW, QUESTION, ASKS, TIME, NUMBER, HANGUL, HAN_KANA = 1, 2, 4, 8, 16, 32, 64, 128, 256


_NOTHING = bytes(DIMS)


class Packed(NamedTuple):
    """What the index knows of a chunk's units, one entry each. A vector is `DIMS` signed bytes, `LENGTH` long;
    `norms` are the lengths of the unshortened sums of pieces."""

    first: Sequence[int]
    last: Sequence[int]
    words: Sequence[int]
    label: Sequence[int]
    flags: Sequence[int]
    norms: Sequence[float]
    vectors: Sequence[bytes]


def pack(units: Sequence[Unit], vectors: Iterable[tuple[float, bytes]]) -> bytes:
    """The record of a chunk. `vectors` are (length, `DIMS` signed bytes) for each unit, as an embedder's `lines` has
    them; (0.0, b"") where there is none."""
    count = len(units)
    if not count:
        return bytes(2)
    first, last, _, flags, words, label = zip(*units, strict=True)
    numbers = [*first, *last, *map(len, words), *label, *flags]
    if max(numbers) > 0xFFFF:
        numbers = [min(0xFFFF, number) for number in numbers]
    norms, made = zip(*vectors, strict=True)
    head = struct.pack(f"<{1 + 5 * count}H{count}f", count, *numbers, *norms)
    return head + b"".join([vector or _NOTHING for vector in made])


def unpack(record: bytes) -> Packed:
    """The reverse of `pack`. Raises ValueError for what it did not write."""
    count = int.from_bytes(record[:2], "little")
    if len(record) != 2 + count * (10 + 4 + DIMS):
        raise ValueError("not a record of lines")
    numbers, norms = array("H"), array("f")
    numbers.frombytes(record[2 : 2 + 10 * count])
    start = 2 + 14 * count
    norms.frombytes(record[2 + 10 * count : start])
    fields = [numbers[i * count : (i + 1) * count] for i in range(5)]
    vectors = [record[i : i + DIMS] for i in range(start, len(record), DIMS)]
    first, last, words, label, flags = fields
    return Packed(first, last, words, label, flags, norms, vectors)


def cosines(vector: Sequence[float], vectors: Sequence[bytes]) -> list[float]:
    """Cosine of a vector of `DIMS` numbers and length 1 with each of these of `Packed`.

    All at once, a dimension at a time, in one `int` with a 32-bit lane for each vector: seven times as fast as one by
    one, and as exact as their bytes are.
    """
    columns = b"".join(vectors).translate(_FLIPPED)
    lanes = bytearray(4 * len(vectors))
    above = below = shift = 0
    for at, number in enumerate(vector):
        factor = round(number * _SCALE)
        shift += factor
        lanes[::4] = columns[at::DIMS]
        if factor > 0:
            above += factor * int.from_bytes(lanes, "little")
        elif factor:
            below -= factor * int.from_bytes(lanes, "little")
    biased = int.from_bytes(_BIAS.to_bytes(4, "little") * len(vectors), "little")
    sums = array("I", (above + biased - below).to_bytes(4 * len(vectors), "little"))
    if sys.byteorder == "big":
        sums.byteswap()
    zero = _BIAS + 128 * shift
    return [(lane - zero) / (_SCALE * LENGTH) for lane in sums]
