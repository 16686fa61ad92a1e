"""The front matter of a file: the YAML between the two `---` at its top, as strings and lists of strings.

Pure, and never fails: what cannot be read is a sentence. The common case needs no YAML parser; the rest is read without
aliases, tags, repeated keys and deep nesting, so that no file can make it run long (docs/threats.md, A24).
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

MAX_FRONT_MATTER_CHARACTERS = 64 << 10  # characters

Value = str | tuple[str, ...]


class FrontMatter(NamedTuple):
    """`end` is the line that closes it, 0 without one; `fault` what is wrong with it, "" where nothing is."""

    end: int = 0
    keys: Mapping[str, Value] = {}
    fault: str = ""


def closing_line(lines: Sequence[str]) -> int:
    """The number of the line that closes the front matter, 0 where the file has none or it is never closed."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def read(lines: Sequence[str]) -> FrontMatter:
    """The front matter of a file's lines (without their ends). No dates, no objects: values are strings and lists."""
    end = closing_line(lines)
    if not end:
        return FrontMatter()
    body = lines[1 : end - 1]
    plain = _plain(body)
    if plain is not None:
        return FrontMatter(end, plain)
    keys, fault = _yaml("\n".join(body))
    return FrontMatter(end, keys, fault)


def nested(lines: Sequence[str], end: int) -> dict[str, Any]:
    """The whole of a front matter that `read` found no fault with: strings, lists and objects of them."""
    import yaml

    value = yaml.load("\n".join(lines[1 : end - 1]), Loader=yaml.BaseLoader)  # strings only
    if not isinstance(value, dict):
        return {}
    return {str(key): item for key, item in value.items()}


_STATED = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")


def stated_values(data: bytes, keys: Container[str]) -> tuple[tuple[str, str], ...]:
    """Each value that a file states for one of `keys` at the margin of its front matter, in order; () without one.

    Read line by line, also where `read` finds a fault and gives nothing: an origin that a broken front matter states
    counts all the same. Plain values and lists only, a comma between two; no YAML, since thousands of notes are asked.
    """
    if not data.startswith((b"---", b"\xef\xbb\xbf---")):
        return ()
    lines = data[:MAX_FRONT_MATTER_CHARACTERS].decode("utf-8", "replace").split("\n")
    body = "\n".join(lines[1 : max(closing_line(lines) - 1, 1)])
    values: list[tuple[str, str]] = []
    listed = ""  # the key whose `- item` lines may follow
    for line in body.splitlines():
        row = _STATED.match(line)
        if row and row[1] in keys:
            text = row[2].strip()
            if text:
                listed = ""
            else:
                listed = row[1]
            parts = text.removeprefix("[").removesuffix("]").split(",")
            values += [(row[1], part.strip().strip("\"'")) for part in parts if part.strip()]
        elif listed and line.strip().startswith("- "):
            values.append((listed, line.strip().removeprefix("- ").strip().strip("\"'")))
        elif line.strip():
            listed = ""
    return tuple(values)


_HALF = re.compile("[\ud800-\udfff]")  # what `"\ud800"` of YAML gives: no text that can be written
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ ]+(.*))?$")
_ITEM = re.compile(r"[ ]*-[ ]+(.*)$")
_QUOTED = re.compile(r"\"[^\"\\,]{0,500}\"$|'[^',]{0,500}'$")  # a comma could end it inside a list
_SCALAR = re.compile(r"[^\s\[\]{}&*!|>'\"%@`#,?:-][^\[\]{}#:'\"\\]*$|^-?\d[\w.:+-]*$")


def _plain(body: Sequence[str]) -> dict[str, Value] | None:
    """The common case: `key: plain value`, `key: [a, b]`, `key:` with `- item` lines. None for any other."""
    keys: dict[str, Value] = {}
    listed = ""  # the key whose `- item` lines may follow
    for line in filter(None, map(str.rstrip, body)):
        item = None
        if listed:
            item = _ITEM.match(line)
        if item:
            scalar = _scalar(item[1])
            if scalar is None:
                return None
            keys[listed] = (*keys[listed], scalar)
            continue
        match = _KEY.match(line)
        if match is None or match[1] in keys:
            return None
        text = (match[2] or "").strip()
        value = _value(text)
        if value is None:
            return None
        keys[match[1]] = value
        if text:
            listed = ""
        else:
            listed = match[1]
    return keys


def _value(text: str) -> Value | None:
    """`[a, b]` as a tuple, one scalar as its text, "" for nothing yet; None for what needs YAML."""
    if not text.startswith("[") or not text.endswith("]"):
        if not text:
            return ""
        return _scalar(text)
    if text[1:-1].strip():
        parts = [_scalar(part.strip()) for part in text[1:-1].split(",")]
    else:
        parts = []
    scalars = tuple(part for part in parts if part is not None)
    if len(scalars) != len(parts):
        return None
    return scalars


def _scalar(text: str) -> str | None:
    """A plain or quoted scalar whose text is what stands there, None for any other."""
    if _QUOTED.match(text):
        return text[1:-1]
    if not _SCALAR.match(text):
        return None
    return text


def _yaml(text: str) -> tuple[dict[str, Value], str]:
    """(its keys, "") or ({}, what is wrong). All scalars stay strings; deeper values have no meaning to us."""
    if len(text) > MAX_FRONT_MATTER_CHARACTERS:
        return {}, "is larger than 64 KB"
    deep = any(sum(map(line.count, "[{?-")) > 64 for line in text.split("\n"))
    if deep or text.count("[") + text.count("{") > 512:
        return {}, "is nested too deep"  # PyYAML's time grows with the square of the depth
    import yaml

    try:
        fault = _fault(yaml, text)
        if fault:
            return {}, fault
        loaded = yaml.load(text, Loader=yaml.BaseLoader)  # makes strings, lists and dicts only
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, "is not valid YAML"
    keys: dict[str, Value] = {}
    for name, value in (loaded or {}).items():
        if isinstance(value, str):
            keys[str(name)] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            keys[str(name)] = tuple(value)
    texts = [*keys, *(text for value in keys.values() for text in ([value] if isinstance(value, str) else value))]
    if any(map(_HALF.search, texts)):
        return {}, "escapes half a character"
    return keys, ""


def _fault(yaml: Any, text: str) -> str:
    """What YAML allows and we do not: aliases, tags, no mapping at the top, a key twice. "" where it is none of it."""
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent):
            return "uses a YAML alias"
        if getattr(event, "tag", None) not in (None, "!"):
            return "uses a YAML tag"
    node = yaml.compose(text, Loader=yaml.BaseLoader)
    if node is None:
        return ""
    if not isinstance(node, yaml.MappingNode):
        return "is no list of keys"
    names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    if len(set(names)) == len(names):
        return ""
    return "has a key twice"
