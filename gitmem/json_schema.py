"""JSON schemas of NamedTuples, dataclasses and TypedDicts, from their annotations and docstrings.

The schema of a class describes what `json_values` writes of its values, or what a request of that class holds. An
annotation may add to its schema: `Annotated[int, {"minimum": 1}]` adds keywords, `Annotated[str, "Glob"]` a
description. Not imported by `git mem search`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Mapping
from datetime import date
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import pairwise
from keyword import iskeyword
from os import PathLike
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from gitmem.json_values import Key, keys_of_class

Schema = dict[str, Any]
Request = TypeVar("Request")
Define = Callable[[type], Schema]  # the schema that stands for a class inside another schema
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    type(None): {"type": "null"}, Any: {}, object: {},
}  # fmt: skip
# The names of keys at the head of their description in a docstring: `a`: or `a`, `b`:
_DESCRIBED = re.compile(r"(?:^|(?<=[.;)\"] ))(`\w+`(?:(?:,| and) `\w+`)*): ")


def result_schema(cls: type, define: Define | None = None) -> Schema:
    """The schema of the JSON that `json_values` writes for a value of a class.

    `define`: returns the schema that stands for a nested class; without it nested classes are described in place. A key
    is required unless the JSON leaves it out when it is empty. The class's docstring gives the descriptions of the
    keys. Raises TypeError for an annotation that JSON has no form for.
    """
    words = descriptions(cls)
    properties, required = {}, []
    for key in keys(cls):
        schema = schema_of(_kind(cls, key.attribute), define)
        if key.or_null:
            schema = _nullable(schema)
        if key.optional and isinstance(schema.get("type"), list):  # null is left out
            schema["type"] = schema["type"][0]
        description = words.get(key.name, words.get(key.attribute, ""))
        if key.or_null:
            description = description.replace('""', "null")
        if description:
            schema = {**schema, "description": description}
        properties[key.name] = schema
        if not key.optional:
            required.append(key.name)
    return {"type": "object", "properties": properties, "required": required}


def request_schema(cls: type) -> Schema:
    """The schema of a request. A field without a default is required. A default is listed if it is not empty.

    A field whose name ends in `_` stands for a key that is a word of Python (`from_` for `from`). Raises TypeError for
    an annotation that JSON has no form for.
    """
    defaults, words = _defaults(cls), descriptions(cls)
    properties: dict[str, Schema] = {}
    for key in keys(cls):
        schema = schema_of(_kind(cls, key.attribute))
        if key.attribute in words:
            schema["description"] = words[key.attribute]
        if defaults.get(key.attribute):
            schema["default"] = defaults[key.attribute]
        properties[key.name.removesuffix("_")] = schema
    optional = {key.name for key in keys(cls) if key.optional or key.attribute in defaults}
    required = [key.name.removesuffix("_") for key in keys(cls) if key.name not in optional]
    if not required:
        return {"type": "object", "properties": properties}
    return {"type": "object", "properties": properties, "required": required}


def request_of(cls: type[Request], values: Mapping[str, Any]) -> Request:
    """A value of the class `cls` from the values of a request: key -> value. A key that is a word of Python (`from`)
    fills the field with `_` at its end. The caller has checked the values against the class's schema."""
    return cls(**{f"{name}_" if iskeyword(name) else name: value for name, value in values.items()})


def schema_of(annotation: Any, define: Define | None = None) -> Schema:
    """The schema of the values of an annotation. `define`: returns the schema that stands for a class with JSON keys;
    None describes the class in place. Raises TypeError for an annotation that JSON has no form for."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is NotRequired:
        return schema_of(arguments[0], define)
    if origin is Annotated:
        return _annotated(schema_of(arguments[0], define), annotation.__metadata__)
    if annotation in PLAIN:
        return dict(PLAIN[annotation])
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, types.UnionType):
        return _union([schema_of(choice, define) for choice in arguments])
    kind = origin or annotation
    if issubclass(kind, Enum):
        return _choice([choice.value for choice in kind])
    if keys(kind):
        return (define or result_schema)(kind)
    if issubclass(kind, Mapping):
        if len(arguments) == 2 and schema_of(arguments[1], define):
            return {"type": "object", "additionalProperties": schema_of(arguments[1], define)}
        return {"type": "object"}
    if issubclass(kind, Collection) and not issubclass(kind, str | bytes):
        return _array(kind, arguments, define)
    if issubclass(kind, date | PathLike | str):
        return {"type": "string"}
    raise TypeError(f"JSON has no form for {annotation}")


def keys(cls: type) -> tuple[Key, ...]:
    """The keys of a class's JSON, in order; () for a class that is no JSON object. A TypedDict has keys, too."""
    if is_typeddict(cls):
        kinds = _annotations(cls).items()
        return tuple(Key(name, name, optional=get_origin(kind) is NotRequired) for name, kind in kinds)
    return keys_of_class(cls)


