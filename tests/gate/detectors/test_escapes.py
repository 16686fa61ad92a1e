"""Escaped signs: what a line says without them, and where each character of it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.detectors.escapes import APART, without_escapes
from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (r"{\u0022user\u0022:\u0022ops\u0022}", '{"user":"ops"}'),
        (r"say \"hi\" \\\"there\\\"", 'say "hi" "there"'),
        ("p=%7B%22a%22%3A1%7D", 'p={"a":1}'),
        ("{&quot;a&quot;:&#39;b&#39;}", "{\"a\":'b'}"),
        (r"one\ntwo\"", 'one\ntwo"'),
    ],
)
def test_escaped_signs_are_read(raw: str, read: str) -> None:
    plain = without_escapes(raw)
    assert plain is not None and plain.text == read


def test_only_the_lines_with_escaped_signs_are_read() -> None:
    plain = without_escapes('first\nsecond \\"x\\"\nC:\\new\\table\nlast &quot;')
    assert plain is not None and plain.text == 'second "x"\n-\nlast "'
    assert without_escapes("C:\\new\\table & more\n") is None


@given(st.lists(st.sampled_from(['\\"', "\\n", "\\u0022", "%22", "&quot;", "\n", "abc", "\\", "é", " "])).map("".join))
def test_each_character_leads_back_to_what_it_was_read_from(raw: str) -> None:
    plain = without_escapes(raw)
    ends = 0
    for at, char in enumerate(plain.text if plain else ""):
        assert plain is not None
        if any(gap <= at < gap + len(APART) for gap in plain.gaps):
            continue
        start, end = plain.offsets.to_raw(at, at + 1)
        assert ends <= start < end <= len(raw)
        assert raw[start] == char or raw[start] in "\\%&"
        ends = end


@pytest.mark.parametrize("sign", [r"\u0022", r"\"", r"\\\"", "%22", "&quot;"])
def test_a_password_between_escaped_signs_is_found_at_its_place(sign: str) -> None:
    password = "Larkspur6" + "Dene"
    text = f"log: {{{sign}password{sign}:{sign}{password}{sign}}} end"
    assert [text[m.start : m.end] for m in load("passwords")(Text(text))] == [password]


def test_no_find_takes_in_lines_that_do_not_touch() -> None:
    plain = without_escapes('a \\"x\\"\nbetween\nb \\"y\\"\nend\n')
    assert plain is not None
    whole, first = (0, len(plain.text)), (0, plain.text.index("\n"))
    assert [find for _, _, find in plain.finds([whole, first, (2, 2)], lambda find: find)] == [first]
