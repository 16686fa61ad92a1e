"""Kiro CLI: .kiro/settings/mcp.json, .kiro/hooks/git-mem.json (kiro.dev/docs: mcp/configuration, hooks, cli/v3/hooks).
Documented for version 3; its program comes from neither npm nor PyPI, and was not run here.

What a hook prints at the start and before a prompt goes to the agent as it is. Its events name no transcript, so what a
session decided is not kept.
"""

from __future__ import annotations

from gitmem.hosts.host import SKILLS, Hooks, Host, RegistrationFile, settings_in
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
    reads={
        "instructions": ("AGENTS.md", ".kiro/steering/"),
        "commands": (),
        "agents": (".kiro/agents/",),
        "styles": (),
        "skills": (*SKILLS, ".kiro/skills/"),
        "imports": (),
    },
    programs=("kiro-cli",),
)  # fmt: skip
