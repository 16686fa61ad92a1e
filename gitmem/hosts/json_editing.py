"""A JSON file with another value, its text elsewhere untouched: a person's file keeps its spaces, and loses ours whole.

What was added and is taken out again leaves the bytes that were there before. An object in which a person had nothing
(`{}`) is theirs all the same: its first line stays empty while something stands in it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SPACE = re.compile(r"[ \t\r\n]*")
LAST_BREAK = re.compile(r"\r?\n[ \t]*\Z")  # without the empty lines before it
HELD_NOTHING = re.compile(r"\{\r?\n\r?\n")  # how an object begins that was empty before
INDENT = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class _Node:
    """A value in the text, from `start` to `end`, and the members of an object or a list."""

    value: Any
    start: int
    end: int
    members: tuple[_Member, ...] = ()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member: its key ("" in a list), where it begins (its key does), and its node."""

    key: str
    start: int
    node: _Node


def edited(text: str, value: Mapping[str, Any]) -> str:
    """The text of a JSON file so that it says `value`; `text` is a JSON object. Raises ValueError where it is none."""
    start = _after_space(text, 0)
    node = _node(text, start)
    unit = INDENT.search(text)
    return text[:start] + _rendered(text, node, value, unit[1] if unit else "  ", "\n") + text[node.end :]


def is_persons_own(text: str, *keys: str) -> bool:
    """Whether the object below these keys (the whole without any) is empty in the text, or was before something was
    added to it (`edited`); False where there is none. Raises ValueError where the text is no JSON."""
    node = _node(text, _after_space(text, 0))
    for key in keys:
        found = next((member.node for member in node.members if member.key == key), None)
        if found is None:
            return False
        node = found
    return node.value == {} or HELD_NOTHING.match(text, node.start) is not None


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    if match:
        return match.end()
    return at


def _node(text: str, at: int) -> _Node:
    """The value that begins at `at`."""
    value, end = json.JSONDecoder().raw_decode(text, at)
    if isinstance(value, (dict, list)) and value:
        return _Node(value, at, end, tuple(_members(text, at, isinstance(value, dict))))
    return _Node(value, at, end)


def _members(text: str, at: int, keyed: bool) -> Iterator[_Member]:
    while text[at] not in "]}":
        start = _after_space(text, at + 1)
        if keyed:
            key, place = json.JSONDecoder().raw_decode(text, start)
        else:
            key, place = ("", start)
        node = _node(text, _after_space(text, _after_space(text, place) + 1) if keyed else start)
        yield _Member(key, start, node)
        at = _after_space(text, node.end)


def _rendered(text: str, node: _Node, value: Any, unit: str, line: str) -> str:
    """The node's text with another value; `line` is the line break and indentation it stands behind."""
    if node.value == value and type(node.value) is type(value):
        return text[node.start : node.end]
    if node.value == {} and isinstance(value, dict) and value:
        return "{\n" + _fresh(value, unit, line).removeprefix("{")
    if not node.members or type(node.value) is not type(value) or not value:
        return _fresh(value, unit, line)
    first, last = node.members[0], node.members[-1]
    lead = text[node.start + 1 : first.start]
    broken = LAST_BREAK.search(lead)
    inner = " "
    if broken:
        inner = broken[0]
    pieces: list[str] = []
    for old, new_key, new in _paired(node, value):
        if old is None:
            key = ""
            if isinstance(value, dict):
                key = f"{json.dumps(new_key, ensure_ascii=False)}: "
            body = key + (_fresh(new, unit, inner) if "\n" in inner else json.dumps(new, ensure_ascii=False))
            before, after = (inner if pieces else lead), ""
        else:
            body = text[old.start : old.node.start] + _rendered(text, old.node, new, unit, inner)
            before, after = _around(text, node, old)
            if not pieces and HELD_NOTHING.match(text, node.start):
                before = lead  # the first one has gone, and the empty line stays
        pieces.append(before + body + after)
    return text[node.start] + ",".join(pieces) + text[last.node.end : node.end]


def _around(text: str, node: _Node, member: _Member) -> tuple[str, str]:
    """The spaces before a member and behind it, up to its comma; those behind the last one are the object's."""
    at = node.members.index(member)
    if at == 0:
        before = node.start + 1
    else:
        before = _after_space(text, node.members[at - 1].node.end) + 1
    if member is node.members[-1]:
        after = ""
    else:
        after = text[member.node.end : _after_space(text, member.node.end)]
    return text[before : member.start], after


def _paired(node: _Node, value: Any) -> Iterator[tuple[_Member | None, str, Any]]:
    """The members of the new value, each with the old one that it was: by key, in a list by what it says."""
    if isinstance(value, dict):
        known = {member.key: member for member in node.members}
        yield from ((known.get(key), key, new) for key, new in value.items())
        return
    left = list(node.members)
    for new in value:
        at = next((at for at, member in enumerate(left) if member.node.value == new), None)
        yield (None if at is None else left[at]), "", new
        if at is not None:
            left = left[at + 1 :]


def _fresh(value: Any, unit: str, line: str) -> str:
    """A value as a text of its own, its further lines indented as `line` is."""
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line if "\n" in line else "\n")
