"""Which forge a repository lives at, and the token that goes there. Pure: the remote's address and the environment in.

The environment or the user names the host; the address in a clone only says which repository it is, and whether it lies
at a host that is known or named. A clone can therefore never choose where a token goes. A remote at any other host is
no forge: it gets a branch, and `git mem review` reviews it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.forges.protocol import Client, Forge

_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[\w.-]+@)?(?P<scp>[\w.-]+):(?!//))"
    r"(?P<path>[^\s?#]+?)(?:\.git)?/?"
)
_OWNED = re.compile(r"[\w.-]+/[\w.-]+")
GITHUB_COM = "github.com"
TOKENS = {"GitHub": ("GITHUB_TOKEN", "GH_TOKEN")}  # by forge, what wins first


def forge_of(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge of a remote ("" for what the environment alone says), None where it is at no known or named host."""
    server, api = _named_github(environ)
    if server:
        return _github_at(server, api, remote_url, environ)
    return _known(remote_url, environ)


def token_of(forge: Forge, environ: Mapping[str, str], ask: Callable[[str], str] = lambda host: "") -> str:
    """The token for a forge: of the environment, else what `ask` says for its host name; "" for none."""
    for name in TOKENS[forge.name]:
        if environ.get(name):
            return environ[name]
    return ask(urlsplit(forge.server).hostname or "")


def client_of(forge: Forge, token: str, wait: Callable[[float], None]) -> Client | None:
    """The API of a forge; None without a token or where the API's address is not known."""
    if not token or not forge.api:
        return None
    assert isinstance(forge, GitHub)
    return GitHubClient(forge, token, wait)


def _place(remote_url: str) -> tuple[str, str]:
    """(host without its port, path) of a remote's address, ("", "") for a folder on this machine."""
    match = _REMOTE.fullmatch(remote_url.strip())
    return ((match["host"] or match["scp"]).lower(), match["path"].strip("/")) if match else ("", "")


def _named_github(environ: Mapping[str, str]) -> tuple[str, str]:
    """(server, API) that GITHUB_SERVER_URL and GITHUB_API_URL (or `gh`'s GH_HOST) name, one of which tells the other;
    ("", "") where they name none."""
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    api = environ.get("GITHUB_API_URL", "").rstrip("/")
    if not server and not api and environ.get("GH_HOST"):
        server = f"https://{environ['GH_HOST']}"
    if not server and not api:
        return "", ""
    return server or _server_of(api), api or _api_of(server)


def _github_at(server: str, api: str, remote_url: str, environ: Mapping[str, str]) -> GitHub | None:
    """The repository at a named server: GITHUB_REPOSITORY, else that of a remote which lies there."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if not repository:
        host, path = _place(remote_url)
        repository = path if _same_host(host, server) else ""
    return GitHub(server, api, repository) if _OWNED.fullmatch(repository) else None


def _known(remote_url: str, environ: Mapping[str, str]) -> GitHub | None:
    """The forges whose API's address everybody knows."""
    host, path = _place(remote_url)
    if host in (GITHUB_COM, f"ssh.{GITHUB_COM}"):
        repository = environ.get("GITHUB_REPOSITORY") or path
        if _OWNED.fullmatch(repository):
            return GitHub(f"https://{GITHUB_COM}", f"https://api.{GITHUB_COM}", repository)
    return None


def _server_of(api: str) -> str:
    """The server of an API: `https://HOST/api/v3` of an Enterprise server, `https://api.HOST` elsewhere."""
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def _api_of(server: str) -> str:
    """The API of a server: the other way round."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    if host == GITHUB_COM or host.endswith(".ghe.com"):
        return f"{parts.scheme}://api.{parts.netloc}"
    return f"{server}/api/v3"


def _same_host(host: str, server: str) -> bool:
    named = (urlsplit(server).hostname or "").lower()
    return bool(named) and host in (named, f"ssh.{named}")
