"""Hermes Agent: a memory provider in ~/.hermes/plugins/git-mem, ~/.hermes/config.yaml (agent/memory_provider.py,
plugins/memory/__init__.py and hermes_cli/mcp_config.py of hermes-agent 0.19.0 on PyPI).

Hermes has providers in place of hooks: ours calls the same command, and hands over what was said. Only one provider is
active at a time, and a person chooses it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.hosts.entries import string_at
from gitmem.hosts.host import COMMON_EVENTS, SKILLS, Hooks, Host, Reads, RegistrationFile, Setup
from gitmem.hosts.registration import dump_json, load_json, own_file, yaml_entry

PLUGIN = Path(__file__).with_name("hermes_plugin")
FOLDER = "~/.hermes/plugins/git-mem"
SERVER = """git-mem:
  command: "git-mem"
  args: [mcp]
"""


def _root(host: Host, path: str, text: str, setup: Setup) -> str:
    """The file beside the provider that names the repository; "" to remove it."""
    if setup.remove:
        return ""
    return dump_json({**load_json(path, text), "made_by": "git-mem", "root": setup.root}, text)


def _transcript(fields: Mapping[str, Any]) -> bytes | None:
    """The messages that our provider sends, in the neutral form; None if there are none."""
    messages = fields.get("messages")
    if not isinstance(messages, list):
        return None
    rows = [
        {
            "session": string_at(fields, "session_id"),
            "id": f"h{number}",
            "role": string_at(row, "role"),
            "text": string_at(row, "text"),
        }
        for number, row in enumerate(messages, 1)
        if isinstance(row, dict)
    ]
    return "\n".join(map(json.dumps, rows)).encode("utf-8", "replace")


HOST = Host(
    "hermes",
    (RegistrationFile(f"{FOLDER}/__init__.py", own_file(PLUGIN / "provider.py")),
     RegistrationFile(f"{FOLDER}/plugin.yaml", own_file(PLUGIN / "plugin.yaml")),
     RegistrationFile(f"{FOLDER}/root.json", _root),
     RegistrationFile("~/.hermes/config.yaml", yaml_entry("mcp_servers", SERVER))),
    hooks=Hooks(
        {event: event for event in COMMON_EVENTS}, project_variables=("HERMES_PROJECT_DIR",), transcript=_transcript
    ),
    authors=("hermes agent", "hermes-agent"),
    reads=Reads(
        instructions=("AGENTS.md", "CLAUDE.md", ".hermes.md", "HERMES.md", ".cursorrules", "SOUL.md"),
        skills=SKILLS,
    ),
    programs=("hermes",),
    trust="Hermes has one memory provider at a time: choose git-mem with 'hermes memory setup'",
)  # fmt: skip
