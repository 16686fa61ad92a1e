"""Change values in the text of a JSON file and keep the rest of the text, with its white space, byte for byte. Pure.

Adding a member and removing it again restores the original bytes. An empty object (`{}`) that gets a member begins with
an empty line. By this line it is recognised as the person's own, and it stays as `{}` when the member is removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SPACE = re.compile(r"[ \t\r\n]*")
LAST_BREAK = re.compile(r"\r?\n[ \t]*\Z")  # the last line break and its indentation, without empty lines before it
WAS_EMPTY = re.compile(r"\{\r?\n\r?\n")  # beginning of an object that was empty before a member was added
INDENT = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value and its place in the text, from `start` up to `end`. `members`: the members of an object or a
    list."""

    value: Any
    start: int
    end: int
    members: tuple[_Member, ...] = ()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object or list. `key`: "" in a list. `start`: where the key begins, or in a list the value."""

    key: str
    start: int
    node: _Node


def edited(text: str, value: Mapping[str, Any]) -> str:
    """The JSON text changed so that its value is `value`, with the layout kept. The members of an object get the order
    that they have in `value`. Raises ValueError if `text` is not JSON."""
    start = _after_space(text, 0)
    node = _node(text, start)
    indent = INDENT.search(text)
    unit = indent[1] if indent else "  "
    return text[:start] + _rendered(text, node, value, unit, "\n") + text[node.end :]


def was_empty(text: str, *keys: str) -> bool:
    """Whether the object below these keys (without keys the whole value) is empty, or was empty before `edited` added a
    member; False if there is no such object. Raises ValueError if the text is not JSON."""
    node = _node(text, _after_space(text, 0))
    for key in keys:
        value_node = next((member.node for member in node.members if member.key == key), None)
        if value_node is None:
            return False
        node = value_node
    return node.value == {} or WAS_EMPTY.match(text, node.start) is not None


def _after_space(text: str, index: int) -> int:
    """The index of the first character from `index` on that is not white space."""
    match = SPACE.match(text, index)
    assert match is not None  # it matches the empty text
    return match.end()


def _node(text: str, start: int) -> _Node:
    """The value that begins at `start`. Raises ValueError if there is no valid JSON."""
    value, end = json.JSONDecoder().raw_decode(text, start)
    if isinstance(value, (dict, list)) and value:
        return _Node(value, start, end, tuple(_members(text, start, isinstance(value, dict))))
    return _Node(value, start, end)


def _members(text: str, index: int, keyed: bool) -> Iterator[_Member]:
    """The members of the object or list that begins at `index`. `keyed`: it is an object."""
    while text[index] not in "]}":
        start = value_start = _after_space(text, index + 1)
        key = ""
        if keyed:
            key, end = json.JSONDecoder().raw_decode(text, start)
            value_start = _after_space(text, _after_space(text, end) + 1)
        node = _node(text, value_start)
        yield _Member(key, start, node)
        index = _after_space(text, node.end)


def _rendered(text: str, node: _Node, value: Any, unit: str, line: str) -> str:
    """The text of a node with another value. `unit`: one level of indentation. `line`: the line break and indentation
    of the line that the node is on."""
    if node.value == value and type(node.value) is type(value):
        return text[node.start : node.end]
    if node.value == {} and isinstance(value, dict) and value:
        return "{\n" + _fresh(value, unit, line).removeprefix("{")
    if not node.members or type(node.value) is not type(value) or not value:
        return _fresh(value, unit, line)
    first, last = node.members[0], node.members[-1]
    lead = text[node.start + 1 : first.start]
    line_break = LAST_BREAK.search(lead)
    inner = line_break[0] if line_break else " "
    pieces: list[str] = []
    for old, new_key, new in _paired(node, value):
        if old is None:
            key = f"{json.dumps(new_key, ensure_ascii=False)}: " if isinstance(value, dict) else ""
            if "\n" in inner:
                body = key + _fresh(new, unit, inner)
            else:
                body = key + json.dumps(new, ensure_ascii=False)
            before, after = inner if pieces else lead, ""
        else:
            body = text[old.start : old.node.start] + _rendered(text, old.node, new, unit, inner)
            before, after = _around(text, node, old)
            if not pieces and WAS_EMPTY.match(text, node.start):
                before = lead  # the first member was removed; keep the empty line before it
        pieces.append(before + body + after)
    return text[node.start] + ",".join(pieces) + text[last.node.end : node.end]


def _around(text: str, node: _Node, member: _Member) -> tuple[str, str]:
    """(white space before a member, from the comma on; white space after it, up to its comma). The second is "" for the
    last member, since that white space belongs to the end of the object."""
    index = node.members.index(member)
    start, after = node.start + 1, ""
    if index > 0:
        start = _after_space(text, node.members[index - 1].node.end) + 1
    if member is not node.members[-1]:
        after = text[member.node.end : _after_space(text, member.node.end)]
    return text[start : member.start], after


def _paired(node: _Node, value: Any) -> Iterator[tuple[_Member | None, str, Any]]:
    """(old member or None, key, new value) for each member of the new value. Members of an object are paired by key,
    those of a list by equal values in order."""
    if isinstance(value, dict):
        by_key = {member.key: member for member in node.members}
        yield from ((by_key.get(key), key, new) for key, new in value.items())
        return
    unpaired = list(node.members)
    for new in value:
        index = next((index for index, member in enumerate(unpaired) if member.node.value == new), None)
        if index is None:
            yield None, "", new
        else:
            yield unpaired[index], "", new
            unpaired = unpaired[index + 1 :]


def _fresh(value: Any, unit: str, line: str) -> str:
    """The text of a new value. Its lines after the first begin with `line`, if that contains a line break."""
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line if "\n" in line else "\n")
