"""The packed record of a chunk's units (`units`), by which search finds the best lines of a chunk without its text.

For each unit it holds: the number of its words (so the position of a word in the chunk tells its unit), how many of
them are its label, the kind of line, and a shortened vector. Pure, with few imports, because search reads it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from gitmem.models.vectors import PACKED_BYTES

HEADING, FENCE, ROW, QUESTION, ASKS, TIME, NUMBER, HANGUL, HAN_KANA = 1, 2, 4, 8, 16, 32, 64, 128, 256


class Packed(NamedTuple):
    """The units of a chunk (its statements), one element per unit in each of the first eight fields.

    `first`, `last`: lines within the chunk. `words`, `label`: numbers of words. `flags`: the sum of HEADING and the
    other constants. `norms`: length of the vector before it was shortened. `vectors`: PACKED_BYTES bytes each. `up`:
    how many units before it the unit is that it belongs to, 0 for none. `steps`: number of words of each step of the
    chunk's trail (the headings and items above it), the outermost first. `telling`: for each step, how many words a
    question looks for. `trail_norm`, `trail_vector`: of the whole trail.
    """

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
    """The units of a chunk from the record that `units.pack` made. Raises ValueError for any other bytes."""
    count = int.from_bytes(record[:2], "little")
    if not count:
        if len(record) != 2:
            raise ValueError("not a record of lines")
        return Packed((), (), (), (), (), (), ())
    begin = 4 + 4 * int.from_bytes(record[2:4], "little")
    start = begin + 12 * count + 4 * (count + 1)
    if len(record) != start + PACKED_BYTES * (count + 1):
        raise ValueError("not a record of lines")
    steps, numbers, norms = array("H"), array("H"), array("f")
    steps.frombytes(record[4:begin])
    numbers.frombytes(record[begin : begin + 12 * count])
    norms.frombytes(record[begin + 12 * count : start])
    first, last, words, label, flags, parents = [numbers[i * count : (i + 1) * count] for i in range(6)]
    vectors = [record[at : at + PACKED_BYTES] for at in range(start, len(record), PACKED_BYTES)]
    trail_vector, trail_norm = vectors.pop(), norms.pop()
    return Packed(
        first, last, words, label, flags, norms, vectors, parents, steps[::2], steps[1::2], trail_norm, trail_vector
    )
