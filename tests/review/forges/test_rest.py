"""What a forge answers, as sentences: limits waited for, permissions named, whatever is no answer refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gitmem.http_request import Response
from gitmem.review.forges.forge import ForgeError
from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.forges.rate_limit import limit_of
from gitmem.review.forges.response import reason
from gitmem.review.forges.rest import MAX_WAIT_SECONDS, retry_pause
from tests.actions.rest import BOT, RestServer

NOON = "Thu, 05 Feb 2026 12:00:00 GMT"
NOON_EPOCH = 1_770_292_800
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}


@pytest.fixture
def rest() -> Iterator[RestServer]:
    server = RestServer()
    yield server
    server.close()


class Asked:
    """A client, and how long it waited."""

    def __init__(self, rest: RestServer) -> None:
        self.waited: list[float] = []
        self.client = GitHubClient(GitHub("https://github.com", rest.url, rest.repository), "write", self.waited.append)

    def refused(self) -> ForgeError:
        with pytest.raises(ForgeError) as error:
            self.client.default_branch()
        return error.value


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "value", "waits"),
    [
        ({"Retry-After": "90"}, SECONDARY, 90.0),
        ({"Retry-After": "Thu, 05 Feb 2026 12:02:00 GMT", "Date": NOON}, SECONDARY, 120.0),
        ({}, SECONDARY, 60.0),
        ({"Retry-After": "²".encode().decode("latin-1")}, SECONDARY, 60.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOON_EPOCH + 30), "Date": NOON}, {}, 31.0),
        ({"X-RateLimit-Remaining": "0"}, {"message": "API rate limit exceeded"}, 60.0),
    ],
    ids=["seconds", "date", "words only", "no number", "primary", "primary without a time"],
)
def test_a_limit_is_waited_for_as_long_as_it_says(
    rest: RestServer, status: int, headers: dict[str, str], value: Any, waits: float
) -> None:
    asked = Asked(rest)
    rest.state.faults.append(("GET", "", status, headers, value))
    assert asked.client.default_branch() == "main" and asked.waited == [waits]


def test_a_limit_that_lasts_longer_than_a_job_is_an_error_that_names_the_time(rest: RestServer) -> None:
    asked = Asked(rest)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOON_EPOCH + 2400), "Date": NOON}
    rest.state.faults.append(("GET", "", 403, headers, {"message": "API rate limit exceeded"}))
    error = asked.refused()
    assert asked.waited == [] and "40 minutes" not in error.message and "in 41 minutes" in error.hint
    rest.state.faults += [("GET", "", 429, {"Retry-After": str(int(MAX_WAIT_SECONDS) + 1)}, SECONDARY)]
    assert "a secondary limit" in asked.refused().message and asked.waited == []


def test_a_missing_permission_is_no_limit_and_is_not_tried_again(rest: RestServer) -> None:
    asked = Asked(rest)
    headers = {"X-RateLimit-Remaining": "4999", "X-Accepted-GitHub-Permissions": "contents=read"}
    rest.state.faults.append(("GET", "", 403, headers, {"message": "Resource not accessible by integration"}))
    error = asked.refused()
    assert asked.waited == [] and error.status == 403 and "not accessible" in error.message
    assert "contents=read" in error.hint
    rest.state.faults.append(("GET", "", 403, {"X-GitHub-SSO": "required; url=https://x.example"}, {}))
    assert "single sign-on" in asked.refused().hint


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_repository_that_moved_is_a_sentence_and_the_token_stays(rest: RestServer, status: int) -> None:
    other = RestServer()
    rest.state.faults.append(("GET", "", status, {"Location": f"{other.url}/repositories/1"}, {"message": "Moved"}))
    error = Asked(rest).refused()
    assert "has moved" in error.message and "git remote set-url" in error.hint and other.state.requests == []
    other.close()


def test_what_is_turned_off_says_so(rest: RestServer) -> None:
    rest.state.faults.append(("GET", "", 410, {}, {"message": "Issues are disabled for this repo"}))
    error = Asked(rest).refused()
    assert error.status == 410 and "Issues are disabled" in error.message and "turned off" in error.hint


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]},
         "Validation Failed; PullRequest.head: invalid"),
        ({"message": "Validation Failed", "errors": [{"resource": "X", "code": "custom", "message": "No commits"}]},
         "Validation Failed; No commits"),
        ({"message": "Invalid request.", "errors": ["title is too long", "no such base"]},
         "Invalid request.; title is too long; no such base"),
        ({"message": "Validation Failed", "errors": "no commits between main and main"},
         "Validation Failed; no commits between main and main"),
        ({"message": {"base": ["is not a branch"], "title": ["is missing"]}},
         "base: is not a branch; title: is missing"),
        ({"message": ["Another open merge request already exists"]}, "Another open merge request already exists"),
        ({"error": "invalid_token", "error_description": "Token was revoked."}, "invalid_token; Token was revoked."),
        (None, ""), ([], ""), ({}, ""), ({"message": None, "errors": None}, ""), ({"errors": [None, 3]}, ""),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_refusal_tells_its_details_in_every_published_shape(rest: RestServer, value: Any, words: str) -> None:
    rest.state.faults.append(("GET", "", 422, {}, value))
    error = Asked(rest).refused()
    assert error.status == 422 and error.message.endswith(f"with 422: {words or 'no reason given'}")


@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_is_called_one(rest: RestServer, status: int) -> None:
    rest.state.faults.append(("GET", "", status, {}, b"<!DOCTYPE html><title>Sign in</title>"))
    error = Asked(rest).refused()
    assert "web page" in error.message and ("GITHUB_API_URL" in error.hint or status == 404)


def test_null_is_not_an_answer(rest: RestServer) -> None:
    rest.state.faults.append(("GET", "", 200, {}, b"null"))
    assert "is null" in Asked(rest).refused().message


def test_a_refusal_holds_no_control_characters_and_is_short(rest: RestServer) -> None:
    rest.state.faults.append(("GET", "", 422, {}, {"message": "\x1b]0;owned\x07\n::error::" + "x" * 9_000}))
    error = Asked(rest).refused()
    assert error.message.isprintable() and len(error.message) < 400


def test_our_comment_is_found_behind_more_than_five_thousand_others(rest: RestServer) -> None:
    others = [{"id": number, "body": "me too", "user": BOT} for number in range(1, 5_203)]
    rest.state.comments[1] = [*others, {"id": 9_000, "body": "<!-- m -->\nold", "user": BOT}]
    assert Asked(rest).client.put_comment(1, "<!-- m -->", "new") == 9_000
    assert len(rest.state.comments[1]) == 5_203 and rest.state.comments[1][-1]["body"] == "<!-- m -->\nnew"


def test_a_list_is_read_by_its_links_where_a_page_is_short(rest: RestServer) -> None:
    rows = [{"id": 1, "body": "x", "user": BOT}]
    rest.state.comments[1] = [{"id": 2, "body": "<!-- m -->\nold", "user": BOT}] * 101
    rest.state.faults.append(("GET", "comments", 200, {"Link": '<x>; rel="next"'}, rows))
    assert [comment.id for comment in Asked(rest).client.comments(1)] == [1, 2]


def test_a_forge_that_repeats_one_page_for_ever_is_an_error(rest: RestServer) -> None:
    rows = [{"id": 1, "body": "x", "user": BOT}]
    rest.state.faults += [("GET", "comments", 200, {"Link": '<x>; rel="next"'}, rows)] * 5
    with pytest.raises(ForgeError, match="repeats"):
        Asked(rest).client.put_comment(1, "<!-- m -->", "new")


def test_a_limit_is_told_from_every_other_refusal() -> None:
    def met(status: int, value: Any = None, **headers: str) -> bool:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return limit_of(Response(status, named, json.dumps(value).encode())) is not None

    assert (
        met(429) and met(403, SECONDARY) and met(403, x_ratelimit_remaining="0") and met(429, ratelimit_remaining="0")
    )
    assert not met(403) and not met(403, {"message": "Must have admin rights"}, x_ratelimit_remaining="10")
    assert not met(404, SECONDARY) and not met(500, retry_after="3")
    assert reason(Response(500, {}, b"[" * 100_000)) == ""


@pytest.mark.parametrize(
    ("method", "status", "headers", "pauses"),
    [
        ("GET", 500, {}, [1.0, 2.0, 4.0]),
        ("PATCH", 502, {}, [1.0, 2.0, 4.0]),
        ("POST", 502, {}, [None, None, None]),
        ("POST", 503, {}, [1.0, 2.0, 4.0]),
        ("POST", 429, {}, [60.0, 120.0, 240.0]),
        ("POST", 403, {"retry-after": "7"}, [7.0, 7.0, 7.0]),
        ("GET", 403, {}, [None, None, None]),
        ("GET", 404, {}, [None, None, None]),
    ],
)
def test_a_refused_request_is_repeated_only_after_a_limit_or_a_fault_that_changed_nothing(
    method: str, status: int, headers: dict[str, str], pauses: list[float | None]
) -> None:
    response = Response(status, headers, b"")
    assert [retry_pause(method, response, attempt) for attempt in (1, 2, 3)] == pauses
