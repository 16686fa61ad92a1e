"""What reviewing and publishing ask of a forge: its links, its pull requests (merge requests at GitLab), its comments.

`Forge` says where a repository lives, `Client` talks to its API. What every forge does alike is here: one pull request
of a branch that is made or brought up to date, one comment of ours that is updated in place. The adapters beside this
module know one forge each. Answers are untrusted: what has not the fields that are needed is an error, never an empty
answer.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gitmem import fences
from gitmem.errors import GitMemError
from gitmem.json_values import json_object
from gitmem.review.marked_text import marked, updated

SUGGESTIONS = 20  # that one run writes: forges slow down who writes many comments at once


class ForgeError(GitMemError):
    """A forge said no, or nothing sensible. `status` is its HTTP status, 0 when it could not be reached."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


class Forge(Protocol):
    """Where a repository lives. Addresses have no slash at the end; `repository` is its path there, as owner/name."""

    @property
    def name(self) -> str:
        """The forge's name in messages, `GitHub`."""

    @property
    def server(self) -> str:
        """The address of its pages, which is that of Git over HTTPS too."""

    @property
    def api(self) -> str:
        """The address of its API."""

    @property
    def repository(self) -> str:
        """The repository's path below the server."""

    @property
    def body_limit(self) -> int:
        """Characters that a comment or a description holds."""

    @property
    def proposal(self) -> str:
        """What it calls a proposed change: `pull request`, `merge request`."""

    @property
    def git_user(self) -> str:
        """The user name that goes with a token in Git over HTTPS."""

    @property
    def suggestion(self) -> str:
        """The word after the back-ticks of a block that a click puts in the place of one line, "" where it has none."""

    def number_of(self, number: int) -> str:
        """How the forge writes a proposal's number, `#7`."""

    def compare(self, base: str, branch: str) -> str:
        """The page that opens a proposal by hand."""

    def lines(self, commit: str, path: str, first: int, last: int) -> str:
        """A permanent link to lines of a Markdown file, shown as text."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A proposal. `created` says whether this call opened it; `head` and `start` are the oids of its two ends."""

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

    def as_value(self) -> dict[str, object]:
        """The JSON of docs/json.md, "publish"."""
        return json_object(self, "number url created")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a proposal. `automatic` when the forge says that a program wrote it; times as the forge wrote them
    (ISO 8601), "" where it says none."""

    id: int
    body: str
    author: str
    automatic: bool = False
    written: str = ""
    edited: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a line (from 1) of a file at the head of a proposal should say instead. `why` is the Markdown before it."""

    path: str
    line: int
    text: str
    why: str = (
        "`git mem redact` would write this line so. What it masks stays in the history of the branch: a secret is "
        "rotated first."
    )


