"""Reads the front matter of a file: the YAML between the two `---` lines at its top, as strings and lists of strings.

Pure; no input makes `read` raise: a defect is reported in `FrontMatter.fault`. Plain `key: value` lines need no YAML
parser. All other YAML is refused if it has aliases, tags, repeated keys or deep nesting, so that no file can make the
parser run long (docs/threats.md, A24).
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

MAX_FRONT_MATTER_CHARACTERS = 64 << 10
MAX_BRACKETS = 512  # `[` and `{` in one front matter
MAX_NESTING_MARKS = 64  # `[`, `{`, `?` and `-` on one line: PyYAML's time grows with the square of the depth

Value = str | tuple[str, ...]


class FrontMatter(NamedTuple):
    """A front matter.

    `end`: the line that closes it, 0 for a file without one. `keys`: its values by key; empty if it is faulty. `fault`:
    the defect as the end of a sentence ("is not valid YAML"), "" without one.
    """

    end: int = 0
    keys: Mapping[str, Value] = {}
    fault: str = ""


def items_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """The items of a front matter value: those of a list, or the text itself as the only one."""
    return (value,) if isinstance(value, str) else tuple(value)


def closing_line(lines: Sequence[str]) -> int:
    """The number of the line that closes the front matter; 0 if the file has none or never closes it."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def read(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a file's lines (without their ends). Dates and numbers stay strings, objects are left
    out."""
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
    """The whole front matter that ends on line `end`, with nested lists and objects; all scalars are strings. {} if it
    is not a mapping.

    Call this only if `read` found no fault, because it does not check for YAML that is slow to parse.
    """
    import yaml

    value = yaml.load("\n".join(lines[1 : end - 1]), Loader=yaml.BaseLoader)  # strings only
    if not isinstance(value, dict):
        return {}
    return {str(key): item for key, item in value.items()}


_STATED = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")


def stated_values(data: bytes, keys: Container[str]) -> tuple[tuple[str, str], ...]:
    """The (key, value) pairs of a file's front matter for `keys`, only keys without indentation, in order; () without
    any. Only the first MAX_FRONT_MATTER_CHARACTERS bytes are read.

    The function reads line by line, so that an `origin` in a faulty front matter still counts. Each item of a list
    gives one pair; other YAML is not understood. No YAML parser is called, because callers read thousands of notes.
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
            listed = row[1] if not text else ""
            parts = text.removeprefix("[").removesuffix("]").split(",")
            values += [(row[1], part.strip().strip("\"'")) for part in parts if part.strip()]
        elif listed and line.strip().startswith("- "):
            values.append((listed, line.strip().removeprefix("- ").strip().strip("\"'")))
        elif line.strip():
            listed = ""
    return tuple(values)


_SURROGATE = re.compile("[\ud800-\udfff]")  # YAML's `"\ud800"` makes one; UTF-8 cannot hold it
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ ]+(.*))?$")
_ITEM = re.compile(r"[ ]*-[ ]+(.*)$")
_QUOTED = re.compile(r"\"[^\"\\,]{0,500}\"$|'[^',]{0,500}'$")  # without a comma, which would split an item of a list
_SCALAR = re.compile(r"[^\s\[\]{}&*!|>'\"%@`#,?:-][^\[\]{}#:'\"\\]*$|^-?\d[\w.:+-]*$")


def _plain(body: Sequence[str]) -> dict[str, Value] | None:
    """Read `key: plain value`, `key: [a, b]`, and `key:` with `- item` lines. None for YAML with anything else."""
    keys: dict[str, Value] = {}
    listed = ""  # the key whose `- item` lines may follow
    for line in filter(None, map(str.rstrip, body)):
        if listed and (item := _ITEM.match(line)):
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
        listed = match[1] if not text else ""
    return keys


def _value(text: str) -> Value | None:
    """The value after `key:`: a tuple for `[a, b]`, else the text of the scalar; None if it needs a YAML parser."""
    if not text:
        return ""
    if not text.startswith("[") or not text.endswith("]"):
        return _scalar(text)
    if not text[1:-1].strip():
        return ()
    parts = [_scalar(part.strip()) for part in text[1:-1].split(",")]
    scalars = tuple(part for part in parts if part is not None)
    return None if len(scalars) != len(parts) else scalars


def _scalar(text: str) -> str | None:
    """The text of a plain or quoted scalar without escapes; None for any other YAML."""
    if _QUOTED.match(text):
        return text[1:-1]
    if _SCALAR.match(text):
        return text
    return None


def _yaml(text: str) -> tuple[dict[str, Value], str]:
    """Parse YAML: (keys, "") or ({}, fault); the fault ends a sentence ("is not valid YAML"). All scalars stay strings,
    a list of scalars becomes a tuple; keys with nested values are left out. YAML that is large, deep or no mapping, or
    has an alias, a tag or a repeated key, is a fault too. Never raises."""
    if len(text) > MAX_FRONT_MATTER_CHARACTERS:
        return {}, "is larger than 64 KB"
    deep = any(sum(map(line.count, "[{?-")) > MAX_NESTING_MARKS for line in text.split("\n"))
    if deep or text.count("[") + text.count("{") > MAX_BRACKETS:
        return {}, "is nested too deep"
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
    texts = [*keys, *(text for value in keys.values() for text in items_of(value))]
    if any(map(_SURROGATE.search, texts)):
        return {}, "escapes half a character"
    return keys, ""


def _fault(yaml: Any, text: str) -> str:
    """The reason why valid YAML is refused: it has an alias or a tag, it is not a mapping at the top, or a key is
    repeated. "" for YAML that is accepted."""
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
    return "" if len(set(names)) == len(names) else "has a key twice"
