"""The shape of a blob alone is the one that the index keeps of it."""

from __future__ import annotations

import pytest

from gitmem.index.chunks import blob_row, shape_of
from gitmem.index.db.values import Cut

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


@pytest.mark.parametrize(
    "text",
    [
        "", "# A\n\n- b\n", "a\r\n# B\r\n\r\n```\n# c\n```\n| a |\n|---|\n| b |\n", "---\ntype: fact\ntags: [a, b]\n---\n# C\n",
        f"---\nkey: {TOKEN}\ntype: fact\n---\n# D\n", f"---\ntype: fact\n---\n- {TOKEN}\n", "\0\x01binary", "---\nopen\n",
    ],
)  # fmt: skip
def test_a_shape_alone_is_that_of_the_whole_row(text: str) -> None:
    data = text.encode()
    assert shape_of(data) == blob_row("a" * 40, data, Cut()).shape


def test_no_key_of_a_front_matter_with_a_secret_is_kept() -> None:
    assert shape_of(f"---\nkey: {TOKEN}\ntype: fact\n---\n# D\n".encode()).keys == ()
