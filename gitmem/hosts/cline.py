"""Cline: .clinerules/hooks/, ~/.cline/data/settings/cline_mcp_settings.json (docs/features/hooks/hook-reference
of github.com/cline/cline; where its command line looks for servers was seen with 3.0.65). The rest is from the
documentation.

Its events name no transcript, so decisions of a task are not kept. A hook that fails, or prints anything but its
answer, stops the turn.
"""

from __future__ import annotations

from typing import Any

from gitmem.hosts.host import SKILLS, Hooks, Host, Reads, RegistrationFile
from gitmem.hosts.registration import hook_script, json_server

FOLDER = ".clinerules/hooks"


def _answer(event: str, text: str) -> dict[str, Any]:
    return {"cancel": False, "contextModification": text}


HOST = Host(
    "cline",
    (RegistrationFile("~/.cline/data/settings/cline_mcp_settings.json", json_server("mcpServers")),
     RegistrationFile(f"{FOLDER}/TaskStart", hook_script("SessionStart")),
     RegistrationFile(f"{FOLDER}/UserPromptSubmit", hook_script("UserPromptSubmit"))),
    hooks=Hooks(
        {"SessionStart": "TaskStart", "UserPromptSubmit": "UserPromptSubmit"},
        answer=_answer,
        grouped=False, session_fields=("taskId",), prompt_fields=("userPromptSubmit.prompt",),
        project_fields=("workspaceRoots",),
    ),
    settings=(f"{FOLDER}/**", ".cline/mcp.json", ".cline/hooks/**"),
    authors=("cline",),
    reads=Reads(
        instructions=("AGENTS.md", ".clinerules", ".clinerules/"),
        commands=(".clinerules/workflows/",),
        skills=(*SKILLS, ".cline/skills/"),
    ),
    programs=("cline",),
    trust="Cline runs hooks once they are enabled in its settings; in an editor add the server in its own screen: "
          "command git-mem, argument mcp",
)  # fmt: skip
