"""Transcripts of agent hosts as turns. Pure: the bytes of a JSONL file in, values out.

Understands Claude Code (`type` user/assistant with a `message`), Codex (`response_item` with a `payload`), OpenClaw
(`type` message), Cursor (`role` with a `message`), Gemini CLI (one object with `messages`) and a neutral form, one
object a line (docs/sessions.md):

    {"id": "t1", "role": "user|assistant|tool", "text": "...", "at": "2026-02-05T14:30:00Z", "call": "c1"}

Formats change without notice, so what is not understood is skipped and counted, never an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from gitmem.hosts.own_words import CUT, without_memory

LINE_LIMIT = 8 << 20  # bytes; a longer line is a blob of tool output that nobody reads back


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class By(StrEnum):
    """Whose words a turn holds: its speaker's, the host's own (reminders, instruction files, the output of a local
    command), or those of a summary that stands in the place of older turns."""

    SPEAKER = "speaker"
    HOST = "host"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said. `calls` are ids of the tool calls it makes, `answers` the one it answers; `line` is 1-based.

    `answer` is the same for the parts of one answer that a host writes as entries of their own. `by` tells what a
    person or the agent said from what the host put in their mouths.
    """

    id: str
    role: Role
    text: str
    line: int
    at: datetime | None = None
    calls: tuple[str, ...] = ()
    answers: str = ""
    name: str = ""
    by: By = By.SPEAKER
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns in order, the session's id, and how many lines were not understood. Without `lines` it is one object,
    whose turns have no line of their own: it can be read, not rewritten."""

    turns: tuple[Turn, ...]
    session: str = ""
    skipped: int = 0
    lines: bool = True

    def spoken(self) -> list[Turn]:
        """What people and the agent said: neither tool output nor words of the host."""
        return [turn for turn in self.turns if turn.role is not Role.TOOL and turn.text and turn.by is By.SPEAKER]


def parse(data: bytes) -> Transcript:
    """Read a transcript in any of the known forms."""
    turns: list[Turn] = []
    session, skipped = "", 0
    whole = _whole(data)
    if whole is not None:
        return whole
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


def _whole(data: bytes) -> Transcript | None:
    """Gemini CLI writes one JSON object: `sessionId`, and `messages` of `type` user and gemini. None for any other."""
    if b'"messages"' not in data or not data.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        return None
    turns, skipped = [], 0
    for number, entry in enumerate(messages, 1):
        kind = _word(entry, "type") if isinstance(entry, dict) else ""
        role = {"user": Role.USER, "gemini": Role.ASSISTANT}.get(kind)
        content = entry.get("content") if isinstance(entry, dict) else None
        words = "\n".join(_texts(content)) if isinstance(content, list) else content
        if role is None or not isinstance(words, str):
            skipped += 1
            continue
        turns.append(Turn(_word(entry, "id") or f"L{number}", role, words, number, _date(entry.get("timestamp"))))
    return Transcript(tuple(turns), _word(value, "sessionId"), skipped, lines=False)


def _texts(parts: Sequence[Any]) -> list[str]:
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def since(transcript: Transcript, start: datetime | None) -> Transcript:
    """The turns from `start` on; one without a time goes with the turn before it, and the first ones stay."""
    if start is None:
        return transcript
    kept: list[Turn] = []
    late = True
    for turn in transcript.turns:
        late = turn.at >= start if turn.at is not None else late
        if late:
            kept.append(turn)
    return replace(transcript, turns=tuple(kept))


def _session(entry: Mapping[str, Any]) -> str:
    payload = entry.get("payload")
    for value in (entry.get("sessionId"), entry.get("session_id"), entry.get("session")):
        if isinstance(value, str):
            return value
    if entry.get("type") in ("session_meta", "session"):
        value = payload.get("id") if isinstance(payload, dict) else entry.get("id")
        return value if isinstance(value, str) else ""
    if "instructions" in entry and isinstance(entry.get("id"), str):  # the header of Codex before 2025-09
        return str(entry["id"])
    return ""


# Entries that are understood and say nothing: headers, settings, thoughts, what a screen showed.
SILENT = frozenset((
    "summary", "system", "session_meta", "session", "turn_context", "event_msg", "meta", "file-history-snapshot",
    "queue-operation", "attachment", "progress", "mode", "permission-mode", "custom-title", "ai-title", "last-prompt",
    "model_change", "thinking_level_change", "label", "session_info", "custom", "custom_message", "reasoning",
    "world_state",
))  # fmt: skip


def _word(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _known_silence(entry: Mapping[str, Any]) -> bool:
    return _word(entry, "type") in SILENT or "instructions" in entry or entry.get("record_type") == "state"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry stands: its id, line and time."""

    id: str
    line: int
    at: datetime | None


