"""The few calls of GitHub's REST API that publishing and reviewing need (https://docs.github.com/rest).

An adapter: the only module that speaks HTTP to a forge. The token goes to the one address the environment or the user
named, never to one read from a clone, never through a redirect, never into an error. Answers are untrusted: what is
no JSON, or has not the fields that are needed, is an error and never an empty answer.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from gitmem.errors import GitMemError
from gitmem.review.marked_text import marked, updated

VERSION = "2022-11-28"
TIMEOUT = 30.0
ANSWER_LIMIT = 8 << 20
ATTEMPTS = 4
BODY_LIMIT = 65_536  # characters GitHub takes in a comment or a description
PAGES = 50


class GitHubError(GitMemError):
    """GitHub said no. `status` is its HTTP status, 0 when it could not be reached."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class Forge:
    """Where a repository lives: `api` and `server` without a slash at the end, `repository` as owner/name."""

    server: str
    api: str
    repository: str

    def compare(self, base: str, branch: str) -> str:
        """The page that opens a pull request by hand."""
        return f"{self.server}/{self.repository}/compare/{quote(base, safe='')}...{quote(branch, safe='')}?expand=1"

    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        """A permanent link to lines of a Markdown file as text (without `plain=1` GitHub shows no lines)."""
        where = quote(path, safe="/", errors="surrogateescape")
        return f"{self.server}/{self.repository}/blob/{commit}/{where}?plain=1#L{first}" + (
            f"-L{last}" if last != first else ""
        )


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `created` says whether this call opened it."""

    number: int
    url: str
    created: bool
    state: str = "open"
    merged: bool = False
    branch: str = ""
    base: str = ""
    head_repository: str = ""
    title: str = ""
    body: str = ""

    def as_value(self) -> dict[str, object]:
        """The JSON of docs/json.md, "publish"."""
        return {"number": self.number, "url": self.url, "created": self.created}


_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]*@)?(?P<host>[\w.-]+(?::\d+)?)/|(?:[\w.-]+@)?(?P<scp>[\w.-]+):(?!//))"
    r"(?P<path>[^\s?#]+?)(?:\.git)?/?"
)


def forge_of(remote_url: str, environ: Mapping[str, str]) -> Forge | None:
    """The forge of a remote, None where it is not one of GitHub's.

    The API's address comes from GITHUB_API_URL, or is github.com's own for a remote there: a clone's configuration
    must not choose where the token goes.
    """
    match = _REMOTE.fullmatch(remote_url.strip())
    host = (match["host"] or match["scp"]) if match else ""
    repository = environ.get("GITHUB_REPOSITORY", "")
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    api = environ.get("GITHUB_API_URL", "").rstrip("/")
    if match and "/".join(match["path"].split("/")[-2:]).count("/") == 1 and not repository:
        repository = "/".join(match["path"].split("/")[-2:])
    if not server:
        server = f"https://{host.split(':')[0]}" if host else ""
    if not api and host.split(":")[0] in ("github.com", "ssh.github.com"):
        server, api = "https://github.com", "https://api.github.com"
    if not server or not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        return None
    return Forge(server, api, repository)


@dataclass(frozen=True, slots=True)
class Client:
    """One repository's API. `wait` is how to sleep: the caller's, so that tests need not."""

    forge: Forge
    token: str
    wait: Callable[[float], None]

    def __post_init__(self) -> None:
        parts = urlsplit(self.forge.api)
        loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
            raise GitHubError("the address of the API is not https", "set GITHUB_API_URL")
        if not self.token.isascii() or not self.token.isprintable():
            raise GitHubError("the token holds characters no token has", "set GITHUB_TOKEN anew")

    def __repr__(self) -> str:
        return f"Client({self.forge!r})"

    # -- pull requests ---------------------------------------------------------------------------------------

    def default_branch(self) -> str:
        """The branch pull requests go to."""
        name = _object(self.call("GET", "")).get("default_branch")
        if not isinstance(name, str) or not name:
            raise GitHubError("GitHub's answer names no default branch")
        return name

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        """Pull requests from branch `head` of this repository, newest first."""
        owner = self.forge.repository.partition("/")[0]
        query = {
            "state": state,
            **({"head": f"{owner}:{head}"} if head else {}),
            **({"base": base} if base else {}),
        }
        return [_pull(row) for row in self.pages("/pulls", query)]

    def open_or_update(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """The one open pull request of `head` into `base`: made, or our part of its text brought up to date.

        What people wrote outside our markers stays, and so does a title that they changed.
        """
        for known in self.pulls(head=head, base=base):
            return self._update(known, title, body)
        value = {"title": title, "head": head, "base": base, "body": marked(title, body, BODY_LIMIT)}
        try:
            row = self.call("POST", "/pulls", value)
        except GitHubError as error:
            # 422: somebody opened it between the two calls.
            raced = next(iter(self.pulls(head=head, base=base)), None) if error.status == 422 else None
            if raced is None:
                raise
            return self._update(raced, title, body)
        return replace(_pull(row), created=True)

    def _update(self, known: Pull, title: str, body: str) -> Pull:
        new_title, new_body = updated(known.title, known.body, title, body, BODY_LIMIT)
        return _pull(self.call("PATCH", f"/pulls/{known.number}", {"title": new_title, "body": new_body}))

    def label(self, number: int, *labels: str) -> None:
        """Add labels to a pull request."""
        self.call("POST", f"/issues/{number}/labels", {"labels": list(labels)})

    # -- comments --------------------------------------------------------------------------------------------

    def put_comment(self, number: int, marker: str, body: str) -> int:
        """Our one comment that begins with `marker` (an HTML comment), updated in place; its id.

        Ours are a bot's and those of the token's own user; what others write below the marker is left alone.
        """
        text = f"{marker}\n{body}"[:BODY_LIMIT]
        me = ""
        for row in self.pages(f"/issues/{number}/comments", {}):
            if not str(row.get("body", "")).startswith(marker):
                continue
            user = row.get("user")
            user = user if isinstance(user, dict) else {}
            if user.get("type") != "Bot":
                me = me or self._login()
            if user.get("type") == "Bot" or (me and user.get("login") == me):
                known = _number(row, "id")
                self.call("PATCH", f"/issues/comments/{known}", {"body": text})
                return known
        return _number(self.call("POST", f"/issues/{number}/comments", {"body": text}), "id")

    def _login(self) -> str:
        """The token's own user, "" for the token of a workflow or an app, which may not ask."""
        status, _, data = self._send("GET", f"{self.forge.api}/user", None)
        if status in (401, 403, 404):
            return ""
        if status >= 300:
            raise _refused("GET", "/user", status, _json(data))
        return str(_object(_json(data)).get("login", ""))

    # -- transport -------------------------------------------------------------------------------------------

    def pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Every row of a list, a hundred a request."""
        for number in range(1, PAGES + 1):
            rows = self.call("GET", f"{path}?{urlencode({**query, 'per_page': '100', 'page': str(number)})}")
            if not isinstance(rows, list):
                raise GitHubError("GitHub's answer is not a list")
            yield from (row for row in rows if isinstance(row, dict))
            if len(rows) < 100:
                return

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """One request below /repos/OWNER/NAME; its JSON, `{}` for an answer that has no content (status 204).

        Waits and tries again on 5xx, 429 and a rate limit, four times at most; a write only where it is safe. Raises
        GitHubError for every other status, and for an answer that is no JSON or longer than ANSWER_LIMIT.
        """
        for attempt in range(1, ATTEMPTS + 1):
            url = f"{self.forge.api}/repos/{self.forge.repository}{path}"
            status, headers, data = self._send(method, url, value)
            if status == 204:
                return {}
            if status < 300:
                value = _json(data)
                if value is None:
                    raise GitHubError(f"GitHub's answer to {method} {path.partition('?')[0] or '/'} is no JSON")
                return value
            pause = _pause(status, headers, attempt)
            again = status in (429, 403) or method in ("GET", "PATCH") or status == 503
            if pause is None or not again or attempt == ATTEMPTS:
                raise _refused(method, path, status, _json(data))
            self.wait(pause)
        raise AssertionError

    def _send(self, method: str, url: str, value: Any) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers (names in lower case) and the bytes of an answer, whatever the status. A redirect is not
        followed. Raises GitHubError where nothing answers."""
        import http.client
        from urllib import error, request

        class NoRedirect(request.HTTPRedirectHandler):
            def redirect_request(self, *args: Any, **kwargs: Any) -> None:
                return None

        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token}",
            "User-Agent": "git-mem",
            "X-GitHub-Api-Version": VERSION,
        }
        body = None if value is None else json.dumps(value).encode("utf-8", "backslashreplace")
        if body is not None:
            headers["Content-Type"] = "application/json"
        sent = request.Request(url, data=body, headers=headers, method=method)
        try:
            with request.build_opener(NoRedirect).open(sent, timeout=TIMEOUT) as answer:
                return answer.status, _lower(answer.headers.items()), answer.read(ANSWER_LIMIT)
        except error.HTTPError as refused:
            with refused:
                return refused.code, _lower(refused.headers.items()), refused.read(ANSWER_LIMIT)
        except (OSError, http.client.HTTPException):
            raise GitHubError(f"cannot reach {urlsplit(self.forge.api).hostname}", "check the network") from None


