"""HTTP requests to a forge's REST API, with retries and rate limits. The only module that sends HTTP to a forge.

The token goes only to the URL of the API, never through a redirect and never into an error. When the forge limits
requests, a request waits as long as the forge says, up to MAX_WAIT_SECONDS; a longer limit is an error that names the
time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from gitmem.review.forges.forge import ForgeError

TIMEOUT_SECONDS = 30.0
MAX_ANSWER_BYTES = 8 << 20
MAX_ATTEMPTS = 4
MAX_WAIT_SECONDS = 300.0  # in all for one request: half of the 10 minutes that our example jobs may take
SECONDARY_LIMIT_SECONDS = 60.0  # the least that GitHub asks for after a secondary limit without a time
MAX_REASON_CHARS = 300  # of a forge's own words in an error


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a forge's errors. `name`: the forge's name. `token`, `api`: the environment variables with the
    token and the URL of the API. `hints`: a hint by HTTP status. `permissions`: the hint for a missing permission by
    the prefix of the path ("" for any path)."""

    name: str
    token: str
    api: str
    hints: Mapping[int, str]
    permissions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response of any status. `headers`: by name in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    def value(self) -> Any:
        """The parsed JSON. Raises ValueError when the data is not JSON."""
        try:
            return json.loads(self.data)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    @property
    def is_page(self) -> bool:
        """Whether it is a web page, as from a proxy, a login or a URL that is not the API's."""
        return self.data.lstrip()[:1] == b"<" or "text/html" in self.headers.get("content-type", "")


