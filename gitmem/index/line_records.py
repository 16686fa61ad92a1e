"""What the index keeps of a chunk's lines, packed. Holds no text.

Pure, and light: search reads it. One record a unit (`units`), so that the best lines of the best chunks are found
without reading or cutting any text: how many words it has (the position of a word in the chunk then tells its unit),
how many of them are its label, what kind of line it is, and its vector, shortened.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from gitmem.light_typing import NamedTuple
from gitmem.models.vectors import STORED

HEADING, FENCE, ROW, QUESTION, ASKS, TIME, NUMBER, HANGUL, HAN_KANA = 1, 2, 4, 8, 16, 32, 64, 128, 256
CHANGES = 512  # says that something is no longer as it was


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


def unpack(record: bytes) -> Packed:
    """The reverse of `units.pack`. Raises ValueError for what it did not write."""
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
