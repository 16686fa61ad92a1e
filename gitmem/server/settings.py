"""The server's settings: one TOML file, and secrets from environment variables or files.

    listen = "127.0.0.1:8470"
    state = "/var/lib/git-mem"        # folder of the mirrors
    processes = 2                     # answering processes
    workers = 1                       # threads that fetch and index, in a process of their own; 0: none
    poll_minutes = 15                 # interval of fetches; 0: by webhooks only
    approximate_from = 200000         # chunks of a tenant from which its approximate index, if any, is used
    connections = 8                   # maximum database connections of each answering process
    public_hosts = ["memory.example.com"]  # host names that MCP clients use, behind a proxy
    traces = true                     # send OpenTelemetry spans (extra `traces`) to where the OTEL_* variables say

    [[oidc]]                          # an identity provider; may be repeated (`server/oidc`)

`GITMEM_DATABASE_URL`: the database, as the server's role. `GITMEM_READ_DATABASE_URL`: a replica for searches, same
role. `GITMEM_OWNER_DATABASE_URL`: the database as the owner of the tables, for `migrate` and administration.
`GITMEM_SECRET`: at least 32 bytes, from which the tenants' keys are derived. `GITMEM_HOOK_SECRET`: signs webhooks. The
tokens for proposals at a forge are `GITHUB_TOKEN`, `GITLAB_TOKEN` and `FORGEJO_TOKEN`. Each can be read from a file
instead: `GITMEM_SECRET_FILE`, `GITHUB_TOKEN_FILE`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.errors import BadConfig
from gitmem.regular_file import read_regular
from gitmem.server.keys import MIN_SECRET_BYTES

if TYPE_CHECKING:
    from gitmem.server.oidc import Provider

SECRETS = ("DATABASE_URL", "READ_DATABASE_URL", "OWNER_DATABASE_URL", "SECRET", "HOOK_SECRET")
FORGE_TOKENS = ("GITHUB_TOKEN", "GITLAB_TOKEN", "FORGEJO_TOKEN")
MAX_SETTINGS_BYTES = 1 << 16  # of the TOML file or a secret's file
PORT = 8470
DEFAULT_NUMBERS = {"processes": 2, "workers": 1, "poll_minutes": 15, "connections": 8, "approximate_from": 200_000}
MAX_NUMBER = 10_000  # the largest value of a setting of DEFAULT_NUMBERS
MAX_NUMBERS = {"approximate_from": 1 << 31}  # exceptions to MAX_NUMBER
KNOWN_KEYS = {"listen", "state", *DEFAULT_NUMBERS, "public_hosts", "traces", "oidc"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server; see the module for each field. `secrets`: name from SECRETS or FORGE_TOKENS -> value.
    `repr` shows no secret."""

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
    secrets: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Settings({self.state}, {self.host}:{self.port})"

    def secret(self, name: str) -> str:
        """The value of one of SECRETS, such as "DATABASE_URL". Raises BadConfig if it is not set."""
        value = self.secrets.get(name, "")
        if not value:
            raise BadConfig(f"GITMEM_{name} is not set", f"set GITMEM_{name}, or GITMEM_{name}_FILE to a file with it")
        return value

    @property
    def forge_tokens(self) -> dict[str, str]:
        """The forge tokens that are set, by the names of their variables."""
        return {name: value for name, value in self.secrets.items() if name in FORGE_TOKENS}

    @property
    def key(self) -> bytes:
        """The secret from which the tenants' keys are derived. Raises BadConfig if it is missing or too short."""
        value = self.secret("SECRET").encode()
        if len(value) < MIN_SECRET_BYTES:
            raise BadConfig(f"GITMEM_SECRET has fewer than {MIN_SECRET_BYTES} bytes", "openssl rand -base64 48")
        return value


def read(file: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a file (None: the defaults) with the secrets of the environment. Raises BadConfig with a message
    that quotes no secret."""
    table: dict[str, Any] = {}
    if file is not None:
        try:
            table = tomllib.loads(read_regular(file, MAX_SETTINGS_BYTES).decode())
        except (OSError, ValueError) as error:
            raise BadConfig(f"'{file}' cannot be read ({type(error).__name__})", "it is a TOML file") from None
    unknown = sorted(set(table) - KNOWN_KEYS)
    if unknown:
        raise BadConfig(f"'{unknown[0]}' is no setting of a server", "see docs/server.md")
    host, _, port = str(table.get("listen", f"127.0.0.1:{PORT}")).rpartition(":")
    numbers = {name: table.get(name, default) for name, default in DEFAULT_NUMBERS.items()}
    for name, value in numbers.items():
        largest = MAX_NUMBERS.get(name, MAX_NUMBER)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
            raise BadConfig(f"'{name}' takes a number", "see docs/server.md")
    if not host or not port.isdecimal():
        raise BadConfig("'listen' takes HOST:PORT", 'listen = "127.0.0.1:8470"')
    state = Path(os.path.abspath(str(table.get("state", "git-mem-server"))))
    hosts = table.get("public_hosts", [])
    if not isinstance(hosts, list) or not all(isinstance(host_name, str) for host_name in hosts):
        raise BadConfig("'public_hosts' takes a list of names", 'public_hosts = ["memory.example.com"]')
    traces = table.get("traces", False)
    if not isinstance(traces, bool):
        raise BadConfig("'traces' is true or false", "see docs/server.md")
    providers: tuple[Provider, ...] = ()
    if table.get("oidc"):
        from gitmem.server.oidc import providers_of

        providers = providers_of(table["oidc"])
    return Settings(
        state, host.strip("[]"), int(port), public_hosts=tuple(hosts), traces=traces, providers=providers,
        secrets=secrets_of(environ), **numbers,
    )  # fmt: skip


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets from environment variables, or from the files that variables with the suffix `_FILE` name. Raises
    BadConfig for a file that cannot be read."""
    secrets = {}
    for name in (*SECRETS, *FORGE_TOKENS):
        variable = name if name in FORGE_TOKENS else f"GITMEM_{name}"
        if value := environ.get(variable):
            secrets[name] = value
        elif file := environ.get(f"{variable}_FILE"):
            try:
                secrets[name] = read_regular(Path(file), MAX_SETTINGS_BYTES).decode().strip()
            except (OSError, ValueError) as error:
                raise BadConfig(f"{variable}_FILE cannot be read ({type(error).__name__})", "") from None
    return secrets