def descriptions(cls: type) -> dict[str, str]:
    """Key or attribute -> what the class's docstring says of it.

    The description is the text after "`key`: " or "`key`, `other`: ", to the next such head or the end of the
    paragraph. A paragraph that begins with "JSON: " wins over the others, where both describe the same name.
    """
    text_of_key: dict[str, str] = {}
    paragraphs = [" ".join(paragraph.split()) for paragraph in (cls.__doc__ or "").split("\n\n")]
    for paragraph in sorted(paragraphs, key=lambda paragraph: not paragraph.startswith("JSON: ")):
        text = paragraph.removeprefix("JSON: ")
        for match, following in pairwise([*_DESCRIBED.finditer(text), None]):
            assert match is not None
            end = len(text)
            if following is not None:
                end = following.start()
            words = text[match.end() : end].strip().removesuffix(";").removesuffix(".")
            text_of_key = dict.fromkeys(re.findall(r"`(\w+)`", match[1]), words) | text_of_key
    return text_of_key


def _kind(cls: type, attribute: str) -> Any:
    """The annotation of a field or a property of a class; with dots, of an attribute of its value."""
    name, _, attributes = attribute.partition(".")
    member = inspect.getattr_static(cls, name, None)
    if isinstance(member, property):
        kind = _annotations(member.fget)["return"]
    else:
        kind = _annotations(cls)[name]
    if not attributes:
        return kind
    choices = [choice for choice in get_args(kind) if choice is not type(None)]
    if type(None) in get_args(kind):
        return _kind(choices[0], attributes) | None
    return _kind(kind, attributes)


@cache
def _annotations(of: Any) -> dict[str, Any]:
    return get_type_hints(of, localns=_names_for_types(of.__module__), include_extras=True)


@cache
def _names_for_types(module: str) -> dict[str, Any]:
    """Name -> value of the names that a module imports in `if TYPE_CHECKING:` with `from ... import`; {} for none."""
    names: dict[str, Any] = {}
    if not hasattr(sys.modules[module], "TYPE_CHECKING"):
        return names
    for block in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                if isinstance(node, ast.ImportFrom) and node.module:
                    names |= {each.name: getattr(import_module(node.module), each.name) for each in node.names}
    return names


def _defaults(cls: type) -> dict[str, Any]:
    """Field -> its default, of the fields that have one."""
    if is_typeddict(cls):
        return {}
    if hasattr(cls, "_field_defaults"):
        return dict(cls._field_defaults)
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is not parameter.empty
    }


def _annotated(schema: Schema, annotations: tuple[Any, ...]) -> Schema:
    """The schema with annotations added in place: a text as its description, a schema merged into it. A later one
    wins."""
    for annotation in annotations:
        if isinstance(annotation, str):
            schema["description"] = annotation
        else:
            schema |= annotation
    return schema


def _choice(values: Any) -> Schema:
    """The schema of fixed values, with a type if all are texts."""
    if all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": list(values)}
    return {"enum": list(values)}


def _union(choices: list[Schema]) -> Schema:
    """The schema of one of several choices. One choice and null become a nullable schema; null alone is not allowed."""
    null = PLAIN[type(None)]
    not_null = [choice for choice in choices if choice != null]
    if len(not_null) > 1:
        return {"anyOf": choices}
    if len(choices) > 1:
        return _nullable(not_null[0])
    return not_null[0]


def _nullable(schema: Schema) -> Schema:
    """A schema that takes null too."""
    if "null" in schema.get("type", ()) or PLAIN[type(None)] in schema.get("anyOf", ()):
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, PLAIN[type(None)]]}


def _array(kind: type, arguments: tuple[Any, ...], define: Define | None) -> Schema:
    """The schema of a list or a tuple; a tuple of fixed length has a schema for each place."""
    if kind is tuple and arguments and arguments[-1] is not ...:
        return {"type": "array", "prefixItems": [schema_of(argument, define) for argument in arguments]}
    if arguments:
        return {"type": "array", "items": schema_of(arguments[0], define)}
    return {"type": "array"}
