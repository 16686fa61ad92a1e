"""What reaches a terminal or a CI log cannot command it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.terminal import colour, escape, paint, printable


def test_terminal_commands_are_spelled_out() -> None:
    assert escape("a\x1b]52;c;aGk=\x07b") == "a\\x1b]52;c;aGk=\\x07b"
    assert escape("over\rwrite") == "over\\x0dwrite" and escape("\x9b2J") == "\\x9b2J"
    assert escape("ab\u202ecd\u200b") == "ab\\u202ecd\\u200b" and escape("한글 é\n\t") == "한글 é\n\t"
    assert escape("a\u061cb\u180e\ufffb") == "a\\u061cb\\u180e\\ufffb"
    assert escape("\U000e0041") == "\\U000e0041" and escape("\udc80") == "\\udc80"


@given(st.text())
def test_nothing_hostile_survives_and_everything_encodes(text: str) -> None:
    shown = escape(text)
    assert not any((ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert printable(shown).decode() == shown


def test_colour_obeys_the_option_and_no_color(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    assert colour("always") and not colour("never") and not colour("auto")
    assert paint("x", "bad", True) == "\x1b[31mx\x1b[m" and paint("x", "bad", False) == "x"


@given(st.text())
def test_json_holds_nothing_a_terminal_obeys_and_means_the_same(text: str) -> None:
    import io
    import json
    import sys
    from unittest.mock import patch

    from gitmem.cli.terminal import write_json

    class Out(io.TextIOWrapper):
        pass

    raw = io.BytesIO()
    with patch.object(sys, "stdout", Out(raw, encoding="utf-8")):
        write_json({"text": text})
        shown = raw.getvalue().decode()
    assert json.loads(shown) == {"text": text}
    assert not any(
        c not in "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\ufeff") for c in shown
    )
