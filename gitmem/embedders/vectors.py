"""Arithmetic on vectors as they are stored: bytes of little-endian float32. Standard library only.

The search path imports this and nothing of numpy; sqlite-vec does the scans, these few functions the rest.
"""

import math
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from operator import mul

_HIGH_BIT_FIRST = bytes(ord("0") if b == 0 or b >= 0x80 else ord("1") for b in range(256))


def floats(vector: bytes) -> "array[float]":
    """The numbers of a vector."""
    numbers = array("f")
    numbers.frombytes(vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def pack(numbers: Sequence[float]) -> bytes:
    """The vector of some numbers."""
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unit(numbers: Sequence[float]) -> bytes:
    """The vector of some numbers at length 1; all zeros stay all zeros."""
    length = math.hypot(*numbers)
    if not length:
        return bytes(4 * len(numbers))
    return pack([x / length for x in numbers])


def _product(a: Sequence[float], b: Sequence[float]) -> float:
    return float(sum(map(mul, a, b)))


_sumprod: Callable[[Sequence[float], Sequence[float]], float] = getattr(math, "sumprod", _product)  # Python >= 3.12


def dot(a: bytes, b: bytes) -> float:
    """Dot product of two vectors of one length: their cosine where both are unit vectors."""
    return _sumprod(floats(a), floats(b))


def cosine(a: bytes, b: bytes) -> float:
    """Cosine of two vectors of any length; 0 where one of them is zero."""
    x, y = floats(a), floats(b)
    lengths = math.hypot(*x) * math.hypot(*y)
    return _sumprod(x, y) / lengths if lengths else 0.0


def binary(vector: bytes) -> bytes:
    """Sign bits for the coarse scan: bit `i % 8` of byte `i // 8` is set where number `i` is above zero.

    The same bytes as sqlite-vec's `vec_quantize_binary`; the number of dimensions is a multiple of 8.
    """
    high = vector[3::4]  # sign and upper exponent decide, but for numbers so small that they may be zero
    if 0 in high:
        bits = "".join("1" if x > 0 else "0" for x in reversed(floats(vector)))
        return int(bits, 2).to_bytes(len(vector) // 32, "little")
    return int(high[::-1].translate(_HIGH_BIT_FIRST), 2).to_bytes(len(vector) // 32, "little")
