"""Arguments that an MCP tool does not take: named in an error with those that it takes, never ignored.

A call that ignored one would answer another question than was asked. Quotes the names of arguments, never their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from gitmem.gate.quoting import one_line, without_secrets

SHOWN = 40  # characters of the name of an unknown argument that are quoted


class UnknownArgument(ToolError):
    """A call with an argument that its tool does not take."""


def announce(server: MCPServer) -> None:
    """Let the schema of each tool say that it takes no other arguments."""
    for tool in server._tool_manager.list_tools():
        tool.parameters["additionalProperties"] = False


def check(server: MCPServer, tool: str, arguments: Mapping[str, Any]) -> None:
    """Raise UnknownArgument where a call has arguments that the tool does not take; nothing for a name that is no
    tool's."""
    known = {each.name: list(each.parameters["properties"]) for each in server._tool_manager.list_tools()}
    wrong = [name for name in arguments if name not in known.get(tool, arguments)]
    if wrong:
        names = ", ".join(f"'{one_line(name)[:SHOWN]}'" for name in without_secrets(wrong))
        takes = ", ".join(known[tool]) or "no arguments"
        raise UnknownArgument(f"unknown: {names} ({tool} takes {takes})")
