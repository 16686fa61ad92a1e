"""The adapter for GitHub: its links, and the calls of its REST API (https://docs.github.com/rest) that publishing and
reviewing need. The adapter for Forgejo builds on it, since the two APIs mostly agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from gitmem.review.forges.event import oid_of
from gitmem.review.forges.forge import Comment, Forge, ForgeError, Pull
from gitmem.review.forges.response import member_object, number_of, object_of
from gitmem.review.forges.rest import ForgeText
from gitmem.review.forges.rest_client import RestClient

VERSION = "2022-11-28"
BODY_LIMIT = 65_536  # GitHub's limit for the characters of a comment or a description
MAX_ANNOTATIONS = 50  # GitHub's limit for one request
MAX_TITLE_CHARS, MAX_MESSAGE_CHARS = 255, 16_000  # of an annotation; GitHub takes 64 KB of a message
WRITE_PERMISSIONS = ("admin", "maintain", "write", "owner")  # "owner" is Forgejo's

GITHUB = ForgeText(
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
    """A message on the lines `first` to `last` (1-based) of a file in a check run. `fails`: it is a failure, not a
    warning."""

    path: str
    first: int
    last: int
    title: str
    message: str
    fails: bool


def _time(value: Any) -> datetime:
    """A time in ISO 8601 as a datetime in UTC. Raises ForgeError for any other value."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (TypeError, ValueError):
        raise ForgeError("the answer of the forge has no valid time where it must have one") from None


class GitHub(Forge):
    """The addresses and links of a repository on github.com or an Enterprise server; GitHubClient makes the
    requests."""

    name: ClassVar[str] = "GitHub"
    body_limit: ClassVar[int] = BODY_LIMIT
    proposal: ClassVar[str] = "pull request"
    git_user: ClassVar[str] = "x-access-token"
    suggestion: ClassVar[str] = "suggestion"
    # Parts of URLs: the query of a comparison, the route to a file at a commit, the query that shows a file as text.
    compare_query: ClassVar[str] = "?expand=1"
    file_route: ClassVar[str] = "blob"
    file_query: ClassVar[str] = "plain=1"

    def number_of(self, number: int) -> str:
        return f"#{number}"

    def compare(self, base: str, branch: str) -> str:
        branches = f"{quote(base, safe='')}...{quote(branch, safe='')}"
        return f"{self.server}/{self.repository}/compare/{branches}{self.compare_query}"

    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        quoted_path = quote(path, safe="/", errors="surrogateescape")
        span = f"L{first}"
        if last != first:
            span += f"-L{last}"
        return f"{self.server}/{self.repository}/{self.file_route}/{commit}/{quoted_path}?{self.file_query}#{span}"