def push_environment(forge: Forge, token: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What lets the git binary push to that server with the token: configuration by environment, never by argument."""
    count = int(environ.get("GIT_CONFIG_COUNT") or 0)
    basic = b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"http.{forge.server}/.extraheader",
        f"GIT_CONFIG_VALUE_{count}": f"Authorization: Basic {basic}",
    }


def _object(value: Any) -> dict[str, Any]:
    """An answer that has to be a JSON object. Raises GitHubError."""
    if not isinstance(value, dict):
        raise GitHubError("GitHub's answer is no object")
    return value


def _number(value: Any, key: str) -> int:
    """The number an object has under a key. Raises GitHubError where it has none."""
    number = _object(value).get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise GitHubError(f"GitHub's answer has no '{key}'")
    return number


def _pull(value: Any) -> Pull:
    """A row of pull requests. Raises GitHubError for what is none."""
    row = _object(value)
    head, base = row.get("head"), row.get("base")
    head = head if isinstance(head, dict) else {}
    repo = head.get("repo")
    return Pull(
        number=_number(row, "number"),
        url=str(row.get("html_url", "")),
        created=False,
        state=str(row.get("state", "open")),
        merged=bool(row.get("merged_at")),
        branch=str(head.get("ref", "")),
        base=str(base.get("ref", "")) if isinstance(base, dict) else "",
        head_repository=str(repo.get("full_name", "")) if isinstance(repo, dict) else "",
        title=str(row.get("title") or ""),
        body=str(row.get("body") or ""),
    )


def _lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


def _json(data: bytes) -> Any:
    """The JSON value of an answer, None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _pause(status: int, headers: Mapping[str, str], attempt: int) -> float | None:
    """Seconds to wait before another try, None when trying again is no use. A minute at most."""
    after = headers.get("retry-after", "")
    limited = status in (403, 429) and (after or headers.get("x-ratelimit-remaining") == "0")
    if limited:
        return min(float(after), 60.0) if after.isdigit() else 2.0**attempt
    return 2.0 ** (attempt - 1) if status >= 500 or status == 429 else None


HINTS = {
    401: "the token is wrong or has ended: set GITHUB_TOKEN",
    404: "the repository does not exist, or the token may not see it",
    410: "issues or pull requests are turned off in this repository",
}
FORBIDDEN = {
    "/pulls": (
        "the token needs 'pull-requests: write'; for the default token of Actions also Settings > Actions > General >"
        " 'Allow GitHub Actions to create and approve pull requests'"
    ),
    "/issues": "the token needs 'pull-requests: write' (a pull request of a fork has a read-only token)",
}


def _refused(method: str, path: str, status: int, data: Any) -> GitHubError:
    reason = ""
    if isinstance(data, dict):
        errors = data.get("errors")
        rows = errors if isinstance(errors, list) else []
        more = [str(row.get("message", "")) for row in rows[:3] if isinstance(row, dict)]
        reason = "; ".join(text for text in [str(data.get("message", "")), *more] if text)[:300]
    hint = HINTS.get(status, "")
    if status == 403:
        hint = next(
            (text for start, text in FORBIDDEN.items() if path.startswith(start)),
            "the token lacks a permission",
        )
    where = path.partition("?")[0]
    return GitHubError(
        f"GitHub refused {method} {where or '/'} with {status}: {reason or 'no reason given'}", hint, status
    )
