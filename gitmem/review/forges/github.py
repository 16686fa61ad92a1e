"""GitHub: its links, and the calls of its REST API that publishing and reviewing need (https://docs.github.com/rest).

Forgejo takes this shape where its API agrees (forgejo.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from gitmem.review.forges.event import oid_of
from gitmem.review.forges.forge import Client, Comment, ForgeError, Pull
from gitmem.review.forges.rest import Connection, Words, inner, number_of, object_of

VERSION = "2022-11-28"
BODY_LIMIT = 65_536  # characters GitHub takes in a comment or a description
CHECKED = 50  # annotations a request takes
TITLE, MESSAGE = 255, 16_000  # characters of an annotation; GitHub takes 64 KB of a message
WRITERS = ("admin", "maintain", "write", "owner")  # the last is Forgejo's

GITHUB = Words(
    name="GitHub",
    token="GITHUB_TOKEN",
    api="GITHUB_API_URL",
    hints={
        401: "the token is wrong or has ended: set GITHUB_TOKEN",
        404: "the repository does not exist, or the token may not see it",
        410: "issues or pull requests are turned off in this repository",
    },
    permissions={
        "/pulls": (
            "the token needs 'pull-requests: write'; for the default token of Actions also Settings > Actions > General"
            " > 'Allow GitHub Actions to create and approve pull requests'"
        ),
        "/issues": "the token needs 'pull-requests: write' (a pull request of a fork has a read-only token)",
        "/check-runs": "the token needs 'checks: write', which tokens of a workflow or an app can have",
    },
)


_OWNED = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Annotation:
    """Words on lines `first` to `last` (from 1) of a file in a check run."""

    path: str
    first: int
    last: int
    title: str
    message: str
    fails: bool


def _moment(text: Any) -> datetime:
    """A time as GitHub writes it. Raises ForgeError for what is none."""
    try:
        return datetime.fromisoformat(text if isinstance(text, str) else "").astimezone(UTC)
    except ValueError:
        raise ForgeError("GitHub's answer has a time that is none") from None


@dataclass(frozen=True, slots=True)
class GitHub:
    """A repository on github.com or an Enterprise server. See `protocol.Forge`."""

    server: str
    api: str
    repository: str
    name: ClassVar[str] = "GitHub"
    body_limit: ClassVar[int] = BODY_LIMIT
    proposal: ClassVar[str] = "pull request"
    git_user: ClassVar[str] = "x-access-token"
    suggestion: ClassVar[str] = "suggestion"
    # Of the pages that people open: what follows the two branches, where a file is and what shows it as text.
    compare_query: ClassVar[str] = "?expand=1"
    file_route: ClassVar[str] = "blob"
    file_query: ClassVar[str] = "plain=1"

    def number_of(self, number: int) -> str:
        """`#7`."""
        return f"#{number}"

    def compare(self, base: str, branch: str) -> str:
        """The page that opens a pull request by hand."""
        branches = f"{quote(base, safe='')}...{quote(branch, safe='')}"
        return f"{self.server}/{self.repository}/compare/{branches}{self.compare_query}"

    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        """A permanent link to lines of a Markdown file as text: rendered, it has no lines."""
        where = quote(path, safe="/", errors="surrogateescape")
        span = f"L{first}" + (f"-L{last}" if last != first else "")
        return f"{self.server}/{self.repository}/{self.file_route}/{commit}/{where}?{self.file_query}#{span}"


class GitHubClient(Client):
    """GitHub's API for one repository. `wait` is how to sleep: the caller's, so that tests need not."""

    words: ClassVar[Words] = GITHUB
    page: ClassVar[tuple[str, int]] = ("per_page", 100)

    def __init__(self, forge: GitHub, token: str, wait: Callable[[float], None]) -> None:
        self._forge, self._token = forge, token
        root = f"{forge.api}/repos/{quote(forge.repository, safe='/')}"
        self.connection = Connection(self.words, root, self._headers(token), wait, self.page)

    def _headers(self, token: str) -> dict[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": VERSION,
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.forge!r})"

    @property
    def forge(self) -> GitHub:
        """Where it talks to."""
        return self._forge

    @property
    def token(self) -> str:
        """The token it uses."""
        return self._token

    def default_branch(self) -> str:
        """The branch pull requests go to."""
        name = object_of(self.connection.call("GET", ""), self.words.name).get("default_branch")
        if not isinstance(name, str) or not name:
            raise ForgeError(f"{self.words.name}'s answer names no default branch")
        return name

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        """Pull requests from branch `head` of this repository, newest first."""
        owner = self.forge.repository.partition("/")[0]
        query = {
            "state": state,
            **({"head": f"{owner}:{head}"} if head else {}),
            **({"base": base} if base else {}),
        }
        return [self._pull(row) for row in self.connection.rows("/pulls", query)]

    def pull_at(self, source: str, branch: str, head: str) -> Pull | None:
        """The open pull request from that branch of that repository (owner/name) whose head is the oid `head`, None
        where there is none, or its branch has moved."""
        owner = source.partition("/")[0]
        for row in self.connection.rows("/pulls", {"state": "open", "head": f"{owner}:{branch}"}):
            pull = self._pull(row)
            if pull.head == head and pull.head_repository == source:
                return pull
        return None

    def pull(self, number: int) -> Pull:
        """One pull request."""
        return self._pull(self.connection.call("GET", f"/pulls/{number}"))

    def create_pull(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """Open a pull request; 422 where there is one."""
        value = {"title": title, "head": head, "base": base, "body": body}
        return self._pull(self.connection.call("POST", "/pulls", value))

    def edit_pull(self, number: int, *, title: str, body: str) -> Pull:
        """Give a pull request this title and this text."""
        return self._pull(self.connection.call("PATCH", f"/pulls/{number}", {"title": title, "body": body}))

    def label(self, number: int, *labels: str) -> None:
        """Add labels to a pull request."""
        self.connection.call("POST", f"/issues/{number}/labels", {"labels": list(labels)})

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments on a pull request, oldest first."""
        for row in self.connection.rows(f"/issues/{number}/comments", {}):
            yield self._comment(row)

    def comment(self, comment: int) -> Comment:
        """One comment, as it is now."""
        return self._comment(object_of(self.connection.call("GET", f"/issues/comments/{comment}"), self.words.name))

    def add_comment(self, number: int, body: str) -> int:
        """Write a comment; its id."""
        return number_of(
            self.connection.call("POST", f"/issues/{number}/comments", {"body": body}), "id", self.words.name
        )

    def edit_comment(self, number: int, comment: int, body: str) -> None:
        """Give a comment another text."""
        self.connection.call("PATCH", f"/issues/comments/{comment}", {"body": body})

    def line_comments(self, number: int) -> Iterable[Comment]:
        """The review comments on a pull request, oldest first."""
        for row in self.connection.rows(f"/pulls/{number}/comments", {}):
            yield self._comment(row)

    def add_line_comment(self, number: int, head: str, path: str, line: int, body: str) -> None:
        """Write a review comment on a line of the head; 422 for one that is not in the difference."""
        value = {"body": body, "commit_id": head, "path": path, "line": line, "side": "RIGHT"}
        self.connection.call("POST", f"/pulls/{number}/comments", value)

    def react(self, comment: int, content: str) -> None:
        """React to a comment, with one of the words that GitHub has for it (`+1`, `confused`)."""
        self.connection.call("POST", f"/issues/comments/{comment}/reactions", {"content": content})

    def head_at(self, pull: Pull, time: str) -> str:
        """The oid that the branch of a pull request was at before a time (ISO 8601), as the forge recorded its pushes;
        "" where it does not say. A push in that very second counts as later."""
        if not _OWNED.fullmatch(pull.head_repository):
            return ""  # of a fork that is gone
        there = replace(self.connection, root=f"{self.forge.api}/repos/{pull.head_repository}")
        asked = urlencode({"ref": f"refs/heads/{pull.branch}", "direction": "desc", "per_page": "100"})
        rows = there.call("GET", f"/activity?{asked}")
        if not isinstance(rows, list):
            raise ForgeError(f"{self.words.name}'s answer is not a list")
        for row in rows:
            row = object_of(row, self.words.name)
            if _moment(row.get("timestamp")) < _moment(time):
                return oid_of(row.get("after"))
        return ""

    def put_check(
        self, name: str, head: str, *, failed: bool, title: str, summary: str, annotations: Sequence[Annotation] = ()
    ) -> int:
        """A finished check run on a commit; its id. Annotations stand on their lines, CHECKED a request."""
        rows = [
            {
                "path": row.path, "start_line": row.first, "end_line": row.last,
                "annotation_level": "failure" if row.fails else "warning",
                "title": row.title[:TITLE], "message": row.message[:MESSAGE],
            }
            for row in annotations
        ]  # fmt: skip
        first, later = rows[:CHECKED], range(CHECKED, len(rows), CHECKED)
        output = {"title": title[:TITLE], "summary": summary[:BODY_LIMIT]}
        made = self.connection.call(
            "POST", "/check-runs",
            {
                "name": name, "head_sha": head, "status": "completed", "conclusion": "failure" if failed else "success",
                "output": {**output, "annotations": first},
            },
        )  # fmt: skip
        number = number_of(made, "id", self.words.name)
        for start in later:
            more = {"output": {**output, "annotations": rows[start : start + CHECKED]}}
            self.connection.call("PATCH", f"/check-runs/{number}", more)
        return number

    def rules(self, branch: str) -> list[dict[str, Any]]:
        """The rules of rulesets that are in force on a branch: `type`, and `parameters` where it has any."""
        return list(self.connection.rows(f"/rules/branches/{quote(branch, safe='')}", {}))

    def owners_errors(self) -> list[str]:
        """What GitHub finds wrong with CODEOWNERS on the default branch, one line each. ForgeError with status 404
        where there is no such file."""
        errors = object_of(self.connection.call("GET", "/codeowners/errors"), self.words.name).get("errors")
        if not isinstance(errors, list):
            raise ForgeError(f"{self.words.name}'s answer has no 'errors'")
        return [f"line {row.get('line')}: {row.get('kind')}" for row in errors if isinstance(row, dict)]

    def login(self) -> str:
        """The token's own user, "" for the token of a workflow or an app, which may not ask."""
        user = Connection(self.words, self.forge.api, self.connection.headers, self.connection.wait)
        try:
            return str(object_of(user.call("GET", "/user"), self.words.name).get("login", ""))
        except ForgeError as error:
            if error.status in (401, 403, 404):
                return ""
            raise

    def may_write(self, login: str) -> bool:
        """Whether that user may push."""
        path = f"/collaborators/{quote(login, safe='')}/permission"
        try:
            permission = object_of(self.connection.call("GET", path), self.words.name)
        except ForgeError as error:
            if error.status == 404:
                return False  # nobody of that name, or no collaborator
            raise
        return permission.get("permission") in WRITERS

    def _comment(self, row: dict[str, Any]) -> Comment:
        user = inner(row, "user")
        return Comment(
            id=number_of(row, "id", self.words.name),
            body=str(row.get("body") or ""),
            author=str(user.get("login", "")),
            automatic=user.get("type") == "Bot",
            written=str(row.get("created_at") or ""),
            edited=str(row.get("updated_at") or ""),
        )

    def _pull(self, value: Any) -> Pull:
        row = object_of(value, self.words.name)
        head, base = inner(row, "head"), inner(row, "base")
        return Pull(
            number=number_of(row, "number", self.words.name),
            url=str(row.get("html_url", "")),
            created=False,
            state=str(row.get("state", "open")),
            merged=bool(row.get("merged_at")),
            branch=str(head.get("ref", "")),
            base=str(base.get("ref", "")),
            head_repository=str(inner(head, "repo").get("full_name", "")),
            title=str(row.get("title") or ""),
            body=str(row.get("body") or ""),
            head=oid_of(head.get("sha")),
            start=oid_of(base.get("sha")),
        )
