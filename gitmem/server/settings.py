"""What a server is told: one TOML file, and secrets by environment or file only.

    listen = "127.0.0.1:8470"
    state = "/var/lib/git-mem"        # mirrors of the repositories
    processes = 2                     # that answer
    workers = 1                       # threads that fetch and index, in a process of their own; 0: none here
    poll_minutes = 15                 # 0: webhooks alone
    approximate_from = 200000         # chunks of a tenant from which its approximate index is asked, if it has one
    connections = 8                   # to the database, at most, of each process that answers
    public_hosts = ["memory.example.com"]  # as clients of MCP name the server, behind a proxy
    traces = true                     # send OpenTelemetry spans (extra `traces`), where OTEL_* variables say

    [[oidc]]                          # an identity provider, as often as there are some (`server/oidc`)

`GITMEM_DATABASE_URL` is the server's own role, `GITMEM_READ_DATABASE_URL` a replica that searches read from, as the
same role, `GITMEM_OWNER_DATABASE_URL` the owner of the tables (for `migrate` and what changes tenants, repositories and
tokens), `GITMEM_SECRET` at least 32 bytes, `GITMEM_HOOK_SECRET` what signs webhooks. Each can be named as a file
instead: `GITMEM_SECRET_FILE`. So can the token of a forge that takes proposals:
`GITHUB_TOKEN_FILE`, `GITLAB_TOKEN_FILE`, `FORGEJO_TOKEN_FILE`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.errors import BadConfig
from gitmem.regular_file import read_regular
from gitmem.server.keys import MIN_SECRET_BYTES

if TYPE_CHECKING:
    from gitmem.server.oidc import Provider

SECRETS = ("DATABASE_URL", "READ_DATABASE_URL", "OWNER_DATABASE_URL", "SECRET", "HOOK_SECRET")
FORGE_TOKENS = ("GITHUB_TOKEN", "GITLAB_TOKEN", "FORGEJO_TOKEN")
MAX_SETTINGS_BYTES = 1 << 16  # bytes of a configuration or of a secret's file
PORT = 8470
NUMBERS = {"processes": 2, "workers": 1, "poll_minutes": 15, "connections": 8, "approximate_from": 200_000}
LARGEST = {"approximate_from": 1 << 31}  # of a number; else 10,000
KNOWN = {"listen", "state", *NUMBERS, "public_hosts", "traces", "oidc"}


@dataclass(frozen=True, slots=True)
class Settings:
    """A server's settings. `repr` never shows a secret."""

    state: Path
    host: str = "127.0.0.1"
    port: int = PORT
    processes: int = 1
    workers: int = 1
    poll_minutes: int = 15
    connections: int = 8
    approximate_from: int = 200_000
    public_hosts: tuple[str, ...] = ()
    traces: bool = False
    providers: tuple[Provider, ...] = ()
    secrets: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        return f"Settings({self.state}, {self.host}:{self.port})"

    def secret(self, name: str) -> str:
        """One of `SECRETS`. Raises BadConfig where it is not given."""
        value = (self.secrets or {}).get(name, "")
        if not value:
            raise BadConfig(f"GITMEM_{name} is not set", f"set GITMEM_{name}, or GITMEM_{name}_FILE to a file with it")
        return value

    @property
    def forge_tokens(self) -> dict[str, str]:
        """The tokens of forges that are given, by the names of their variables."""
        return {name: value for name, value in (self.secrets or {}).items() if name in FORGE_TOKENS}

    @property
    def key(self) -> bytes:
        """The secret that tenants' keys are derived from. Raises BadConfig for a short one."""
        value = self.secret("SECRET").encode()
        if len(value) < MIN_SECRET_BYTES:
            raise BadConfig(f"GITMEM_SECRET has fewer than {MIN_SECRET_BYTES} bytes", "openssl rand -base64 48")
        return value


def read(file: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a file, and the secrets of the environment. Raises BadConfig, never quoting a secret."""
    table: dict[str, Any] = {}
    if file is not None:
        try:
            table = tomllib.loads(read_regular(file, MAX_SETTINGS_BYTES).decode())
        except (OSError, ValueError) as error:
            raise BadConfig(f"'{file}' cannot be read ({type(error).__name__})", "it is a TOML file") from None
    unknown = sorted(set(table) - KNOWN)
    if unknown:
        raise BadConfig(f"'{unknown[0]}' is no setting of a server", "see docs/server.md")
    host, _, port = str(table.get("listen", f"127.0.0.1:{PORT}")).rpartition(":")
    numbers = {name: table.get(name, default) for name, default in NUMBERS.items()}
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST.get(name, 10_000):
            raise BadConfig(f"'{name}' takes a number", "see docs/server.md")
    if not host or not port.isdigit():
        raise BadConfig("'listen' takes HOST:PORT", 'listen = "127.0.0.1:8470"')
    state = Path(os.path.abspath(str(table.get("state", "git-mem-server"))))
    hosts = table.get("public_hosts", [])
    if not isinstance(hosts, list) or not all(isinstance(one, str) for one in hosts):
        raise BadConfig("'public_hosts' takes a list of names", 'public_hosts = ["memory.example.com"]')
    traces = table.get("traces", False)
    if not isinstance(traces, bool):
        raise BadConfig("'traces' is true or false", "see docs/server.md")
    given: dict[str, Any] = {**numbers, "public_hosts": tuple(hosts), "traces": traces}
    if table.get("oidc"):
        from gitmem.server.oidc import providers_of

        given["providers"] = providers_of(table["oidc"])
    return Settings(state, host.strip("[]"), int(port), secrets=secrets_of(environ), **given)


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets that the environment holds or names a file of. Raises BadConfig for a file that cannot be read."""
    secrets = {}
    for name in (*SECRETS, *FORGE_TOKENS):
        if name in FORGE_TOKENS:
            variable = name
        else:
            variable = f"GITMEM_{name}"
        if value := environ.get(variable):
            secrets[name] = value
        elif file := environ.get(f"{variable}_FILE"):
            try:
                secrets[name] = read_regular(Path(file), MAX_SETTINGS_BYTES).decode().strip()
            except (OSError, ValueError) as error:
                raise BadConfig(f"{variable}_FILE cannot be read ({type(error).__name__})", "") from None
    return secrets
