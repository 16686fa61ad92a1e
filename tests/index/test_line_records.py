"""The packed record of a chunk's lines."""

from __future__ import annotations

from math import hypot

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitmem.index.line_records import unpack
from gitmem.index.units import pack, split
from gitmem.models.vectors import DIMS, LEVELS, SCALED_LENGTH, cosines, packed


def test_a_record_gives_back_what_was_packed() -> None:
    units = split(["- Ann: hello", "", "- Bob: 5?"])
    record = unpack(pack(units, [(1.5, bytes([1, 255] * 64)), (0.0, b"")]))
    assert (list(record.first), list(record.last), list(record.label)) == ([0, 2], [0, 2], [1, 1])
    assert list(record.norms) == [1.5, 0.0] and list(record.words) == [2, 2]
    assert record.vectors[0] == packed(bytes([1, 255] * 64)) and len(record.vectors) == 2
    with pytest.raises(ValueError):
        unpack(b"\x01\x00abc")


def test_the_static_table_gives_each_line_a_vector_of_the_packed_length() -> None:
    from gitmem.models.static_embedder import TABLE, StaticEmbedder

    if not TABLE.exists():
        pytest.fail("the table of the static embedder is missing")
    (length, vector), (none, empty) = StaticEmbedder().lines(["We chose webhooks", "!!!"])
    assert length > 0 and (none, empty) == (0.0, b"")
    numbers = memoryview(vector).cast("b")
    assert len(numbers) == DIMS and abs(hypot(*numbers) - SCALED_LENGTH) < 6


@given(
    st.lists(st.floats(-1, 1), min_size=DIMS, max_size=DIMS).filter(any),
    st.lists(st.one_of(st.binary(min_size=DIMS, max_size=DIMS), st.sampled_from([b"\x80" * DIMS, b"\x7f" * DIMS]))),
)
def test_cosines_of_all_at_once_are_those_of_one_by_one(numbers: list[float], vectors: list[bytes]) -> None:
    length = hypot(*numbers)
    assume(length > 1e-9)
    vector = [number / length for number in numbers]
    nearest = [[min(LEVELS, key=lambda level: abs(level - n)) for n in memoryview(v).cast("b")] for v in vectors]
    one_by_one = [sum(a * b for a, b in zip(vector, v, strict=True)) / SCALED_LENGTH for v in nearest]
    assert cosines(vector, [packed(v) for v in vectors]) == pytest.approx(one_by_one, abs=1e-4)


def test_a_shortened_vector_points_where_it_did() -> None:
    from gitmem.models.static_embedder import StaticEmbedder

    ((_, vector),) = StaticEmbedder().lines(["We chose webhooks for the first phase: easier to debug"])
    exact = list(memoryview(vector).cast("b"))
    length = hypot(*exact)
    (found,) = cosines([n / length for n in exact], [packed(vector)])
    assert found == pytest.approx(1, abs=0.02)
