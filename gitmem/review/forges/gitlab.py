"""The adapter for GitLab: its links, and the calls of its REST API (https://docs.gitlab.com/api/rest) that publishing
and reviewing need.

At GitLab a proposal is a merge request and a comment is a note. The path of a project may have several groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from gitmem.review.forges.event import oid_of
from gitmem.review.forges.forge import Comment, Forge, ForgeError, Pull
from gitmem.review.forges.response import member_object, number_of, object_of
from gitmem.review.forges.rest import ForgeText
from gitmem.review.forges.rest_client import RestClient

BODY_LIMIT = 1_000_000  # GitLab's limit for the characters of a note; a description may have a few more
DEVELOPER = 30  # the lowest access level that may push, see docs.gitlab.com/api/access_requests/#valid-access-levels
STATES = {"opened": "open", "locked": "open", "merged": "closed"}  # GitLab's state -> `Pull.state`
STATE_QUERIES = {"open": "opened", "closed": "closed", "all": "all"}  # `Pull.state` -> GitLab's parameter

GITLAB = ForgeText(
    name="GitLab",
    token="GITLAB_TOKEN",
    api="CI_API_V4_URL",
    hints={
        401: "the token is wrong or has ended: set GITLAB_TOKEN",
        404: "the project does not exist, or the token may not see it",
    },
    permissions={
        "": "the token needs the scope 'api' and the role Developer; CI_JOB_TOKEN may not write: give the job a "
        "project access token as GITLAB_TOKEN"
    },
)


class GitLab(Forge):
    """The addresses and links of a project on gitlab.com or another GitLab server; GitLabClient makes the requests."""

    name: ClassVar[str] = "GitLab"
    body_limit: ClassVar[int] = BODY_LIMIT
    proposal: ClassVar[str] = "merge request"
    git_user: ClassVar[str] = "oauth2"
    suggestion: ClassVar[str] = "suggestion:-0+0"

    def number_of(self, number: int) -> str:
        return f"!{number}"

    def compare(self, base: str, branch: str) -> str:
        query = {"merge_request[source_branch]": branch, "merge_request[target_branch]": base}
        return f"{self.server}/{self.repository}/-/merge_requests/new?{urlencode(query)}"

    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        where = quote(path, safe="/", errors="surrogateescape")
        url = f"{self.server}/{self.repository}/-/blob/{commit}/{where}?plain=1#L{first}"
        if last != first:
            url += f"-{last}"
        return url


class GitLabClient(RestClient):
    """Calls GitLab's API for one project, as a `forge.Client`. `wait`: sleeps for a number of seconds."""

    text: ClassVar[ForgeText] = GITLAB
    login_field: ClassVar[str] = "username"  # a project access token has a user of its own

    def __init__(self, forge: GitLab, token: str, wait: Callable[[float], None]) -> None:
        super().__init__(forge, token, wait, f"{forge.api}/projects/{quote(forge.repository, safe='')}")

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        query = {"state": STATE_QUERIES[state], "order_by": "created_at", "sort": "desc"}
        if head:
            query["source_branch"] = head
        if base:
            query["target_branch"] = base
        pulls = [self._pull(row) for row in self.connection.list_all("/merge_requests", query)]
        if head:  # a fork may have a branch of the same name
            pulls = [pull for pull in pulls if pull.head_repository == self.forge.repository]
        return pulls

    def pull(self, number: int) -> Pull:
        return self._pull(self.connection.call("GET", f"/merge_requests/{number}"))

    def create_pull(self, *, head: str, base: str, title: str, body: str) -> Pull:
        value = {"source_branch": head, "target_branch": base, "title": title, "description": body}
        return self._pull(self.connection.call("POST", "/merge_requests", value))

    def edit_pull(self, number: int, *, title: str, body: str) -> Pull:
        value = {"title": title, "description": body}
        return self._pull(self.connection.call("PUT", f"/merge_requests/{number}", value))

    def label(self, number: int, *labels: str) -> None:
        self.connection.call("PUT", f"/merge_requests/{number}", {"add_labels": list(labels)})

    def comments(self, number: int) -> Iterator[Comment]:
        """The notes of users and programs on a merge request, oldest first, without GitLab's own system notes."""
        for row in self.connection.list_all(
            f"/merge_requests/{number}/notes", {"order_by": "created_at", "sort": "asc"}
        ):
            if not row.get("system"):
                yield Comment(
                    id=number_of(row, "id", "GitLab"),
                    body=str(row.get("body") or ""),
                    author=str(member_object(row, "author").get("username", "")),
                    written=str(row.get("created_at") or ""),
                    edited=str(row.get("updated_at") or ""),
                )

    def add_comment(self, number: int, body: str) -> int:
        note = self.connection.call("POST", f"/merge_requests/{number}/notes", {"body": body})
        return number_of(note, "id", "GitLab")

    def edit_comment(self, number: int, comment: int, body: str) -> None:
        self.connection.call("PUT", f"/merge_requests/{number}/notes/{comment}", {"body": body})

    def line_comments(self, number: int) -> Iterable[Comment]:
        """All notes: GitLab lists the notes on lines among the others."""
        return self.comments(number)

    def add_line_comment(self, number: int, head: str, path: str, line: int, body: str) -> None:
        ends = member_object(self.connection.call("GET", f"/merge_requests/{number}"), "diff_refs")
        base, start = oid_of(ends.get("base_sha")), oid_of(ends.get("start_sha"))
        if not base or not start or oid_of(ends.get("head_sha")) != head:
            raise ForgeError("GitLab has another head of that merge request")
        position = {
            "position_type": "text", "base_sha": base, "start_sha": start, "head_sha": head,
            "old_path": path, "new_path": path, "new_line": line,
        }  # fmt: skip
        value = {"body": body, "position": position}
        self.connection.call("POST", f"/merge_requests/{number}/discussions", value)

    def may_write(self, login: str) -> bool:
        """Whether the user is an active member, directly or through a group, with the role Developer or higher."""
        for row in self.server_connection.list_all("/users", {"username": login}):
            if str(row.get("username", "")).casefold() == login.casefold():
                member = self._object_if_found(f"/members/all/{number_of(row, 'id', 'GitLab')}")
                if member is None:
                    return False
                level = member.get("access_level")
                return member.get("state") == "active" and isinstance(level, int) and level >= DEVELOPER
        return False

    def _pull(self, value: Any) -> Pull:
        """The merge request of one object of a response."""
        row = object_of(value, "GitLab")
        ends = member_object(row, "diff_refs")
        source, target = row.get("source_project_id"), row.get("target_project_id")
        state = str(row.get("state", "opened"))
        head_repository = str(source or "")
        if source == target and source is not None:
            head_repository = self.forge.repository
        return Pull(
            number=number_of(row, "iid", "GitLab"),
            url=str(row.get("web_url", "")),
            created=False,
            state=STATES.get(state, state),
            merged=state == "merged",
            branch=str(row.get("source_branch", "")),
            base=str(row.get("target_branch", "")),
            head_repository=head_repository,
            title=str(row.get("title") or ""),
            body=str(row.get("description") or ""),
            head=oid_of(row.get("sha")) or oid_of(ends.get("head_sha")),
            start=oid_of(ends.get("base_sha")),
        )
