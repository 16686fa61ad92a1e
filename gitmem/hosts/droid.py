"""Factory Droid: .factory/mcp.json, hooks of .factory/settings.json, ~/.factory/sessions/*/*.jsonl (docs.factory.ai:
reference/hooks-reference, cli/configuration/mcp, cli/configuration/settings; run with 0.215.0).

Droid has Claude Code's hooks. Its transcript entries have OpenClaw's form with Claude Code's message parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitmem.hosts import claude
from gitmem.hosts.entries import session_of_header, string_at, summary_turn
from gitmem.hosts.host import COMMON_EVENTS, SKILLS, Entry, Hooks, Host, Place, Reads, RegistrationFile, settings_in
from gitmem.hosts.openclaw import ENTRIES
from gitmem.hosts.registration import hooks_file, json_server
from gitmem.hosts.transcript import Turn

SILENT = frozenset(("session_start", "agent_turn_outcome", "todo_state", "session_end"))


def _read(entry: Entry, place: Place) -> Iterator[Turn] | None:
    """The turn of a compaction's summary; no turn for a message that only the screen shows; None for any other entry,
    because OpenClaw's form reads ordinary messages."""
    if string_at(entry, "type") == "compaction_state":
        return summary_turn(entry.get("summaryText"), place)
    # all other messages have OpenClaw's form
    if not _is_hidden(entry):
        return None
    return iter(())


def _is_hidden(entry: Entry) -> bool:
    """Whether a message is shown only on the person's screen, such as a hook's output."""
    message = entry.get("message")
    return isinstance(message, dict) and string_at(message, "visibility") == "user_only"


HOST = Host(
    "droid",
    (RegistrationFile(".factory/mcp.json", json_server("mcpServers", type="stdio")),
     RegistrationFile(".factory/settings.json", hooks_file)),
    hooks=Hooks(
        {event: event for event in COMMON_EVENTS}, project_variables=("FACTORY_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    ),
    entries=replace(
        ENTRIES, read=_read,
        session=lambda entry: session_of_header(entry, "session_start"),
        is_silent=lambda entry: string_at(entry, "type") in SILENT or _is_hidden(entry),
    ),
    inserted=claude.HOST.inserted,
    transcripts=(".factory/sessions/*/*.jsonl", ".factory/sessions/*.jsonl"),
    settings=(*settings_in(".factory"), ".factory/hooks/**"),
    authors=("factory-droid*", "factory droid", "droid", "droid@factory.ai"),
    reads=Reads(
        instructions=("AGENTS.md", ".factory/rules/"),
        commands=(".factory/commands/",),
        agents=(".factory/droids/",),
        skills=(*SKILLS, ".factory/skills/"),
    ),
    programs=("droid",),
)  # fmt: skip
