"""Kimi Code: .kimi-code/mcp.json, hooks of ~/.kimi-code/config.toml, ~/.kimi-code/sessions/*/*/agents/main/wire.jsonl
(docs/en of github.com/MoonshotAI/kimi-code: customization/hooks, customization/mcp, configuration/data-locations; run
with 2.1.0).

Kimi's hooks are in the person's own settings and run in every project; our hooks do nothing in a project without
memory. The events name no transcript, so it is found by the session's id. The output of a hook before a prompt goes to
the model unchanged; at the start of a session the host ignores it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gitmem.hosts import host
from gitmem.hosts.entries import role_of, string_at, summary_turn, text_of, time_of, tool_output
from gitmem.hosts.registration import json_server, toml_hooks
from gitmem.hosts.transcript import Role, Turn

MESSAGE, EVENT, COMPACTED = "context.append_message", "context.append_loop_event", "context.apply_compaction"


def _read(entry: host.Entry, place: host.Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    place = replace(place, at=time_of(entry.get("time")))
    kind, message, event = string_at(entry, "type"), entry.get("message"), entry.get("event")
    if kind == MESSAGE and isinstance(message, dict):
        return _message(message, place)
    if kind == EVENT and isinstance(event, dict):
        return _event(event, place)
    if kind == COMPACTED:
        return summary_turn(entry.get("summary") or entry.get("contextSummary"), place)
    return None


def _message(message: dict[str, Any], place: host.Place) -> Iterator[Turn]:
    """The turn of a person's message. A message of another origin is a hook's, a reminder, or repeats an event."""
    origin, content = message.get("origin"), message.get("content")
    is_of_person = isinstance(origin, dict) and origin.get("kind") == "user"
    text = text_of(content) if isinstance(content, list) else string_at(message, "content")
    if is_of_person and role_of(message.get("role")) is Role.USER and text:
        yield Turn(string_at(message, "id") or place.id, Role.USER, text, place.line, place.at)


def _event(event: dict[str, Any], place: host.Place) -> Iterator[Turn]:
    """The turn of an event: a part of the agent's answer, a tool call, or a tool result."""
    kind, part, result = string_at(event, "type"), event.get("part"), event.get("result")
    ident, call = string_at(event, "uuid") or place.id, string_at(event, "toolCallId")
    if kind == "content.part" and isinstance(part, dict):
        text, answer = string_at(part, "text"), string_at(event, "stepUuid")
        if string_at(part, "type") == "text" and text:
            yield Turn(ident, Role.ASSISTANT, text, place.line, place.at, answer=answer)
    elif kind == "tool.call":
        yield Turn(ident, Role.ASSISTANT, "", place.line, place.at, (call,), "", string_at(event, "name"))
    elif kind == "tool.result" and isinstance(result, dict):
        yield Turn(ident, Role.TOOL, tool_output(result.get("output")), place.line, place.at, (), call)


def _shorten(entry: dict[str, Any], call: str, text: str) -> None:
    entry["event"]["result"] = {**entry["event"]["result"], "output": text}


def _summary(like: host.Entry, last: host.Entry, text: str) -> dict[str, Any]:
    kept = {name: like[name] for name in ("agentId", "time") if name in like}
    return {"type": COMPACTED, "summary": text, "compactedCount": 0, **kept}


def _is_silent(entry: host.Entry) -> bool:
    """Whether an entry has no turn: Kimi Code's own record, or an event or message without a speaker."""
    return "agentId" in entry or entry.get("kind") == "event" or string_at(entry, "type") == "metadata"


HOST = host.Host(
    "kimi",
    (host.RegistrationFile(".kimi-code/mcp.json", json_server("mcpServers")),
     host.RegistrationFile("~/.kimi-code/config.toml", toml_hooks)),
    hooks=host.Hooks(
        {event: event for event in host.COMMON_EVENTS},
        answer=lambda event, text: text,
        grouped=False, starts_at_prompt=True,
        transcript_files=(".kimi-code/sessions/*/{session}/agents/main/wire.jsonl",),
    ),
    entries=host.Entries(_read, _shorten, _summary, is_silent=_is_silent),
    inserted=host.InsertedText(tags=("hook_result",)),
    transcripts=(".kimi-code/sessions/*/*/agents/main/wire.jsonl",),
    settings=(".kimi-code/mcp.json", ".kimi-code/config.toml"),
    authors=("kimi", "kimi code", "kimi-code"),
    reads=host.Reads(
        instructions=("AGENTS.md", ".kimi-code/AGENTS.md"),
        agents=(".kimi-code/agents/",),
        styles=(".kimi-code/output-styles/",),
        skills=(*host.SKILLS, ".kimi-code/skills/"),
    ),
    programs=("kimi",),
)  # fmt: skip
