"""Registering with an agent's host: its MCP configuration and its hooks. Values in, file contents out.

What we add is ours alone to take out again: one server named `git-mem`, and hook commands that begin with `git-mem
session hook`. Everything else in a file stays as it is; a file that cannot be read as what it should be is refused.
Where each host looks, and in which form, is as its public documentation says (docs/agents.md has the pages).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitmem.errors import GitMemError

SERVER = {"command": "git-mem", "args": ["mcp"]}
NAME = "git-mem"
OURS = "git-mem session hook"
# Hook events, by Claude Code's names, and the seconds each may take (SessionEnd is given 1.5 s by the host itself).
EVENTS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30, "SessionEnd": 1}


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a host: its path from the project (or home, with `~/`), and what it would hold; "" to remove."""

    path: str
    text: str


def _load(path: str, text: str, instead: str = "add the server by hand (docs/agents.md)") -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        raise GitMemError(f"'{path}' is not plain JSON and is left as it is", instead) from None
    if not isinstance(value, dict):
        raise GitMemError(f"'{path}' holds no JSON object and is left as it is")
    return value


def _dump(value: Mapping[str, Any], like: str = "") -> str:
    """The file's text, indented as `like` is; `like` itself when it says the same, "" for nothing."""
    if like.strip() and json.loads(like) == value:
        return like
    found = re.search(r"\n([ \t]+)\S", like)
    end = "" if like.strip() and not like.endswith("\n") else "\n"
    return json.dumps(value, indent=found[1] if found else 2, ensure_ascii=False) + end if value else ""


def with_server(path: str, text: str, table: str, *, remove: bool = False, **more: Any) -> Change:
    """A JSON file with our server below `table`, or without it. One that is there stays as a person made it."""
    value = _load(path, text)
    servers = value.setdefault(table, {})
    if not isinstance(servers, dict):
        raise GitMemError(f"'{table}' of '{path}' is no object and is left as it is")
    there = servers.get(NAME)
    ours = isinstance(there, dict) and there.get("command") == SERVER["command"]
    if there is not None and not ours and not remove:
        raise GitMemError(f"'{path}' has a git-mem server of another kind", "remove it, or leave it as it is")
    if remove and ours:
        del servers[NAME]
    elif not remove:
        servers.setdefault(NAME, {**SERVER, **more})
    if not servers:
        del value[table]
    return Change(path, _dump(value, text))


# Hosts have names of their own for these events; one that is missing has nothing like it, or cannot be told anything
# then (Cursor's beforeSubmitPrompt takes no context). Gemini counts milliseconds.
NAMES: dict[str, dict[str, str]] = {
    "claude": {event: event for event in EVENTS},
    "codex": {event: event for event in EVENTS},
    "gemini": {
        "SessionStart": "SessionStart", "UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent",
        "PreCompact": "PreCompress", "SessionEnd": "SessionEnd",
    },
    "cursor": {"SessionStart": "sessionStart", "Stop": "stop", "PreCompact": "preCompact", "SessionEnd": "sessionEnd"},
    "vscode": {event: event for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")},
}  # fmt: skip
FLAT = ("cursor", "vscode")  # hosts whose events hold commands; the others hold groups of commands


def with_hooks(host: str, path: str, text: str, *, remove: bool = False) -> Change:
    """A host's hook settings with ours, or without them; hooks of others keep their order."""
    value = _load(path, text)
    hooks = value.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise GitMemError(f"'hooks' of '{path}' is no object and is left as it is")
    for event, name in NAMES[host].items():
        there = hooks.get(name, [])
        if not isinstance(there, list):
            raise GitMemError(f"'hooks.{name}' of '{path}' is no list and is left as it is")
        rows = [row for row in there if not _is_ours(row)]
        if not remove:
            rows.append(_hook(host, event))
        if rows:
            hooks[name] = rows
        else:
            hooks.pop(name, None)
    if not hooks:
        del value["hooks"]
        if host in FLAT and value == {"version": 1}:
            value = {}
    elif host in FLAT:
        value = {"version": 1, **value}
    return Change(path, _dump(value, text))


def _hook(host: str, event: str) -> dict[str, Any]:
    command: dict[str, Any] = {"command": f"{OURS} {event}" + ("" if host == "claude" else f" --host {host}")}
    command["timeout"] = EVENTS[event] * (1000 if host == "gemini" else 1)
    if host != "cursor":
        command = {"type": "command", **command}
    return command if host in FLAT else {"hooks": [command]}


def _is_ours(row: Any) -> bool:
    """Whether a command, or every command of a group, is one of ours."""
    commands = row.get("hooks", [row]) if isinstance(row, dict) else None
    if not isinstance(commands, list) or not commands:
        return False
    return all(isinstance(hook, dict) and str(hook.get("command", "")).startswith(OURS) for hook in commands)


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

# host -> the files it reads, those of the project where it has such
HOSTS: dict[str, tuple[str, ...]] = {
    "claude": (".mcp.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "vscode": (".vscode/mcp.json", ".github/hooks/git-mem.json"),
    "gemini": (".gemini/settings.json",),
    "openclaw": ("~/.openclaw/openclaw.json",),
}


def plan(host: str, texts: Mapping[str, str], *, root: str = "", remove: bool = False) -> list[Change]:
    """What registering with a host changes, given the texts of its files ("" where there is none).

    `root` is the memory's folder, for a host that starts servers elsewhere.
    """
    changes = []
    for path in HOSTS[host]:
        text = texts.get(path, "")
        match host, path:
            case "claude", ".claude/settings.json":
                changes.append(with_hooks(host, path, text, remove=remove))
            case _, ".codex/hooks.json" | ".cursor/hooks.json" | ".github/hooks/git-mem.json":
                changes.append(with_hooks(host, path, text, remove=remove))
            case "codex", _:
                changes.append(with_block(path, text, CODEX, remove=remove))
            case "vscode", _:
                changes.append(with_server(path, text, "servers", remove=remove, type="stdio"))
            case "gemini", _:
                served = with_server(path, text, "mcpServers", remove=remove).text
                changes.append(with_hooks(host, path, served, remove=remove))
            case "openclaw", _:
                changes.append(_openclaw(path, text, root, remove=remove))
            case _:
                changes.append(with_server(path, text, "mcpServers", remove=remove))
    return [change for change in changes if change.text != texts.get(change.path, "")]


def _openclaw(path: str, text: str, root: str, *, remove: bool) -> Change:
    """OpenClaw keeps servers below `mcp.servers`, and starts them where its gateway runs."""
    value = _load(path, text, 'openclaw mcp set git-mem \'{"command": "git-mem", "args": ["mcp"]}\' does it')
    mcp = value.setdefault("mcp", {})
    if not isinstance(mcp, dict):
        raise GitMemError(f"'mcp' of '{path}' is no object and is left as it is")
    inner = with_server(path, _dump(mcp), "servers", remove=remove, **({"cwd": root} if root else {}))
    value["mcp"] = json.loads(inner.text) if inner.text else {}
    if not value["mcp"]:
        del value["mcp"]
    return Change(path, _dump(value, text))
