"""A JSON file is changed where its value is, and nowhere else; what was added can be taken out without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.hosts.json_editing import edited

LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\{}[],:é\n', max_size=4)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text("abc", max_size=2), VALUES, min_size=1, max_size=4)
FORMS = st.sampled_from([
    {"indent": None}, {"indent": 2}, {"indent": "\t"}, {"indent": None, "separators": (",", ":")},
    {"indent": 3, "separators": (" , ", " :  ")},
])  # fmt: skip
ENDS = st.sampled_from(["", "\n", "\n\n"])


@given(OBJECTS, OBJECTS, FORMS, ENDS)
def test_the_text_says_the_new_value_whatever_it_said_before(
    old: dict[str, Any], new: dict[str, Any], form: dict[str, Any], end: str
) -> None:
    text = json.dumps(old, **form) + end
    assert json.loads(edited(text, new)) == new
    assert edited(text, old) == text


@given(OBJECTS, OBJECTS, FORMS, ENDS)
def test_what_was_added_is_taken_out_without_a_trace(
    theirs: dict[str, Any], ours: dict[str, Any], form: dict[str, Any], end: str
) -> None:
    text = json.dumps(theirs, **form) + end
    assert edited(edited(text, {**theirs, "git-mem": ours}), theirs) == text


def test_a_member_in_the_middle_goes_with_its_comma_and_the_rest_keeps_its_spaces() -> None:
    text = '{\n  "a" : [1,  2],\n  "b": {"x": 1} ,\n\n  "c": "}"\n}\n'
    assert edited(text, {"a": [1, 2], "c": "}"}) == '{\n  "a" : [1,  2],\n\n  "c": "}"\n}\n'
    assert edited(text, {"a": [2], "b": {"x": 1, "y": []}, "c": "}"}) == (
        '{\n  "a" : [  2],\n  "b": {"x": 1, "y": []} ,\n\n  "c": "}"\n}\n'
    )
    assert edited(text, {}) == "{}\n"


@pytest.mark.parametrize("bad", ["", "// x\n{}", "{", '{"a" 1}'])
def test_what_is_no_json_is_an_error(bad: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        edited(bad, {"a": 1})
