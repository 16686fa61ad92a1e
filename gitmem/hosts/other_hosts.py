"""Hosts that git mem registers with nowhere: which of their files the gate and the review look at all the same."""

from __future__ import annotations

from gitmem.hosts.host import settings_in

INSTRUCTIONS = (  # as Host.instructions
    ".windsurfrules", ".windsurf/rules/", ".windsurf/workflows/", ".clinerules/", ".kiro/steering/", ".roo/rules/",
    ".roo/commands/", ".continue/rules/", ".junie/", ".amazonq/rules/", ".trae/rules/", ".clinerules", ".roorules",
    *(f".roo/rules-{mode}/" for mode in ("architect", "ask", "code", "debug", "orchestrator")), "AGENT.md", "WARP.md",
    ".idx/airules.md", ".augment-guidelines", ".augment/rules/",
    ".openhands/microagents/",
    ".tabnine/guidelines/",
)  # fmt: skip
AUTHORS = (  # as Host.authors
    "aider", "* (aider)", "*@aider.chat", "amp", "amp@ampcode.com", "windsurf", "devin", "devin ai",
    "devin-ai-integration", "openhands", "openhands@all-hands.dev", "google-labs-jules", "roo code", "cline",
    "kiro agent",
)  # fmt: skip
SETTINGS = ("mcp.json", *settings_in(".windsurf"), *settings_in(".kiro"), *settings_in(".roo"))  # as Host.settings
