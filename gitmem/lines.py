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
# A number of a vector is stored as one of sixteen, two a byte: those that lose least of numbers spread as these are
# (J. Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory 6(1), 1960).
LEVELS = (-87, -66, -51, -40, -30, -21, -12, -4, 4, 12, 21, 30, 40, 51, 66, 87)
_HEX = b"0123456789abcdef"
_NEAREST = bytes(  # a signed byte -> the digit of the level nearest to it
    _HEX[min(range(16), key=lambda at: abs(LEVELS[at] + 128 - (n ^ 128)))] for n in range(256)
)
_ABOVE = bytes(LEVELS[_HEX.index(n)] + 128 if n in _HEX else 0 for n in range(256))  # a digit -> its level + 128
_SCALE, _BIAS = 1 << 18, 1 << 31  # 255 * _SCALE * sqrt(DIMS) is below _BIAS: no lane of `cosines` overflows
HEADING, FENCE, ROW, QUESTION, ASKS, TIME, NUMBER, HANGUL, HAN_KANA = 1, 2, 4, 8, 16, 32, 64, 128, 256
_NOTHING = bytes(DIMS)
STORED = DIMS // 2  # bytes of a stored vector


class Packed(NamedTuple):
    """What the index knows of a chunk's units, one entry each. A vector is `STORED` bytes, about `LENGTH` long;
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
    return head + shorten(b"".join([vector or _NOTHING for vector in made]))


def shorten(numbers: bytes) -> bytes:
    """Signed bytes as half as many."""
    return bytes.fromhex(numbers.translate(_NEAREST).decode("ascii"))


def unpack(record: bytes) -> Packed:
    """The reverse of `pack`. Raises ValueError for what it did not write."""
    count = int.from_bytes(record[:2], "little")
    if len(record) != 2 + count * (10 + 4 + STORED):
        raise ValueError("not a record of lines")
    numbers, norms = array("H"), array("f")
    numbers.frombytes(record[2 : 2 + 10 * count])
    start = 2 + 14 * count
    norms.frombytes(record[2 + 10 * count : start])
    fields = [numbers[i * count : (i + 1) * count] for i in range(5)]
    vectors = [record[at : at + STORED] for at in range(start, len(record), STORED)]
    first, last, words, label, flags = fields
    return Packed(first, last, words, label, flags, norms, vectors)


def cosines(vector: Sequence[float], vectors: Sequence[bytes]) -> list[float]:
    """Cosine of a vector of `DIMS` numbers and length 1 with each of these of `Packed`.

    All at once, a dimension at a time, in one `int` with a 32-bit lane for each vector: seven times as fast as one by
    one, and as exact as their bytes are.
    """
    columns = b"".join(vectors).hex().encode("ascii").translate(_ABOVE)
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
