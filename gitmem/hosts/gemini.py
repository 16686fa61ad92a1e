"""Gemini CLI: .gemini/settings.json, and a session as one JSON object (geminicli.com/docs/hooks)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gitmem.hosts.entries import time_of, word
from gitmem.hosts.host import Hooks, Host, InsertedText, RegistrationFile
from gitmem.hosts.registration import hooks_file, json_server
from gitmem.hosts.transcript import Role, Transcript, Turn

ROLES = {"user": Role.USER, "gemini": Role.ASSISTANT}


def _whole(data: bytes) -> Transcript | None:
    """`sessionId`, and `messages` of `type` user and gemini. None for any other bytes."""
    if b'"messages"' not in data or not data.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        return None
    turns = [_turn(entry, number) for number, entry in enumerate(messages, 1) if isinstance(entry, dict)]
    known = tuple(turn for turn in turns if turn is not None)
    return Transcript(known, word(value, "sessionId"), len(messages) - len(known), lines=False)


def _turn(entry: Mapping[str, Any], number: int) -> Turn | None:
    role, content = ROLES.get(word(entry, "type")), entry.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    if role is None or not isinstance(content, str):
        return None
    return Turn(word(entry, "id") or f"L{number}", role, content, number, time_of(entry.get("timestamp")))


def _settings(host: Host, path: str, text: str, root: str, remove: bool) -> str:
    """The server and the hooks stand in one file."""
    return hooks_file(host, path, json_server("mcpServers")(host, path, text, root, remove), root, remove)


HOST = Host(
    "gemini",
    (RegistrationFile(".gemini/settings.json", _settings),),
    hooks=Hooks(
        {"SessionStart": "SessionStart", "UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent",
         "PreCompact": "PreCompress", "SessionEnd": "SessionEnd"},
        milliseconds=True,
        project_variables=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    ),
    whole=_whole,
    inserted=InsertedText(tags=("hook_context", "session_context")),
)  # fmt: skip
