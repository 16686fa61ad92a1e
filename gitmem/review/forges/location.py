"""Finds the forge of a repository and the token for it, from the remote's URL and the environment. Pure.

Only the environment, or this module for public forges, names the host that gets a token. The URL in a clone says which
repository it is and whether it is at such a host, so a clone can never choose where a token goes. A remote at any other
host has no forge: branches are pushed there, and `git mem review` reviews them.
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
_GROUPED = re.compile(r"[\w.-]+(?:/[\w.-]+)+")  # a GitLab path may have several groups
GITHUB_COM = "github.com"
TOKENS = {  # the variables with a token by forge; the first that is set counts
    "GitHub": ("GITHUB_TOKEN", "GH_TOKEN"),
    "GitLab": ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"),
    "Forgejo": ("FORGEJO_TOKEN", "GITEA_TOKEN"),
}


def forge_of(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge of a remote; None when it is at no known host. A forge that the environment names comes first (Forgejo,
    GitLab, GitHub), then the public ones. `remote_url`: "" to use the environment alone."""
    for named in (_forgejo_named, _gitlab_named, _github_named):
        forge = named(remote_url, environ)
        if forge is not None:
            return forge
    return _public_forge(remote_url, environ)


def token_of(forge: Forge, environ: Mapping[str, str], ask: Callable[[str], str] = lambda host: "") -> str:
    """The token for a forge: the first variable of TOKENS that is set; "" for none. In Forgejo's Actions GITHUB_TOKEN
    counts for Forgejo too. `ask`: returns the token for a host name, "" for none; called only for GitHub without a
    token in the environment."""
    names: tuple[str, ...] = TOKENS[forge.name]
    if forge.name == "Forgejo" and _in_forgejo_actions(environ):
        names = (*names, "GITHUB_TOKEN")
    token = next((environ[name] for name in names if environ.get(name)), "")
    if not token and forge.name == "GitHub":
        token = ask(urlsplit(forge.server).hostname or "")
    return token


def client_of(forge: Forge, token: str, wait: Callable[[float], None]) -> Client | None:
    """The client of a forge; None for the token "". `wait`: sleeps for a number of seconds."""
    if not token:
        return None
    match forge:
        case Forgejo():  # a subclass of GitHub, so it comes first
            return ForgejoClient(forge, token, wait)
        case GitHub():
            return GitHubClient(forge, token, wait)
        case GitLab():
            return GitLabClient(forge, token, wait)
    raise AssertionError(forge.name)


def may_be_at(remote_url: str, repository: str) -> bool:
    """Whether the remote's URL may be that of `repository` (`owner/name`): its path ends so, or it is a local folder or
    has another form."""
    path = _place(remote_url)[1].casefold()
    return not path or f"/{path}".endswith(f"/{repository.casefold()}")


def _place(remote_url: str) -> tuple[str, str]:
    """(host without its port, path) of a remote's URL; ("", "") for a local folder."""
    match = _REMOTE.fullmatch(remote_url.strip())
    if match:
        return (match["host"] or match["scp"]).lower(), match["path"].strip("/")
    return "", ""


def _address(environ: Mapping[str, str], *names: str) -> str:
    """The first of these variables that is set, without a slash at its end; "" when none is."""
    return next((environ[name].rstrip("/") for name in names if environ.get(name)), "")


def _in_forgejo_actions(environ: Mapping[str, str]) -> bool:
    """Whether FORGEJO_ACTIONS or GITEA_ACTIONS is `true`. These Actions set GitHub's variables for their own server."""
    return "true" in (environ.get("FORGEJO_ACTIONS"), environ.get("GITEA_ACTIONS"))


