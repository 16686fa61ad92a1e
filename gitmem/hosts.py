"""Registering with an agent's host: its MCP configuration and its hooks. Values in, file contents out.

What we add is ours alone to take out again: one server named `git-mem`, and hook commands that begin with `git-mem
session hook`. Everything else in a file stays as it is; a file that cannot be read as what it should be is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitmem.errors import GitMemError

SERVER = {"command": "git-mem", "args": ["mcp"]}
NAME = "git-mem"
OURS = "git-mem session hook"
# Hook events of Claude Code and the seconds each may take (SessionEnd is given 1.5 s by the host itself).
EVENTS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30, "SessionEnd": 1}


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a host: its path from the project (or home, with `~/`), and what it would hold; "" to remove."""

    path: str
    text: str


def _load(path: str, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        raise GitMemError(
            f"'{path}' is not plain JSON and is left as it is", "add the server by hand (docs/agents.md)"
        ) from None
    if not isinstance(value, dict):
        raise GitMemError(f"'{path}' holds no JSON object and is left as it is")
    return value


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n" if value else ""


def with_server(path: str, text: str, table: str, *, remove: bool = False, **more: Any) -> Change:
    """A JSON file with our server below `table`, or without it."""
    value = _load(path, text)
    servers = value.setdefault(table, {})
    if not isinstance(servers, dict):
        raise GitMemError(f"'{table}' of '{path}' is no object and is left as it is")
    if remove:
        servers.pop(NAME, None)
    else:
        servers[NAME] = {**SERVER, **more}
    if not servers:
        del value[table]
    return Change(path, _dump(value))


def with_hooks(path: str, text: str, *, remove: bool = False) -> Change:
    """Claude Code's settings with our hooks, or without them; hooks of others keep their order."""
    value = _load(path, text)
    hooks = value.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise GitMemError(f"'hooks' of '{path}' is no object and is left as it is")
    for event, seconds in EVENTS.items():
        groups = [group for group in hooks.get(event, []) if not _is_ours(group)]
        if not remove:
            command = {"type": "command", "command": f"{OURS} {event}", "timeout": seconds}
            groups.append({"hooks": [command]})
        if groups:
            hooks[event] = groups
        else:
            hooks.pop(event, None)
    if not hooks:
        del value["hooks"]
    return Change(path, _dump(value))


def _is_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or not hooks:
        return False
    return all(isinstance(hook, dict) and str(hook.get("command", "")).startswith(OURS) for hook in hooks)


START, END = "# >>> git-mem >>>", "# <<< git-mem <<<"


def with_block(path: str, text: str, block: str, *, remove: bool = False) -> Change:
    """A TOML file with our marked block at its end, or without it."""
    before, start, rest = text.partition(START)
    if start:
        _, end, after = rest.partition(END)
        if not end:
            raise GitMemError(f"the git-mem block of '{path}' has no end and is left as it is")
        text = before.rstrip("\n") + ("\n" if before.strip() else "") + after.lstrip("\n")
    if remove:
        return Change(path, text)
    if "[mcp_servers.git-mem]" in text:
        raise GitMemError(f"'{path}' has a git-mem server of its own already", "remove it, or leave it as it is")
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return Change(path, f"{text}{gap}{START}\n{block}{END}\n")


CODEX = '[mcp_servers.git-mem]\ncommand = "git-mem"\nargs = ["mcp"]\n'

# host -> the files it reads; each is (path, how to change its text)
HOSTS: dict[str, tuple[str, ...]] = {
    "claude": (".mcp.json", ".claude/settings.json"),
    "codex": ("~/.codex/config.toml",),
    "cursor": (".cursor/mcp.json",),
    "vscode": (".vscode/mcp.json",),
    "gemini": (".gemini/settings.json",),
    "openclaw": ("~/.openclaw/openclaw.json",),
}


def plan(host: str, texts: Mapping[str, str], *, remove: bool = False) -> list[Change]:
    """What registering with a host changes, given the texts of its files ("" where there is none)."""
    changes = []
    for path in HOSTS[host]:
        text = texts.get(path, "")
        match host, path:
            case "claude", ".claude/settings.json":
                changes.append(with_hooks(path, text, remove=remove))
            case "codex", _:
                changes.append(with_block(path, text, CODEX, remove=remove))
            case "vscode", _:
                changes.append(with_server(path, text, "servers", remove=remove, type="stdio"))
            case "openclaw", _:
                changes.append(_openclaw(path, text, remove=remove))
            case _:
                changes.append(with_server(path, text, "mcpServers", remove=remove))
    return [change for change in changes if change.text != texts.get(change.path, "")]


def _openclaw(path: str, text: str, *, remove: bool) -> Change:
    """OpenClaw keeps servers below `mcp.servers`."""
    value = _load(path, text)
    mcp = value.setdefault("mcp", {})
    inner = with_server(path, _dump(mcp), "servers", remove=remove)
    value["mcp"] = json.loads(inner.text) if inner.text else {}
    if not value["mcp"]:
        del value["mcp"]
    return Change(path, _dump(value))
