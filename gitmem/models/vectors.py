"""Arithmetic on vectors as they are stored: bytes of little-endian float32. Standard library only.

The search path imports this and nothing of numpy; sqlite-vec does the scans, these few functions the rest.
"""

import math
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise


def pack(numbers: Sequence[float]) -> bytes:
    """The vector of some numbers."""
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unit(numbers: Sequence[float]) -> bytes:
    """The vector of some numbers at length 1; all zeros stay all zeros."""
    length = math.hypot(*numbers)
    if not length:
        return bytes(4 * len(numbers))
    return pack([x / length for x in numbers])


DIMS = 128  # of a unit's vector: the first ones, which hold most of it (bench/quality.py, row "dims")


LENGTH = 360  # of a unit's vector as signed bytes: what is longer than 127 in one dimension is cut there


# A number of a vector is stored as one of sixteen, two a byte: those that lose least of numbers spread as these are
# (J. Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory 6(1), 1960).
LEVELS = (-87, -66, -51, -40, -30, -21, -12, -4, 4, 12, 21, 30, 40, 51, 66, 87)


_HEX = b"0123456789abcdef"


_BETWEEN = [(low + high) / 2 for low, high in pairwise(LEVELS)]
_NEAREST = bytes(  # a signed byte -> the digit of the level nearest to it
    _HEX[bisect_left(_BETWEEN, (n ^ 128) - 128)] for n in range(256)
)


_ABOVE = bytes(LEVELS[_HEX.index(n)] + 128 if n in _HEX else 0 for n in range(256))  # a digit -> its level + 128


_SCALE, _BIAS = 1 << 18, 1 << 31  # 255 * _SCALE * sqrt(DIMS) is below _BIAS: no lane of `cosines` overflows


STORED = DIMS // 2  # bytes of a stored vector


def shorten(numbers: bytes) -> bytes:
    """Signed bytes as half as many."""
    return bytes.fromhex(numbers.translate(_NEAREST).decode("ascii"))


def numbers(stored: bytes) -> tuple[float, ...]:
    """A vector of `Packed` as numbers, of length 1; empty for zeros."""
    levels = [digit - 128 for digit in stored.hex().encode("ascii").translate(_ABOVE)]
    length = math.hypot(*levels)
    if not length:
        return ()
    return tuple([level / length for level in levels])


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
