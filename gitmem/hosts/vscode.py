"""VS Code: .vscode/mcp.json, .github/hooks/git-mem.json (code.visualstudio.com/docs/agent-customization)."""

from __future__ import annotations

from dataclasses import replace

from gitmem.hosts import copilot
from gitmem.hosts.host import Host, RegistrationFile, Setup
from gitmem.hosts.registration import command_option, hooks_file, json_server


def _hooks(host: Host, path: str, text: str, setup: Setup) -> str:
    """The `rewrite` of the hooks that VS Code shares with Copilot CLI. If Copilot CLI's hooks are in the file, they
    stay and are brought to the current form: they do the same for both and also report the end of a session."""
    if not setup.remove and command_option(copilot.HOST) in text:
        return hooks_file(copilot.HOST, path, text, setup)
    return hooks_file(host, path, text, setup)


HOST = Host(
    "vscode",
    (RegistrationFile(".vscode/mcp.json", json_server("servers", type="stdio")),
     RegistrationFile(".github/hooks/git-mem.json", _hooks)),
    hooks=replace(copilot.HOOKS, events={event: event for event in copilot.HOOKS.events if event != "SessionEnd"}),
    reads=copilot.READS,
    settings=(".vscode/mcp.json", ".github/hooks/**"),
    programs=("code",),
)  # fmt: skip
