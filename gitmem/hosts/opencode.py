"""opencode: opencode.json, .opencode/plugins/git-mem.js, sessions in a database or in the form of `opencode export`
(opencode.ai/docs).

opencode has plugins in place of hooks: our plugin calls the same command and sends it the messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.hosts import entries, host
from gitmem.hosts.registration import json_server, own_file
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.json_values import parse_json_object

if TYPE_CHECKING:
    from sqlite3 import Connection

BARE_QUOTE = re.compile(r'(?<!\\)"')  # one without a backslash before it
PLUGIN = Path(__file__).with_name("opencode_plugin.js")


def typed_message(text: str) -> str:
    """A message as the person typed it for `opencode run`; any other text unchanged.

    The host puts quotation marks around an argument with a space, and a backslash before each `"` in it; text from
    standard input follows after a line break. A message of several arguments, or with text after it, is unchanged,
    since a `"` in it may be the person's own.
    """
    inner = text.rstrip("\n").removeprefix('"')
    if not text.startswith('"') or " " not in inner or not inner.endswith('"'):
        return text
    inner = inner.removesuffix('"')
    if BARE_QUOTE.search(inner):
        return text
    return inner.replace('\\"', '"')


def _whole_session(data: bytes) -> Transcript | None:
    """The transcript of an exported session: one JSON object with `info` and a list of messages, each with `info` and
    parts. None for other bytes."""
    if b'"messages"' not in data or b'"info"' not in data:
        return None
    try:
        value = parse_json_object(data)
    except ValueError:
        return None
    info, messages = value.get("info"), value.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return None
    turns: list[Turn] = []
    skipped = 0
    for number, message in enumerate(messages, 1):
        if isinstance(message, dict) and isinstance(message.get("info"), dict):
            turns += _turns(message["info"], entries.objects_at(message, "parts"), number)
        else:
            skipped += 1
    return Transcript(tuple(turns), entries.string_at(info, "id"), skipped, lines=False)


def _turns(info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], number: int) -> Iterator[Turn]:
    """The turns of a message: its text and tool calls, then the result of each tool."""
    role = entries.role_of(info.get("role"))
    moment = entries.time_of(entries.object_at(info, "time").get("created"))
    place = host.Place(entries.string_at(info, "id") or f"L{number}", number, moment)
    text_parts = [part for part in parts if entries.string_at(part, "type") == "text" and not part.get("synthetic")]
    texts = [entries.string_at(part, "text") for part in text_parts if entries.string_at(part, "text")]
    text = "\n".join(map(typed_message, texts) if role is Role.USER else texts)
    if info.get("summary") is True:
        yield from entries.summary_turn(text, place)
        return
    tools = [part for part in parts if entries.string_at(part, "type") == "tool"]
    if role in (Role.USER, Role.ASSISTANT) and (text or tools):
        yield Turn(place.id, role, text, number, moment, *entries.calls_of(tools, "callID", "tool"))
    for part in tools:
        state = part.get("state")
        if isinstance(state, dict):
            output = entries.tool_output(state.get("output"))
            call, name = entries.string_at(part, "callID"), entries.string_at(part, "tool")
            yield Turn(place.id, Role.TOOL, output, number, moment, (), call, name)


def _stored_sessions(connection: Connection) -> Iterator[host.StoredSession]:
    """The sessions of people in a database, without those of agents that another agent started."""
    query = "SELECT id, time_created, directory FROM session WHERE parent_id IS NULL ORDER BY time_created"
    for session, created, folder in connection.execute(query):
        yield host.StoredSession(str(session), entries.time_of(created), folder if isinstance(folder, str) else "")


def _stored_transcript(connection: Connection, session: str) -> bytes:
    """A session in the form of `opencode export`, without the results of tools."""
    messages: dict[str, dict[str, Any]] = {}
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for ident, data in connection.execute(query, (session,)):
        messages[ident] = {"info": {**entries.parse_object(data), "id": ident}, "parts": []}
    query = """
        SELECT message_id, json_remove(data, '$.state') FROM part WHERE session_id = ? AND json_valid(data)
        AND json_extract(data, '$.type') IN ('text', 'tool') ORDER BY time_created, id
    """
    for ident, data in connection.execute(query, (session,)):
        if ident in messages:
            messages[ident]["parts"].append(entries.parse_object(data))
    return json.dumps({"info": {"id": session}, "messages": list(messages.values())}).encode()


HOST = host.Host(
    "opencode",
    (host.RegistrationFile("opencode.json", json_server("mcp", {"type": "local", "command": ["git-mem", "mcp"]})),
     host.RegistrationFile(".opencode/plugins/git-mem.js", own_file(PLUGIN))),
    hooks=host.Hooks(
        {event: event for event in host.COMMON_EVENTS},
        project_variables=("OPENCODE_PROJECT_DIR",),
        transcript=lambda fields: json.dumps(fields).encode() if "messages" in fields else None,
        prompt_text=typed_message,
    ),
    whole=_whole_session,
    database=host.SessionDatabase((".local/share/opencode/opencode*.db",), _stored_sessions, _stored_transcript),
    settings=("opencode.json", "opencode.jsonc", ".opencode/plugin/**", ".opencode/plugins/**"),
    authors=("opencode", "noreply@opencode.ai"),
    reads=host.Reads(
        instructions=("AGENTS.md", ".opencode/instructions/", ".opencode/rules/"),
        commands=(".opencode/command/", ".opencode/commands/"),
        agents=(".opencode/agent/", ".opencode/agents/"),
        styles=(".opencode/mode/", ".opencode/modes/"),
        skills=(*host.SKILLS, ".opencode/skill/", ".opencode/skills/"),
    ),
    programs=("opencode",),
)  # fmt: skip
