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


class Packed(NamedTuple):
    """What the index knows of a chunk's units, one entry each. A vector is `STORED` bytes, about `LENGTH` long;
    `norms` are the lengths of the unshortened sums of pieces. `up` says how many units before it the one stands that
    a unit is about, 0 for none. `steps` has the number of words of each step of the chunk's trail, from the outside
    in, `telling` how many words a question for that step looks for; `trail_norm` and `trail_vector` are of all of them
    together."""

    first: Sequence[int]
    last: Sequence[int]
    words: Sequence[int]
    label: Sequence[int]
    flags: Sequence[int]
    norms: Sequence[float]
    vectors: Sequence[bytes]
    up: Sequence[int] = ()
    steps: Sequence[int] = ()
    telling: Sequence[int] = ()
    trail_norm: float = 0.0
    trail_vector: bytes = b""


def unpack(record: bytes) -> Packed:
    """The reverse of `units.pack`. Raises ValueError for what it did not write."""
    count = int.from_bytes(record[:2], "little")
    if not count:
        if len(record) != 2:
            raise ValueError("not a record of lines")
        return Packed((), (), (), (), (), (), ())
    begin = 4 + 4 * int.from_bytes(record[2:4], "little")
    start = begin + 12 * count + 4 * (count + 1)
    if len(record) != start + STORED * (count + 1):
        raise ValueError("not a record of lines")
    steps, numbers, norms = array("H"), array("H"), array("f")
    steps.frombytes(record[4:begin])
    numbers.frombytes(record[begin : begin + 12 * count])
    norms.frombytes(record[begin + 12 * count : start])
    first, last, words, label, flags, up = [numbers[i * count : (i + 1) * count] for i in range(6)]
    vectors = [record[at : at + STORED] for at in range(start, len(record), STORED)]
    trail_vector, trail_norm = vectors.pop(), norms.pop()
    return Packed(
        first, last, words, label, flags, norms, vectors, up, steps[::2], steps[1::2], trail_norm, trail_vector
    )
