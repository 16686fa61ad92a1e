"""Kilo: kilo.json, .kilo/plugins/git-mem.js (kilo.ai/docs: automate/extending/plugins, automate/mcp; run with 7.7.7).

Kilo is built on opencode: its plugin, its database and its exported sessions have the same form.
"""

from __future__ import annotations

from dataclasses import replace

from gitmem.hosts import opencode
from gitmem.hosts.host import SKILLS, Reads, RegistrationFile
from gitmem.hosts.registration import json_server, own_file

NAMES = {"opencode": "kilo", "OPENCODE": "KILO"}
assert opencode.HOST.database is not None
HOST = replace(
    opencode.HOST,
    name="kilo",
    registration=(
        RegistrationFile("kilo.json", json_server("mcp", {"type": "local", "command": ["git-mem", "mcp"]})),
        RegistrationFile(".kilo/plugins/git-mem.js", own_file(opencode.PLUGIN, NAMES)),
    ),
    hooks=replace(opencode.HOST.hook_form, project_variables=("KILO_PROJECT_DIR",)),
    database=replace(opencode.HOST.database, paths=(".local/share/kilo/kilo*.db",)),
    settings=(
        "kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc", ".kilo/plugin/**", ".kilo/plugins/**",
        ".kilocode/mcp.json",
    ),
    authors=("kilo", "kilo code", "kilocode"),
    reads=Reads(
        instructions=("AGENTS.md", ".kilo/rules/", ".kilocode/rules/"),
        commands=(".kilo/command/", ".kilo/commands/", ".kilo/workflows/", ".kilocode/workflows/"),
        agents=(".kilo/agent/", ".kilo/agents/"),
        skills=(*SKILLS, ".kilo/skill/", ".kilo/skills/", ".kilocode/skills/"),
    ),
    programs=("kilo",),
)  # fmt: skip
