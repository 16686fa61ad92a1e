"""The agents' hosts by name, in the order of help texts and `install`. Each host's module is imported when it is
needed.

hosts/host.py describes the fields of `HOST`; docs/contributing.md lists what else a new host needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.hosts.host import Host

HOSTS = {
    "claude": "gitmem.hosts.claude",
    "codex": "gitmem.hosts.codex",
    "cursor": "gitmem.hosts.cursor",
    "copilot": "gitmem.hosts.copilot",
    "vscode": "gitmem.hosts.vscode",
    "gemini": "gitmem.hosts.gemini",
    "qwen": "gitmem.hosts.qwen",
    "opencode": "gitmem.hosts.opencode",
    "openclaw": "gitmem.hosts.openclaw",
    "antigravity": "gitmem.hosts.antigravity",
    "pi": "gitmem.hosts.pi",
    "droid": "gitmem.hosts.droid",
    "kimi": "gitmem.hosts.kimi",
    "kilo": "gitmem.hosts.kilo",
    "cline": "gitmem.hosts.cline",
    "goose": "gitmem.hosts.goose",
    "kiro": "gitmem.hosts.kiro",
    "hermes": "gitmem.hosts.hermes",
    "agents-md": "gitmem.hosts.agents_md",
}


def host_named(name: str) -> Host:
    """The host `name`. Raises KeyError for a name that is not in HOSTS."""
    host: Host = import_module(HOSTS[name]).HOST
    return host


def all_hosts() -> list[Host]:
    """Every host, in the order of HOSTS."""
    return [host_named(name) for name in HOSTS]
