"""What a model is told of the tools in every session: bounded, constant, and enough to call them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.agents import tool_arguments
from gitmem.agents.mcp_tools import LIMITS, TOOLS, listed
from gitmem.agents.tool_answers import ANSWERS
from gitmem.errors import UsageError
from gitmem.models.token_count import estimate

MAX_TOKENS = 900  # of what a host sends its model of all tools: names, descriptions, input schemas


def test_all_tools_take_at_most_900_tokens_of_a_models_context() -> None:
    """As a host sends them: neither titles nor annotations. Four characters a token, and the count that is made to be
    no less than a model's."""
    sent = json.dumps(
        [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
            for tool in listed(read_only=False)
        ],
        separators=(",", ":"),
    )
    assert len(sent) / 4 <= MAX_TOKENS and estimate(sent) <= MAX_TOKENS


def test_every_tool_has_an_answer_and_a_schema_without_limits_that_takes_nothing_else() -> None:
    assert list(ANSWERS) == list(TOOLS)
    for tool in listed(read_only=False):
        schema = tool["inputSchema"]
        assert schema["additionalProperties"] is False and set(schema.get("required", ())) <= set(schema["properties"])
        assert "outputSchema" not in tool and [limit for limit in LIMITS if f'"{limit}"' in json.dumps(schema)] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_no_spelling_stands_for_two_arguments_of_one_tool(tool: str) -> None:
    names = TOOLS[tool].schema["properties"]
    for name in names:
        for other in tool_arguments.SPELLINGS.get(name, ()):
            others = [each for each in names if other in tool_arguments.SPELLINGS.get(each, ())]
            assert others == [name] or other in {each.lower().replace("_", "") for each in names}, (name, other, others)


def test_every_spelling_is_one_of_an_argument_that_some_tool_has() -> None:
    known = {name for tool in TOOLS.values() for name in tool.schema["properties"]} | {
        "first"
    }  # the organisation's server has it
    assert set(tool_arguments.SPELLINGS) <= known
    assert all(
        tool_arguments.folded(other) == other for others in tool_arguments.SPELLINGS.values() for other in others
    )


def accept(tool: str, **given: Any) -> dict[str, Any]:
    return tool_arguments.accepted(tool, TOOLS[tool].schema, given)


@pytest.mark.parametrize("name", ["maxResults", "limit", "n", "max_results", "top_k", "topK", "MAX-RESULTS", "k"])
@pytest.mark.parametrize("value", [5, "5", " 5 ", 5.0])
def test_the_number_of_results_is_read_in_every_common_spelling(name: str, value: Any) -> None:
    assert accept("memory_search", query="x", **{name: value}) == {"query": "x", "maxResults": 5}


@pytest.mark.parametrize(
    ("tool", "given", "read"),
    [
        ("memory_search", {"q": "배포"}, {"query": "배포"}),
        ("memory_search", {"query": "x", "at": None, "limit": None}, {"query": "x"}),
        ("memory_search", {"query": "x", "history": "true"}, {"query": "x", "history": True}),
        ("memory_get", {"file": "MEMORY.md", "start_line": 3, "end_line": "4"}, {"from": 3, "lines": 2}),
        ("memory_get", {"path": "MEMORY.md", "start": 3, "limit": 2}, {"from": 3, "lines": 2}),
        ("memory_get", {"path": "MEMORY.md", "endLine": 4}, {"lines": 4}),
        ("memory_why", {"path": "MEMORY.md", "start_line": "5"}, {"line": 5}),
        ("memory_context", {"paths": "src/app.py"}, {"paths": ["src/app.py"]}),
        ("memory_context", {"files": '["a.py", "b.py"]'}, {"paths": ["a.py", "b.py"]}),
        ("memory_session_set", {"key": "a:b", "value": "x", "hours": "1.5"}, {"hours": 1.5}),
        ("memory", {"command": "view", "path": "/memories", "view_range": None, "old_str": None}, {"command": "view"}),
        ("memory", {"command": "str_replace", "path": "x", "old_string": "a", "newStr": "b"}, {"old_str": "a", "new_str": "b"}),
    ],
)  # fmt: skip
def test_common_spellings_nulls_and_numbers_in_text_are_read(
    tool: str, given: dict[str, Any], read: dict[str, Any]
) -> None:
    accepted = accept(tool, **given)
    assert {**accepted, **read} == accepted and set(accepted) <= set(TOOLS[tool].schema["properties"])


TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("memory_search", {"query": "x", "colour": 1}, "unknown: 'colour' (memory_search takes query, maxResults, "),
        ("memory_search", {"query": "x", TOKEN: 1}, "memory_search takes"),
        ("memory_search", {}, "memory_search needs 'query' | a text, as in \"query\": "),
        ("memory_search", {"query": None}, "memory_search needs 'query'"),
        ("memory_search", {"query": 5}, "'query' takes a text, not a whole number"),
        ("memory_search", {"query": [TOKEN]}, "'query' takes a text, not a list"),
        ("memory_search", {"query": "x", "limit": TOKEN}, "'limit' takes a whole number from 1 to 50, not text"),
        ("memory_search", {"query": "x", "limit": 0}, "'limit' takes a whole number from 1 to 50 |"),
        ("memory_search", {"query": "x", "limit": True}, "'limit' takes a whole number from 1 to 50, not true or false"),
        ("memory_search", {"query": "x", "limit": 1, "n": 1}, "'limit' and 'n' are one argument of memory_search"),
        ("memory_search", {"query": "x", "limit": 1, "maxResults": 1}, "'limit' and 'maxResults' are one argument"),
        ("memory_get", {"path": "a", "lines": 1, "end_line": 2}, "'lines' and 'end_line' both say where to end"),
        ("memory_get", {"path": "a", "from": 5, "end_line": 2}, "'end_line' is 2, before the first line 5"),
        ("memory_get", {"path": "a", "from": 1.5}, "'from' takes a whole number from 1, not a number"),
        ("memory_session_set", {"key": "a:b", "value": "x", "hours": "nan"}, "'hours' takes a number above 0"),
        ("memory_session_set", {"key": "a:b", "value": "x", "hours": 1e999}, "'hours' takes a number above 0"),
        ("memory_confirm", {"path": "a", "line": 1, "quote": "x", "cites": ["a:1"] * 4}, "'cites' takes a list of at most 3"),
        ("memory_context", {"paths": [1]}, "'paths[0]' takes a text, not a whole number"),
        ("memory", {"command": "look"}, "'command' takes one of view, create, "),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_with_what_to_type_and_its_value_is_never_told(
    tool: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        accept(tool, **given)
    words = f"{caught.value.message} | {caught.value.hint}"
    assert said in words and TOKEN not in words and "pydantic" not in words
