"""Transcripts of agent hosts as turns. Pure: the bytes of a JSONL file in, values out.

Understands Claude Code (`type` user/assistant with a `message`), Codex (`response_item` with a `payload`), OpenClaw
(`type` message) and a neutral form, one object a line (docs/sessions.md):

    {"id": "t1", "role": "user|assistant|tool", "text": "...", "at": "2026-02-05T14:30:00Z", "call": "c1"}

Formats change without notice, so what is not understood is skipped and counted, never an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

LINE_LIMIT = 8 << 20  # bytes; a longer line is a blob of tool output that nobody reads back


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said. `calls` are ids of the tool calls it makes, `answers` the one it answers; `line` is 1-based."""

    id: str
    role: Role
    text: str
    line: int
    at: datetime | None = None
    calls: tuple[str, ...] = ()
    answers: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns in order, the session's id, the raw lines they came from, and how many lines were not understood."""

    turns: tuple[Turn, ...]
    session: str = ""
    skipped: int = 0

    def spoken(self) -> list[Turn]:
        """What people and the agent said, without tool output."""
        return [turn for turn in self.turns if turn.role is not Role.TOOL and turn.text]


def parse(data: bytes) -> Transcript:
    """Read a transcript in any of the known forms."""
    turns: list[Turn] = []
    session, skipped = "", 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line) if len(line) <= LINE_LIMIT else None
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            skipped += 1
            continue
        session = session or _session(entry)
        found = list(_turns(entry, number))
        turns += found
        skipped += not found and not _known_silence(entry)
    return Transcript(tuple(turns), session, skipped)


def _session(entry: Mapping[str, Any]) -> str:
    payload = entry.get("payload")
    for value in (entry.get("sessionId"), entry.get("session_id"), entry.get("session")):
        if isinstance(value, str):
            return value
    if entry.get("type") in ("session_meta", "session"):
        value = payload.get("id") if isinstance(payload, dict) else entry.get("id")
        return value if isinstance(value, str) else ""
    return ""


def _known_silence(entry: Mapping[str, Any]) -> bool:
    """Entries that are understood and say nothing: headers, settings, thoughts."""
    return entry.get("type") in ("summary", "system", "session_meta", "session", "turn_context", "event_msg", "meta")


def _turns(entry: Mapping[str, Any], line: int) -> Iterator[Turn]:
    kind = entry.get("type")
    ident = next((v for v in (entry.get("uuid"), entry.get("id")) if isinstance(v, str)), f"L{line}")
    at = _date(entry.get("timestamp") or entry.get("at"))
    if entry.get("isMeta") or entry.get("isSidechain"):
        return
    message = entry.get("message")
    if kind == "response_item":
        payload = entry.get("payload")
        if isinstance(payload, dict):
            yield from _codex(payload, ident, line, at)
    elif isinstance(message, dict) and kind in ("user", "assistant", "message"):
        yield from _message(message, ident, line, at)
    elif isinstance(entry.get("role"), str) and isinstance(entry.get("text"), str):
        role = _role(entry["role"])
        if role is not None:
            call = entry.get("call") if isinstance(entry.get("call"), str) else ""
            calls = (str(call),) if call and role is Role.ASSISTANT else ()
            answers = str(call) if role is Role.TOOL else ""
            yield Turn(ident, role, entry["text"], line, at, calls, answers, str(entry.get("name") or ""))


def _message(message: Mapping[str, Any], ident: str, line: int, at: datetime | None) -> Iterator[Turn]:
    """Claude Code and OpenClaw: a role and a text, or a list of parts."""
    role = _role(message.get("role"))
    content = message.get("content")
    if role is None:
        return
    if isinstance(content, str):
        yield Turn(ident, role, content, line, at)
        return
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    words = _words(parts)
    calls = tuple(str(p.get("id")) for p in parts if p.get("type") in ("tool_use", "toolCall"))
    if role is Role.TOOL:
        yield Turn(
            ident, role, words, line, at, (), str(message.get("toolCallId") or ""), str(message.get("toolName") or "")
        )
    elif words or calls:
        names = ",".join(str(p.get("name")) for p in parts if p.get("type") in ("tool_use", "toolCall"))
        yield Turn(ident, role, words, line, at, calls, "", names)
    for part in parts:
        if part.get("type") == "tool_result":
            inner = part.get("content")
            text = inner if isinstance(inner, str) else _words(inner if isinstance(inner, list) else [])
            yield Turn(ident, Role.TOOL, text, line, at, (), str(part.get("tool_use_id") or ""))


def _codex(payload: Mapping[str, Any], ident: str, line: int, at: datetime | None) -> Iterator[Turn]:
    kind = payload.get("type")
    call = str(payload.get("call_id") or "")
    if kind == "message":
        role = _role(payload.get("role"))
        content = payload.get("content")
        words = _words(content if isinstance(content, list) else [])
        if role is not None and words:
            yield Turn(ident, role, words, line, at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        yield Turn(ident, Role.ASSISTANT, "", line, at, (call,), "", str(payload.get("name") or ""))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = payload.get("output")
        yield Turn(ident, Role.TOOL, output if isinstance(output, str) else json.dumps(output), line, at, (), call)


def _words(parts: Sequence[Any]) -> str:
    texts = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text"):
            texts.append(part.get("text"))
    return "\n".join(text for text in texts if isinstance(text, str))


def _role(value: Any) -> Role | None:
    names = {
        "user": Role.USER,
        "human": Role.USER,
        "assistant": Role.ASSISTANT,
        "tool": Role.TOOL,
        "toolResult": Role.TOOL,
    }
    return names.get(value) if isinstance(value, str) else None


def _date(value: Any) -> datetime | None:
    try:
        if isinstance(value, (int, float)):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value).astimezone()
        return datetime.fromisoformat(value).astimezone() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def neutral(turn: Turn) -> str:
    """One line of the neutral form."""
    value: dict[str, Any] = {"id": turn.id, "role": turn.role.value, "text": turn.text}
    if turn.at is not None:
        value["at"] = turn.at.isoformat()
    if turn.answers or turn.calls:
        value["call"] = turn.answers or turn.calls[0]
    if turn.name:
        value["name"] = turn.name
    return json.dumps(value, ensure_ascii=False)
