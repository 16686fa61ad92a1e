"""A class's schema describes what the encoder writes of it, and what a request of it may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from gitmem.json_schema import descriptions, request_of, request_schema, result_schema, schema_of
from gitmem.json_values import json_keys, json_value

if TYPE_CHECKING:
    from gitmem.memory.code_state import CitedCode


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@json_keys("path line? [author] last=end")
class Line(NamedTuple):
    """A line. `path`: of its file.

    `line`, `author`: its place and its author. `end`: of the passage. A class may say more.
    """

    path: str
    line: int = 0
    author: str = ""

    @property
    def end(self) -> int:
        return self.line + 1


@json_keys("path=line.path end=line.end was=former.line since? [note]")
class Moved(NamedTuple):
    """A moved line. `since`: "" if unknown. `was`: an attribute.

    JSON: `was`: its former line. `end`: its last line.
    """

    line: Line
    former: Line | None = None
    since: date | str | None = ""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    lines: tuple[Line, ...]
    colour: Colour
    day: date | None = None
    code: tuple[CitedCode, ...] = ()
    more: Mapping[str, int] | None = None


class Options(TypedDict):
    command: Literal["view", "create"]
    path: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """`query`: words."""

    query: str
    limit: Annotated[int, {"minimum": 1}, "Hits"] = 6
    from_: str = ""


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def test_a_key_may_be_null_or_left_out_and_has_the_words_of_the_docstring() -> None:
    place = "its place and its author"
    assert result_schema(Line) == {
        "type": "object",
        "properties": {
            "path": {**TEXT, "description": "of its file"},
            "line": {"type": ["integer", "null"], "description": place},
            "author": {**TEXT, "description": place},
            "last": {**WHOLE, "description": "of the passage. A class may say more"},
        },
        "required": ["path", "line", "last"],
    }
    assert descriptions(Line)["author"] == place


@pytest.mark.parametrize("found", [
    Found((Line("a.md", 3, "Ann"), Line("b.md")), Colour.RED), Found((), Colour.BLUE, date(2026, 3, 1), more={"a": 1}),
])  # fmt: skip
def test_what_the_encoder_writes_conforms_to_the_schema(found: Found) -> None:
    Draft202012Validator(result_schema(Found)).validate(json_value(found))


def test_a_name_that_only_the_type_checker_imports_is_found() -> None:
    code = result_schema(Found)["properties"]["code"]["items"]
    assert list(code["properties"]) == ["cites", "state", "now", "commit"]


def test_a_key_may_be_an_attribute_of_an_attribute_and_has_the_words_for_json_first() -> None:
    assert result_schema(Moved)["properties"] == {
        "path": TEXT,
        "end": {**WHOLE, "description": "its last line"},
        "was": {"type": ["integer", "null"], "description": "its former line"},
        "since": {"anyOf": [TEXT, TEXT, {"type": "null"}], "description": "null if unknown"},
        "note": TEXT,
    }
    assert json_value(Moved(Line("a.md", 3))) == {"path": "a.md", "end": 4, "was": None, "since": None}
    assert json_value(Moved(Line("a.md"), Line("b.md", 2), "x", "y"))["was"] == 2


def test_nested_classes_are_described_once_where_the_caller_wants_references() -> None:
    schema = result_schema(Found, lambda cls: {"$ref": cls.__name__})
    assert schema["properties"]["lines"] == {"type": "array", "items": {"$ref": "Line"}}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (bool, {"type": "boolean"}), (float, {"type": "number"}), (Any, {}), (Path, TEXT), (date, TEXT),
        (Colour, {"type": "string", "enum": ["red", "blue"]}), (Literal[1, 2], {"enum": [1, 2]}),
        (str | None, {"type": ["string", "null"]}), (Colour | None, {"anyOf": [schema_of(Colour), {"type": "null"}]}),
        (int | str, {"anyOf": [WHOLE, TEXT]}), (tuple[int, str], {"type": "array", "prefixItems": [WHOLE, TEXT]}),
        (list[str], {"type": "array", "items": TEXT}), (frozenset[int], {"type": "array", "items": WHOLE}),
        (dict[str, int], {"type": "object", "additionalProperties": WHOLE}), (dict[str, Any], {"type": "object"}),
        (Annotated[str, {"minLength": 1}, "Words"], {**TEXT, "minLength": 1, "description": "Words"}),
    ],
)  # fmt: skip
def test_each_annotation_has_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema


def test_an_annotation_that_json_has_no_form_for_is_an_error() -> None:
    with pytest.raises(TypeError, match="no form"):
        schema_of(bytes)


def test_a_request_needs_the_fields_without_a_default() -> None:
    assert request_schema(Asked) == {
        "type": "object",
        "properties": {
            "query": {**TEXT, "description": "words"},
            "limit": {**WHOLE, "minimum": 1, "description": "Hits", "default": 6},
            "from": TEXT,
        },
        "required": ["query"],
    }
    assert request_schema(Options)["required"] == ["command"]
    assert request_of(Asked, {"query": "a", "from": "b"}) == Asked("a", 6, "b")
