"""Reads JSON, and turns values into what `json.dumps` accepts: NamedTuples, dataclasses, enums, paths and dates.

A class whose JSON has not all of its fields, or names them otherwise, lists its keys with `json_keys`. `json_schema`
describes the same keys as a JSON schema. This module imports nothing that `git mem search` does not load anyway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError for any other text, and for one that is nested too deeply to read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def parse_json_object(text: str | bytes) -> dict[str, Any]:
    """The object of a JSON text. Raises ValueError for any other JSON value, for a text that is no JSON, and for one
    that is nested too deeply to read."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


class Key(NamedTuple):
    """A key of a JSON object. `attribute`: the attribute that has its value, with dots for an attribute of that value
    (`fact.line`). `or_null`: an empty value, 0 or False is written as null. `optional`: the key is left out for such a
    value."""

    name: str
    attribute: str
    or_null: bool = False
    optional: bool = False


def json_keys(names: str) -> Callable[[Class], Class]:
    """A class decorator that lists the keys of the class's JSON, in order.

    `names`: the keys, with spaces between them. `name?` is null where its attribute is empty, 0 or False, `[name]` is
    left out there, and `name=attribute` has the value of an attribute of another name. A dot goes on to an attribute of
    that value, and to null where the value is None: `line=fact.line`.
    """

    def with_keys(cls: Class) -> Class:
        cls.json_keys = keys_of(names)  # type: ignore[attr-defined]
        return cls

    return with_keys


@cache
def keys_of(names: str) -> tuple[Key, ...]:
    """The keys in a text such as `id [day] line=fact.line`, in the notation of `json_keys`; () for ""."""
    keys = []
    for spelled in names.split():
        name, _, attribute = spelled.strip("[]?").partition("=")
        keys.append(Key(name, attribute or name, spelled.endswith("?"), spelled.startswith("[")))
    return tuple(keys)


def keys_of_class(cls: type) -> tuple[Key, ...]:
    """The keys of a class's JSON: those that `json_keys` lists, else one for each field of a NamedTuple or dataclass;
    () for any other class."""
    if hasattr(cls, "json_keys"):
        return tuple(cls.json_keys)
    return keys_of(" ".join(field_names(cls)))


def json_value(value: Any) -> Any:
    """A value as dicts, lists, strings, numbers, booleans and None.

    A NamedTuple or a dataclass becomes the object that `json_object` makes, an enum its value, a path its text, a date
    or a datetime ISO 8601 text. Any other list, tuple or set becomes a list (of a set in no fixed order), a mapping a
    dict with the same keys. A value of any other class, such as `time`, is returned as it is.
    """
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Enum):
        return value.value
    if keys_of_class(type(value)):
        return json_object(value)
    if isinstance(value, Mapping):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    return value


def json_object(value: Any, names: str = "") -> dict[str, Any]:
    """The JSON object of a value of a class with fields: key -> JSON value.

    `names`: the keys, in the notation of `json_keys`. Without them the keys are those that `json_keys` lists for the
    class, or else its fields.
    """
    values = {}
    for key in keys_of(names) or keys_of_class(type(value)):
        item = value
        for attribute in key.attribute.split("."):
            if item is not None:
                item = getattr(item, attribute)
        if not item and key.optional:
            continue
        if not item and key.or_null:
            item = None
        values[key.name] = json_value(item)
    return values


def field_names(cls: type) -> tuple[str, ...]:
    """The names of the fields of a NamedTuple or a dataclass, in order; none for any other class."""
    return tuple(getattr(cls, "_fields", ()) or getattr(cls, "__dataclass_fields__", ()))
