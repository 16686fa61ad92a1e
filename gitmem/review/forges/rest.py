"""HTTP to a forge's REST API: one connection, its waits and its refusals as sentences.

The token goes to the one address the environment or the user named, never through a redirect, never into an error. A
limit of requests is waited for as long as the forge says, where that is within PATIENCE; a longer one is an error that
names the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from gitmem.http_request import HttpAnswer, NoAnswer, send
from gitmem.review.forges.forge import ForgeError

ANSWER_LIMIT = 8 << 20
ATTEMPTS = 4
PATIENCE = 300.0  # seconds that one request waits for a limit to end: half of the 10 minutes our example jobs may take
MINUTE = 60.0  # GitHub asks for at least this after a secondary limit that says no time
REASON = 300  # characters of a forge's own words that are shown


@dataclass(frozen=True, slots=True)
class Words:
    """What a forge's refusals mean: its `name`, its variable with the `token`, hints by HTTP status, and those of a
    missing permission by how the path begins ("" for any other path)."""

    name: str
    token: str
    api: str
    hints: Mapping[int, str]
    permissions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """One repository's part of an API: requests go to `root` and what they name below it.

    `headers` carry the token; `wait` is how to sleep, the caller's, so that tests need not. Raises ForgeError for an
    address that is neither https nor loopback, and for a token no header can carry.
    """

    words: Words
    root: str
    headers: Mapping[str, str] = field(repr=False)
    wait: Callable[[float], None] = field(repr=False)
    page: tuple[str, int] = ("per_page", 100)  # how a page's size is asked for, and the most that the forge gives

    def __post_init__(self) -> None:
        parts = urlsplit(self.root)
        loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
            raise ForgeError("the address of the API is not https", f"set {self.words.api}")
        for text in self.headers.values():
            if not text.isascii() or not text.isprintable():
                raise ForgeError("the token holds characters no token has", f"set {self.words.token} anew")

    def rows(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Every row of a list, page by page, until the forge says that there is no more."""
        number, first = 1, None
        size_name, size = self.page
        while True:
            asked = urlencode({**query, size_name: str(size), "page": str(number)})
            answer = self.answer("GET", f"{path}?{asked}")
            rows = self._value("GET", path, answer)
            if not isinstance(rows, list):
                raise ForgeError(f"{self.words.name}'s answer is not a list")
            if rows and rows[0] == first:
                raise ForgeError(f"{self.words.name}'s answer repeats the page before it")
            first = None
            if rows:
                first = rows[0]
            yield from (row for row in rows if isinstance(row, dict))
            link = answer.headers.get("link", "")
            if not ('rel="next"' in link if link else len(rows) >= size):
                return
            number += 1

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """One request; its JSON, `{}` for an answer without content (status 204)."""
        answer = self.answer(method, path, value)
        if answer.status == 204:
            return {}
        return self._value(method, path, answer)

    def answer(self, method: str, path: str, value: Any = None) -> HttpAnswer:
        """One request; the answer, with a status below 300.

        Tries again, ATTEMPTS times in all: where the forge limits requests, after the time it says; on 5xx after one,
        two and four seconds, a write only where repeating it is safe. Raises ForgeError for every other status.
        """
        waited = 0.0
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send(method, f"{self.root}{path}", value)
            if answer.status < 300:
                return answer
            safe = method in ("GET", "PATCH", "PUT") or answer.status == 503
            limit = limit_of(answer)
            if limit:
                pause = limit.pause(attempt)
            else:
                pause = 2.0 ** (attempt - 1)
            again = limit is not None or (answer.status >= 500 and safe)
            if not again or attempt == ATTEMPTS or waited + pause > PATIENCE:
                raise self._refused(method, path, answer, limit)
            self.wait(pause)
            waited += pause
        raise AssertionError

    def _value(self, method: str, path: str, answer: HttpAnswer) -> Any:
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

    def _send(self, method: str, url: str, value: Any) -> HttpAnswer:
        """The answer, whatever its status. Raises ForgeError where nothing answers."""
        headers = {"User-Agent": "git-mem", **self.headers}
        body = None
        if value is not None:
            body = json.dumps(value).encode("utf-8", "backslashreplace")
            headers["Content-Type"] = "application/json"
        try:
            return send(method, url, headers, body, limit=ANSWER_LIMIT)
        except NoAnswer:
            raise ForgeError(f"cannot reach {urlsplit(self.root).hostname}", "check the network") from None

    def _refused(self, method: str, path: str, answer: HttpAnswer, limit: Limit | None) -> ForgeError:
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

    def _missing_permission(self, where: str, answer: HttpAnswer) -> str:
        """What a token lacks: in the forge's own words where it has said so in a header."""
        if answer.headers.get("x-github-sso", "").startswith("required"):
            return "authorise the token for the organisation's single sign-on"
        permissions = (text for start, text in self.words.permissions.items() if where.startswith(start))
        hint = next(permissions, "the token lacks a permission")
        needed = re.sub(r"[^\w=,; -]", "", answer.headers.get("x-accepted-github-permissions", ""))
        if needed:
            return f"{hint} (it asks for {needed[:REASON]})"
        return hint


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of requests that was met: in words, and how long it lasts in seconds (None where it is not said)."""

    words: str
    seconds: float | None

    def pause(self, attempt: int) -> float:
        """Seconds to wait; where none are said a minute, doubled with each attempt, as GitHub asks for."""
        if self.seconds is not None:
            return self.seconds
        return MINUTE * 2.0 ** (attempt - 1)

    @property
    def when(self) -> str:
        """When to try again, in words."""
        if self.seconds is None:
            return "in some minutes"
        minutes = -(-int(self.seconds) // 60)
        if minutes > 1:
            return f"in {minutes} minutes"
        return "in a minute"


def limit_of(answer: HttpAnswer) -> Limit | None:
    """The limit that an answer tells of, None where it is refused for another reason.

    A primary limit (so many requests an hour) has `ratelimit-remaining: 0` and a time at which it ends; a secondary one
    (too many at once) has Retry-After, or words only. A missing permission is a 403 too, and has neither.
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
        reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
        seconds = after if after is not None else _until(reset, headers)
        return Limit("all that this token may make for now are made", seconds)
    if answer.status != 429:
        return None
    return Limit("too many requests", None)


