"""opencode: opencode.json, .opencode/plugins/git-mem.js, sessions as `opencode export` gives them (opencode.ai/docs).

opencode has plugins in place of hooks: ours calls the same command, and hands the messages over itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gitmem.hosts.entries import role_of, summary_turn, time_of, tool_output, word
from gitmem.hosts.host import COMMON_EVENTS, Hooks, Host, Place, RegistrationFile
from gitmem.hosts.registration import json_server, own_file
from gitmem.hosts.transcript import Role, Transcript, Turn

PLUGIN = Path(__file__).with_name("opencode_plugin.js")


def _whole(data: bytes) -> Transcript | None:
    """A session as one object: what it is in `info`, and its messages, each with its own `info` and parts."""
    if b'"messages"' not in data or b'"info"' not in data:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    info = value.get("info") if isinstance(value, dict) else None
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(info, dict) or not isinstance(messages, list):
        return None
    turns: list[Turn] = []
    skipped = 0
    for number, message in enumerate(messages, 1):
        if isinstance(message, dict) and isinstance(message.get("info"), dict):
            turns += _turns(message["info"], message.get("parts"), number)
        else:
            skipped += 1
    return Transcript(tuple(turns), word(info, "id"), skipped, lines=False)


def _turns(info: Mapping[str, Any], listed: Any, number: int) -> Iterator[Turn]:
    role = role_of(info.get("role"))
    parts = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
    times = info.get("time")
    at = time_of(times.get("created")) if isinstance(times, dict) else None
    place = Place(word(info, "id") or f"L{number}", number, at)
    said = [part for part in parts if word(part, "type") == "text" and not part.get("synthetic")]
    text = "\n".join(word(part, "text") for part in said if word(part, "text"))
    if info.get("summary") is True:
        yield from summary_turn(text, place)
        return
    tools = [part for part in parts if word(part, "type") == "tool"]
    if role in (Role.USER, Role.ASSISTANT) and (text or tools):
        ids, names = tuple(word(part, "callID") for part in tools), ",".join(word(part, "tool") for part in tools)
        yield Turn(place.id, role, text, number, at, ids, "", names)
    for part in tools:
        state = part.get("state")
        if isinstance(state, dict):
            output = tool_output(state.get("output"))
            yield Turn(place.id, Role.TOOL, output, number, at, (), word(part, "callID"), word(part, "tool"))


HOST = Host(
    "opencode",
    (RegistrationFile("opencode.json", json_server("mcp", {"type": "local", "command": ["git-mem", "mcp"]})),
     RegistrationFile(".opencode/plugins/git-mem.js", own_file(PLUGIN))),
    hooks=Hooks(
        {event: event for event in COMMON_EVENTS},
        project_variables=("OPENCODE_PROJECT_DIR",), holds_transcript=True,
    ),
    whole=_whole,
)  # fmt: skip
