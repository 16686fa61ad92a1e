"""Read the parts of transcript entries that several hosts share: roles, times, messages, results of tools. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any

from gitmem.hosts.host import Entry, Place
from gitmem.hosts.transcript import By, FileRead, Role, Turn
from gitmem.json_values import parse_json_object

ROLES = {
    "user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "toolResult": Role.TOOL,
}  # fmt: skip
PATH_KEYS = ("file_path", "filePath", "path", "target_file")  # keys of a tool's input that name a file
MAX_PATH_CHARS = 500  # a longer path in a tool's input is ignored
TEXT_PARTS = ("text", "input_text", "output_text")


def string_at(entry: Entry, name: str) -> str:
    """The value of a key if it is a string, else ""."""
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def object_at(entry: Entry, name: str) -> dict[str, Any]:
    """The object at a key; {} for any other value and for a missing key."""
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


def objects_at(entry: Entry, name: str) -> list[dict[str, Any]]:
    """The objects in the list at a key, without its other values; [] for any other value and for a missing key."""
    value = entry.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def parse_object(text: str | bytes | None) -> dict[str, Any]:
    """The object of a JSON text; {} for any other text and for None."""
    try:
        return parse_json_object(text or "{}")
    except ValueError:
        return {}


def role_of(value: Any) -> Role | None:
    """The role that a host's word for a speaker names ("human", "toolResult"); None for an unknown word."""
    if not isinstance(value, str):
        return None
    return ROLES.get(value)


def time_of(value: Any) -> datetime | None:
    """The time, with the local time zone, from ISO 8601 or from seconds or milliseconds since 1970.

    None for any other value, and for the first and last years of the calendar, where adding a day can fail.
    """
    moment = None
    try:
        if isinstance(value, (int, float)):
            moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value).astimezone()
        elif isinstance(value, str):
            moment = datetime.fromisoformat(value).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    if moment is not None and MINYEAR + 1 < moment.year < MAXYEAR - 1:
        return moment
    return None


def place_of(entry: Entry, line: int) -> Place:
    """The position of an entry: its id, its line number and its time. An entry without an id gets `L` and the line
    number."""
    ident = next((value for value in (entry.get("uuid"), entry.get("id")) if isinstance(value, str)), f"L{line}")
    return Place(ident, line, time_of(entry.get("timestamp") or entry.get("at")))


def text_of(parts: Sequence[Any]) -> str:
    """The texts of a message's parts, joined by line breaks; parts of other kinds are left out."""
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in TEXT_PARTS]
    return "\n".join(text for text in texts if isinstance(text, str))


def tool_output(value: Any) -> str:
    """The text of a tool's result: a string itself, the texts of a list of parts, or what an object has of these at
    `content`; "" for None; any other value as JSON."""
    if isinstance(value, dict):
        value = value.get("content", value)
    if isinstance(value, list):
        return text_of(value)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def session_of_header(entry: Entry, kind: str) -> str:
    """The session id in an entry of type `kind`, or in its payload; "" for an entry of another type."""
    if string_at(entry, "type") != kind:
        return ""
    payload = entry.get("payload")
    return string_at(payload if isinstance(payload, dict) else entry, "id")


def summary_turn(text: Any, place: Place) -> Iterator[Turn]:
    """The turn of a summary that replaces older turns; no turn if `text` is not a string or is empty."""
    if isinstance(text, str) and text:
        yield Turn(place.id, Role.USER, text, place.line, place.at, by=By.SUMMARY)


def message_turns(message: Mapping[str, Any], place: Place, *, is_summary: bool = False) -> Iterator[Turn]:
    """The turns of a message with a role and a text or a list of parts (the form of Claude Code, OpenClaw, Cursor): the
    message, then each tool result in it. No turn for an unknown role, or without text, tool calls and results.
    `is_summary`: the message replaces older turns."""
    if string_at(message, "role") in ("compactionSummary", "branchSummary"):
        yield from summary_turn(message.get("summary"), place)
        return
    role = role_of(message.get("role"))
    content = message.get("content")
    if role is None:
        return
    if isinstance(content, str):
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}]
    else:
        parts = objects_at(message, "content")
    text = text_of(parts)
    calls = [part for part in parts if part.get("type") in ("tool_use", "toolCall")]
    if role is Role.TOOL:
        answers, name = str(message.get("toolCallId") or ""), str(message.get("toolName") or "")
        yield Turn(place.id, role, text, place.line, place.at, (), answers, name)
    elif is_summary:
        yield from summary_turn(text, place)
    elif text or calls:
        ids, names = tuple(str(call.get("id")) for call in calls), ",".join(str(call.get("name")) for call in calls)
        answer = string_at(message, "id") if role is Role.ASSISTANT else ""
        inputs = [part.get("input") or part.get("arguments") for part in calls]
        files = tuple(filter(None, [file_of(tool_input) for tool_input in inputs if isinstance(tool_input, dict)]))
        yield Turn(place.id, role, text, place.line, place.at, ids, "", names, answer=answer, files=files)
    for part in parts:
        if part.get("type") == "tool_result":
            output = tool_output(part.get("content"))
            yield Turn(place.id, Role.TOOL, output, place.line, place.at, (), str(part.get("tool_use_id") or ""))


def calls_of(
    calls: Sequence[Mapping[str, Any]], id_key: str = "id", name_key: str = "name"
) -> tuple[tuple[str, ...], str, str]:
    """(ids of the calls, "", names of the tools separated by commas): the fields `calls`, `answers` and `name` of a
    `Turn` that makes these tool calls. `id_key`, `name_key`: the keys of a call's id and of the tool's name."""
    ids = tuple(string_at(call, id_key) for call in calls)
    return ids, "", ",".join(string_at(call, name_key) for call in calls)


def file_of(tool_input: Mapping[str, Any]) -> FileRead | None:
    """The file in the input of a tool call, with its lines if the input has them; None if the input names no file."""
    paths = [tool_input.get(key) for key in PATH_KEYS]
    path = next((value for value in paths if value and isinstance(value, str)), "")
    if not path or len(path) > MAX_PATH_CHARS:
        return None
    first_line, count = tool_input.get("offset"), tool_input.get("limit")
    if isinstance(first_line, int) and isinstance(count, int) and first_line > 0 and count > 0:
        return FileRead(path, first_line, first_line + count - 1)
    return FileRead(path)


def shorten_tool_result(entry: dict[str, Any], call: str, text: str) -> None:
    """Replace the result of the tool call `call` in an entry by `text`, in the entry itself. The entry must have a
    `message`."""
    message = entry["message"]
    if role_of(message.get("role")) is Role.TOOL:
        message["content"] = [{"type": "text", "text": text}]
        return
    for part in objects_at(message, "content"):
        if part.get("type") == "tool_result" and part.get("tool_use_id") == call:
            part["content"] = text
    entry.pop("toolUseResult", None)  # Claude Code's second copy of the whole output


def identity_keys(like: Entry, last: Entry) -> dict[str, Any]:
    """The keys that tie a summary's entry to its session, as far as the entries have them: the session, parent, time,
    folder, host version and Git branch of the entry `like`, and the own id (`uuid`, `id`) of the entry `last`; where
    `last` has none, that of `like`."""
    names = ("sessionId", "cwd", "version", "gitBranch", "timestamp", "parentUuid", "parentId", "uuid", "id")
    keys = {name: like[name] for name in names if name in like}
    return keys | {name: last[name] for name in ("uuid", "id") if isinstance(last.get(name), str)}