def _forgejo_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge that FORGEJO_SERVER_URL or FORGEJO_API_URL name; in Forgejo's Actions GitHub's variables count too. The
    repository is FORGEJO_REPOSITORY, else the path of the remote if it is at that server. None when they name none, or
    the repository is not `owner/name`."""
    server, api = _address(environ, "FORGEJO_SERVER_URL"), _address(environ, "FORGEJO_API_URL")
    repository = environ.get("FORGEJO_REPOSITORY", "")
    if _in_forgejo_actions(environ):
        server, api = server or _address(environ, "GITHUB_SERVER_URL"), api or _address(environ, "GITHUB_API_URL")
        repository = repository or environ.get("GITHUB_REPOSITORY", "")
    if not server and not api:
        return None
    server = server or api.removesuffix("/api/v1")
    repository = repository or _path_at(server, remote_url)
    if not _OWNED.fullmatch(repository):
        return None
    return Forgejo(server, api or f"{server}/api/v1", repository)


def _gitlab_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge that CI_SERVER_URL or CI_API_V4_URL of GitLab CI, or GITLAB_HOST of the `glab` command, name. The
    project is CI_PROJECT_PATH, else the path of the remote if it is at that server. None when they name none, or the
    project has no group."""
    server, api = _address(environ, "CI_SERVER_URL"), _address(environ, "CI_API_V4_URL")
    host = environ.get("GITLAB_HOST", "")
    if host and not server and not api:
        server = f"https://{host}"
        if "://" in host:
            server = host.rstrip("/")
    if not server and not api:
        return None
    server = server or api.removesuffix("/api/v4")
    repository = environ.get("CI_PROJECT_PATH") or _path_at(server, remote_url)
    if not _GROUPED.fullmatch(repository):
        return None
    return GitLab(server, api or f"{server}/api/v4", repository)


def _github_named(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge that GITHUB_SERVER_URL, GITHUB_API_URL, or GH_HOST of the `gh` command, name. The repository is
    GITHUB_REPOSITORY, else the path of the remote if it is at that server. None when they name none, or the repository
    is not `owner/name`."""
    server, api = _github_addresses(environ)
    repository = environ.get("GITHUB_REPOSITORY") or _path_at(server, remote_url)
    if server and _OWNED.fullmatch(repository):
        return GitHub(server, api, repository)
    return None


def _github_addresses(environ: Mapping[str, str]) -> tuple[str, str]:
    """(server, API) that the environment names, each worked out from the other when only one is set; ("", "") for
    none."""
    server, api = _address(environ, "GITHUB_SERVER_URL"), _address(environ, "GITHUB_API_URL")
    if not server and not api and environ.get("GH_HOST"):
        server = f"https://{environ['GH_HOST']}"
    if server or api:
        return server or _server_of(api), api or _api_of(server)
    return "", ""


def _public_forge(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge of a remote at github.com, gitlab.com or codeberg.org (or `ssh.` or `altssh.` before these). At
    github.com the repository is GITHUB_REPOSITORY if that is set, else the path of the remote.

    None for any other host and for a repository that is not `owner/name` (at GitLab with at least one group). None too
    when the environment names a server of the same kind, even this one: the token belongs to that server, for which
    `forge_of` has looked before.
    """
    host, path = _place(remote_url)
    host = host.removeprefix("ssh.").removeprefix("altssh.")
    if host == GITHUB_COM and not _github_addresses(environ)[0]:
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
    """The path of a remote at `server`; "" for a remote at another host."""
    host, path = _place(remote_url)
    named = (urlsplit(server).hostname or "").lower()
    if named and host in (named, f"ssh.{named}", f"altssh.{named}"):
        return path
    return ""


def _server_of(api: str) -> str:
    """The URL of the server of an API, which is `https://HOST/api/v3` or `https://api.HOST`."""
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def _api_of(server: str) -> str:
    """The URL of the API of a server: `https://HOST/api/v3` for an Enterprise server, else `https://api.HOST`."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    if host == GITHUB_COM or host.endswith(".ghe.com"):
        return f"{parts.scheme}://api.{parts.netloc}"
    return f"{server}/api/v3"