def _seconds(text: str, headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds: a number, or a date beside the answer's own Date. None for neither."""
    if text.isdigit():
        return float(text)
    try:
        if not text:
            return None
        return max(0.0, (parsedate_to_datetime(text) - _date(headers)).total_seconds())
    except (ValueError, TypeError):
        return None


def _until(reset: str, headers: Mapping[str, str]) -> float | None:
    """Seconds until a time in epoch seconds, by the forge's own clock."""
    if not reset.isdigit() or len(reset) > 12:
        return None
    try:
        return max(0.0, float(reset) - _date(headers).timestamp()) + 1.0
    except (ValueError, TypeError):
        return None


def _date(headers: Mapping[str, str]) -> datetime:
    """The forge's clock. Raises ValueError or TypeError where the answer has none."""
    return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)


def reason(answer: HttpAnswer) -> str:
    """A refusal in the forge's own words, cut to REASON characters; "" where it says nothing.

    Every published shape: `message` as text, list or object of lists (GitLab), `errors` as texts or as objects with
    `message` or with `resource`, `field` and `code` (GitHub), `error` with `error_description` (OAuth).
    """
    try:
        value = answer.value()
    except ValueError:
        if not answer.is_page:
            return ""
        return "it answered with a web page"
    if not isinstance(value, dict):
        return ""
    parts = [*_texts(value.get("message")), *_texts(value.get("errors"))]
    parts += [*_texts(value.get("error")), *_texts(value.get("error_description"))]
    text = "; ".join(dict.fromkeys(part for part in parts if part))
    return "".join(c if c.isprintable() else " " for c in text)[:REASON]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for row in value[:5] for text in _texts(row)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("message"), str) and value["message"]:
        return [value["message"]]
    if isinstance(value.get("code"), str):
        named = [str(value[key]) for key in ("resource", "field") if isinstance(value.get(key), str)]
        return [f"{'.'.join(named)}: {value['code']}" if named else value["code"]]
    return [f"{key}: {text}" for key, inner in list(value.items())[:5] for text in _texts(inner)]


def number_of(value: Any, key: str, name: str) -> int:
    """The number an object has under a key. Raises ForgeError where it has none."""
    number = object_of(value, name).get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ForgeError(f"{name}'s answer has no '{key}'")
    return number


def object_of(value: Any, name: str) -> dict[str, Any]:
    """An answer that has to be a JSON object. Raises ForgeError."""
    if not isinstance(value, dict):
        raise ForgeError(f"{name}'s answer is no object")
    return value


def inner(value: Any, key: str) -> dict[str, Any]:
    """The object under a key, an empty one where there is none (a deleted user, a fork that is gone)."""
    inner_value = None
    if isinstance(value, dict):
        inner_value = value.get(key)
    if not isinstance(inner_value, dict):
        return {}
    return inner_value
