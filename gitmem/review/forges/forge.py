"""The interface of a forge: its links, its pull requests (merge requests at GitLab) and its comments.

A `Forge` says where a repository lives, a `Client` calls its API. This module holds what is the same for every forge:
opening or updating the one pull request of a branch, and updating our one comment in place. Each adapter beside it
knows one forge. Answers are untrusted: an answer without the required fields is an error, never an empty result.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from gitmem import fences
from gitmem.errors import GitMemError
from gitmem.git.git_config import settings_as_variables
from gitmem.json_values import json_keys
from gitmem.review.marked_text import update_description, with_markers

MAX_SUGGESTIONS = 20  # written in one run, since forges throttle clients that write many comments at once


class ForgeError(GitMemError):
    """A forge refused, gave an invalid answer or could not be reached. `status`: the HTTP status, 0 for no answer."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class Forge(ABC):
    """A repository at a forge: its addresses, links and limits. It makes no request; a `Client` does. URLs have no
    slash at the end.

    `server`: the URL of its pages and of Git over HTTPS. `api`: the URL of its API. `repository`: the path of the
    repository below the server, as `owner/name`.

    `name`: the name of the forge in messages, as `GitHub`. `body_limit`: the highest number of characters in a comment
    or a description. `proposal`: the forge's word for a proposed change: `pull request` or `merge request`. `git_user`:
    the user name that goes with a token in Git over HTTPS. `suggestion`: the info string of a code block that suggests
    a replacement for a line; "" for a forge without suggestions.
    """

    server: str
    api: str
    repository: str
    name: ClassVar[str]
    body_limit: ClassVar[int]
    proposal: ClassVar[str]
    git_user: ClassVar[str]
    suggestion: ClassVar[str]

    @abstractmethod
    def number_of(self, number: int) -> str:
        """A proposal's number as the forge writes it, `#7` or `!7`."""

    @abstractmethod
    def compare(self, base: str, branch: str) -> str:
        """The URL of the page that opens a proposal of `branch` for `base` by hand."""

    @abstractmethod
    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        """A permanent link to the lines `first` to `last` (1-based) of a file at the oid `commit`, shown as text even
        if it is Markdown."""


@json_keys("number url created")
@dataclass(frozen=True, slots=True)
class Pull:
    """A proposed change. `created`: this call opened it. `state`: `open` or `closed`. `branch`: its branch in the
    repository `head_repository` ("" for a deleted fork). `base`: the branch it is proposed for. `head`: the oid of the
    tip of `branch`. `start`: the oid of the tip of `base`, at GitLab of the merge base. Both are "" if unknown."""

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
    head: str = ""
    start: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a proposal. `automatic`: the forge says that a program wrote it. `written`, `edited`: times in ISO
    8601, "" when the forge names none."""

    id: int
    body: str
    author: str
    automatic: bool = False
    written: str = ""
    edited: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A replacement for a line (1-based) of a file at the head of a proposal. `why`: Markdown that explains it."""

    path: str
    line: int
    text: str
    why: str = (
        "`git mem redact` would write this line so. What it masks stays in the history of the branch: a secret is "
        "rotated first."
    )


