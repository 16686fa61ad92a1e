"""Gemini CLI: .gemini/settings.json, ~/.gemini/tmp/*/chats/*.jsonl or an older object (geminicli.com/docs/hooks)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitmem.hosts import own_memory
from gitmem.hosts.entries import calls_of, object_at, objects_at, string_at, time_of, tool_output
from gitmem.hosts.host import SKILLS, Hooks, Host, InsertedText, OwnMemory, Reads, RegistrationFile, settings_in
from gitmem.hosts.registration import PERSONAL_SERVER, server_and_hooks
from gitmem.hosts.transcript import By, Role, Transcript, Turn
from gitmem.json_values import parse_json_object

HEAD = 4_096  # bytes in which a session's first line names its project
ROLES = {"user": Role.USER, "gemini": Role.ASSISTANT}


AFTER_SUMMARY = "Got it. Thanks for the additional context!"  # what it lets the model say to a summary of its own
SILENT = frozenset(("info", "warning"))  # what Gemini CLI tells the person


def _whole_session(data: bytes) -> Transcript | None:
    """The transcript of a session: one JSON object with `messages`, or the newer form, a line for each message below a
    header with "projectHash". None for any other bytes and for a damaged object; damaged lines of the newer form are
    counted in `skipped`."""
    head = data.lstrip()[:HEAD]
    if not head.startswith(b"{"):
        return None
    if b'"projectHash"' in head.partition(b"\n")[0] and not _is_object(data):
        return _journal(data)
    if b'"messages"' not in data:
        return None
    try:
        value = parse_json_object(data)
    except ValueError:
        return None
    messages = value.get("messages")
    if "info" in value or not isinstance(messages, list):  # opencode's object has `info`
        return None
    return _transcript(messages, string_at(value, "sessionId"), 0)


def _is_object(data: bytes) -> bool:
    """Whether the bytes are the older form, one JSON object: its first line is all of it."""
    first_line, _, other_lines = data.strip().partition(b"\n")
    return not other_lines.strip() and b'"messages"' in first_line


def _journal(data: bytes) -> Transcript:
    """The transcript of the newer form: a header, then a line for each message and for each change of a message. The
    last line with an id counts.

    `$set` replaces the list of all messages after a resumption or a compaction; messages that it leaves out were said
    and are kept here. `$rewindTo` removes a message and all later ones. A line that is no JSON object is counted in
    `skipped`.
    """
    messages: dict[str, Mapping[str, Any]] = {}
    session, skipped = "", 0
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            entry = parse_json_object(line.strip() or "{}")
        except ValueError:
            skipped += 1
            continue
        session = session or string_at(entry, "sessionId")
        if isinstance(entry.get("$rewindTo"), str):
            ids = list(messages)
            position = ids.index(entry["$rewindTo"]) if entry["$rewindTo"] in messages else len(ids)
            messages = {ident: messages[ident] for ident in ids[:position]}
        for message in objects_at(object_at(entry, "$set"), "messages"):
            messages.setdefault(string_at(message, "id") or f"L{number}", message)
        if string_at(entry, "type"):
            messages[string_at(entry, "id") or f"L{number}"] = entry
    return _transcript(list(messages.values()), session, skipped)


def _transcript(messages: Sequence[Any], session: str, skipped: int) -> Transcript:
    """The transcript of a list of messages. `skipped`: number of lines that could not be read."""
    turns: list[Turn] = []
    for number, entry in enumerate(messages, 1):
        own_turns = list(_turns(entry, number)) if isinstance(entry, dict) else []
        if any(turn.text == AFTER_SUMMARY for turn in own_turns) and turns and turns[-1].role is Role.USER:
            turns[-1] = replace(turns[-1], by=By.SUMMARY)
            own_turns = [replace(turn, by=By.HOST) for turn in own_turns]
        turns += own_turns
        skipped += not own_turns and not (isinstance(entry, dict) and string_at(entry, "type") in SILENT)
    return Transcript(tuple(turns), session, skipped, lines=False)


def _turns(entry: Mapping[str, Any], number: int) -> Iterator[Turn]:
    """The turns of one message: its text and calls, then each tool result in it."""
    role, content = ROLES.get(string_at(entry, "type")), entry.get("content")
    if role is None or not isinstance(content, str | list):
        return
    parts: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) else objects_at(entry, "content")
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    responses = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
    ident, moment = string_at(entry, "id") or f"L{number}", time_of(entry.get("timestamp"))
    if texts or not responses:
        yield Turn(ident, role, "\n".join(texts), number, moment, *calls_of(objects_at(entry, "toolCalls")))
    for response in responses:
        output = tool_output(response.get("response"))
        yield Turn(ident, Role.TOOL, output, number, moment, (), string_at(response, "id"))


HOST = Host(
    "gemini",
    (RegistrationFile(".gemini/settings.json", server_and_hooks()),),
    hooks=Hooks(
        {"SessionStart": "SessionStart", "UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent",
         "PreCompact": "PreCompress", "SessionEnd": "SessionEnd"},
        milliseconds=True,
        compacts_each_request=True,  # the host asks its hooks before it looks whether the context is too long
        turn_fields=("prompt", "prompt_response"),
        project_variables=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    ),
    whole=_whole_session,
    inserted=InsertedText(
        tags=("hook_context", "session_context", "loaded_context", "state_snapshot"),
        blocks=(r"--- Content from referenced (?:files|context) ---.*?(?:--- End of content ---|\Z)",),
    ),
    loads=("GEMINI.md",),
    transcripts=(".gemini/tmp/*/chats/*.jsonl", ".gemini/tmp/*/chats/*.json"),
    settings=settings_in(".gemini"),
    authors=("gemini", "gemini cli", "gemini-cli", "gemini-cli@google.com"),
    reads=Reads(
        instructions=("GEMINI.md", ".gemini/system.md", ".gemini/styleguide.md"),
        commands=(".gemini/commands/",),
        agents=(".gemini/agents/",),
        skills=(*SKILLS, ".gemini/skills/"),
        imports=("GEMINI.md",),
    ),
    programs=("gemini",),
    personal=(RegistrationFile("~/.gemini/settings.json", server_and_hooks(PERSONAL_SERVER)),),
    own_memory=OwnMemory(own_memory.gemini),
    below="Gemini CLI",
)  # fmt: skip
