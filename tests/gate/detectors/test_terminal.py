"""Control characters: what a terminal obeys blocks, what shows nothing warns."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.terminal import detect
from gitmem.gate.detectors.text import Text


@pytest.mark.parametrize("text", ["DDRB bit = 1 \x1a PBx is output", "D[7:0] \x1b memory[A]", "a \x7f b"])
def test_a_character_that_no_terminal_obeys_warns(text: str) -> None:
    assert [match.severity for match in detect(Text(text))] == [Severity.WARN]


@pytest.mark.parametrize(
    "text",
    ["x\x1b[2Jy", "x \x1bc y", "x \x05 y", "x \x0e y", "secret\x08\x08", "shown\rhidden", "x \x9b2J", "ig\x01nore"],
)
def test_what_a_terminal_obeys_or_what_splits_a_word_blocks(text: str) -> None:
    assert {match.severity for match in detect(Text(text))} == {Severity.BLOCK}
