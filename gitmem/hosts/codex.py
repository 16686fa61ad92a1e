"""Codex: .codex/config.toml, .codex/hooks.json, ~/.codex/sessions/*/*/*/*.jsonl (developers.openai.com/codex)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitmem.hosts import host
from gitmem.hosts.entries import objects_at, role_of, session_of_header, string_at, summary_turn, text_of, tool_output
from gitmem.hosts.registration import hooks_file, toml_block
from gitmem.hosts.transcript import Role, Turn

SERVER = '[mcp_servers.git-mem]\ncommand = "git-mem"\nargs = ["mcp"]\n'
SILENT = frozenset(("session_meta", "turn_context", "event_msg", "meta", "reasoning", "world_state"))
CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"))
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))


def _read(entry: host.Entry, place: host.Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    kind, payload = string_at(entry, "type"), entry.get("payload")
    if kind == "response_item" and isinstance(payload, dict):
        return _item(payload, place)
    if kind == "compacted" and isinstance(payload, dict):
        return summary_turn(payload.get("message"), place)
    if isinstance(entry.get("message"), dict):
        return None
    if isinstance(entry.get("content"), list) or isinstance(entry.get("call_id"), str):
        return _item(entry, place)  # before 2025-09 an entry was the item itself
    return None


def _item(item: Mapping[str, Any], place: host.Place) -> Iterator[Turn]:
    """The turn of one item: a message, a tool call or its output; nothing for other items."""
    kind = string_at(item, "type")
    call = str(item.get("call_id") or item.get("id") or "")
    place = replace(place, id=string_at(item, "id") or place.id)
    if kind == "message":
        role = role_of(item.get("role"))
        text = text_of(objects_at(item, "content"))
        if role is not None and text:
            yield Turn(place.id, role, text, place.line, place.at)
    elif kind in CALLS:
        yield Turn(place.id, Role.ASSISTANT, "", place.line, place.at, (call,), "", str(item.get("name") or ""))
    elif kind in OUTPUTS:
        yield Turn(place.id, Role.TOOL, tool_output(item.get("output")), place.line, place.at, (), call)


def _shorten(entry: dict[str, Any], call: str, text: str) -> None:
    payload = entry.get("payload")
    item = payload if isinstance(payload, dict) and "output" in payload else entry
    item["output"] = text


def _summary(like: host.Entry, last: host.Entry, text: str) -> dict[str, Any]:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    if string_at(like, "type") not in ("response_item", "compacted"):
        return message
    stamp = {"timestamp": like["timestamp"]} if "timestamp" in like else {}
    return {**stamp, "type": "response_item", "payload": message}


def _session(entry: host.Entry) -> str:
    """The session id that an entry states, "" if none; until September 2025 the first entry had it without a type."""
    before_2025_09 = string_at(entry, "id") if "instructions" in entry else ""
    return session_of_header(entry, "session_meta") or before_2025_09


def _is_silent(entry: host.Entry) -> bool:
    return string_at(entry, "type") in SILENT or "instructions" in entry or entry.get("record_type") == "state"


def _repeats_answer(entry: host.Entry) -> bool:
    """Whether the entry is a compaction. Codex 0.169 writes its summary as the model's answer right before it."""
    return string_at(entry, "type") == "compacted"


HOST = host.Host(
    "codex",
    (host.RegistrationFile(".codex/config.toml", toml_block(SERVER)),
     host.RegistrationFile(".codex/hooks.json", hooks_file)),
    # Codex allows SessionEnd 3 s, and warns at each start about more; it allows other events 600 s.
    hooks=host.Hooks({event: event for event in host.WITH_SUBAGENTS}, end_seconds=3),
    entries=host.Entries(_read, _shorten, _summary, _session, _is_silent, _repeats_answer),
    inserted=host.InsertedText(
        tags=("environment_context", "user_instructions", "permissions instructions", "app-context",
              "recommended_plugins", "[a-z]+_instructions", "turn_aborted", "subagent_notification",
              "user_shell_command", "skill"),
        blocks=(r"\s*# AGENTS\.md instructions\b.*?(?:</INSTRUCTIONS>|\Z)",),
    ),
    transcripts=(".codex/sessions/*/*/*/rollout-*.jsonl", ".codex/archived_sessions/rollout-*.jsonl"),
    settings=(*host.settings_in(".codex"), ".codex/hooks/**"),
    authors=("codex", "codex cli", "noreply@openai.com", "codex@openai.com"),
    reads=host.Reads(
        instructions=("AGENTS.md", "AGENTS.override.md", ".codex/rules/"),
        commands=(".codex/prompts/",),
        agents=(".codex/agents/",),
        skills=(*host.SKILLS, ".codex/skills/"),
    ),
    programs=("codex",),
    trust="Codex runs no hook, and says nothing, before you trust this project and then each hook, in '/hooks' of its "
          "screen, and again after a change of it",
)  # fmt: skip