class Client(ABC):
    """Calls the API of one repository at a forge.

    Every method raises ForgeError when the forge refuses, gives an invalid answer or cannot be reached.

    `forge`: the repository whose API it calls. `token`: the token, which Git over HTTPS uses too.
    """

    def __init__(self, forge: Forge, token: str) -> None:
        self.forge, self.token = forge, token

    @abstractmethod
    def default_branch(self) -> str:
        """The name of the default branch."""

    @abstractmethod
    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        """The proposals from the branch `head` of this repository for `base` ("" for any branch), newest first.
        `state`: `open`, `closed` or `all`."""

    @abstractmethod
    def pull(self, number: int) -> Pull:
        """The proposal with a number."""

    @abstractmethod
    def create_pull(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """Open a proposal. Raises ForgeError with status 409 or 422 when there is one already."""

    @abstractmethod
    def edit_pull(self, number: int, *, title: str, body: str) -> Pull:
        """Replace the title and the description of a proposal."""

    @abstractmethod
    def label(self, number: int, *labels: str) -> None:
        """Add labels to a proposal."""

    @abstractmethod
    def comments(self, number: int) -> Iterable[Comment]:
        """The comments on a proposal, oldest first. They are requested page by page."""

    @abstractmethod
    def add_comment(self, number: int, body: str) -> int:
        """Write a comment and return its id."""

    @abstractmethod
    def edit_comment(self, number: int, comment: int, body: str) -> None:
        """Replace the text of a comment."""

    def line_comments(self, number: int) -> Iterable[Comment]:
        """The comments on lines of a proposal, oldest first; none at a forge without suggestions. GitLab's are among
        all its notes, and all of them are given."""
        return ()

    def add_line_comment(self, number: int, head: str, path: str, line: int, body: str) -> None:
        """Write a comment on a line that the proposal changes. `head`: the oid of its head. Raises ForgeError: with
        status 400 or 422 for a line that is not in its diff, and always at a forge without suggestions."""
        raise ForgeError(f"{self.forge.name} has no suggestions")

    @abstractmethod
    def login(self) -> str:
        """The user name of the token's owner; "" when the token has no user or may not ask."""

    @abstractmethod
    def may_write(self, login: str) -> bool:
        """Whether a user may push to the repository; False for an unknown user."""

    def open_or_update(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """Open the proposal of `head` for `base`, or update our part of the open one.

        Text outside our markers is kept, and so is a title that a person changed.
        """
        for pull in self.pulls(head=head, base=base):
            return self._update(pull, title, body)
        try:
            created = self.create_pull(
                head=head, base=base, title=title, body=with_markers(title, body, self.forge.body_limit)
            )
        except ForgeError as error:
            if error.status in (409, 422):  # somebody opened it between the two calls
                for pull in self.pulls(head=head, base=base):
                    return self._update(pull, title, body)
            raise
        return replace(created, created=True)

    def _update(self, pull: Pull, title: str, body: str) -> Pull:
        new_title, new_body = update_description(pull.title, pull.body, title, body, self.forge.body_limit)
        return self.edit_pull(pull.number, title=new_title, body=new_body)

    def put_comment(self, number: int, marker: str, body: str) -> int:
        """Write or update our one comment that begins with `marker` (an HTML comment), and return its id. The text is
        cut at the forge's limit. A comment of another person with the same marker is left alone."""
        text = f"{marker}\n{body}"[: self.forge.body_limit]
        for comment in self._ours(comment for comment in self.comments(number) if comment.body.startswith(marker)):
            self.edit_comment(number, comment.id, text)
            return comment.id
        return self.add_comment(number, text)

    def put_suggestions(self, number: int, head: str, suggestions: Sequence[Suggestion]) -> int:
        """Write each suggestion that no earlier run wrote as a comment on its line, and return how many were written:
        MAX_SUGGESTIONS at most, 0 at a forge without suggestions. One that is longer than the forge permits, or for a
        line outside the forge's diff, is left out. `head`: the oid of the proposal's head. Raises ForgeError for any
        other error of the forge."""
        if not self.forge.suggestion:
            return 0
        bodies = {row: _suggestion_body(row, self.forge.suggestion) for row in suggestions}
        bodies = {row: body for row, body in bodies.items() if len(body) <= self.forge.body_limit}
        if not bodies:
            return 0
        marked = (comment for comment in self.line_comments(number) if comment.body.startswith(SUGGESTION_MARKER))
        known_marks = {comment.body.partition("\n")[0].rstrip() for comment in self._ours(marked)}
        unwritten = [(row, body) for row, body in bodies.items() if body.partition("\n")[0] not in known_marks]
        count = 0
        for row, body in unwritten[:MAX_SUGGESTIONS]:
            try:
                self.add_line_comment(number, head, row.path, row.line, body)
                count += 1
            except ForgeError as error:
                if error.status not in (400, 422):  # the line is not in the forge's diff
                    raise
        return count

    def _ours(self, comments: Iterable[Comment]) -> Iterator[Comment]:
        """The comments by a program or by the token's own user. `login` is only called when a person's comment
        comes."""
        login = ""
        for comment in comments:
            if not comment.automatic:
                login = login or self.login()
            if comment.automatic or (login and comment.author == login):
                yield comment


SUGGESTION_MARKER = "<!-- git-mem:suggestion "


def _suggestion_body(row: Suggestion, info: str) -> str:
    """The comment for a suggestion. Its marker has a digest of path and text. `info`: the info string of the block."""
    digest = hashlib.sha256(f"{row.path}\0{row.text}".encode("utf-8", "backslashreplace")).hexdigest()[:12]
    fence = fences.fence_around(row.text)
    return f"{SUGGESTION_MARKER}{digest} -->\n{row.why}\n\n{fence}{info}\n{row.text}\n{fence}\n"


def push_environment(client: Client, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables with which the git binary pushes to the forge's server with the client's token.

    They add one configuration entry to those in `environ`, so that the token is in no argument. Git sends the header to
    that server only.
    """
    basic = b64encode(f"{client.forge.git_user}:{client.token}".encode()).decode()
    header = {f"http.{client.forge.server}/.extraheader": f"Authorization: Basic {basic}"}
    return settings_as_variables(header, environ)
