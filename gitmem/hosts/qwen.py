"""Qwen Code: .qwen/settings.json, ~/.qwen/projects/*/chats/*.jsonl (qwenlm.github.io/qwen-code-docs)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts import host, own_memory
from gitmem.hosts.entries import calls_of, identity_keys, object_at, objects_at, string_at, summary_turn, tool_output
from gitmem.hosts.registration import PERSONAL_SERVER, server_and_hooks
from gitmem.hosts.transcript import By, Role, Turn

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool_result": Role.TOOL}
COMPRESSED = "chat_compression"
SPOKEN = ("", "mid_turn_user_message", "realtime_message")  # subtypes of a person's words; others are the host's


def _read(entry: host.Entry, place: host.Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    message, payload = entry.get("message"), entry.get("systemPayload")
    if string_at(entry, "subtype") == COMPRESSED and isinstance(payload, dict):
        return _compressed(payload, place)
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return None
    role = ROLES.get(string_at(entry, "type"))
    if role is None:
        return iter(())
    return _turns(role, entry, objects_at(message, "parts"), place)


def _turns(role: Role, entry: host.Entry, parts: list[dict[str, Any]], place: host.Place) -> Iterator[Turn]:
    """The turns of a message: its text and tool calls, or each tool result in it."""
    if role is Role.TOOL:
        for part in parts:
            response = part.get("functionResponse")
            if isinstance(response, dict):
                output = _output(response.get("response"))
                call, name = string_at(response, "id"), string_at(response, "name")
                yield Turn(place.id, role, output, place.line, place.at, (), call, name)
        return
    text = _typed_text(entry) if role is Role.USER else ""
    texts = [string_at(part, "text") for part in parts if not part.get("thought")]
    text = text or "\n".join(filter(None, texts))
    calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    if text or calls:
        by = By.HOST if role is Role.USER and string_at(entry, "subtype") not in SPOKEN else By.SPEAKER
        yield Turn(place.id, role, text, place.line, place.at, *calls_of(calls), by)


def _typed_text(entry: host.Entry) -> str:
    """The text that the person typed, if the entry has it apart from a hook's context; else ""."""
    payload = object_at(entry, "systemPayload")
    if isinstance(payload.get("hookContext"), str):
        return string_at(payload, "displayText")
    return ""


def _compressed(payload: dict[str, Any], place: host.Place) -> Iterator[Turn]:
    """The summary of a compaction: the texts of the first entry in the history that replaces the conversation."""
    history = objects_at(payload, "compressedHistory")
    texts = [string_at(part, "text") for part in objects_at(history[0], "parts")] if history else []
    return summary_turn("\n".join(text for text in texts if text), place)


def _output(response: Any) -> str:
    """The text of a tool's response: of its `output`, if the response is an object with that key, else of all of it
    (`tool_output`)."""
    return tool_output(response.get("output", response) if isinstance(response, dict) else response)


def _shorten(entry: dict[str, Any], call: str, text: str) -> None:
    for part in objects_at(entry["message"], "parts"):
        response = object_at(part, "functionResponse")
        if response.get("id") == call:
            response["response"] = {"output": text}
    entry.pop("toolCallResult", None)  # the output a second time, for the screen


def _summary(like: host.Entry, last: host.Entry, text: str) -> dict[str, Any]:
    return identity_keys(like, last) | {"type": "user", "message": {"role": "user", "parts": [{"text": text}]}}


HOST = host.Host(
    "qwen",
    (host.RegistrationFile(".qwen/settings.json", server_and_hooks(alwaysLoadTools=True)),),
    hooks=host.Hooks(
        {event: event for event in host.COMMON_EVENTS},
        project_variables=("QWEN_PROJECT_DIR",), prompt_fields=("submitted_prompt", "prompt"),
    ),
    entries=host.Entries(_read, _shorten, _summary, is_silent=lambda entry: string_at(entry, "type") == "system"),
    transcripts=(".qwen/projects/*/chats/*.jsonl",),
    inserted=host.InsertedText(tags=("qwen:[a-z-]+",)),
    settings=host.settings_in(".qwen"),
    authors=("qwen", "qwen code", "qwen-code", "qwen-coder", "qwen-coder@*"),
    reads=host.Reads(
        instructions=("QWEN.md", "AGENTS.md", ".qwen/system.md", ".qwen/rules/"),
        commands=(".qwen/commands/",),
        agents=(".qwen/agents/",),
        styles=(".qwen/output-styles/",),
        skills=(*host.SKILLS, ".qwen/skills/"),
        imports=("QWEN.md", "AGENTS.md"),
    ),
    programs=("qwen",),
    personal=(host.RegistrationFile("~/.qwen/settings.json", server_and_hooks(PERSONAL_SERVER, alwaysLoadTools=True)),),
    own_memory=host.OwnMemory(own_memory.qwen),
    below="Qwen Code",
)  # fmt: skip
