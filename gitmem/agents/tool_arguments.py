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
    by_name: dict[str, tuple[str, Any]] = {}  # the tool's own name -> the spelling, the value
    unknown = []
    for spelled, value in arguments.items():
        name = spelled if spelled in properties else names.get(folded(spelled), "")
        if value is None and (name or spelled in properties):
            continue
        if not name:
            unknown.append(spelled)
        elif name in by_name:
            raise UsageError(f"'{by_name[name][0]}' and '{spelled}' are one argument of {tool}", f"give '{name}' alone")
        else:
            by_name[name] = spelled, value
    if unknown:
        raise UsageError(f"unknown: {_quoted(unknown)} ({tool} takes {', '.join(properties) or 'no arguments'})")
    values = {name: _checked(spelled, properties.get(name, WHOLE), value) for name, (spelled, value) in by_name.items()}
    values = _with_last_line(values, by_name, "first" if "first" in properties else "from")
    for name in schema.get("required", ()):
        if name not in values:
            raise UsageError(
                f"{tool} needs '{name}'", f"{_expected(properties[name])}, as in {_example(name, properties[name])}"
            )
    return values


def respelled(schema: Schema, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Spelling in a call -> the tool's own name, for the arguments that `accepted` reads under another name. A last
    line is left out, since no argument of the tool is its number."""
    properties = schema.get("properties", {})
    names = spellings(properties)
    names_read = {spelled: names.get(folded(spelled), "") for spelled in arguments if spelled not in properties}
    return {spelled: name for spelled, name in names_read.items() if name not in ("", END)}


def spellings(properties: Mapping[str, Schema]) -> dict[str, str]:
    """Folded spelling -> the tool's own name of the argument, for all arguments of a tool. The tool's own names take
    precedence."""
    own_names = {folded(name): name for name in properties}
    alternatives = {spelling: name for name in properties for spelling in SPELLINGS.get(name, ())}
    has_range = "lines" in properties and ("from" in properties or "first" in properties)
    last = dict.fromkeys(LAST_LINE, END) if has_range else {}
    return {**last, **alternatives, **own_names}


def _with_last_line(values: dict[str, Any], by_name: Mapping[str, tuple[str, Any]], begins: str) -> dict[str, Any]:
    """The arguments with `lines` computed from the number of the last line, if a spelling of LAST_LINE was given.
    `begins`: name of the argument with the first line. Removes the number of the last line (END) from `values`.

    Raises UsageError if `lines` is given too, or if the last line is before the first.
    """
    if END not in values:
        return values
    last, spelled = values.pop(END), by_name[END][0]
    if "lines" in values:
        raise UsageError(f"'{by_name['lines'][0]}' and '{spelled}' both say where to end", "give one of them")
    first = values.get(begins, 1)
    if last < first:
        raise UsageError(f"'{spelled}' is {last}, before the first line {first}", f'"from": {last}, "lines": 1')
    return {**values, "lines": last - first + 1}


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
    remaining = len(names) - MAX_SHOWN_NAMES
    return f"{shown} and {remaining} more" if remaining > 0 else shown


def _checked(name: str, schema: Schema, value: Any) -> Any:
    """A value converted to the type of its schema; numbers, booleans and lists are also read from text. `name`: of the
    argument, for errors. Raises UsageError for a value of another type or outside the schema's limits."""
    schema = plain(schema)
    json_type = schema.get("type")
    converted = _converted(json_type, value)
    if not _has_type(json_type, converted):
        kind = next((words for kind, words in KINDS.items() if type(value) is kind), "something else")
        raise UsageError(f"'{name}' takes {_expected(schema)}, not {kind}", f"as in {_example(name, schema)}")
    if not all(_limits_kept(schema, converted)):
        raise UsageError(f"'{name}' takes {_expected(schema)}", f"as in {_example(name, schema)}")
    if json_type == "array":
        return [_checked(f"{name}[{index}]", schema["items"], item) for index, item in enumerate(converted)]
    if json_type == "object":
        return accepted(name, schema, converted)
    return converted


def plain(schema: Schema) -> Schema:
    """A schema `X or null` as the schema `X`; any other schema unchanged."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return {**schema, **choices[0]} if len(choices) == 1 else schema


def _converted(json_type: Any, value: Any) -> Any:
    """A value converted to the JSON Schema type `json_type`; unchanged if it cannot be converted.

    A single text or object becomes a list of it; 3.0 becomes 3; a text is read as a number, a boolean, or the JSON of a
    list or object.
    """
    if json_type == "array" and isinstance(value, str | dict) and not _begins(value, "["):
        return [value]
    if isinstance(value, float) and json_type == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str) or json_type == "string":
        return value
    word = value.strip()
    if json_type == "boolean":
        return {"true": True, "false": False}.get(word.lower(), value)
    if json_type == "integer" and len(word) <= 18 and word.removeprefix("-").isdecimal():
        return int(word)
    try:
        if json_type == "number":
            if len(word) <= 40:
                return float(word)
            return value
        if json_type in ("array", "object"):
            return parse_json(value)
        return value
    except ValueError:
        return value


def _begins(value: Any, sign: str) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(sign)


def _has_type(json_type: Any, value: Any) -> bool:
    """Whether a value has the JSON Schema type `json_type`; True for an unknown type."""
    if isinstance(value, bool):
        return json_type in ("boolean", None)
    kinds: dict[Any, type | tuple[type, ...]] = {
        "string": str, "integer": int, "number": (int, float), "array": list, "object": dict, "boolean": bool,
    }  # fmt: skip
    return isinstance(value, kinds.get(json_type, object))


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
        lower_limit = ""
        if "minimum" in schema:
            lower_limit = f" from {schema['minimum']}"
        if "exclusiveMinimum" in schema:
            lower_limit = f" above {schema['exclusiveMinimum']}"
        return words + lower_limit + (f" to {schema['maximum']}" if "maximum" in schema else "")
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
