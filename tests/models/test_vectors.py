"""Vectors as bytes."""

import math
import struct

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.models import vectors

numbers = st.lists(st.floats(-4, 4, width=32).map(lambda x: x + 0.0), min_size=8, max_size=64).filter(
    lambda found: len(found) % 8 == 0
)


def sqlite_vec_binary(vector: bytes) -> bytes:
    import pathlib
    import sysconfig

    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(str(pathlib.Path(sysconfig.get_path("purelib")) / "sqlite_vec" / "vec0"))
    return bytes(next(iter(connection.execute("select vec_quantize_binary(?)", (vector,))))[0])


@given(numbers)
def test_binary_is_what_sqlite_vec_makes(found):
    vector = vectors.pack(found)
    assert vectors.binary(vector) == sqlite_vec_binary(vector)


@given(numbers)
def test_dot_and_cosine_agree_with_their_definition(found):
    vector = vectors.pack(found)
    other = vectors.pack(list(reversed(found)))
    product = sum(a * b for a, b in zip(found, reversed(found), strict=True))
    assert vectors.dot(vector, other) == pytest.approx(product, abs=1e-6)
    length = math.hypot(*found)
    if length > 1e-3:
        assert vectors.cosine(vector, other) == pytest.approx(product / length**2, abs=1e-6)


def test_a_vector_is_little_endian_float32():
    assert vectors.pack([1.0, -2.5]) == struct.pack("<2f", 1.0, -2.5)
    assert list(vectors.floats(struct.pack("<2f", 1.0, -2.5))) == [1.0, -2.5]


def test_unit_of_nothing_is_nothing():
    assert vectors.unit([0] * 8) == bytes(32)
    assert vectors.cosine(bytes(32), vectors.pack([1.0] * 8)) == 0.0
    assert vectors.dot(vectors.unit([3, 4] + [0] * 6), vectors.pack([1.0] * 8)) == pytest.approx(1.4)
