"""The classes of REST requests and of answers that only the server gives, and the check of a request's fields.

`openapi` describes the same classes, so a request is checked against what is described. Nothing here answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from gitmem.errors import UsageError
from gitmem.json_schema import Schema, request_schema
from gitmem.request_limits import DEFAULT_HITS, MAX_CONTEXT_TOKENS, MAX_HITS
from gitmem.search.incidents import Incident
from gitmem.search.search import Lane
from gitmem.server.operations import MAX_AUDIT_ROWS, MAX_LINES, AuditRow, FetchedRepository, ensure_text

Body = TypeVar("Body")
MAX_TEXTS = 100  # texts of one field
Texts = Annotated[tuple[str, ...], {"type": ["string", "array"], "maxItems": MAX_TEXTS}]  # one text, or a list


@dataclass(frozen=True, slots=True)
class Question:
    """A search. `repository`, `path`, `type`, `tag`: limit it to these; `path` takes globs. `ref`: a branch or tag.
    `at`: a revision or a day of each repository's own branch. `since`, `until`: days. `all`: show all hits even if none
    is likely to answer. `history`: "with" finds commits too, "only" finds nothing else."""

    query: Annotated[str, {"minLength": 1}]
    limit: Annotated[int, {"minimum": 1, "maximum": MAX_HITS}] = DEFAULT_HITS
    repository: Texts = ()
    path: Texts = ()
    type: Texts = ()
    tag: Texts = ()
    ref: str = ""
    at: str = ""
    since: str = ""
    until: str = ""
    lane: str = Lane.BOTH.value
    explain: bool = False
    all: bool = False
    history: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a context is made for. `budget`: tokens, 0 for the usual number."""

    prompt: str = ""
    repository: Texts = ()
    budget: Annotated[int, {"minimum": 0, "maximum": MAX_CONTEXT_TOKENS}] = 0


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert as it was sent to the caller: a text, or JSON."""

    alert: str | dict[str, Any] | list[Any]
    repository: Texts = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line to propose. `to`: the file that gets it; "auto" for the file of its type. `title`: of the pull request.
    `reason`: why, for the commit message."""

    repository: Annotated[str, {"minLength": 1}]
    text: Annotated[str, {"minLength": 1}]
    type: str = ""
    title: str = ""
    reason: str = ""
    to: Literal["auto", "memory", "daily"] = "auto"
    tag: Texts = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a memory file. `ref`: a branch or tag."""

    repository: Annotated[str, {"minLength": 1}]
    path: Annotated[str, {"minLength": 1}]
    ref: str = ""
    first: Annotated[int, {"minimum": 1, "maximum": 1 << 30}] = 1
    count: Annotated[int, {"minimum": 1, "maximum": MAX_LINES}] = 50


@dataclass(frozen=True, slots=True)
class Rows:
    """The newest rows of the audit log."""

    limit: Annotated[int, {"minimum": 1, "maximum": MAX_AUDIT_ROWS}] = 100


@dataclass(frozen=True, slots=True)
class Repositories:
    """The repositories that the caller may see, by name."""

    repositories: list[FetchedRepository]


@dataclass(frozen=True, slots=True)
class Seen:
    """Past incidents that are like an alert. `seen`: whether there is one."""

    seen: bool
    incidents: list[Incident]


@dataclass(frozen=True, slots=True)
class Audit:
    """Rows of the audit log, the newest first."""

    audit: list[AuditRow]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request has no answer. `code`: for programs. `message`: for people. `hint`: what to do, "" if unknown."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Error:
    """The body of every answer that is an error."""

    error: Problem


REQUESTS: dict[type, Schema] = {body: request_schema(body) for body in (Question, Prompt, Alert, Proposal, Place, Rows)}


def read(body: type[Body], fields: Mapping[str, Any]) -> Body:
    """A request with the given fields. Fields that its class has not are ignored. Raises UsageError for a value that
    the schema of the class does not allow."""
    schema = REQUESTS[body]
    required = schema.get("required", ())
    return body(**{
        name: _value(fields, name, kind, name in required) for name, kind in schema["properties"].items()
    })  # fmt: skip


def _value(fields: Mapping[str, Any], name: str, schema: Schema, required: bool) -> Any:
    """The value of a field, its default if it is not given; False for a boolean that is not `true`. Raises UsageError
    for a value of another type, out of its range, or that is none of the permitted ones."""
    kind = schema.get("type")
    if kind == "boolean":
        return fields.get(name) is True
    if kind == "integer":
        return number(fields, name, schema.get("default", 0), schema["minimum"], schema["maximum"])
    if kind == ["string", "array"]:
        return texts(fields, name)
    if kind == "string":
        value = text(fields, name, required=required) or schema.get("default", "")
        if value not in schema.get("enum", [value]):
            raise UsageError(
                f"'{name}' is one of " + ", ".join(schema["enum"]), f"leave it out for '{schema['default']}'"
            )
        return value
    return text_or_json(fields, name)


def text_or_json(fields: Mapping[str, Any], name: str) -> str | dict[str, Any] | list[Any]:
    """A field that holds a text, an object or a list, and not an empty one. Raises UsageError for a missing, empty or
    other value."""
    value = fields.get(name)
    if not isinstance(value, str | dict | list) or not value:
        raise UsageError(f"'{name}' takes a text, an object or a list", f"send the {name} as it was sent to you")
    return value


def texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a field that holds one text or a list; () if it is not given. Raises UsageError for another value or
    more than MAX_TEXTS texts."""
    value = fields.get(name)
    values = value if isinstance(value, list) else [value]
    if value is None:
        values = []
    if len(values) > MAX_TEXTS or not all(isinstance(one, str) for one in values):
        raise UsageError(f"'{name}' takes texts, {MAX_TEXTS} at most", "")
    ensure_text(*values)
    return tuple(values)


def text(fields: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    """The text of a field; "" if it is not given. Raises UsageError for several texts, for another value, and with
    `required` for a missing or empty text."""
    values = texts(fields, name)
    if len(values) > 1 or (required and not (values and values[0])):
        raise UsageError(f"'{name}' takes one text", "")
    if not values:
        return ""
    return values[0]


def number(fields: Mapping[str, Any], name: str, default: int, minimum: int, maximum: int) -> int:
    """The whole number of a field, from `minimum` to `maximum`; `default` if it is not given. Decimal digits in a text,
    and a list of one such value, are read too. Raises UsageError for another value."""
    value = fields.get(name, default)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise UsageError(f"'{name}' takes a number from {minimum} to {maximum}", "")
    return value
