"""Files, settings and authors of hosts that `git mem install` does not support. The gate and the review look at these
files too."""

from __future__ import annotations

from gitmem.hosts.host import settings_in

INSTRUCTIONS = (  # as Host.instructions
    ".windsurfrules", ".windsurf/rules/", ".windsurf/workflows/", ".amazonq/rules/", ".trae/rules/", ".idx/airules.md",
    ".augment-guidelines", ".augment/rules/", ".tabnine/guidelines/",
    "CRUSH.md", "CRUSH.local.md",  # mintlify.com/charmbracelet/crush/guides/context-files
    ".aiassistant/rules/",  # jetbrains.com/help/ai-assistant/configure-project-rules.html
    ".firebender/rules/",  # docs.firebender.com/api-reference/rules
)  # fmt: skip
AUTHORS = (  # as Host.authors
    "aider", "* (aider)", "*@aider.chat", "windsurf", "devin", "devin ai", "devin-ai-integration", "google-labs-jules",
)  # fmt: skip
SETTINGS = ("mcp.json", *settings_in(".windsurf"))  # as Host.settings