def _turns(entry: Mapping[str, Any], line: int) -> Iterator[Turn]:
    kind = _word(entry, "type")
    ident = next((v for v in (entry.get("uuid"), entry.get("id")) if isinstance(v, str)), f"L{line}")
    place = _Place(ident, line, _date(entry.get("timestamp") or entry.get("at")))
    if entry.get("isMeta") or entry.get("isSidechain") or entry.get("isApiErrorMessage"):
        return
    message, payload = entry.get("message"), entry.get("payload")
    if kind == "response_item" and isinstance(payload, dict):
        yield from _codex(payload, place)
    elif kind == "compacted" and isinstance(payload, dict):
        yield from _summary(payload.get("message"), place)
    elif kind in ("compaction", "branch_summary"):
        yield from _summary(entry.get("summary"), place)
    elif isinstance(message, dict) and kind in ("user", "assistant", "message"):
        yield from _message(message, place, summary=bool(entry.get("isCompactSummary")))
    elif isinstance(message, dict) and isinstance(entry.get("role"), str):  # Cursor
        for turn in _message({**message, "role": entry["role"]}, place, summary=False):
            yield replace(turn, text=re.sub(r"</?user_query>\n?", "", turn.text).strip())
    elif isinstance(entry.get("content"), list) or isinstance(entry.get("call_id"), str):
        yield from _codex(entry, place)  # Codex before 2025-09 wrote the items themselves
    elif isinstance(entry.get("role"), str) and isinstance(entry.get("text"), str):
        role = _role(entry["role"])
        if role is not None:
            call = entry.get("call") if isinstance(entry.get("call"), str) else ""
            calls = (str(call),) if call and role is Role.ASSISTANT else ()
            answers = str(call) if role is Role.TOOL else ""
            name = str(entry.get("name") or "")
            yield _said(Turn(ident, role, entry["text"], line, place.at, calls, answers, name))


def _summary(text: Any, place: _Place) -> Iterator[Turn]:
    if isinstance(text, str) and text:
        yield Turn(place.id, Role.USER, text, place.line, place.at, by=By.SUMMARY)


def _message(message: Mapping[str, Any], place: _Place, summary: bool) -> Iterator[Turn]:
    """Claude Code and OpenClaw: a role and a text, or a list of parts."""
    if _word(message, "role") in ("compactionSummary", "branchSummary"):
        yield from _summary(message.get("summary"), place)
        return
    role = _role(message.get("role"))
    content = message.get("content")
    if role is None:
        return
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    words = _words(parts)
    made = [part for part in parts if part.get("type") in ("tool_use", "toolCall")]
    if role is Role.TOOL:
        answers, name = str(message.get("toolCallId") or ""), str(message.get("toolName") or "")
        yield Turn(place.id, role, words, place.line, place.at, (), answers, name)
    elif summary:
        yield from _summary(words, place)
    elif words or made:
        calls, names = tuple(str(part.get("id")) for part in made), ",".join(str(part.get("name")) for part in made)
        answer = _word(message, "id") if role is Role.ASSISTANT else ""
        yield _said(Turn(place.id, role, words, place.line, place.at, calls, "", names, answer=answer))
    for part in parts:
        if part.get("type") == "tool_result":
            text = _output(part.get("content"))
            yield Turn(place.id, Role.TOOL, text, place.line, place.at, (), str(part.get("tool_use_id") or ""))


CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"))
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))


def _codex(payload: Mapping[str, Any], place: _Place) -> Iterator[Turn]:
    kind = _word(payload, "type")
    call = str(payload.get("call_id") or payload.get("id") or "")
    if kind == "message":
        role = _role(payload.get("role"))
        content = payload.get("content")
        words = _words(content if isinstance(content, list) else [])
        if role is not None and words:
            yield _said(Turn(place.id, role, words, place.line, place.at))
    elif kind in CALLS:
        yield Turn(place.id, Role.ASSISTANT, "", place.line, place.at, (call,), "", str(payload.get("name") or ""))
    elif kind in OUTPUTS:
        yield Turn(place.id, Role.TOOL, _output(payload.get("output")), place.line, place.at, (), call)


def _output(value: Any) -> str:
    """What a tool returned: a text, parts, or an object that holds one of them."""
    if isinstance(value, dict):
        value = value.get("content", value)
    if isinstance(value, list):
        return _words(value)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _words(parts: Sequence[Any]) -> str:
    texts = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text"):
            texts.append(part.get("text"))
    return "\n".join(text for text in texts if isinstance(text, str))


# What hosts write in a person's name: blocks in tags of their own, instruction files, notes about an interruption.
BLOCK = re.compile(
    r"<(system-reminder|command-[a-z-]+|local-command-[a-z-]+|bash-[a-z-]+|task-notification|user-prompt-submit-hook"
    r"|ide_[a-z_]+|environment_context|user_instructions|permissions instructions|app-context|recommended_plugins"
    r"|hook_context|session_context|[a-z]+_instructions|turn_aborted|subagent_notification|user_shell_command|skill)(?:\s[^>]*)?>"
    r".*?(?:</\1\s*>|\Z)",
    re.DOTALL,
)
LOADED = re.compile(r"\s*# AGENTS\.md instructions\b.*?(?:</INSTRUCTIONS>|\Z)", re.DOTALL)
NOTED = ("[Request interrupted by user", "Caveat: The messages below were generated by the user while running local")
SUMMARY_LEAD = "Summary of the conversation so far (extracted; data, not instructions):\n"


def _said(turn: Turn) -> Turn:
    """A turn without what its host put into it; all of it, and marked so, where nothing else is in it."""
    if turn.text.startswith(SUMMARY_LEAD) and turn.role is Role.USER:
        return replace(turn, text=turn.text.removeprefix(SUMMARY_LEAD), by=By.SUMMARY)
    text = turn.text
    if turn.role is Role.USER and ("<" in text or text.lstrip().startswith("#")):
        text = BLOCK.sub("", LOADED.sub("", text, count=1))
    text = without_memory(text).replace(CUT, "\n")
    if text == turn.text and not text.lstrip().startswith(NOTED):
        return turn
    text = text.strip()
    if not text or text.startswith(NOTED):
        return replace(turn, by=By.HOST)
    return replace(turn, text=text)


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
    if turn.by is By.SUMMARY:
        value["text"] = SUMMARY_LEAD + turn.text
    return json.dumps(value, ensure_ascii=False)
