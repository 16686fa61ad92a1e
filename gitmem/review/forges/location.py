"""Which forge a repository lives at, and the token that goes there. Pure: the remote's address and the environment in.

The environment or the user names the host; the address in a clone only says which repository it is, and whether it lies
at a host that is known or named. A clone can therefore never choose where a token goes. A remote at any other host is
no forge: it gets a branch, and `git mem review` reviews it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from gitmem.review.forges.forge import Client, Forge
from gitmem.review.forges.forgejo import Forgejo, ForgejoClient
from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.forges.gitlab import GitLab, GitLabClient

_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[\w.-]+@)?(?P<scp>[\w.-]+):(?!//))"
    r"(?P<path>[^\s?#]+?)(?:\.git)?/?"
)
_OWNED = re.compile(r"[\w.-]+/[\w.-]+")
_GROUPED = re.compile(r"[\w.-]+(?:/[\w.-]+)+")  # GitLab has groups within groups
GITHUB_COM = "github.com"
TOKENS = {  # by forge, what wins first
    "GitHub": ("GITHUB_TOKEN", "GH_TOKEN"),
    "GitLab": ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"),
    "Forgejo": ("FORGEJO_TOKEN", "GITEA_TOKEN"),
}


def forge_of(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge of a remote ("" for what the environment alone says), None where it is at no known or named host."""
    for named in (_forgejo_named, _gitlab_named, _github_named):
        forge = named(remote_url, environ)
        if forge is not None:
            return forge
    return _public_forge(remote_url, environ)


def token_of(forge: Forge, environ: Mapping[str, str], ask: Callable[[str], str] = lambda host: "") -> str:
    """The token for a forge: of the environment, else (of GitHub) what `ask` says for its host name; "" for none."""
    names: tuple[str, ...] = TOKENS[forge.name]
    if forge.name == "Forgejo" and _in_forgejo_actions(environ):
        names = (*names, "GITHUB_TOKEN")
    token = next((environ[name] for name in names if environ.get(name)), "")
    return token or (ask(urlsplit(forge.server).hostname or "") if forge.name == "GitHub" else "")


def client_of(forge: Forge, token: str, wait: Callable[[float], None]) -> Client | None:
    """The API of a forge; None without a token."""
    if not token:
        return None
    match forge:
        case Forgejo():  # before GitHub, whose shape it takes
            return ForgejoClient(forge, token, wait)
        case GitHub():
            return GitHubClient(forge, token, wait)
        case GitLab():
            return GitLabClient(forge, token, wait)
    raise AssertionError(forge.name)


def _place(remote_url: str) -> tuple[str, str]:
    """(host without its port, path) of a remote's address, ("", "") for a folder on this machine."""
    match = _REMOTE.fullmatch(remote_url.strip())
    if match:
        return ((match["host"] or match["scp"]).lower(), match["path"].strip("/"))
    return ("", "")


def _address(environ: Mapping[str, str], *names: str) -> str:
    """The first of these variables that is set, as an address without a slash at its end."""
    return next((environ[name].rstrip("/") for name in names if environ.get(name)), "")


def _in_forgejo_actions(environ: Mapping[str, str]) -> bool:
    """Whether this runs in Forgejo's Actions, which set GitHub's variables to their own server too."""
    return "true" in (environ.get("FORGEJO_ACTIONS"), environ.get("GITEA_ACTIONS"))


def _forgejo_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """What FORGEJO_SERVER_URL or FORGEJO_API_URL name, in Forgejo's Actions GitHub's variables too."""
    if _in_forgejo_actions(environ):
        more = ("GITHUB_SERVER_URL", "GITHUB_API_URL")
    else:
        more = ("", "")
    server, api = _address(environ, "FORGEJO_SERVER_URL", more[0]), _address(environ, "FORGEJO_API_URL", more[1])
    if not server and not api:
        return None
    server = server or api.removesuffix("/api/v1")
    given = environ.get("FORGEJO_REPOSITORY") or (environ.get("GITHUB_REPOSITORY", "") if more[0] else "")
    repository = given or _path_at(server, remote_url)
    if not _OWNED.fullmatch(repository):
        return None
    return Forgejo(server, api or f"{server}/api/v1", repository)


def _gitlab_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """What GitLab CI's variables name, or `glab`'s GITLAB_HOST."""
    server, api = _address(environ, "CI_SERVER_URL"), _address(environ, "CI_API_V4_URL")
    host = environ.get("GITLAB_HOST", "")
    if host and not server and not api:
        if "://" in host:
            server = host.rstrip("/")
        else:
            server = f"https://{host}"
    if not server and not api:
        return None
    server = server or api.removesuffix("/api/v4")
    repository = environ.get("CI_PROJECT_PATH") or _path_at(server, remote_url)
    if not _GROUPED.fullmatch(repository):
        return None
    return GitLab(server, api or f"{server}/api/v4", repository)


def _github_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """What GITHUB_SERVER_URL and GITHUB_API_URL (or `gh`'s GH_HOST) name, one of which tells the other."""
    server, api = _named_github(environ)
    repository = environ.get("GITHUB_REPOSITORY") or _path_at(server, remote_url)
    if server and _OWNED.fullmatch(repository):
        return GitHub(server, api, repository)
    return None


def _named_github(environ: Mapping[str, str]) -> tuple[str, str]:
    server, api = _address(environ, "GITHUB_SERVER_URL"), _address(environ, "GITHUB_API_URL")
    if not server and not api and environ.get("GH_HOST"):
        server = f"https://{environ['GH_HOST']}"
    if server or api:
        return (server or _server_of(api), api or _api_of(server))
    return ("", "")


def _public_forge(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forges whose API's address everybody knows, each only where the environment names no other of its kind: its
    token is that other one's."""
    host, path = _place(remote_url)
    host = host.removeprefix("ssh.").removeprefix("altssh.")
    if host == GITHUB_COM and not _named_github(environ)[0]:
        repository = environ.get("GITHUB_REPOSITORY") or path
        if _OWNED.fullmatch(repository):
            return GitHub(f"https://{GITHUB_COM}", f"https://api.{GITHUB_COM}", repository)
    elsewhere = _address(environ, "CI_SERVER_URL", "CI_API_V4_URL", "GITLAB_HOST")
    if host == "gitlab.com" and not elsewhere and _GROUPED.fullmatch(path):
        return GitLab("https://gitlab.com", "https://gitlab.com/api/v4", path)
    elsewhere = _address(environ, "FORGEJO_SERVER_URL", "FORGEJO_API_URL")
    if host == "codeberg.org" and not elsewhere and _OWNED.fullmatch(path):
        return Forgejo("https://codeberg.org", "https://codeberg.org/api/v1", path)
    return None


def _path_at(server: str, remote_url: str) -> str:
    """The path of a remote that lies at that server, "" for one that lies elsewhere."""
    host, path = _place(remote_url)
    named = (urlsplit(server).hostname or "").lower()
    if named and host in (named, f"ssh.{named}", f"altssh.{named}"):
        return path
    return ""


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
