"""Vectors as bytes."""

import struct

import pytest
from hypothesis import strategies as st

from gitmem.models import vectors

numbers = st.lists(st.floats(-4, 4, width=32).map(lambda x: x + 0.0), min_size=8, max_size=64).filter(
    lambda found: len(found) % 8 == 0
)


def test_a_vector_is_little_endian_float32():
    assert vectors.pack([1.0, -2.5]) == struct.pack("<2f", 1.0, -2.5)


def test_unit_of_nothing_is_nothing():
    assert vectors.unit([0] * 8) == bytes(32)
    assert list(struct.unpack("<8f", vectors.unit([3, 4] + [0] * 6))) == pytest.approx([0.6, 0.8] + [0] * 6)
