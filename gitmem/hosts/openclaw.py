"""OpenClaw: ~/.openclaw/openclaw.json, ~/.openclaw/agents/*/sessions/*.jsonl (docs.openclaw.ai). It has no hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.errors import GitMemError
from gitmem.hosts.entries import (
    kept_identity,
    message_turns,
    session_of_header,
    shorten_tool_result,
    summary_turn,
    word,
)
from gitmem.hosts.host import Entries, Entry, Host, Place, RegistrationFile
from gitmem.hosts.registration import dump_json, json_server, load_json
from gitmem.hosts.transcript import Turn

SILENT = frozenset(
    ("session", "model_change", "thinking_level_change", "label", "session_info", "custom", "custom_message")
)
BY_HAND = 'openclaw mcp set git-mem \'{"command": "git-mem", "args": ["mcp"]}\' does it'


def _read(entry: Entry, place: Place) -> Iterator[Turn] | None:
    kind, message = word(entry, "type"), entry.get("message")
    if kind in ("compaction", "branch_summary"):
        return summary_turn(entry.get("summary"), place)
    if not isinstance(message, dict) or kind != "message":
        return None
    return message_turns(message, place, is_summary=bool(entry.get("isCompactSummary")))


def _summary(like: Entry, last: Entry, text: str) -> dict[str, Any]:
    said = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    return kept_identity(like, last) | said


def _settings(host: Host, path: str, text: str, root: str, remove: bool) -> str:
    """Servers stand below `mcp.servers`, and are started where the gateway runs: `cwd` is the memory's folder."""
    value = load_json(path, text, BY_HAND)
    mcp = value.setdefault("mcp", {})
    if not isinstance(mcp, dict):
        raise GitMemError(f"'mcp' of '{path}' is no object and is left as it is")
    more: dict[str, Any] = {"cwd": root} if root else {}
    inner = json_server("servers", **more)(host, path, dump_json(mcp), root, remove)
    value["mcp"] = load_json(path, inner)
    if not value["mcp"]:
        del value["mcp"]
    return dump_json(value, text)


HOST = Host(
    "openclaw",
    (RegistrationFile("~/.openclaw/openclaw.json", _settings),),
    entries=Entries(
        _read, shorten_tool_result, _summary,
        session=lambda entry: session_of_header(entry, "session"),
        is_silent=lambda entry: word(entry, "type") in SILENT,
    ),
    transcripts=(".openclaw/agents/*/sessions/*.jsonl",),
)  # fmt: skip
