"""The types of the values that the Python API takes and returns, as in docs/json.md."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from gitmem.memory.insights import InsightValue as Insight
from gitmem.sessions.working_memory import SessionValue

__all__ = ["Added", "Corrected", "Episode", "Flushed", "Insight", "KeptValue", "SessionValue", "Turn", "Value"]

Value = dict[str, Any]  # any other object of docs/json.md


class Added(TypedDict):
    """A line that was added. `line`: 1-based. `text`: as it was written. `masked`: rule -> number of values that the
    gate masked. `differs`: the facts that the line repeats, replaces, ends or conflicts with. `ignored`: Git ignores
    the file, so the line is not searched."""

    path: str
    line: int
    text: str
    masked: dict[str, int]
    differs: list[Value]
    ignored: bool


class Corrected(TypedDict):
    """The result of an edit, a forget or a revert. `commit`: its oid, None in a dry run and if nothing had to be done.
    `masked`, `differs`: as in `Added`, of a new text. `facts`: the facts that were removed or replaced."""

    commit: str | None
    masked: dict[str, int]
    differs: list[Value]
    facts: list[Value]


class KeptValue(SessionValue):
    """A session value that was kept. `masked`: rule -> number of values that the gate masked in it."""

    masked: dict[str, int]


class Turn(TypedDict):
    """One turn of a conversation (docs/sessions.md). `role`: user, assistant or tool. `id`: default: its line number.
    `at`: ISO 8601. `call`: the id that a tool call and its result share. `name`: the tool."""

    role: str
    text: str
    id: NotRequired[str]
    at: NotRequired[str]
    call: NotRequired[str]
    name: NotRequired[str]


class Flushed(TypedDict):
    """The result of a flush. `kept`: the written lines, each with path, line, text, type and turn. `skipped`: texts
    that were left out, each with the reason. `notes`: on work that a model did not do. `masked`, `differs`: as in
    `Added`. `reset`: other sessions that were due and were ended."""

    kept: list[Value]
    skipped: list[Value]
    notes: list[str]
    masked: dict[str, int]
    differs: list[Value]
    reset: list[Value]


class Episode(Flushed):
    """The result of the end of a session. `episode`: the path of its note, None if nothing was said."""

    episode: str | None
