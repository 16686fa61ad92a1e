"""Values become JSON in one way, whatever kind of class holds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest

from gitmem.json_values import json_keys, json_object, json_value, parse_json_object


class Colour(Enum):
    RED = "red"


class Line(NamedTuple):
    path: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    lines: tuple[Line, ...]
    colour: Colour
    day: date
    commit: str = ""


@json_keys("said=text [of] at?")
class Renamed(NamedTuple):
    text: str
    of: str = ""
    at: int = 0


def test_a_value_becomes_an_object_of_its_fields_whatever_holds_them() -> None:
    found = Found((Line("a.md", 3),), Colour.RED, date(2026, 3, 1))
    lines = [{"path": "a.md", "line": 3}]
    assert json_value(found) == {"lines": lines, "colour": "red", "day": "2026-03-01", "commit": ""}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None), (0, 0), ("", ""), ((1, "a"), [1, "a"]), ({"a": (Path("b/c"),)}, {"a": ["b/c"]}),
        (datetime(2026, 3, 1, 9, tzinfo=UTC), "2026-03-01T09:00:00+00:00"), ([Renamed("x"), Renamed("", "y", 3)], [{"said": "x", "at": None}, {"said": "", "of": "y", "at": 3}]),
    ],
)  # fmt: skip
def test_what_json_has_no_form_for_has_one_of_ours(value: object, expected: object) -> None:
    assert json_value(value) == expected


def test_chosen_names_stand_in_their_order_and_an_empty_one_with_a_question_mark_is_null() -> None:
    found = Found((), Colour.RED, date(2026, 3, 1))
    assert list(json_object(found, "commit? colour lines").items()) == [
        ("commit", None),
        ("colour", "red"),
        ("lines", []),
    ]
    assert json_object(Line("a.md"), "line? path?") == {"line": None, "path": "a.md"}


def test_an_object_is_read_and_another_value_is_an_error() -> None:
    assert parse_json_object('{"a": [1]}') == parse_json_object(b'{"a": [1]}') == {"a": [1]}
    for text in ("[1]", "null", '"a"', "{", ""):
        with pytest.raises(ValueError):
            parse_json_object(text)
