"""Antigravity CLI (`agy`): .agents/mcp_config.json, .agents/hooks.json and the transcript that its hooks name
(antigravity.google/docs/hooks and /docs/mcp; which file it loads, as github.com/stbenjam/skillsaw measured with agy
1.1.26). From the documentation; its program is neither on npm nor on PyPI, and was not run here.

The host has no event for a prompt. `PreInvocation` comes before each request to the model without the prompt, so the
prompt is the last step of the transcript if a person wrote it. The host has no event for the end of a session or for a
compaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gitmem.hosts.entries import objects_at, string_at, summary_turn, time_of
from gitmem.hosts.host import SKILLS, Entries, Entry, Hooks, Host, InsertedText, Place, Reads, RegistrationFile
from gitmem.hosts.registration import json_server, named_hooks_file
from gitmem.hosts.transcript import By, Role, Turn

REQUEST = re.compile(r"<USER_REQUEST>\n?(.*?)\n?(?:</USER_REQUEST>|\Z)", re.DOTALL)
SOURCES = ("USER_EXPLICIT", "USER_IMPLICIT", "MODEL", "SYSTEM")


def _read(entry: Entry, place: Place) -> Iterator[Turn] | None:
    """The turns of an entry; None for an entry of another form. (As in `host.Entries`.)"""
    kind, number = string_at(entry, "type"), entry.get("step_index")
    if string_at(entry, "source") not in SOURCES or not isinstance(number, int):
        return None
    place = replace(place, id=f"step-{number}", at=time_of(entry.get("created_at")))
    text = string_at(entry, "content")
    if kind == "USER_INPUT":
        return _person_turn(entry, text, place)
    if kind == "PLANNER_RESPONSE":
        return _model_turn(entry, text, place)
    if kind == "CHECKPOINT":
        return summary_turn(text, place)
    if text:
        return iter((Turn(place.id, Role.TOOL, text, place.line, place.at),))
    return iter(())


def _person_turn(entry: Entry, text: str, place: Place) -> Iterator[Turn]:
    """The turn of the person's request, without the text that Antigravity puts around it."""
    match = REQUEST.search(text)
    request = match[1].strip() if match else text
    by = By.SPEAKER if string_at(entry, "source") == "USER_EXPLICIT" else By.HOST
    if request:
        yield Turn(place.id, Role.USER, request, place.line, place.at, by=by)


def _model_turn(entry: Entry, text: str, place: Place) -> Iterator[Turn]:
    """The turn of an answer of the model, with the ids of its tool calls."""
    calls = objects_at(entry, "tool_calls")
    if text or calls:
        ids = tuple(string_at(call, "id") for call in calls if string_at(call, "id"))
        names = ",".join(string_at(call, "name") for call in calls)
        yield Turn(place.id, Role.ASSISTANT, text, place.line, place.at, ids, "", names)


def _shorten(entry: dict[str, Any], call: str, text: str) -> None:
    entry["content"] = text


def _summary(like: Entry, last: Entry, text: str) -> dict[str, Any]:
    fields = {name: like[name] for name in ("step_index", "created_at") if name in like}
    return {"source": "SYSTEM", "type": "CHECKPOINT", "status": "DONE", "content": text, **fields}


def _answer(event: str, text: str) -> dict[str, Any]:
    """An answer whose message goes to the model with the next request and does not become a step of the session."""
    return {"injectSteps": [{"ephemeralMessage": text}]}


HOST = Host(
    "antigravity",
    (RegistrationFile(".agents/mcp_config.json", json_server("mcpServers")),
     RegistrationFile(".agents/hooks.json", named_hooks_file)),
    hooks=Hooks(
        {"UserPromptSubmit": "PreInvocation", "Stop": "Stop"},
        answer=_answer,
        grouped=False, starts_at_prompt=True, prompt_in_transcript=True,
        session_fields=("conversationId",), transcript_fields=("transcriptPath",), project_fields=("workspacePaths",),
    ),
    entries=Entries(_read, _shorten, _summary),
    inserted=InsertedText(tags=("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE")),
    loads=("AGENTS.md", "GEMINI.md"),
    transcripts=(".gemini/antigravity-cli/brain/*/.system_generated/logs/transcript_full.jsonl",),
    settings=(".agents/hooks.json", ".agents/mcp_config.json", ".agents/plugins/**"),
    authors=("antigravity", "google antigravity", "antigravity cli"),
    reads=Reads(
        instructions=("AGENTS.md", "GEMINI.md", ".agents/rules/", ".agent/rules/"),
        commands=(".agents/workflows/", ".agent/workflows/"),
        agents=(".agents/agents/",),
        skills=(*SKILLS, ".agent/skills/"),
    ),
    programs=("agy",),
)  # fmt: skip
