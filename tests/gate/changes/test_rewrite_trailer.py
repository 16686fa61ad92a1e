"""The reason for a change of the past is read from a commit message."""

from __future__ import annotations

import pytest

from gitmem.gate.changes.rewrite_trailer import rewrite_reason


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("subject\n\nMemory-Rewrite: a name was wrong\n", "a name was wrong"),
        ("subject\n\nmemory-rewrite: x\n\nsquashed paragraph\n", "x"),
        ("subject\n\nMemory-Rewrite:\n", ""),
        ("Memory rewrite: no\n", ""),
    ],
)
def test_the_reason_is_read_wherever_a_squash_left_it(message: str, reason: str) -> None:
    assert rewrite_reason(message) == reason
