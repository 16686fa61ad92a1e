"""`integrations/claude-code` is what `install --agent claude` writes, as a plugin, and a skill that says when to use it."""

from __future__ import annotations

import json

from gitmem import __version__
from gitmem.hosts.host import Setup
from gitmem.hosts.registration import plan
from gitmem.hosts.registry import host_named
from tests.harness import SOURCE

PLUGIN = SOURCE / "integrations/claude-code"


def test_server_and_hooks_of_the_plugin_are_those_that_install_writes() -> None:
    written = {change.path: change.text for change in plan(host_named("claude"), {}, Setup())}
    assert (PLUGIN / ".mcp.json").read_text() == written[".mcp.json"]
    assert (PLUGIN / "hooks/hooks.json").read_text() == written[".claude/settings.json"]


def test_the_plugin_has_the_packages_version_and_its_skill_names_tools_that_there_are() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("git-mem", __version__)
    skill = (PLUGIN / "skills/memory/SKILL.md").read_text()
    assert skill.startswith("---\nname: memory\ndescription: ")
    tools = (SOURCE / "docs/agents.md").read_text()
    for tool in ("memory_search", "memory_get", "memory_why", "memory_add"):
        assert f"`{tool}`" in skill and f"| `{tool}` |" in tools
