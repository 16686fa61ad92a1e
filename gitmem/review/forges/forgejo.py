"""Forgejo (and Gitea): GitHub's API where it agrees, and what differs (https://codeberg.org/api/swagger).

Forgejo filters pull requests neither by branch nor by base, gives at most fifty rows a page and all comments at once,
and has no kind of user that is a program's: those of its own Actions have a number of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gitmem.review.forges.forge import Client, Comment, ForgeError, Pull
from gitmem.review.forges.github import GITHUB, GitHub, GitHubClient
from gitmem.review.forges.rest import Words, inner

ACTIONS_USER = -2  # the number of the user as whom Forgejo's own Actions comment

FORGEJO = Words(
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


@dataclass(frozen=True, slots=True)
class Forgejo(GitHub):
    """A repository at a Forgejo server. See `protocol.Forge`."""

    name: ClassVar[str] = "Forgejo"
    suggestion: ClassVar[str] = ""
    compare_query: ClassVar[str] = ""
    file_route: ClassVar[str] = "src/commit"
    file_query: ClassVar[str] = "display=source"


class ForgejoClient(GitHubClient):
    """Forgejo's API for one repository."""

    words: ClassVar[Words] = FORGEJO
    page: ClassVar[tuple[str, int]] = ("limit", 50)
    # Without suggestions it needs none of these.
    line_comments = Client.line_comments
    add_line_comment = Client.add_line_comment

    def _headers(self, token: str) -> dict[str, str]:
        return {"Accept": "application/json", "Authorization": f"token {token}"}

    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        """Pull requests from branch `head` of this repository, newest first."""
        pulls = [self._pull(row) for row in self.connection.rows("/pulls", {"state": state})]
        ours = self.forge.repository
        return sorted(
            (
                pull
                for pull in pulls
                if (not head or (pull.branch == head and pull.head_repository == ours)) and base in ("", pull.base)
            ),
            key=lambda pull: -pull.number,
        )

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments on a pull request, oldest first."""
        rows = self.connection.call("GET", f"/issues/{number}/comments")
        if not isinstance(rows, list):
            raise ForgeError("Forgejo's answer is not a list")
        yield from (self._comment(row) for row in rows if isinstance(row, dict))

    def _comment(self, row: dict[str, Any]) -> Comment:
        made = super()._comment(row)
        return replace(made, automatic=inner(row, "user").get("id") == ACTIONS_USER)
