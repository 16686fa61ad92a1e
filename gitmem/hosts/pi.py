"""pi: .pi/mcp.json, .pi/extensions/git-mem.js, ~/.pi/agent/sessions/*/*.jsonl (docs of @earendil-works/pi-coding-agent:
extensions, mcp, security, session-format; run with 1.6.0).

pi has extensions in place of hooks: our extension calls the same command and names the session's file. OpenClaw's old
sessions have the same form.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitmem.hosts.entries import string_at
from gitmem.hosts.host import COMMON_EVENTS, SKILLS, Entry, Hooks, Host, Reads, RegistrationFile
from gitmem.hosts.openclaw import ENTRIES
from gitmem.hosts.registration import json_server, own_file

EXTENSION = Path(__file__).with_name("pi_extension.js")
SILENT = frozenset(("usage", "context_edit"))


def _is_silent(entry: Entry) -> bool:
    """Whether an entry has no turn: a record of pi itself, or the system prompt, which pi writes as a message."""
    message = entry.get("message")
    is_prompt = isinstance(message, dict) and message.get("role") == "system"
    return is_prompt or string_at(entry, "type") in SILENT or ENTRIES.is_silent(entry)


HOST = Host(
    "pi",
    (RegistrationFile(".pi/mcp.json", json_server("mcpServers", exposure="direct")),  # else hidden from the model
     RegistrationFile(".pi/extensions/git-mem.js", own_file(EXTENSION, {"OPENCODE": "PI", "opencode": "pi"}))),
    hooks=Hooks({event: event for event in COMMON_EVENTS}, project_variables=("PI_PROJECT_DIR",)),
    entries=replace(ENTRIES, is_silent=_is_silent),
    transcripts=(".pi/agent/sessions/*/*.jsonl",),
    settings=(".pi/settings.json", ".pi/mcp.json", ".pi/extensions/**"),
    reads=Reads(
        instructions=("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", ".pi/SYSTEM.md", ".pi/APPEND_SYSTEM.md"),
        commands=(".pi/prompts/",),
        skills=(*SKILLS, ".pi/skills/"),
    ),
    programs=("pi",),
    trust="pi loads neither the server nor the extension before you trust this project: it asks at its start, or type "
          "'/trust'",
)  # fmt: skip
