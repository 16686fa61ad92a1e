"""Read the arguments of a tool call: accept other spellings of their names, check types and limits, and word all
errors.

An unknown argument is an error that names it and the tool's arguments, because a tool that ignored it would answer
another question. Errors quote names of arguments but never values, which may be secrets in the wrong field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitmem.errors import UsageError
from gitmem.json_values import parse_json

Schema = Mapping[str, Any]  # JSON Schema with `type`, `enum`, `items`, `properties`, `required` and limits
MAX_QUOTED_CHARACTERS = 40  # characters of the name of an unknown argument in an error
MAX_SHOWN_NAMES = 10  # unknown arguments that an error names
# Name of an argument -> its spellings by other tools and models, compared without case, `_` and `-`. No spelling stands
# for two arguments of one tool (tested).
SPELLINGS: dict[str, tuple[str, ...]] = {
    "query": ("q", "question", "search", "searchquery", "text", "prompt"),
    "maxResults": ("limit", "n", "k", "topk", "count", "maxhits", "numresults", "size"),
    "at": ("ref", "revision", "commit", "asof"),
    "since": ("after", "startdate", "datefrom"),
    "until": ("before", "enddate", "dateto"),
    "path": ("file", "filepath", "filename"),
    "from": ("start", "startline", "first", "firstline", "line"),
    "first": ("start", "startline", "from", "firstline", "line"),
    "line": ("linenumber", "startline"),
    "lines": ("n", "limit", "count", "numlines", "linecount"),
    "text": ("content", "fact", "note", "memory"),
    "value": ("text", "content"),
    "type": ("kind", "category"),
    "quote": ("quotation", "text"),
    "paths": ("files",),
    "range": ("commits", "revisionrange"),
    "hours": ("ttl", "ttlhours"),
    "budget": ("maxtokens", "tokens"),
    "key": ("prefix", "name"),
    "old_str": ("oldstring", "oldtext"),
    "new_str": ("newstring", "newtext"),
}
LAST_LINE = ("end", "endline", "last", "lastline", "to")  # spellings of a last line, for tools with `lines`
WHOLE: Schema = {"type": "integer", "minimum": 1}
END = "(last line)"  # stands for LAST_LINE until `lines` is computed from it
KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def accepted(tool: str, schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of the tool `tool` as tool argument -> value, checked and converted to the types of
    `schema`. A null argument is left out; other spellings of a name are replaced by the tool's own. Raises UsageError
    for an unknown, repeated, missing or invalid argument."""
    properties: Mapping[str, Schema] = schema.get("properties", {})
    names = spellings(properties)
    given: dict[str, tuple[str, Any]] = {}  # the tool's own name -> the spelling, the value
    unknown = []
    for spelled, value in arguments.items():
        name = spelled if spelled in properties else names.get(folded(spelled), "")
        if value is None and (name or spelled in properties):
            continue
        if not name:
            unknown.append(spelled)
        elif name in given:
            raise UsageError(f"'{given[name][0]}' and '{spelled}' are one argument of {tool}", f"give '{name}' alone")
        else:
            given[name] = spelled, value
    if unknown:
        raise UsageError(f"unknown: {_quoted(unknown)} ({tool} takes {', '.join(properties) or 'no arguments'})")
    read = {name: _checked(spelled, properties.get(name, WHOLE), value) for name, (spelled, value) in given.items()}
    read = _with_last_line(read, given, "first" if "first" in properties else "from")
    for name in schema.get("required", ()):
        if name not in read:
            raise UsageError(
                f"{tool} needs '{name}'", f"{_expected(properties[name])}, as in {_example(name, properties[name])}"
            )
    return read


