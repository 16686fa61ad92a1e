"""Read the data archives of ChatGPT and Claude: list their conversations, and read each as a transcript.

Both services send a zip with `conversations.json`, a list of one object for each conversation (large accounts get
several files). One conversation at a time is read, from a private copy. Attachments, citations, hidden messages and
messages of tools are left out.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from gitmem.errors import GitMemError, UsageError
from gitmem.exchange.service_archives import ARCHIVE, files_named
from gitmem.hosts.entries import role_of, string_at, text_of, time_of
from gitmem.hosts.transcript import Role, Transcript, Turn, first_time
from gitmem.hosts.transcript_parser import as_spoken
from gitmem.json_values import parse_json
from gitmem.messages import Message
from gitmem.sessions.past_sessions import Listing, PastSession, Recording, by_start
from gitmem.shell_word import shell_word

FILE = re.compile(r"(?:^|/)conversations[^/]*\.json$")  # `conversations.json`, `conversations-001.json`
MAX_CONVERSATION_BYTES = 64 << 20  # a longer conversation is not read
MAX_CONVERSATIONS = 100_000  # of an archive; a small zip may hold millions of empty ones
PIECE_BYTES = 1 << 20  # read at a time
JSON_MARK = re.compile(rb'["{}]')
STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)  # the rest of a string after its first quote
NO_JSON, NO_CONVERSATION = "it is no JSON", "is no conversation"
UNKNOWN_SERVICE_REASONS = (f"cannot be read: {NO_JSON}", NO_CONVERSATION)  # they do not show the service of a file
Conversation = Mapping[str, Any]


def list_conversations(service: str, path: Path) -> Listing:
    """The conversations of an archive of `service` (`chatgpt` or `claude-export`), the earliest first, and (place,
    reason) for each that cannot be imported: too long, not JSON, without a time, or nothing said in it.

    `path`: the zip, a folder unpacked from it, or one of its JSON files. Raises UsageError if `path` does not exist or
    has no conversation of the service, GitMemError for a damaged archive or one above MAX_CONVERSATIONS.
    """
    sessions: list[PastSession] = []
    left_out: list[tuple[str, str]] = []
    files = _files(path)
    for name, file in files:
        size = file.seek(0, 2)
        for start, end in _conversations(file) if size else ():
            place = f"{name} at byte {start}"
            if len(sessions) + len(left_out) >= MAX_CONVERSATIONS:
                words = Message("'{}' has more than {} conversations", path, f"{MAX_CONVERSATIONS:,}")
                raise GitMemError(words, "unpack it, and import its JSON files in parts")
            try:
                session = _past_session(service, name, file, start, end)
            except OSError as error:
                left_out.append((place, f"cannot be read: {error.strerror}"))
                continue
            if isinstance(session, str):
                left_out.append((place, session))
            else:
                sessions.append(session)
    is_other = not sessions and all(reason in UNKNOWN_SERVICE_REASONS for _, reason in left_out)
    if is_other and not all(_is_empty(file) for _, file in files):
        other = next((name for name in SERVICES if left_out and name != service and _is_of_service(name, files)), "")
        hint = f"name the archive that the service sent: git mem import {service} ARCHIVE.zip --dry-run"
        if other:
            hint = f"it holds some of {other}: git mem import {other} {shell_word(str(path))} --dry-run"
        raise UsageError(f"'{path}' holds no conversation of {service}", hint)
    return Listing(by_start(sessions), tuple(left_out))


def _files(path: Path) -> list[tuple[str, IO[bytes]]]:
    """(name, open private copy) of each `conversations*.json` at `path`. Raises UsageError if there is none."""
    files = files_named(path, FILE, any_name=True)
    if not files:
        raise UsageError(f"there is no conversations.json in '{path}'", ARCHIVE)
    return files


def _conversations(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """The (start, end) byte offsets of each conversation: each object of the outer list, or the single outer object.

    The file may have any length: PIECE_BYTES are read at a time. The last pair reaches to the end of a file that is cut
    short.
    """
    file.seek(0)
    depth = start = base = 0
    inside = escaped = False  # inside a string; after a backslash at the end of the last piece
    while piece := file.read(PIECE_BYTES):
        offset = 1 if escaped else 0
        escaped = False
        while True:
            if inside:
                string_end = STRING.match(piece, offset)
                if string_end is None:
                    tail = piece[offset:]
                    escaped = bool((len(tail) - len(tail.rstrip(b"\\"))) % 2)
                    break
                inside, offset = False, string_end.end()
            token = JSON_MARK.search(piece, offset)
            if token is None:
                break
            offset = token.end()
            if token[0] == b'"':
                inside = True
            elif token[0] == b"{":
                if not depth:
                    start = base + token.start()
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    position = file.tell()
                    yield start, base + offset
                    file.seek(position)
        base += len(piece)
    if depth:
        yield start, base  # the file is cut short: the rest is reported as invalid JSON


def _is_empty(file: IO[bytes]) -> bool:
    """Whether a file is an empty list, from an account without conversations."""
    file.seek(0)
    return b"".join(file.read(64).split()) == b"[]"


def _past_session(service: str, name: str, file: IO[bytes], start: int, end: int) -> PastSession | str:
    """The conversation at bytes `start` to `end` as a session, or the reason why it cannot be imported. Raises OSError
    if it is too long, is not JSON or has no time."""
    ident, transcript = _parsed(service, _bytes(file, start, end))
    if not ident:
        return NO_CONVERSATION
    if not transcript.spoken():
        return "nothing was said in it"
    began = first_time(transcript.turns)
    if began is None:
        raise OSError(errno.EINVAL, "it has no time")
    read = partial(_read, service, file, start, end)
    return PastSession(ident, began, f"{name}#{ident}", f"{service}/{ident}", "", read)


def _read(service: str, file: IO[bytes], start: int, end: int) -> Recording:
    """The turns and the SHA-256 of the conversation at bytes `start` to `end`. Raises OSError if the file cannot be
    read."""
    data = _bytes(file, start, end)
    return Recording(_parsed(service, data)[1], hashlib.sha256(data).hexdigest())


def _is_of_service(service: str, files: Iterable[tuple[str, IO[bytes]]]) -> bool:
    """Whether the first conversation of the first file that is not empty belongs to `service`."""
    for _, file in files:
        for start, end in islice(_conversations(file), 1) if file.seek(0, 2) else ():
            with suppress(OSError):
                return bool(_parsed(service, _bytes(file, start, end))[0])
    return False


def _bytes(file: IO[bytes], start: int, end: int) -> bytes:
    """The bytes from `start` to `end`. Raises OSError if there are more than MAX_CONVERSATION_BYTES."""
    if end - start > MAX_CONVERSATION_BYTES:
        raise OSError(errno.EFBIG, f"it is longer than {MAX_CONVERSATION_BYTES >> 20} MiB")
    file.seek(start)
    return file.read(end - start)


def _parsed(service: str, data: bytes) -> tuple[str, Transcript]:
    """The id and the turns of a conversation; the id is "" if the conversation is from another service. Raises OSError
    for invalid JSON."""
    try:
        value = parse_json(data)
    except ValueError:
        raise OSError(errno.EINVAL, NO_JSON) from None
    if TURNS_IN[service] not in value:
        return "", Transcript((), "", lines=False)
    ident = string_at(value, "uuid") or string_at(value, "conversation_id") or string_at(value, "id")
    ident = ident or hashlib.sha256(data).hexdigest()[:16]
    turns = tuple(as_spoken(turn) for turn in _with_times(SERVICES[service](value), value))
    return ident, Transcript(turns, ident, lines=False)


def _with_times(turns: Iterable[Turn], value: Conversation) -> Iterator[Turn]:
    """The turns, each with a time: its own, else that of the turn before, else that of the conversation, else None."""
    last_time = next(filter(None, (time_of(value.get(key) or None) for key in TIMES)), None)
    for turn in turns:
        last_time = turn.at or last_time
        yield replace(turn, at=last_time)


def _chatgpt_turns(value: Conversation) -> Iterator[Turn]:
    """The turns of the branch of the conversation that was shown last, in order. `mapping` is a tree of messages,
    `current_node` the last leaf of that branch; without `current_node` the newest leaf counts. (help.openai.com, "How
    do I export my ChatGPT history"; the form of 2025.)

    A node whose `parent` is not there has the one that names it among its `children`. With two
    roots no branch is known: all messages count, in the order of `mapping`.
    """
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        mapping = {}
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    branch: dict[str, None] = {}  # in order; a damaged tree may contain a circle
    node_key = value.get("current_node")
    parents = _parents(nodes)
    if not isinstance(node_key, str) or node_key not in nodes:
        leaves = (key for key in reversed(nodes) if key not in parents.values())
        node_key = max(leaves, key=lambda key: _message_time(nodes[key]), default="")
    while node_key in nodes and node_key not in branch:
        branch[node_key] = None
        node_key = parents[node_key]
    keys = [*reversed(branch)]
    if [*parents.values()].count("") > 1:
        keys = [*nodes]
    for number, key in enumerate(keys, 1):
        message = nodes[key].get("message")
        if isinstance(message, dict):
            yield from _chatgpt_turn(message, key, number)


def _parents(nodes: Mapping[str, Conversation]) -> dict[str, str]:
    """Key of a node -> the key of its parent: the one that it names, else the one that has it among its `children`; ""
    for a root."""
    by_child: dict[str, str] = {}
    for key, node in nodes.items():
        children = node.get("children")
        by_child |= {child: key for child in children if isinstance(child, str)} if isinstance(children, list) else {}
    named_parents = {key: string_at(node, "parent") for key, node in nodes.items()}
    return {key: parent if parent in nodes else by_child.get(key, "") for key, parent in named_parents.items()}


def _message_time(node: Conversation) -> float:
    """The time of a message in seconds since 1970, 0.0 if it has none."""
    created = _object(node.get("message")).get("create_time")
    return created if isinstance(created, int | float) else 0.0


def _chatgpt_turn(message: Conversation, key: str, number: int) -> Iterator[Turn]:
    """The turn of one message; nothing for a hidden message, a request to a tool, or a message without text."""
    author, content, metadata = (_object(message.get(name)) for name in ("author", "content", "metadata"))
    if isinstance(message.get("content"), str):
        content = {"content_type": "text", "text": message["content"]}
    role = role_of(author.get("role"))
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    if role is None or hidden or string_at(content, "content_type") not in ("text", "multimodal_text"):
        return
    if role is Role.ASSISTANT and string_at(message, "recipient") not in ("", "all"):
        return  # a request to a tool
    parts = content.get("parts", content.get("text"))
    text = "\n".join(filter(None, map(_part_text, parts if isinstance(parts, list) else [parts])))
    if text.strip():
        yield Turn(key, role, text, number, time_of(message.get("create_time")))


def _part_text(part: Any) -> str:
    """The text of a message part, or the transcript of speech; "" for a picture or another kind."""
    if isinstance(part, str):
        return part
    spoken = _object(part)
    if spoken.get("content_type") != "audio_transcription":
        return ""
    return string_at(spoken, "text")


def _claude_turns(value: Conversation) -> Iterator[Turn]:
    """The turns of the list `chat_messages`, in order, without attachments. (support.claude.com, "How can I export my
    Claude data"; the form of 2025.)"""
    messages = value.get("chat_messages")
    for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
        if not isinstance(message, dict):
            continue
        role, content = role_of(message.get("sender")), message.get("content")
        text = text_of(content if isinstance(content, list) else []) or string_at(message, "text")
        if role is not None and text.strip():
            created_at = time_of(message.get("created_at"))
            yield Turn(string_at(message, "uuid") or f"L{number}", role, text, number, created_at)


def _object(value: Any) -> Conversation:
    """The value if it is a JSON object, else {}."""
    return value if isinstance(value, dict) else {}


SERVICES: dict[str, Callable[[Conversation], Iterator[Turn]]] = {
    "chatgpt": _chatgpt_turns,
    "claude-export": _claude_turns,
}
TIMES = ("create_time", "created_at", "update_time", "updated_at")  # keys of a conversation's time, best first
TURNS_IN = {"chatgpt": "mapping", "claude-export": "chat_messages"}  # the key that every conversation of a service has
