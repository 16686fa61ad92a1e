"""The answers about one value that are reached by a shorter way are those of the longer one."""

from __future__ import annotations

import re
from collections import Counter
from math import isclose, log2

from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.detectors.secrets import features
from gitmem.gate.detectors.secrets.rule_tables import patterns


@given(st.from_regex(re.compile(patterns.placeholder.pattern, re.IGNORECASE | re.ASCII)))
def test_every_sample_of_ascii_has_a_hint(value: str) -> None:
    if value.isascii():
        assert any(hint in value.lower() for hint in features._SAMPLE_HINTS)


@given(st.text("abcAB12+/", max_size=60))
def test_entropy_is_that_of_its_definition(value: str) -> None:
    shares = [count / len(value) for count in Counter(value).values()]
    assert isclose(features.entropy(value), -sum(share * log2(share) for share in shares), abs_tol=1e-9)


@given(st.text("aab1", max_size=30), st.text("abcdefghijklm0123456789", max_size=30))
def test_a_value_with_a_run_of_six_is_not_varied(head: str, tail: str) -> None:
    if re.search(r"(.)\1{5,}", head + tail):
        assert not features.is_varied(head + tail)