class GitHubClient(RestClient):
    """Calls GitHub's API for one repository, as a `forge.Client`. `wait`: sleeps for a number of seconds."""

    text: ClassVar[ForgeText] = GITHUB
    login_field: ClassVar[str] = "login"

    def __init__(self, forge: GitHub, token: str, wait: Callable[[float], None]) -> None:
        super().__init__(forge, token, wait, f"{forge.api}/repos/{quote(forge.repository, safe='/')}")

    def _headers(self, token: str) -> Mapping[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": VERSION,
        }

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        query = {"state": state}
        if head:
            query["head"] = f"{self.forge.repository.partition('/')[0]}:{head}"
        if base:
            query["base"] = base
        return [self._pull(row) for row in self.connection.list_all("/pulls", query)]

    def pull_at(self, source: str, branch: str, head: str) -> Pull | None:
        """The open pull request from `branch` of the repository `source` (owner/name) whose head is the oid `head`;
        None when there is none or its branch has moved. Raises ForgeError if GitHub refuses or does not answer."""
        owner = source.partition("/")[0]
        for row in self.connection.list_all("/pulls", {"state": "open", "head": f"{owner}:{branch}"}):
            pull = self._pull(row)
            if pull.head == head and pull.head_repository == source:
                return pull
        return None

    def pull(self, number: int) -> Pull:
        return self._pull(self.connection.call("GET", f"/pulls/{number}"))

    def create_pull(self, *, head: str, base: str, title: str, body: str) -> Pull:
        value = {"title": title, "head": head, "base": base, "body": body}
        return self._pull(self.connection.call("POST", "/pulls", value))

    def edit_pull(self, number: int, *, title: str, body: str) -> Pull:
        return self._pull(self.connection.call("PATCH", f"/pulls/{number}", {"title": title, "body": body}))

    def label(self, number: int, *labels: str) -> None:
        self.connection.call("POST", f"/issues/{number}/labels", {"labels": list(labels)})

    def comments(self, number: int) -> Iterator[Comment]:
        for row in self.connection.list_all(f"/issues/{number}/comments", {}):
            yield self._comment(row)

    def comment(self, comment: int) -> Comment:
        """The comment with an id, as it is now."""
        return self._comment(object_of(self.connection.call("GET", f"/issues/comments/{comment}"), self.text.name))

    def add_comment(self, number: int, body: str) -> int:
        answer = self.connection.call("POST", f"/issues/{number}/comments", {"body": body})
        return number_of(answer, "id", self.text.name)

    def edit_comment(self, number: int, comment: int, body: str) -> None:
        self.connection.call("PATCH", f"/issues/comments/{comment}", {"body": body})

    def line_comments(self, number: int) -> Iterable[Comment]:
        for row in self.connection.list_all(f"/pulls/{number}/comments", {}):
            yield self._comment(row)

    def add_line_comment(self, number: int, head: str, path: str, line: int, body: str) -> None:
        value = {"body": body, "commit_id": head, "path": path, "line": line, "side": "RIGHT"}
        self.connection.call("POST", f"/pulls/{number}/comments", value)

    def react(self, comment: int, content: str) -> None:
        """Add a reaction to a comment. `content`: GitHub's name of the reaction, as `+1` or `confused`."""
        self.connection.call("POST", f"/issues/comments/{comment}/reactions", {"content": content})

    def head_at(self, pull: Pull, time: str) -> str:
        """The oid of the tip of a pull request's branch before a time (ISO 8601), from the forge's record of its newest
        100 pushes; "" when it has none, or the fork was deleted. A push in the same second counts as later. Raises
        ForgeError if GitHub refuses or does not answer."""
        if not _OWNED.fullmatch(pull.head_repository):
            return ""  # the fork was deleted
        source = replace(self.connection, root=f"{self.forge.api}/repos/{pull.head_repository}")
        query = urlencode({"ref": f"refs/heads/{pull.branch}", "direction": "desc", "per_page": "100"})
        rows = source.call("GET", f"/activity?{query}")
        if not isinstance(rows, list):
            raise ForgeError(f"{self.text.name}'s answer is not a list")
        for row in rows:
            row = object_of(row, self.text.name)
            if _time(row.get("timestamp")) < _time(time):
                return oid_of(row.get("after"))
        return ""

    def put_check(
        self, name: str, head: str, *, failed: bool, title: str, summary: str, annotations: Sequence[Annotation] = ()
    ) -> int:
        """Add a completed check run to the commit `head` and return its id. `failed`: its conclusion is a failure, else
        a success. Annotations beyond MAX_ANNOTATIONS are added in further requests. Titles, messages and the summary
        are cut at GitHub's limits."""
        rows = [
            {
                "path": row.path, "start_line": row.first, "end_line": row.last,
                "annotation_level": "failure" if row.fails else "warning",
                "title": row.title[:MAX_TITLE_CHARS], "message": row.message[:MAX_MESSAGE_CHARS],
            }
            for row in annotations
        ]  # fmt: skip
        output = {"title": title[:MAX_TITLE_CHARS], "summary": summary[:BODY_LIMIT]}
        check_run = self.connection.call(
            "POST", "/check-runs",
            {
                "name": name, "head_sha": head, "status": "completed",
                "conclusion": "failure" if failed else "success",
                "output": {**output, "annotations": rows[:MAX_ANNOTATIONS]},
            },
        )  # fmt: skip
        number = number_of(check_run, "id", self.text.name)
        for start in range(MAX_ANNOTATIONS, len(rows), MAX_ANNOTATIONS):
            update = {"output": {**output, "annotations": rows[start : start + MAX_ANNOTATIONS]}}
            self.connection.call("PATCH", f"/check-runs/{number}", update)
        return number

    def rules(self, branch: str) -> list[dict[str, Any]]:
        """The active ruleset rules of a branch, each with its `type` and, if it has any, its `parameters`."""
        return list(self.connection.list_all(f"/rules/branches/{quote(branch, safe='')}", {}))

    def owners_errors(self) -> list[str]:
        """GitHub's errors in the CODEOWNERS file of the default branch, one line each. Raises ForgeError with status
        404 when there is no such file."""
        errors = object_of(self.connection.call("GET", "/codeowners/errors"), self.text.name).get("errors")
        if not isinstance(errors, list):
            raise ForgeError(f"{self.text.name}'s answer has no 'errors'")
        return [f"line {row.get('line')}: {row.get('kind')}" for row in errors if isinstance(row, dict)]

    def may_write(self, login: str) -> bool:
        permission = self._object_if_found(f"/collaborators/{quote(login, safe='')}/permission")
        return permission is not None and permission.get("permission") in WRITE_PERMISSIONS

    def _comment(self, row: dict[str, Any]) -> Comment:
        """The comment of one object of a response."""
        user = member_object(row, "user")
        return Comment(
            id=number_of(row, "id", self.text.name),
            body=str(row.get("body") or ""),
            author=str(user.get("login", "")),
            automatic=user.get("type") == "Bot",
            written=str(row.get("created_at") or ""),
            edited=str(row.get("updated_at") or ""),
        )

    def _pull(self, value: Any) -> Pull:
        """The pull request of one object of a response."""
        row = object_of(value, self.text.name)
        head, base = member_object(row, "head"), member_object(row, "base")
        return Pull(
            number=number_of(row, "number", self.text.name),
            url=str(row.get("html_url", "")),
            created=False,
            state=str(row.get("state", "open")),
            merged=bool(row.get("merged_at")),
            branch=str(head.get("ref", "")),
            base=str(base.get("ref", "")),
            head_repository=str(member_object(head, "repo").get("full_name", "")),
            title=str(row.get("title") or ""),
            body=str(row.get("body") or ""),
            head=oid_of(head.get("sha")),
            start=oid_of(base.get("sha")),
        )