def respelled(schema: Schema, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Spelling in a call -> the tool's own name, for the arguments that `accepted` reads under another name. A last
    line is left out, since no argument of the tool is its number."""
    properties = schema.get("properties", {})
    names = spellings(properties)
    read = {spelled: names.get(folded(spelled), "") for spelled in arguments if spelled not in properties}
    return {spelled: name for spelled, name in read.items() if name not in ("", END)}


def spellings(properties: Mapping[str, Schema]) -> dict[str, str]:
    """Folded spelling -> the tool's own name of the argument, for all arguments of a tool. The tool's own names take
    precedence."""
    own = {folded(name): name for name in properties}
    others = {other: name for name in properties for other in SPELLINGS.get(name, ())}
    has_range = "lines" in properties and ("from" in properties or "first" in properties)
    last = dict.fromkeys(LAST_LINE, END) if has_range else {}
    return {**last, **others, **own}


def _with_last_line(read: dict[str, Any], given: Mapping[str, tuple[str, Any]], begins: str) -> dict[str, Any]:
    """The arguments with `lines` computed from the number of the last line, if a spelling of LAST_LINE was given.
    `begins`: name of the argument with the first line. Removes the number of the last line (END) from `read`.

    Raises UsageError if `lines` is given too, or if the last line is before the first.
    """
    if END not in read:
        return read
    last, spelled = read.pop(END), given[END][0]
    if "lines" in read:
        raise UsageError(f"'{given['lines'][0]}' and '{spelled}' both say where to end", "give one of them")
    first = read.get(begins, 1)
    if last < first:
        raise UsageError(f"'{spelled}' is {last}, before the first line {first}", f'"from": {last}, "lines": 1')
    return {**read, "lines": last - first + 1}


def folded(name: str) -> str:
    """A name in lower case without `_` and `-`, for comparison."""
    return name.lower().replace("_", "").replace("-", "")


def _quoted(names: list[str]) -> str:
    """The names of unknown arguments for an error, without secrets: at most MAX_SHOWN_NAMES, each cut after
    MAX_QUOTED_CHARACTERS, and the number of the others."""
    from gitmem.gate.quoting import one_line, without_secrets

    shown = ", ".join(
        f"'{one_line(name)[:MAX_QUOTED_CHARACTERS]}'" for name in without_secrets(names[:MAX_SHOWN_NAMES])
    )
    more = len(names) - MAX_SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _checked(name: str, schema: Schema, value: Any) -> Any:
    """A value converted to the type of its schema; numbers, booleans and lists are also read from text. `name`: of the
    argument, for errors. Raises UsageError for a value of another type or outside the schema's limits."""
    schema = plain(schema)
    wanted = schema.get("type")
    read = _converted(wanted, value)
    if not _has_type(wanted, read):
        kind = next((words for kind, words in KINDS.items() if type(value) is kind), "something else")
        raise UsageError(f"'{name}' takes {_expected(schema)}, not {kind}", f"as in {_example(name, schema)}")
    if not all(_limits_kept(schema, read)):
        raise UsageError(f"'{name}' takes {_expected(schema)}", f"as in {_example(name, schema)}")
    if wanted == "array":
        return [_checked(f"{name}[{at}]", schema["items"], item) for at, item in enumerate(read)]
    if wanted == "object":
        return accepted(name, schema, read)
    return read


def plain(schema: Schema) -> Schema:
    """A schema `X or null` as the schema `X`; any other schema unchanged."""
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**schema, **choices[0]} if len(choices) == 1 else schema


def _converted(wanted: Any, value: Any) -> Any:
    """A value converted to the JSON Schema type `wanted`; unchanged if it cannot be converted.

    A single text or object becomes a list of it; 3.0 becomes 3; a text is read as a number, a boolean, or the JSON of a
    list or object.
    """
    if wanted == "array" and isinstance(value, str | dict) and not _begins(value, "["):
        return [value]
    if isinstance(value, float) and wanted == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str) or wanted == "string":
        return value
    word = value.strip()
    if wanted == "boolean":
        return {"true": True, "false": False}.get(word.lower(), value)
    if wanted == "integer" and len(word) <= 18 and word.removeprefix("-").isdecimal():
        return int(word)
    try:
        if wanted == "number":
            if len(word) <= 40:
                return float(word)
            return value
        if wanted in ("array", "object"):
            return parse_json(value)
        return value
    except ValueError:
        return value


def _begins(value: Any, sign: str) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(sign)


def _has_type(wanted: Any, value: Any) -> bool:
    """Whether a value has the JSON Schema type `wanted`; True for an unknown type."""
    if isinstance(value, bool):
        return wanted in ("boolean", None)
    kinds: dict[Any, type | tuple[type, ...]] = {
        "string": str, "integer": int, "number": (int, float), "array": list, "object": dict, "boolean": bool,
    }  # fmt: skip
    return isinstance(value, kinds.get(wanted, object))


def _limits_kept(schema: Schema, value: Any) -> Iterator[bool]:
    """For each limit of a schema: whether the value keeps it. NaN and infinity keep none."""
    if "enum" in schema:
        yield value in schema["enum"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value == value and abs(value) != float("inf")
        yield value >= schema.get("minimum", value)
        yield value <= schema.get("maximum", value)
        yield "exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"]
    if isinstance(value, list):
        yield len(value) <= schema.get("maxItems", len(value))


def _expected(schema: Schema) -> str:
    """A phrase that says which values an argument takes, for an error."""
    schema = plain(schema)
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    kind = schema.get("type")
    if kind in ("integer", "number"):
        words = "a whole number" if kind == "integer" else "a number"
        low = ""
        if "minimum" in schema:
            low = f" from {schema['minimum']}"
        if "exclusiveMinimum" in schema:
            low = f" above {schema['exclusiveMinimum']}"
        return words + low + (f" to {schema['maximum']}" if "maximum" in schema else "")
    if kind == "array":
        limit = f" of at most {schema['maxItems']}" if "maxItems" in schema else ""
        return f"a list{limit}"
    return {"string": "a text", "boolean": "true or false", "object": "an object"}.get(str(kind), "a value")


def _example(name: str, schema: Schema) -> str:
    """A JSON member with an example value, for an error."""
    return f'"{name}": {json.dumps(_example_value(plain(schema)), ensure_ascii=False)}'


def _example_value(schema: Schema) -> Any:
    """A value that the schema accepts."""
    schema = plain(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return schema.get("default") or max(schema.get("minimum", 1), min(5, schema.get("maximum", 5)))
    if kind == "array":
        return [_example_value(schema["items"])]
    if kind == "object":
        return {name: _example_value(schema["properties"][name]) for name in schema.get("required", ())}
    return {"boolean": True, "string": "..."}.get(str(kind), "...")
