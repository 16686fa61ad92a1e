"""HTTP requests to a forge's REST API, with retries and rate limits.

The token goes only to the URL of the API, never through a redirect and never into an error. When the forge limits
requests, a request waits as long as the forge says, up to MAX_WAIT_SECONDS; a longer limit is an error that names the
time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlencode, urlsplit

from gitmem.http_request import NoResponse, Response, send
from gitmem.review.forges.forge import ForgeError
from gitmem.review.forges.rate_limit import limit_of
from gitmem.review.forges.response import MAX_REASON_CHARS, reason

MAX_RESPONSE_BYTES = 8 << 20
MAX_ATTEMPTS = 4
MAX_WAIT_SECONDS = 300.0  # in all for one request: half of the 10 minutes that our example jobs may take
REPEATABLE_METHODS = ("GET", "PATCH", "PUT")  # a second request with one of these changes nothing more
REDIRECTS = (301, 302, 307, 308)


@dataclass(frozen=True, slots=True)
class ForgeText:
    """The words for a forge's errors. `name`: the forge's name. `token`, `api`: the names of the environment variables
    with the token and the URL of the API. `hints`: HTTP status -> hint. `permissions`: prefix of a path ("" for any
    path) -> hint for a missing permission."""

    name: str
    token: str
    api: str
    hints: Mapping[int, str]
    permissions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """Sends requests to the paths below the URL `root`.

    `headers`: sent with each request; they carry the token. `wait`: sleeps for a number of seconds.
    `page_size_parameter`: the query parameter for the rows of a page; `max_page_size`: its highest value. Raises
    ForgeError for a URL that is neither https nor loopback, and for a token that no header can carry.
    """

    text: ForgeText
    root: str
    headers: Mapping[str, str] = field(repr=False)
    wait: Callable[[float], None] = field(repr=False)
    page_size_parameter: str = "per_page"
    max_page_size: int = 100

    def __post_init__(self) -> None:
        parts = urlsplit(self.root)
        is_loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback):
            raise ForgeError("the address of the API is not https", f"set {self.text.api}")
        for header in self.headers.values():
            if not header.isascii() or not header.isprintable():
                raise ForgeError("the token holds characters no token has", f"set {self.text.token} anew")

    def list_all(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Every object in a list, requested page by page to the last one. Without a Link header, a page that is not
        full is the last. Raises ForgeError when the forge refuses or does not answer, when a page is no list, and when
        it begins with the same row as the page before it."""
        previous: list[Any] = [None]
        for number in count(1):
            page = {**query, self.page_size_parameter: str(self.max_page_size), "page": str(number)}
            response = self.send_with_retries("GET", f"{path}?{urlencode(page)}")
            rows = self._checked_json("GET", path, response)
            if not isinstance(rows, list):
                raise ForgeError(f"{self.text.name}'s answer is not a list")
            if rows and rows[:1] == previous:
                raise ForgeError(f"{self.text.name}'s answer repeats the page before it")
            previous = rows[:1]
            yield from (row for row in rows if isinstance(row, dict))
            link = response.headers.get("link", "")
            is_last = len(rows) < self.max_page_size
            if link:
                is_last = 'rel="next"' not in link
            if is_last:
                return

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """Send one request and return its JSON; `{}` for a response without content (status 204). `value`: the body,
        sent as JSON. Raises ForgeError when the forge refuses or does not answer, and for an answer that is no JSON or
        null."""
        response = self.send_with_retries(method, path, value)
        if response.status == 204:
            return {}
        return self._checked_json(method, path, response)

    def send_with_retries(self, method: str, path: str, value: Any = None) -> Response:
        """Send one request and return the response, whose status is below 300.

        It is sent up to MAX_ATTEMPTS times, with pauses (`retry_pause`) of at most MAX_WAIT_SECONDS in all. Raises
        ForgeError for every other status, and at once when no response comes.
        """
        attempt, waited = 1, 0.0
        while True:
            response = self._send(method, f"{self.root}{path}", value)
            if response.status < 300:
                return response
            pause = retry_pause(method, response, attempt)
            if pause is None or attempt == MAX_ATTEMPTS or waited + pause > MAX_WAIT_SECONDS:
                raise self._error_for(method, path, response)
            self.wait(pause)
            attempt, waited = attempt + 1, waited + pause

    def _checked_json(self, method: str, path: str, response: Response) -> Any:
        """The JSON of a response. Raises ForgeError for a web page, for other data that is not JSON, and for null."""
        subject = f"{self.text.name}'s answer to {method} {path.partition('?')[0] or '/'}"
        try:
            value = response.json()
        except ValueError:
            if response.is_web_page:
                raise ForgeError(f"{subject} is a web page", f"check {self.text.api}") from None
            raise ForgeError(f"{subject} is no JSON") from None
        if value is None:
            raise ForgeError(f"{subject} is null, which is nothing")
        return value

    def _send(self, method: str, url: str, value: Any) -> Response:
        """Send one request and return the response of any status. Raises ForgeError when no response comes."""
        headers = {"User-Agent": "git-mem", **self.headers}
        body = None
        if value is not None:
            body = json.dumps(value).encode("utf-8", "backslashreplace")
            headers["Content-Type"] = "application/json"
        try:
            return send(method, url, headers, body, limit=MAX_RESPONSE_BYTES, error_limit=MAX_RESPONSE_BYTES)
        except NoResponse:
            raise ForgeError(f"cannot reach {urlsplit(self.root).hostname}", "check the network") from None

    def _error_for(self, method: str, path: str, response: Response) -> ForgeError:
        """The error for a refusal: a rate limit, a repository that moved, or the forge's own words, with a hint."""
        name, status, address = self.text.name, response.status, path.partition("?")[0]
        limit = limit_of(response)
        if limit is not None:
            return ForgeError(f"{name} limits requests: {limit.description}", f"try again {limit.when}", status)
        if status in REDIRECTS:
            return ForgeError(
                f"{name} says that this repository has moved ({status}); the token was not sent there",
                "git remote set-url origin URL, with the address it has now",
                status,
            )
        hint = self.text.hints.get(status, "")
        if status == 403:
            hint = self._missing_permission(address, response)
        message = f"{name} refused {method} {address or '/'} with {status}: {reason(response) or 'no reason given'}"
        return ForgeError(message, hint, status)

    def _missing_permission(self, address: str, response: Response) -> str:
        """A hint at the permission that the token lacks, with the forge's own words if a header has any."""
        if response.headers.get("x-github-sso", "").startswith("required"):
            return "authorise the token for the organisation's single sign-on"
        permissions = (text for start, text in self.text.permissions.items() if address.startswith(start))
        hint = next(permissions, "the token lacks a permission")
        accepted = re.sub(r"[^\w=,; -]", "", response.headers.get("x-accepted-github-permissions", ""))
        if accepted:
            return f"{hint} (it asks for {accepted[:MAX_REASON_CHARS]})"
        return hint


def retry_pause(method: str, response: Response, attempt: int) -> float | None:
    """The seconds to wait before a refused request is sent again; None when it must not be. `attempt`: from 1.

    After a rate limit: as long as the forge says, else a minute that doubles with each attempt. After a fault of the
    forge (status 5xx): 1, 2, 4 seconds; a POST is repeated only after a 503, since any other fault may have come after
    the change.
    """
    limit = limit_of(response)
    if limit is not None:
        return limit.pause(attempt)
    if response.status == 503 or (response.status >= 500 and method in REPEATABLE_METHODS):
        return 2.0 ** (attempt - 1)
    return None