@dataclass(frozen=True, slots=True)
class Connection:
    """Sends requests to the paths below the URL `root`.

    `headers`: sent with each request; they carry the token. `wait`: sleeps for a number of seconds. `page`: the query
    parameter for the size of a page, and its highest value. Raises ForgeError for a URL that is neither https nor
    loopback, and for a token that no header can carry.
    """

    words: Words
    root: str
    headers: Mapping[str, str] = field(repr=False)
    wait: Callable[[float], None] = field(repr=False)
    page: tuple[str, int] = ("per_page", 100)

    def __post_init__(self) -> None:
        parts = urlsplit(self.root)
        loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
            raise ForgeError("the address of the API is not https", f"set {self.words.api}")
        for text in self.headers.values():
            if not text.isascii() or not text.isprintable():
                raise ForgeError("the token holds characters no token has", f"set {self.words.token} anew")

    def rows(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Every row of a list, requested page by page to the last one. Without a Link header, a page that is not full
        is the last."""
        number, previous = 1, [None]
        size_name, size = self.page
        while True:
            answer = self.answer("GET", f"{path}?{urlencode({**query, size_name: str(size), 'page': str(number)})}")
            rows = self._value("GET", path, answer)
            if not isinstance(rows, list):
                raise ForgeError(f"{self.words.name}'s answer is not a list")
            if rows and rows[:1] == previous:
                raise ForgeError(f"{self.words.name}'s answer repeats the page before it")
            previous = rows[:1]
            yield from (row for row in rows if isinstance(row, dict))
            link = answer.headers.get("link", "")
            is_last = len(rows) < size
            if link:
                is_last = 'rel="next"' not in link
            if is_last:
                return
            number += 1

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """Send one request and return its JSON; `{}` for an answer without content (status 204). `value`: the body,
        sent as JSON."""
        answer = self.answer(method, path, value)
        if answer.status == 204:
            return {}
        return self._value(method, path, answer)

    def answer(self, method: str, path: str, value: Any = None) -> Answer:
        """Send one request and return the answer, whose status is below 300.

        It is sent up to MAX_ATTEMPTS times: again after the time that a rate limit names, and after 1, 2 and 4 seconds
        for a status of 5xx (a POST only for 503). Raises ForgeError for every other status.
        """
        waited = 0.0
        for attempt in range(1, MAX_ATTEMPTS + 1):
            answer = self._send(method, f"{self.root}{path}", value)
            if answer.status < 300:
                return answer
            is_repeatable = method in ("GET", "PATCH", "PUT") or answer.status == 503
            may_retry, pause = answer.status >= 500 and is_repeatable, 2.0 ** (attempt - 1)
            limit = limit_of(answer)
            if limit:
                may_retry, pause = True, limit.pause(attempt)
            if not may_retry or attempt == MAX_ATTEMPTS or waited + pause > MAX_WAIT_SECONDS:
                raise self._refused(method, path, answer, limit)
            self.wait(pause)
            waited += pause
        raise AssertionError

    def _value(self, method: str, path: str, answer: Answer) -> Any:
        where = f"{self.words.name}'s answer to {method} {path.partition('?')[0] or '/'}"
        try:
            value = answer.value()
        except ValueError:
            if answer.is_page:
                raise ForgeError(f"{where} is a web page", f"check {self.words.api}") from None
            raise ForgeError(f"{where} is no JSON") from None
        if value is None:
            raise ForgeError(f"{where} is null, which is nothing")
        return value

    def _send(self, method: str, url: str, value: Any) -> Answer:
        """Send one request and return the answer of any status; a redirect is not followed. Raises ForgeError when no
        answer comes."""
        import http.client
        from urllib import error, request

        class NoRedirect(request.HTTPRedirectHandler):
            def redirect_request(self, *args: Any, **kwargs: Any) -> None:
                return None

        headers = {"User-Agent": "git-mem", **self.headers}
        body = None
        if value is not None:
            body = json.dumps(value).encode("utf-8", "backslashreplace")
            headers["Content-Type"] = "application/json"
        sent = request.Request(url, data=body, headers=headers, method=method)
        try:
            with request.build_opener(NoRedirect).open(sent, timeout=TIMEOUT_SECONDS) as answer:
                return Answer(answer.status, _lower(answer.headers.items()), answer.read(MAX_ANSWER_BYTES))
        except error.HTTPError as refused:
            with refused:
                return Answer(refused.code, _lower(refused.headers.items()), refused.read(MAX_ANSWER_BYTES))
        except (OSError, http.client.HTTPException):
            raise ForgeError(f"cannot reach {urlsplit(self.root).hostname}", "check the network") from None

    def _refused(self, method: str, path: str, answer: Answer, limit: Limit | None) -> ForgeError:
        name, status, where = self.words.name, answer.status, path.partition("?")[0]
        if limit is not None:
            return ForgeError(f"{name} limits requests: {limit.words}", f"try again {limit.when}", status)
        if status in (301, 302, 307, 308):
            return ForgeError(
                f"{name} says that this repository has moved ({status}); the token was not sent there",
                "git remote set-url origin URL, with the address it has now",
                status,
            )
        hint = self.words.hints.get(status, "")
        if status == 403:
            hint = self._missing_permission(where, answer)
        message = f"{name} refused {method} {where or '/'} with {status}: {reason(answer) or 'no reason given'}"
        return ForgeError(message, hint, status)

    def _missing_permission(self, where: str, answer: Answer) -> str:
        """A hint at the permission that the token lacks, with the forge's own words if a header has any."""
        if answer.headers.get("x-github-sso", "").startswith("required"):
            return "authorise the token for the organisation's single sign-on"
        permissions = (text for start, text in self.words.permissions.items() if where.startswith(start))
        hint = next(permissions, "the token lacks a permission")
        needed = re.sub(r"[^\w=,; -]", "", answer.headers.get("x-accepted-github-permissions", ""))
        if needed:
            return f"{hint} (it asks for {needed[:MAX_REASON_CHARS]})"
        return hint


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate limit that a request met. `seconds`: until it ends, None when the forge does not say."""

    words: str
    seconds: float | None

    def pause(self, attempt: int) -> float:
        """The seconds to wait: what the forge says, else a minute that doubles with each attempt, as GitHub asks."""
        if self.seconds is not None:
            return self.seconds
        return SECONDARY_LIMIT_SECONDS * 2.0 ** (attempt - 1)

    @property
    def when(self) -> str:
        """When to try again, in words."""
        if self.seconds is None:
            return "in some minutes"
        minutes = -(-int(self.seconds) // 60)
        if minutes > 1:
            return f"in {minutes} minutes"
        return "in a minute"


def limit_of(answer: Answer) -> Limit | None:
    """The rate limit that an answer reports; None when it was refused for another reason.

    A primary limit (requests per hour) has `ratelimit-remaining: 0` and the time of its end. A secondary limit (too
    many requests at once) has Retry-After, or only a message. A missing permission is a 403 too, with none of these.
    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    headers = answer.headers
    if answer.status not in (403, 429):
        return None
    after = _seconds(headers.get("retry-after", ""), headers)
    used_up = "0" in (headers.get("x-ratelimit-remaining"), headers.get("ratelimit-remaining"))
    secondary = "secondary rate limit" in reason(answer).lower() or "abuse detection" in reason(answer).lower()
    if secondary or (after is not None and not used_up):
        return Limit("too many requests in a short time (a secondary limit)", after)
    if used_up:
        if after is None:
            after = _until(headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or "", headers)
        return Limit("all that this token may make for now are made", after)
    if answer.status != 429:
        return None
    return Limit("too many requests", None)


def _seconds(text: str, headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds: a number, or a date compared with the answer's own Date. None for anything else."""
    if text.isdigit():
        return float(text)
    try:
        if not text:
            return None
        return max(0.0, (parsedate_to_datetime(text) - _date(headers)).total_seconds())
    except (ValueError, TypeError):
        return None


def _until(reset: str, headers: Mapping[str, str]) -> float | None:
    """The seconds until `reset` (in epoch seconds) by the forge's clock; None when either time is missing."""
    if not reset.isdigit() or len(reset) > 12:
        return None
    try:
        return max(0.0, float(reset) - _date(headers).timestamp()) + 1.0
    except (ValueError, TypeError):
        return None


def _date(headers: Mapping[str, str]) -> datetime:
    """The time of the answer by the forge's clock. Raises ValueError or TypeError without a Date header."""
    return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)


def reason(answer: Answer) -> str:
    """The forge's own words in a refusal, cut to MAX_REASON_CHARS; "" when there are none.

    Known shapes: `message` as text, list or object of lists (GitLab); `errors` as texts or as objects with `message` or
    with `resource`, `field` and `code` (GitHub); `error` with `error_description` (OAuth).
    """
    try:
        value = answer.value()
    except ValueError:
        if not answer.is_page:
            return ""
        return "it answered with a web page"
    if not isinstance(value, dict):
        return ""
    parts = [text for key in ("message", "errors", "error", "error_description") for text in _texts(value.get(key))]
    text = "; ".join(dict.fromkeys(filter(None, parts)))
    return "".join(c if c.isprintable() else " " for c in text)[:MAX_REASON_CHARS]


def _texts(value: Any) -> list[str]:
    """The texts in one field of an error, with at most five members of a list or object."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for row in value[:5] for text in _texts(row)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("message"), str) and value["message"]:
        return [value["message"]]
    if isinstance(value.get("code"), str):
        names = ".".join(value[key] for key in ("resource", "field") if isinstance(value.get(key), str))
        return [": ".join(filter(None, (names, value["code"])))]
    return [f"{key}: {text}" for key, inner in list(value.items())[:5] for text in _texts(inner)]


def number_of(value: Any, key: str, name: str) -> int:
    """The integer under a key of an answer. Raises ForgeError when there is none."""
    number = object_of(value, name).get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ForgeError(f"{name}'s answer has no '{key}'")
    return number


def object_of(value: Any, name: str) -> dict[str, Any]:
    """The answer as a JSON object. Raises ForgeError when it is none."""
    if not isinstance(value, dict):
        raise ForgeError(f"{name}'s answer is no object")
    return value


def inner(value: Any, key: str) -> dict[str, Any]:
    """The object under a key of an answer; {} when there is none (a deleted user or fork)."""
    if isinstance(value, dict) and isinstance(value.get(key), dict):
        return dict(value[key])
    return {}


def _lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
