"""Forgejo and Gitea: the adapter for GitHub with what differs (https://codeberg.org/api/swagger).

Forgejo filters pull requests neither by branch nor by base. It returns at most 50 rows a page, and all comments at
once. It has no user type for programs; the user of its own Actions has a fixed id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from gitmem.review.forges.forge import Client, Comment, ForgeError, Pull
from gitmem.review.forges.github import GITHUB, GitHub, GitHubClient
from gitmem.review.forges.response import member_object
from gitmem.review.forges.rest import ForgeText

ACTIONS_USER = -2  # the id of the user under which Forgejo's own Actions comment

FORGEJO = ForgeText(
    name="Forgejo",
    token="FORGEJO_TOKEN",
    api="FORGEJO_API_URL",
    hints={
        401: "the token is wrong or has ended: set FORGEJO_TOKEN",
        404: GITHUB.hints[404],
        410: GITHUB.hints[410],
    },
    permissions={"": "the token needs the scopes write:repository and write:issue"},
)


class Forgejo(GitHub):
    """The addresses and links of a repository at a Forgejo or Gitea server; ForgejoClient makes the requests."""

    name: ClassVar[str] = "Forgejo"
    suggestion: ClassVar[str] = ""
    compare_query: ClassVar[str] = ""
    file_route: ClassVar[str] = "src/commit"
    file_query: ClassVar[str] = "display=source"


class ForgejoClient(GitHubClient):
    """Calls Forgejo's API for one repository, as a `forge.Client`."""

    text: ClassVar[ForgeText] = FORGEJO
    page_size_parameter: ClassVar[str] = "limit"
    max_page_size: ClassVar[int] = 50
    # Forgejo has no suggestions.
    line_comments = Client.line_comments
    add_line_comment = Client.add_line_comment

    def _headers(self, token: str) -> Mapping[str, str]:
        return {"Accept": "application/json", "Authorization": f"token {token}"}

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        pulls = [self._pull(row) for row in self.connection.list_all("/pulls", {"state": state})]
        if head:
            wanted = (head, self.forge.repository)
            pulls = [pull for pull in pulls if (pull.branch, pull.head_repository) == wanted]
        if base:
            pulls = [pull for pull in pulls if pull.base == base]
        return sorted(pulls, key=lambda pull: -pull.number)

    def comments(self, number: int) -> Iterator[Comment]:
        rows = self.connection.call("GET", f"/issues/{number}/comments")
        if not isinstance(rows, list):
            raise ForgeError("Forgejo's answer is not a list")
        yield from (self._comment(row) for row in rows if isinstance(row, dict))

    def _comment(self, row: dict[str, Any]) -> Comment:
        comment = super()._comment(row)
        return replace(comment, automatic=member_object(row, "user").get("id") == ACTIONS_USER)
