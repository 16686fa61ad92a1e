"""Places claimed once, and where a text can hold a thing at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.detectors import spans as spans_module
from gitmem.gate.detectors.prefilter import DIGIT, LOWER, has_run, runs
from gitmem.gate.detectors.spans import Spans

RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=40)


@given(RANGES)
def test_a_place_is_claimed_when_no_claimed_one_overlaps_it(ranges: list[tuple[int, int]]) -> None:
    spans, taken = Spans(), list[tuple[int, int]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans_module, "CHUNK", 2)
        for start, size in ranges:
            free = not any(start < b and a < start + size for a, b in taken)
            assert spans.is_free(start, start + size) is free
            assert spans.claim(start, start + size) is free
            if free:
                taken.append((start, start + size))


def test_a_place_between_many_others_moves_few_of_them() -> None:
    spans = Spans()
    for offset in (0, 10):
        assert all(spans.claim(20 * n + offset, 20 * n + offset + 8) for n in range(5_000))
    assert max(map(len, spans._starts)) <= 2 * spans_module.CHUNK and sum(map(len, spans._starts)) == 10_000


@given(st.text("a1ａ가-\n", max_size=80), st.integers(1, 6))
def test_stretches_of_a_class_are_found_at_their_places_in_the_text(text: str, least: int) -> None:
    expected, start = [], None
    for at, char in enumerate(text + "-"):
        if char == "a" and start is None:
            start = at
        elif char != "a" and start is not None:
            if at - start >= least:
                expected.append((start, at))
            start = None
    assert list(runs(text, LOWER, least)) == expected
    assert has_run(text, LOWER, least) is bool(expected)


def test_digits_of_other_scripts_are_no_ascii_digits() -> None:
    assert not has_run("가１２３", DIGIT, 1)
