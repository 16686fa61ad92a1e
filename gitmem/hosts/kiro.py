"""Kiro CLI: .kiro/settings/mcp.json, .kiro/hooks/git-mem.json (kiro.dev/docs: mcp/configuration, hooks, cli/v3/hooks).
From the documentation of version 3; its program is neither on npm nor on PyPI, and was not run here.

The output of a hook at the start and before a prompt goes to the agent unchanged. Kiro's events name no transcript, so
the decisions of a session are not written.
"""

from __future__ import annotations

from gitmem.hosts.host import SKILLS, Hooks, Host, Reads, RegistrationFile, settings_in
from gitmem.hosts.registration import json_server, versioned_hooks_file

HOST = Host(
    "kiro",
    (RegistrationFile(".kiro/settings/mcp.json", json_server("mcpServers")),
     RegistrationFile(".kiro/hooks/git-mem.json", versioned_hooks_file)),
    hooks=Hooks(
        {"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit"},
        answer=lambda event, text: text,
        grouped=False,
    ),
    settings=(*settings_in(".kiro"), ".kiro/settings/mcp.json", ".kiro/hooks/**", ".kiro/agents/*.json"),
    authors=("kiro agent",),
    reads=Reads(
        instructions=("AGENTS.md", ".kiro/steering/"),
        agents=(".kiro/agents/",),
        skills=(*SKILLS, ".kiro/skills/"),
    ),
    programs=("kiro-cli",),
)  # fmt: skip
