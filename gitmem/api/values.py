"""The types of what the Python API takes and returns: the shapes of docs/json.md. Types only."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from gitmem.memory.insights import InsightValue as Insight
from gitmem.sessions.working_memory import SessionValue

__all__ = ["Added", "Corrected", "Episode", "Flushed", "Insight", "KeptValue", "SessionValue", "Turn", "Value"]

Value = dict[str, Any]  # an object of docs/json.md that has no type of its own here


class Added(TypedDict):
    """A line that was added. `path` and `line` (1-based): where it stands; `text`: as it was written; `masked`: how
    many values the gate masked, by rule; `differs`: the facts that it repeats, replaces, ends or conflicts with."""

    path: str
    line: int
    text: str
    masked: dict[str, int]
    differs: list[Value]


class Corrected(TypedDict):
    """What an edit, a forgetting or a revert did. `commit`: None in a dry run and where there was nothing to do;
    `facts`: the facts that were taken out or replaced."""

    commit: str | None
    masked: dict[str, int]
    differs: list[Value]
    facts: list[Value]


class KeptValue(SessionValue):
    """A session value that was kept; `masked`: how many values the gate masked in it, by rule."""

    masked: dict[str, int]


class Turn(TypedDict):
    """One turn of a conversation, as docs/sessions.md has it. `role`: user, assistant or tool; `text`: what was said;
    `id`: the turn's name, its line number where it is absent; `at`: ISO 8601; `call`: pairs a tool call with its
    result; `name`: the tool."""

    role: str
    text: str
    id: NotRequired[str]
    at: NotRequired[str]
    call: NotRequired[str]
    name: NotRequired[str]


class Flushed(TypedDict):
    """What a flush wrote. `kept`: the lines, each with path, line, text, type and turn; `skipped`: texts that were left
    out, each with the reason; `notes`: what a model did not do; `reset`: sessions whose time was over."""

    kept: list[Value]
    skipped: list[Value]
    notes: list[str]
    masked: dict[str, int]
    differs: list[Value]
    reset: list[Value]


class Episode(Flushed):
    """The same of the end of a session; `episode`: the path of its note, None where nothing was said."""

    episode: str | None
