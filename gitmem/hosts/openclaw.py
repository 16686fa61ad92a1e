"""OpenClaw: ~/.openclaw/openclaw.json and a plugin in ~/.openclaw/extensions/git-mem (docs.openclaw.ai). Sessions are
in a database of each agent, those of old versions in ~/.openclaw/agents/*/sessions/*.jsonl.

OpenClaw has plugins in place of hooks: our plugin calls the same command and sends it the messages.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.errors import GitMemError
from gitmem.hosts import host
from gitmem.hosts.entries import (
    identity_keys,
    message_turns,
    parse_object,
    session_of_header,
    shorten_tool_result,
    string_at,
    summary_turn,
    time_of,
)
from gitmem.hosts.registration import NAME, dump_json, json_server, load_json, own_file, table_at
from gitmem.hosts.transcript import By, Role, Turn

if TYPE_CHECKING:
    from sqlite3 import Connection

EVENT_LIMIT = 4 << 20  # bytes of an event that OpenClaw compresses
PLUGIN = Path(__file__).with_name("openclaw_plugin")
FOLDER = "~/.openclaw/extensions/git-mem"
MEMORY_PLUGINS = (NAME, "memory-core")  # in the slot of memory: ours, and the one that is there by default
SILENT = frozenset(
    ("session", "model_change", "thinking_level_change", "label", "session_info", "custom", "custom_message", "reset")
)
BY_HAND = 'openclaw mcp set git-mem \'{"command": "git-mem", "args": ["mcp"]}\' does it'


def _read(entry: host.Entry, place: host.Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    kind, message = string_at(entry, "type"), entry.get("message")
    if kind in ("compaction", "branch_summary"):
        return summary_turn(entry.get("summary"), place)
    if not isinstance(message, dict) or kind != "message":
        return None
    turns = message_turns(message, place, is_summary=bool(entry.get("isCompactSummary")))
    if _is_of_stranger(message):
        return map(_as_host_text, turns)
    return turns


def _is_of_stranger(message: Mapping[str, Any]) -> bool:
    """Whether a message was written by someone other than the owner, for example in a group."""
    about = message.get("__openclaw")
    return isinstance(about, dict) and about.get("senderIsOwner") is False


def _as_host_text(turn: Turn) -> Turn:
    """A stranger's turn marked as the host's text, so that memory keeps only what the owner and the agent say."""
    if turn.role is Role.USER:
        return replace(turn, by=By.HOST)
    return turn


def _summary(like: host.Entry, last: host.Entry, text: str) -> dict[str, Any]:
    message = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    return identity_keys(like, last) | message


def _transcript(fields: Mapping[str, Any]) -> bytes | None:
    """The messages that our plugin sends, as entries of a transcript; None if there are none."""
    messages = fields.get("messages")
    if not isinstance(messages, list):
        return None
    entries: list[dict[str, Any]] = [{"type": "session", "id": string_at(fields, "session_id")}]
    for message in messages:
        if isinstance(message, dict):
            timestamp = message.get("timestamp")
            ident = {"id": str(timestamp), "timestamp": timestamp} if isinstance(timestamp, int) else {}
            entries.append({"type": "message", "message": message, **ident})
    return "\n".join(map(json.dumps, entries)).encode()


def _stored_sessions(connection: Connection) -> Iterator[host.StoredSession]:
    """The sessions of people in a database, without those of timers and of agents that another agent started."""
    rows = connection.execute("""
        SELECT w.session_id, w.created_at, json_extract(
            (SELECT e.event_json FROM transcript_events e WHERE e.session_id = w.session_id ORDER BY e.seq LIMIT 1),
            '$.cwd')
        FROM session_windows w LEFT JOIN session_nodes n ON n.session_key = w.session_key
        WHERE coalesce(n.created_via, '') NOT IN ('spawn', 'cron', 'internal') ORDER BY w.created_at
    """)
    for session, created, folder in rows:
        yield host.StoredSession(str(session), time_of(created), folder if isinstance(folder, str) else "")


def _stored_transcript(connection: Connection, session: str) -> bytes:
    """The events of a session, one on each line. Raises OSError if an event is compressed and no decompressor is
    installed."""
    query = "SELECT event_json, event_zstd, navigation_json FROM transcript_events WHERE session_id = ? ORDER BY seq"
    return b"\n".join(_event(*row) for row in connection.execute(query, (session,)))


def _event(text: str | None, packed: bytes | None, outline: str | None) -> bytes:
    """The JSON of an event. For a compressed tool result its outline is returned, which is enough. Raises OSError as
    `_unpacked` for any other compressed event."""
    if text is not None or packed is None:
        return (text or "{}").replace("\n", " ").encode("utf-8", "replace")
    navigation = parse_object(outline).get("navigation")
    message = navigation.get("message") if isinstance(navigation, dict) else None
    if isinstance(message, dict) and message.get("role") == "toolResult":
        return json.dumps(navigation).encode()
    return _unpacked(packed)


def _unpacked(packed: bytes) -> bytes:
    """Data decompressed by Zstandard. Raises OSError if it is damaged or no decompressor is installed."""
    for module in ("compression.zstd", "zstandard"):  # of Python 3.14, and of PyPI
        with suppress(ImportError):
            decompressor = import_module(module)
            break
    else:
        raise OSError(errno.ENOTSUP, "messages in it are compressed: Python 3.14 reads them, or pip install zstandard")
    limit = {"max_length" if module == "compression.zstd" else "max_output_size": EVENT_LIMIT}
    try:
        return bytes(decompressor.ZstdDecompressor().decompress(packed, **limit))
    except decompressor.ZstdError:
        raise OSError(errno.EIO, "a message in it is damaged") from None


def _rewrite_settings(openclaw: host.Host, path: str, text: str, setup: host.Setup) -> str:
    """The `rewrite` of OpenClaw's settings: our server, which OpenClaw starts in its own folder unless `cwd` names
    another, and our plugin as the memory plugin. Raises GitMemError for a text that cannot be changed here, and as
    `_set_plugin`."""
    value = load_json(path, text, BY_HAND)
    mcp, plugins = table_at(value, "mcp", path), table_at(value, "plugins", path)
    server_keys: dict[str, Any] = {"cwd": setup.root} if setup.root else {}
    value["mcp"] = load_json(path, json_server("servers", **server_keys)(openclaw, path, dump_json(mcp), setup))
    _set_plugin(plugins, path, setup)
    return dump_json({key: inner for key, inner in value.items() if inner or key not in ("mcp", "plugins")}, text)


def _set_plugin(plugins: dict[str, Any], path: str, setup: host.Setup) -> None:
    """Make our plugin the memory plugin: add it to the list of plugins that may load, if there is one, and let it see
    prompts and messages; or remove it from all three. Changes `plugins`.

    Keys that our entry has already keep their values. OpenClaw's default memory plugin, memory-core, is replaced.
    `path`: the settings file, for messages. Raises GitMemError if a third plugin is the memory plugin, or if `slots` or
    `entries` is no object.
    """
    slots, entries = table_at(plugins, "slots", path), table_at(plugins, "entries", path)
    allowed = plugins.get("allow")
    if isinstance(allowed, list):
        plugins["allow"] = [name for name in allowed if name != NAME] + ([] if setup.remove else [NAME])
    if setup.remove:
        entries.pop(NAME, None)
        if slots.get("memory") == NAME:
            del slots["memory"]
    else:
        if slots.get("memory", NAME) not in MEMORY_PLUGINS:
            hint = "openclaw config unset plugins.slots.memory, then install again"
            raise GitMemError(f"another plugin has the slot of memory in '{path}'", hint)
        slots["memory"] = NAME
        present = entries.get(NAME)
        entry = {"enabled": True, "hooks": {"allowConversationAccess": True}, "config": {"root": setup.root}}
        if isinstance(present, dict):
            entries[NAME] = {**entry, **present}
        else:
            entries[NAME] = entry
    for key in ("slots", "entries"):
        if not plugins[key]:
            del plugins[key]


ENTRIES = host.Entries(
    _read, shorten_tool_result, _summary,
    session=lambda entry: session_of_header(entry, "session"),
    is_silent=lambda entry: string_at(entry, "type") in SILENT,
)  # fmt: skip
HOST = host.Host(
    "openclaw",
    (host.RegistrationFile("~/.openclaw/openclaw.json", _rewrite_settings),
     host.RegistrationFile(f"{FOLDER}/openclaw.plugin.json", own_file(PLUGIN / "openclaw.plugin.json")),
     host.RegistrationFile(f"{FOLDER}/index.mjs", own_file(PLUGIN / "index.mjs"))),
    hooks=host.Hooks(
        {event: event for event in host.COMMON_EVENTS},
        project_variables=("OPENCLAW_PROJECT_DIR",), transcript=_transcript, workspace_field="workspace",
    ),
    entries=ENTRIES,
    inserted=host.InsertedText(
        blocks=(r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)",)
    ),
    transcripts=(".openclaw/agents/*/sessions/*.jsonl",),
    database=host.SessionDatabase(
        (".openclaw/agents/*/agent/openclaw-agent.sqlite",), _stored_sessions, _stored_transcript
    ),
    authors=("openclaw", "noreply@openclaw.ai"),
    reads=host.Reads(
        instructions=("AGENTS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md"),
        skills=host.SKILLS,
    ),
    programs=("openclaw",),
    validator=("openclaw", "config", "validate"),
)  # fmt: skip
