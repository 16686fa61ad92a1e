"""VS Code: .vscode/mcp.json, .github/hooks/git-mem.json (code.visualstudio.com/docs/agent-customization)."""

from __future__ import annotations

from dataclasses import replace

from gitmem.hosts.copilot import HOOKS, INSTRUCTIONS
from gitmem.hosts.host import Host, RegistrationFile
from gitmem.hosts.registration import hooks_file, json_server

HOST = Host(
    "vscode",
    (RegistrationFile(".vscode/mcp.json", json_server("servers", type="stdio")),
     RegistrationFile(".github/hooks/git-mem.json", hooks_file)),
    hooks=replace(HOOKS, events={event: event for event in HOOKS.events if event != "SessionEnd"}),
    instructions=INSTRUCTIONS,
    settings=(".vscode/mcp.json", ".github/hooks/**"),
    programs=("code",),
)  # fmt: skip
