"""VS Code: .vscode/mcp.json, .github/hooks/git-mem.json (code.visualstudio.com/docs/agent-customization)."""

from __future__ import annotations

from gitmem.hosts.host import Hooks, Host, RegistrationFile
from gitmem.hosts.registration import hooks_file, json_server

HOST = Host(
    "vscode",
    (RegistrationFile(".vscode/mcp.json", json_server("servers", type="stdio")),
     RegistrationFile(".github/hooks/git-mem.json", hooks_file)),
    hooks=Hooks(
        {event: event for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")}, grouped=False
    ),
)  # fmt: skip
