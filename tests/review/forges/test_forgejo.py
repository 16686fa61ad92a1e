"""Forgejo's adapter: GitHub's shape where the API agrees, and the places where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitmem.review.forges.forge import Suggestion
from gitmem.review.forges.forgejo import Forgejo, ForgejoClient
from gitmem.review.forges.location import forge_of, token_of
from tests.review.forges.loopback import LoopbackForge, Reply, Request, Route

AT = "/api/v1/repos/team/memory"
HERE = Forgejo("https://codeberg.org", "https://codeberg.org/api/v1", "team/memory")


class ForgejoServer(LoopbackForge):
    """A repository as Forgejo's API description says: fifty rows a page at most, all comments at once."""

    def __init__(self) -> None:
        self.pulls: list[dict[str, Any]] = []
        self.comments: list[dict[str, Any]] = []
        self.me = {"id": 3, "login": "memory-bot"}
        pull = AT + r"/pulls/(\d+)"
        super().__init__(
            [
                Route("GET", AT, lambda request: (200, {"default_branch": "main", "full_name": "team/memory"})),
                Route("GET", "/api/v1/user", lambda request: (200, self.me)),
                Route("GET", AT + "/pulls", lambda request: (200, self.pulls), frozenset({"state", "page", "limit"})),
                Route("POST", AT + "/pulls", self.opened, takes=frozenset({"title", "head", "base", "body"})),
                Route("PATCH", pull, self.changed, takes=frozenset({"title", "body", "state", "base"})),
                Route("GET", AT + r"/issues/(\d+)/comments", lambda n, request: (200, self.comments)),
                Route("POST", AT + r"/issues/(\d+)/comments", self.written, takes=frozenset({"body"})),
                Route("PATCH", AT + r"/issues/comments/(\d+)", self.rewritten, takes=frozenset({"body"})),
                Route("GET", AT + r"/collaborators/([^/]+)/permission", self.permission),
            ],
            "token",
            page_limit=50,
        )  # fmt: skip

    def add(self, head: str, base: str = "main", owner: str = "team", title: str = "x") -> dict[str, Any]:
        number = len(self.pulls) + 1
        row = {
            "number": number, "title": title, "body": "", "state": "open", "merged_at": None, "merged": False,
            "html_url": f"https://codeberg.org/team/memory/pulls/{number}",
            "head": {"ref": head, "label": head, "sha": "b" * 40, "repo": {"full_name": f"{owner}/memory"}},
            "base": {"ref": base, "label": base, "sha": "a" * 40, "repo": {"full_name": "team/memory"}},
        }  # fmt: skip
        self.pulls.append(row)
        return row

    def opened(self, request: Request) -> Reply:
        value = request.value
        for row in self.pulls:
            ends = (row["head"]["repo"]["full_name"], row["head"]["ref"], row["base"]["ref"])
            if ends == ("team/memory", value["head"], value["base"]):
                return 409, {"message": "pull request already exists for these targets"}
        row = self.add(value["head"], value["base"], title=value["title"])
        row["body"] = value.get("body", "")
        return 201, row

    def changed(self, number: str, request: Request) -> Reply:
        self.pulls[int(number) - 1].update(request.value)
        return 201, self.pulls[int(number) - 1]

    def written(self, number: str, request: Request) -> Reply:
        row = {"id": 50 + len(self.comments), "body": request.value["body"], "user": self.me}
        self.comments.append(row)
        return 201, row

    def rewritten(self, comment: str, request: Request) -> Reply:
        row = next((row for row in self.comments if row["id"] == int(comment)), None)
        if row is None:
            return 404, {"message": "Not Found"}
        row["body"] = request.value["body"]
        return 200, row

    def permission(self, name: str, request: Request) -> Reply:
        return 200, {"permission": {"dana": "write", "root": "owner"}.get(name, "read"), "role_name": ""}


@pytest.fixture
def server() -> Iterator[ForgejoServer]:
    made = ForgejoServer()
    yield made
    made.close()


def client(server: ForgejoServer) -> ForgejoClient:
    forge = Forgejo("https://codeberg.org", f"{server.url}/api/v1", "team/memory")
    return ForgejoClient(forge, "write", lambda seconds: None)


def test_forgejo_is_known_at_codeberg_by_its_own_variables_and_in_its_actions() -> None:
    assert forge_of("git@codeberg.org:team/memory.git", {}) == HERE
    own = Forgejo("https://git.corp", "https://git.corp/api/v1", "a/b")
    assert forge_of("git@git.corp:a/b", {"FORGEJO_SERVER_URL": "https://git.corp"}) == own
    assert forge_of("git@evil.example:a/b", {"FORGEJO_SERVER_URL": "https://git.corp"}) is None
    actions = {
        "GITEA_ACTIONS": "true", "GITHUB_SERVER_URL": "https://git.corp", "GITHUB_API_URL": "https://git.corp/api/v1",
        "GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t",
    }  # fmt: skip
    assert forge_of("", actions) == own and token_of(own, actions) == "t"
    assert token_of(own, {"GITHUB_TOKEN": "t"}) == "", "outside its Actions that token is GitHub's"


def test_links_are_forgejos_own() -> None:
    assert HERE.lines("abc", "a b.md", 3, 4) == (
        "https://codeberg.org/team/memory/src/commit/abc/a%20b.md?display=source#L3-L4"
    )
    assert HERE.compare("main", "x/y") == "https://codeberg.org/team/memory/compare/main...x%2Fy"


def test_the_one_pull_request_is_found_behind_others_of_forks_and_other_bases(server: ForgejoServer) -> None:
    for number in range(60):
        server.add(f"other-{number}")
    server.add("topic", owner="stranger")
    server.add("topic", base="release")
    here = client(server)
    first = here.open_or_update(head="topic", base="main", title="one", body="1")
    again = here.open_or_update(head="topic", base="main", title="two", body="2")
    assert first.created and not again.created and first.number == again.number == 63
    assert [row["title"] for row in server.pulls if row["head"]["ref"] == "topic"] == ["x", "x", "two"]


def test_one_comment_is_updated_in_place_among_many(server: ForgejoServer) -> None:
    here = client(server)
    server.comments += [{"id": n, "body": "me too", "user": {"id": 9, "login": "eve"}} for n in range(1, 49)]
    server.comments.append({"id": 49, "body": "<!-- m -->\ntheirs", "user": {"id": 9, "login": "eve"}})
    first = here.put_comment(1, "<!-- m -->", "a")
    assert here.put_comment(1, "<!-- m -->", "b") == first
    assert [row["body"] for row in server.comments[48:]] == ["<!-- m -->\ntheirs", "<!-- m -->\nb"]


def test_a_comment_of_forgejos_actions_is_ours(server: ForgejoServer) -> None:
    server.comments.append({"id": 7, "body": "<!-- m -->\nold", "user": {"id": -2, "login": "forgejo-actions"}})
    assert client(server).put_comment(1, "<!-- m -->", "new") == 7


@pytest.mark.parametrize(("name", "may"), [("dana", True), ("root", True), ("eve", False)])
def test_who_may_push_is_asked_of_forgejo(server: ForgejoServer, name: str, may: bool) -> None:
    assert client(server).may_write(name) is may


def test_forgejo_has_no_suggestions_and_is_asked_for_none(server: ForgejoServer) -> None:
    assert client(server).put_suggestions(1, "b" * 40, [Suggestion("MEMORY.md", 5, "- y")]) == 0
    assert server.requests == []
