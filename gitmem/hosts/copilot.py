"""Copilot CLI: .mcp.json, .github/hooks/git-mem.json, ~/.copilot/session-state/*/events.jsonl (docs.github.com).

VS Code reads the same hooks and writes the same entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts import host
from gitmem.hosts.entries import calls_of, object_at, objects_at, string_at, summary_turn, tool_output
from gitmem.hosts.registration import hooks_file, json_server
from gitmem.hosts.transcript import Role, Turn

SPOKEN = {"user.message": Role.USER, "assistant.message": Role.ASSISTANT}
DONE = "tool.execution_complete"
COMPACTED = "session.compaction_complete"
READ = frozenset((*SPOKEN, DONE, COMPACTED))
OTHERS = ("session.", "assistant.", "tool.", "hook.", "system.", "subagent.", "abort", "permission.", "user.", "model.")


def _read(entry: host.Entry, place: host.Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    kind, data = string_at(entry, "type"), entry.get("data")
    if kind not in READ or not isinstance(data, dict):
        return None
    if kind == COMPACTED:
        return summary_turn(data.get("summaryContent"), place)
    if kind == DONE:
        call = string_at(data, "toolCallId")
        return iter((Turn(place.id, Role.TOOL, tool_output(data.get("result")), place.line, place.at, (), call),))
    return _turns(SPOKEN[kind], data, place)


def _turns(role: Role, data: dict[str, Any], place: host.Place) -> Iterator[Turn]:
    """The turn of a message; nothing for a subagent's message, and for text that a skill or the host added."""
    requests = objects_at(data, "toolRequests")
    calls = calls_of(requests, "toolCallId")
    if data.get("parentToolCallId") or data.get("source"):
        return  # a subagent, or text that a skill or the host put into the conversation
    text, answer = string_at(data, "content"), string_at(data, "messageId")
    if text or requests:
        yield Turn(place.id, role, text, place.line, place.at, *calls, answer=answer)


def _shorten(entry: dict[str, Any], call: str, text: str) -> None:
    entry["data"]["result"] = {"content": text}


def _summary(like: host.Entry, last: host.Entry, text: str) -> dict[str, Any]:
    fields = {name: like[name] for name in ("timestamp", "parentId") if name in like}
    if isinstance(last.get("id"), str):
        fields |= {"id": last["id"]}
    return {"type": COMPACTED, "data": {"success": True, "summaryContent": text}, **fields}


def _session(entry: host.Entry) -> str:
    """The session id of the entry that starts a session; "" for any other entry."""
    if string_at(entry, "type") != "session.start":
        return ""
    return string_at(object_at(entry, "data"), "sessionId")


def _answer(event: str, text: str) -> dict[str, Any]:
    """The answer in two forms: Copilot CLI reads the field at the top, VS Code's agent reads Claude Code's form."""
    return {"additionalContext": text, **host.hook_specific_output(event, text)}


READS = host.Reads(
    instructions=("AGENTS.md", ".github/copilot-instructions.md", ".github/instructions/"),
    commands=(".github/prompts/",),
    agents=(".github/agents/", ".github/chatmodes/"),
    skills=(*host.SKILLS, ".github/skills/"),
)  # fmt: skip
HOOKS = host.Hooks(
    {event: event for event in host.WITH_SUBAGENTS},
    answer=_answer,
    grouped=False, project_variables=("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    transcript_files=(".copilot/session-state/{session}/events.jsonl",),  # start and prompt events name no transcript
)  # fmt: skip
HOST = host.Host(
    "copilot",
    (host.RegistrationFile(".mcp.json", json_server("mcpServers")),
     host.RegistrationFile(".github/hooks/git-mem.json", hooks_file)),
    hooks=HOOKS,
    entries=host.Entries(
        _read, _shorten, _summary, _session, is_silent=lambda entry: string_at(entry, "type").startswith(OTHERS)
    ),
    inserted=host.InsertedText(tags=("current_datetime", "reminder", "sql_tables", "system_reminder")),
    transcripts=(".copilot/session-state/*/events.jsonl",),
    reads=READS,
    settings=(".mcp.json", ".github/hooks/**"),
    authors=("copilot", "github copilot", "copilot@github.com", "*+copilot@users.noreply.github.com"),
    programs=("copilot",),
)  # fmt: skip
