"""Cursor: .cursor/mcp.json, .cursor/hooks.json, transcripts of roles and messages (cursor.com/docs/hooks)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gitmem.hosts.entries import identity_keys, message_turns, shorten_tool_result
from gitmem.hosts.host import SKILLS, Entries, Entry, Hooks, Host, Place, Reads, RegistrationFile, settings_in
from gitmem.hosts.registration import hooks_file, json_server
from gitmem.hosts.transcript import Turn

QUERY_TAG = re.compile(r"</?user_query>\n?")


def _read(entry: Entry, place: Place) -> Iterator[Turn] | None:
    """The turns of an entry without Cursor's tags around the prompt; None for an entry of another form."""
    message, role = entry.get("message"), entry.get("role")
    has_type = entry.get("type") in ("user", "assistant", "message")
    if has_type or not isinstance(message, dict) or not isinstance(role, str):
        return None
    turns = message_turns({**message, "role": role}, place)
    return (replace(turn, text=QUERY_TAG.sub("", turn.text).strip()) for turn in turns)


def _summary(like: Entry, last: Entry, text: str) -> dict[str, Any]:
    fields = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
    return identity_keys(like, last) | fields


def _answer(event: str, text: str) -> dict[str, Any]:
    """Cursor's form of an answer. For a prompt its reference (September 2026) names only `continue`; its client (3.20)
    also reads the context."""
    go_on = {"continue": True} if event == "beforeSubmitPrompt" else {}
    return {**go_on, "additional_context": text}


HOST = Host(
    "cursor",
    (RegistrationFile(".cursor/mcp.json", json_server("mcpServers")),
     RegistrationFile(".cursor/hooks.json", hooks_file)),
    hooks=Hooks(  # subagentStart can allow or deny, and ignores context
        {"SessionStart": "sessionStart", "UserPromptSubmit": "beforeSubmitPrompt", "Stop": "stop",
         "PreCompact": "preCompact", "SessionEnd": "sessionEnd"},
        answer=_answer,
        grouped=False, typed=False, session_fields=("session_id", "sessionId", "conversation_id"),
        project_variables=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), project_fields=("workspace_roots",),
    ),
    entries=Entries(_read, shorten_tool_result, _summary),
    settings=(*settings_in(".cursor"), ".cursor/hooks/**"),
    authors=("cursor", "cursor agent", "cursoragent@cursor.com"),
    reads=Reads(
        instructions=("AGENTS.md", ".cursorrules", ".cursor/rules/"),
        commands=(".cursor/commands/",),
        agents=(".cursor/agents/",),
        skills=(*SKILLS, ".cursor/skills/"),
    ),
    programs=("cursor-agent", "cursor"),
)  # fmt: skip
