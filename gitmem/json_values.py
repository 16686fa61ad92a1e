"""Values as JSON: the one place that turns NamedTuples, dataclasses, enums, paths and dates into what `json` writes.

A class whose JSON has other names than its fields says so in a method `as_value`, which is used instead. This module
imports nothing that `git mem search` does not load anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any


def json_value(value: Any) -> Any:
    """A value as dicts, lists, texts, numbers, truth values and None.

    A NamedTuple or a dataclass becomes an object of its fields, an enum its value, a path its text, a date or a time
    ISO 8601, any other tuple or set a list.
    """
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "as_value"):
        return value.as_value()
    if field_names(value):
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
    """The JSON object of a value: its attributes of these names, in this order, or all fields.

    `names`: stand in one text, with spaces. A name that ends in `?` becomes null where its attribute is empty or 0.
    """
    made = {}
    for name in names.split() or field_names(value):
        item = getattr(value, name.removesuffix("?"))
        if name.endswith("?"):
            item = item or None
        made[name.removesuffix("?")] = json_value(item)
    return made


def field_names(value: Any) -> tuple[str, ...]:
    """The names of the fields of a NamedTuple or a dataclass, in order; none of any other value."""
    return tuple(getattr(value, "_fields", ()) or getattr(value, "__dataclass_fields__", ()))
