"""Lines that the gate would block are withheld, whatever the list of lines looks like."""

from __future__ import annotations

import pytest

from gitmem.gate.policy import MESSAGE
from gitmem.gate.withholding import WITHHELD, without_blocked

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


@pytest.mark.parametrize("path", [MESSAGE, "MEMORY.md"])
@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["one", f"the token is {TOKEN}", "three"], ["one", WITHHELD, "three"]),
        (["one\nand more", f"the token is {TOKEN}", "three"], ["one\nand more", WITHHELD, "three"]),
        (["one", f"two\nthe token is {TOKEN}\nand more", "three\n"], ["one", WITHHELD, "three\n"]),
        ([], []),
    ],
)
def test_a_line_with_a_finding_is_withheld_whole_and_no_other(path: str, lines: list[str], shown: list[str]) -> None:
    assert without_blocked(lines, path) == shown
