"""The MCP tools as clients list them: names, descriptions and arguments. Constants; none depends on a repository.

A model reads every word of these in every session with the server, so their size is limited
(`tests/agents/test_mcp_tools.py`). No tool has an output schema: hosts give a model the JSON of structured content
instead of the text, with each line break escaped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Schema = dict[str, Any]


class Tool(NamedTuple):
    """A tool. `arguments`: name -> schema. `required`: names of required arguments. `hints`: the protocol's
    annotations."""

    title: str
    description: str
    arguments: dict[str, Schema]
    required: tuple[str, ...]
    hints: dict[str, bool]

    @property
    def reads(self) -> bool:
        """Whether the tool writes nothing."""
        return self.hints["readOnlyHint"]

    @property
    def schema(self) -> Schema:
        if self.required:
            required = {"required": list(self.required)}
        else:
            required = {}
        return {"type": "object", "properties": self.arguments, **required, "additionalProperties": False}


def _hints(*, reads: bool, destroys: bool = False, repeats: bool) -> dict[str, bool]:
    return {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeats, "openWorldHint": False}


READS = _hints(reads=True, repeats=True)
SETS = _hints(reads=False, repeats=True)
WRITES = _hints(reads=False, repeats=False)
FILES = _hints(reads=False, destroys=True, repeats=False)


def _text(description: str = "") -> Schema:
    if description:
        return {"type": "string", "description": description}
    return {"type": "string"}


def _whole(description: str = "", **limits: int) -> Schema:
    return {"type": "integer", **({"description": description} if description else {}), **limits}


# SDKs of hosts check calls against the listed schema, so `items` names texts only; objects are read too.
CITES: Schema = {"type": "array", "items": _text(), "maxItems": 3}
TOOLS: dict[str, Tool] = {
    "memory_search": Tool(
        "Search memory",
        "Search memory by words and meaning, in any language.",
        {
            "query": _text(),
            "maxResults": _whole(minimum=1, maximum=50, default=6),
            "at": _text("Revision or date"),
            "since": _text("YYYY-MM-DD"),
            "until": _text(),
            "type": _text(),
            "path": _text("Glob"),
            "history": {"type": "boolean", "description": "Commits too"},
        },
        ("query",),
        READS,
    ),
    "memory_get": Tool(
        "Read memory",
        "Read a memory file.",
        {
            "path": _text("As MEMORY.md"),
            "from": _whole(minimum=1),
            "lines": _whole("How many", minimum=1),
            "at": _text(),
        },
        ("path",),
        READS,
    ),
    "memory_add": Tool(
        "Remember",
        "Add one sentence to today's log; the answer names facts it contradicts.",
        {
            "text": _text(),
            "type": _text("decision, preference, lesson, note, ..."),
            "cites": {**CITES, "description": "Code: path:10-24 or path#symbol"},
            "supersedes": _text("Id of the fact it replaces"),
        },
        ("text",),
        WRITES,
    ),
    "memory_confirm": Tool(
        "Confirm against the code",
        "Commit that a fact still holds of the code it cites; read that first.",
        {
            "path": _text(),
            "line": _whole(minimum=1),
            "quote": _text("All cited lines as they stand"),
            "cites": CITES,
            "reason": _text(),
        },
        ("path", "line", "quote"),
        WRITES,
    ),
    "memory_why": Tool(
        "Why is it there",
        "Where a line of memory comes from, and whether its source says it.",
        {"path": _text(), "line": _whole(minimum=1)},
        ("path", "line"),
        READS,
    ),
    "memory_context": Tool(
        "Context for a prompt",
        "What memory says about a prompt and files.",
        {
            "prompt": _text(),
            "budget": _whole(minimum=0, maximum=20_000),
            "paths": {"type": "array", "items": _text()},
        },
        (),
        READS,
    ),
    "memory_changes": Tool(
        "What memory learned",
        "Facts gained, changed, lost in the last commit or a range.",
        {"range": _text("As main..HEAD")},
        (),
        READS,
    ),
    "memory_session_set": Tool(
        "Keep a working value",
        'Keep where a task stands, for some hours; "" forgets it.',
        {
            "key": _text("As ticket:4711:review"),
            "value": _text(),
            "hours": {"type": "number", "exclusiveMinimum": 0, "maximum": 24 * 366, "default": 24},
        },
        ("key", "value"),
        SETS,
    ),
    "memory_session_get": Tool(
        "Recall working values", "The value of a key and those below; without one, all.", {"key": _text()}, (), READS
    ),
    "memory": Tool(
        "Memory files",
        "Files below /memories.",
        {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
            "path": _text(),
            "view_range": {"type": "array", "items": _whole()},
            "file_text": _text(),
            "old_str": _text(),
            "new_str": _text(),
            "insert_line": _whole(),
            "insert_text": _text(),
            "old_path": _text(),
            "new_path": _text(),
        },
        ("command",),
        FILES,
    ),
}
LIMITS = frozenset(("minimum", "maximum", "exclusiveMinimum", "maxItems"))  # limits, which are checked but not listed


def _without_limits(schema: Any) -> Any:
    """A schema as it is listed, without limits, which would cost tokens in every session. An error names a broken
    one."""
    if not isinstance(schema, dict):
        return schema
    return {key: _without_limits(value) for key, value in schema.items() if key not in LIMITS}


def listed(*, read_only: bool) -> list[dict[str, Any]]:
    """The result of `tools/list`. `read_only`: only tools that write nothing."""
    return [
        {
            "name": name, "title": tool.title, "description": tool.description, "annotations": tool.hints,
            "inputSchema": _without_limits(tool.schema),
        }
        for name, tool in TOOLS.items()
        if tool.reads or not read_only
    ]  # fmt: skip