class Client(ABC):
    """One repository's API.

    Every method raises ForgeError for a refusal, for an answer that is not what was asked for and where nothing
    answers; none answers emptily instead.
    """

    @property
    @abstractmethod
    def forge(self) -> Forge:
        """Where it talks to."""

    @property
    @abstractmethod
    def token(self) -> str:
        """The token it uses, for Git over HTTPS."""

    @abstractmethod
    def default_branch(self) -> str:
        """The branch that proposals go to."""

    @abstractmethod
    def pulls(self, *, head: str = "", base: str = "", state: str = "open") -> list[Pull]:
        """Proposals from branch `head` of this repository into `base` ("" for any), newest first. `state` is `open`,
        `closed` or `all`."""

    @abstractmethod
    def pull(self, number: int) -> Pull:
        """One proposal."""

    @abstractmethod
    def create_pull(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """Open a proposal. ForgeError with status 409 or 422 where there is one already."""

    @abstractmethod
    def edit_pull(self, number: int, *, title: str, body: str) -> Pull:
        """Give a proposal this title and this text."""

    @abstractmethod
    def label(self, number: int, *labels: str) -> None:
        """Add labels to a proposal."""

    @abstractmethod
    def comments(self, number: int) -> Iterable[Comment]:
        """The comments on a proposal, oldest first, however many there are; asked for page by page."""

    @abstractmethod
    def add_comment(self, number: int, body: str) -> int:
        """Write a comment; its id."""

    @abstractmethod
    def edit_comment(self, number: int, comment: int, body: str) -> None:
        """Give a comment another text."""

    def line_comments(self, number: int) -> Iterable[Comment]:
        """The comments on lines of a proposal, oldest first; none where the forge has no suggestions."""
        return ()

    def add_line_comment(self, number: int, head: str, path: str, line: int, body: str) -> None:
        """Write a comment on a line that the proposal brings; `head` is the oid of its head. ForgeError with status 400
        or 422 for a line that is not in its difference."""
        raise ForgeError(f"{self.forge.name} has no suggestions")

    @abstractmethod
    def login(self) -> str:
        """The token's own user, "" for a token that is nobody's or may not ask."""

    @abstractmethod
    def may_write(self, login: str) -> bool:
        """Whether that user may push to the repository."""

    def open_or_update(self, *, head: str, base: str, title: str, body: str) -> Pull:
        """The one open proposal of `head` into `base`: made, or our part of its text brought up to date.

        What people wrote outside our markers stays, and so does a title that they changed.
        """
        for known in self.pulls(head=head, base=base):
            return self._update(known, title, body)
        try:
            made = self.create_pull(head=head, base=base, title=title, body=marked(title, body, self.forge.body_limit))
        except ForgeError as error:
            # 422 (GitLab: 409): somebody opened it between the two calls.
            raced = None
            if error.status in (409, 422):
                raced = next(iter(self.pulls(head=head, base=base)), None)
            if raced is None:
                raise
            return self._update(raced, title, body)
        return replace(made, created=True)

    def _update(self, known: Pull, title: str, body: str) -> Pull:
        new_title, new_body = updated(known.title, known.body, title, body, self.forge.body_limit)
        return self.edit_pull(known.number, title=new_title, body=new_body)

    def put_comment(self, number: int, marker: str, body: str) -> int:
        """Our one comment that begins with `marker` (an HTML comment), updated in place; its id.

        Ours are a program's and those of the token's own user; what others write below the marker is left alone.
        """
        text = f"{marker}\n{body}"[: self.forge.body_limit]
        for comment in self._ours(comment for comment in self.comments(number) if comment.body.startswith(marker)):
            self.edit_comment(number, comment.id, text)
            return comment.id
        return self.add_comment(number, text)

    def put_suggestions(self, number: int, head: str, rows: Sequence[Suggestion]) -> int:
        """Suggest each row on its line, where that is not there from an earlier run: how many were written, SUGGESTIONS
        at most. None at a forge without suggestions."""
        bodies = {row: _suggested(row, self.forge.suggestion) for row in rows if self.forge.suggestion}
        wanted = {row: body for row, body in bodies.items() if len(body) <= self.forge.body_limit}
        if not wanted:
            return 0
        marked_so = (comment for comment in self.line_comments(number) if comment.body.startswith(SUGGESTED))
        there = {comment.body.partition("\n")[0].rstrip() for comment in self._ours(marked_so)}
        new = [(row, body) for row, body in wanted.items() if body.partition("\n")[0] not in there]
        written = 0
        for row, body in new[:SUGGESTIONS]:
            try:
                self.add_line_comment(number, head, row.path, row.line, body)
                written += 1
            except ForgeError as error:
                if error.status not in (400, 422):  # this one line is not in the difference as the forge has it
                    raise
        return written

    def _ours(self, comments: Iterable[Comment]) -> Iterator[Comment]:
        """Those of a program and of the token's own user."""
        me = ""
        for comment in comments:
            if not comment.automatic:
                me = me or self.login()
            if comment.automatic or (me and comment.author == me):
                yield comment


SUGGESTED = "<!-- git-mem:suggestion "


def _suggested(row: Suggestion, word: str) -> str:
    """The comment that suggests a row, with a mark of its own: one for each path and text."""
    mark = hashlib.sha256(f"{row.path}\0{row.text}".encode("utf-8", "backslashreplace")).hexdigest()[:12]
    fence = fences.around(row.text)
    return f"{SUGGESTED}{mark} -->\n{row.why}\n\n{fence}{word}\n{row.text}\n{fence}\n"


def push_environment(client: Client, environ: Mapping[str, str]) -> dict[str, str]:
    """What lets the git binary push to the forge's server with the token: configuration by environment, never by
    argument. The header is for that server alone: Git sends it to no other."""
    from base64 import b64encode

    count = int(environ.get("GIT_CONFIG_COUNT") or 0)
    basic = b64encode(f"{client.forge.git_user}:{client.token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"http.{client.forge.server}/.extraheader",
        f"GIT_CONFIG_VALUE_{count}": f"Authorization: Basic {basic}",
    }
