"""The MCP tools as clients list them: names, descriptions and arguments. Constants; none depends on a repository.

The arguments of a tool are the fields of a class, whose docstring is the tool's description. A model reads every word
of these in every session with the server, so their size is limited (`tests/agents/test_mcp_tools.py`). No tool has an
output schema: hosts give a model the JSON of structured content instead of the text, with each line break escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from gitmem.json_schema import Schema, request_schema
from gitmem.request_limits import DEFAULT_HITS, MAX_CONTEXT_TOKENS, MAX_HITS

MAX_HOURS = 24 * 366  # for which a working value is kept
Number = Annotated[int, {"minimum": 1}]
# SDKs of hosts check calls against the listed schema, so the items are texts only; objects are read too.
Cites = Annotated[tuple[str, ...], {"maxItems": 3}]


@dataclass(frozen=True, slots=True)
class Search:
    """Search memory by words and meaning, in any language."""

    query: str
    maxResults: Annotated[int, {"minimum": 1, "maximum": MAX_HITS}] = DEFAULT_HITS
    at: Annotated[str, "Revision or date"] = ""
    since: Annotated[str, "YYYY-MM-DD"] = ""
    until: str = ""
    type: str = ""
    path: Annotated[str, "Glob"] = ""
    history: Annotated[bool, "Commits too"] = False


@dataclass(frozen=True, slots=True)
class Get:
    """Read a memory file."""

    path: Annotated[str, "As MEMORY.md"]
    from_: Number = 0
    lines: Annotated[int, {"minimum": 1}, "How many"] = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class Add:
    """Add one sentence to today's log; the answer names facts it contradicts."""

    text: str
    type: Annotated[str, "decision, preference, lesson, note, ..."] = ""
    cites: Annotated[Cites, "Code: path:10-24 or path#symbol"] = ()
    supersedes: Annotated[str, "Id of the fact it replaces"] = ""


@dataclass(frozen=True, slots=True)
class Confirm:
    """Commit that a fact still holds of its cited code; read that code first."""

    path: str
    line: Number
    quote: Annotated[str, "All cited lines of code, unchanged"]
    cites: Cites = ()  # replace the fact's old places; () keeps them
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Where a line of memory comes from, and whether its source says it."""

    path: str
    line: Number


@dataclass(frozen=True, slots=True)
class Context:
    """What memory says about a prompt and files."""

    prompt: str = ""
    budget: Annotated[int, {"minimum": 0, "maximum": MAX_CONTEXT_TOKENS}] = 0
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Facts gained, changed, lost in the last commit or a range."""

    range: Annotated[str, "As main..HEAD"] = ""


@dataclass(frozen=True, slots=True)
class SetValue:
    """Keep where a task stands, for some hours; "" forgets it."""

    key: Annotated[str, "As ticket:4711:review"]
    value: str
    hours: Annotated[float, {"exclusiveMinimum": 0, "maximum": MAX_HOURS}] = 24


@dataclass(frozen=True, slots=True)
class GetValues:
    """The value of a key and those below; without one, all."""

    key: str = ""


class Files(TypedDict):
    """Files below /memories."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: NotRequired[str]
    view_range: NotRequired[list[int]]
    file_text: NotRequired[str]
    old_str: NotRequired[str]
    new_str: NotRequired[str]
    insert_line: NotRequired[int]
    insert_text: NotRequired[str]
    old_path: NotRequired[str]
    new_path: NotRequired[str]


class Tool(NamedTuple):
    """A tool. `request`: the class of its arguments. `hints`: the protocol's annotations."""

    title: str
    request: type
    hints: dict[str, bool]

    @property
    def reads(self) -> bool:
        """Whether the tool writes nothing."""
        return self.hints["readOnlyHint"]

    @property
    def description(self) -> str:
        return self.request.__doc__ or ""

    @property
    def schema(self) -> Schema:
        return {**request_schema(self.request), "additionalProperties": False}


def _hints(*, reads: bool, destroys: bool = False, repeats: bool) -> dict[str, bool]:
    return {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeats, "openWorldHint": False}


READS = _hints(reads=True, repeats=True)
SETS = _hints(reads=False, repeats=True)
WRITES = _hints(reads=False, repeats=False)
FILES = _hints(reads=False, destroys=True, repeats=False)
TOOLS: dict[str, Tool] = {
    "memory_search": Tool("Search memory", Search, READS),
    "memory_get": Tool("Read memory", Get, READS),
    "memory_add": Tool("Remember", Add, WRITES),
    "memory_confirm": Tool("Confirm against the code", Confirm, WRITES),
    "memory_why": Tool("Why is it there", Why, READS),
    "memory_context": Tool("Context for a prompt", Context, READS),
    "memory_changes": Tool("What memory learned", Changes, READS),
    "memory_session_set": Tool("Keep a working value", SetValue, SETS),
    "memory_session_get": Tool("Recall working values", GetValues, READS),
    "memory": Tool("Memory files", Files, FILES),
}
LIMITS = frozenset(("minimum", "maximum", "exclusiveMinimum", "maxItems"))  # limits, which are checked but not listed


def _without_limits(schema: Any) -> Any:
    """A schema as it is listed, without limits, which would cost tokens in every session. An error names a broken
    one."""
    if not isinstance(schema, dict):
        return schema
    return {key: _without_limits(value) for key, value in schema.items() if key not in LIMITS}


def listed(*, read_only: bool) -> list[dict[str, Any]]:
    """The tools as `tools/list` lists them: name, title, description, annotations and input schema, without limits of
    values. `read_only`: only tools that write nothing."""
    return [
        {
            "name": name, "title": tool.title, "description": tool.description, "annotations": tool.hints,
            "inputSchema": _without_limits(tool.schema),
        }
        for name, tool in TOOLS.items()
        if tool.reads or not read_only
    ]  # fmt: skip
