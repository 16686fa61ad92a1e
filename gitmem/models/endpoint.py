"""Requests to an OpenAI-compatible server: its address and key, the egress log, retries, limits of size and time.

Used only for an endpoint that the user names in their own settings, never as a fallback. The caller redacts the texts
of a request and parses the response.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Container, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gitmem.errors import BadConfig, GitMemError, ModelUnavailable
from gitmem.json_values import parse_json
from gitmem.regular_file import append_private, read_regular

EGRESS_LOG = "egress.log"
TRIES = 4
RETRIED_STATUSES = (408, 409, 425, 429)  # and all 5xx
CONNECT_SECONDS = 10.0  # time limit for a connection
MAX_WAIT_SECONDS = 20.0  # longest wait before a retry, even if the server's `Retry-After` is longer
MAX_ERROR_CHARS, MAX_ERROR_BYTES = 300, 4000  # of a server's error text: shown characters, read bytes
MAX_KEY_FILE_BYTES = 1 << 16
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ErrorStatus(ModelUnavailable):
    """The server answered the last attempt with an error. `status`: its HTTP status."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.status = status


class LimitExceeded(ModelUnavailable):
    """A response had more bytes than the limit, or did not come in time (then it is a `TimedOut`)."""


class TimedOut(LimitExceeded):
    """A response did not come in time."""


class RequestLimits(NamedTuple):
    """The limits of one request with its retries.

    `response_bytes`: maximum length of the response. `deadline`: the end of all attempts, on the monotonic clock.
    `tries`: maximum number of attempts. `retry_timeouts`: whether to retry after a read time-out. `final_statuses`:
    HTTP statuses that are not retried.
    """

    response_bytes: int
    deadline: float
    tries: int = TRIES
    retry_timeouts: bool = True
    final_statuses: Container[int] = ()


class Endpoint:
    """A model on a server. `provider`: the host and port, as the name of the server in logs and messages. `path`: the
    path of the URL. `model`: the model's name."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        timeout: float | None = 30.0,
        transport: Any = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        mask: Callable[[str], str] = lambda words: words,
    ) -> None:
        """`timeout`: seconds for which the server may send nothing; None: until the deadline of the request.
        `transport`, `sleep`, `now`: replaced in tests. `mask`: redacts the server's error text before it is shown."""
        parts = urlsplit(url)
        self.provider = str(parts.hostname)
        if parts.port:
            self.provider += f":{parts.port}"
        self.path = parts.path
        self.model = model
        self._url, self._key = url, key
        self._timeout, self._transport, self._sleep, self._now, self._mask = timeout, transport, sleep, now, mask
        self._client: Any = None

    def post(
        self,
        route: str,
        body: dict[str, Any],
        limits: RequestLimits,
        *,
        state: Path | None,
        origins: Iterable[tuple[str, str]],
    ) -> bytes:
        """Send `body` as JSON to `route` and return the bytes of the response.

        `state`: folder of the egress log. `origins`: (path, blob oid) of the sent texts. They are logged before
        anything is sent, and without a log nothing is sent. Between two attempts the function sleeps.
        Raises LimitExceeded for a response that is too long; TimedOut after the deadline, if the next attempt would
        come after it, and after a read time-out that is not retried; ErrorStatus for a status other than 200 in the
        last attempt; ModelUnavailable if there is no response, no httpx, or no log.
        """
        try:
            import httpx
        except ImportError:
            raise ModelUnavailable(
                "an endpoint needs httpx, which is not installed", "pip install 'git-mem[remote]'"
            ) from None
        self._log(state, origins)
        if self._client is None:
            # No redirects: the user allowed this host, not one that it points to.
            self._client = httpx.Client(follow_redirects=False, transport=self._transport)
        headers: dict[str, str] = {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        trouble, status = "", 0
        for attempt in range(limits.tries):
            wait = min(2.0**attempt, MAX_WAIT_SECONDS)
            seconds_left = max(1.0, limits.deadline - time.monotonic())
            timeout = httpx.Timeout(self._timeout or seconds_left, connect=min(CONNECT_SECONDS, seconds_left))
            try:
                with self._client.stream(
                    "POST", f"{self._url}/{route}", json=body, headers=headers, timeout=timeout
                ) as answer:
                    data = self._read(answer.iter_bytes(), limits.response_bytes, limits.deadline)
            except httpx.HTTPError as error:
                if isinstance(error, httpx.ReadTimeout) and not limits.retry_timeouts:
                    raise self._late() from None
                trouble, status = type(error).__name__, 0
            else:
                if answer.status_code == 200:
                    return data
                status = answer.status_code
                trouble = f"HTTP {status}"
                if error_text := self._error_text(data):
                    trouble += f": {error_text}"
                if status in limits.final_statuses or (status not in RETRIED_STATUSES and status < 500):
                    break
                retry_after = answer.headers.get("retry-after", "")
                if retry_after.isdecimal():
                    wait = min(float(retry_after), MAX_WAIT_SECONDS)
            if attempt + 1 < limits.tries:
                if time.monotonic() + wait >= limits.deadline:
                    raise self._late()
                self._sleep(wait)
        message = f"{self.provider} gave no answer ({trouble})"
        hint = "check the address, the model's name and mem.httpKeyFile"
        if status:
            raise ErrorStatus(status, message, hint)
        raise ModelUnavailable(message, hint)

    def _error_text(self, data: bytes) -> str:
        """The server's error text as one masked line without the key, at most MAX_ERROR_CHARS; "" for an HTML page."""
        text = data[:MAX_ERROR_BYTES].decode("utf-8", "replace")
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            error = value.get("error", value.get("detail", value))
            if isinstance(error, dict):
                error = error.get("message", error)
            text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
        if "<html" in text.lower():
            return ""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if self._key:
            line = line.replace(self._key, "[key]")
        return self._mask(line)[:MAX_ERROR_CHARS]

    def wrong(self, fault: str, hint: str = "") -> ModelUnavailable:
        """The error for an invalid response. `fault`: the end of the sentence "the answer of HOST ...".
        `hint`: what to try."""
        return ModelUnavailable(f"the answer of {self.provider} {fault}", hint)

    def _log(self, state: Path | None, origins: Iterable[tuple[str, str]]) -> None:
        """Record what is about to be sent. Raises ModelUnavailable, so that nothing is sent, if it cannot be
        recorded."""
        if state is None:
            raise ModelUnavailable(f"nothing was sent to {self.provider}: there is no place for the egress log")
        try:
            _log_egress(state, self._now(), self.provider, origins)
        except GitMemError as error:
            raise ModelUnavailable(error.message, error.hint) from None

    def _read(self, pieces: Iterable[bytes], limit: int, deadline: float) -> bytes:
        """The pieces joined. Raises LimitExceeded over `limit` bytes, TimedOut after `deadline` (of
        `time.monotonic`)."""
        data = bytearray()
        for piece in pieces:
            data += piece
            if len(data) > limit:
                raise LimitExceeded(f"the answer of {self.provider} was longer than {limit} bytes")
            if time.monotonic() >= deadline:
                raise self._late()
        return bytes(data)

    def _late(self) -> TimedOut:
        return TimedOut(f"{self.provider} did not answer in time")


def parse(address: str, example: str) -> tuple[str, str]:
    """Split an address `<url>#<model>` into (URL without a slash at its end, model). Raises BadConfig for another form,
    and for a URL with a user name; `example`: the command in its hint."""
    url, _, model = address.partition("#")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not model or parts.username:
        raise BadConfig("an endpoint is http:<url>#<model>", example)
    return url.rstrip("/"), model


def read_key(url: str, file: str) -> str:
    """The key in `file`, without white space around it; "" if `file` is "". Raises ModelUnavailable if the file cannot
    be read, BadConfig if the key would be sent to another machine over plain http."""
    if not file:
        return ""
    try:
        key = read_regular(Path(os.path.expanduser(file)), MAX_KEY_FILE_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ModelUnavailable(
            "mem.httpKeyFile cannot be read", "git config --global mem.httpKeyFile <path of a file with the key>"
        ) from None
    parts = urlsplit(url)
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig("the key is not sent over plain http", "use https, or unset mem.httpKeyFile")
    return key


def _log_egress(state: Path, now: datetime, provider: str, origins: Iterable[tuple[str, str]]) -> None:
    """Append a line for each (path, blob oid) to EGRESS_LOG in the folder `state`, before the texts are sent: the
    time, the provider, the path and the oid, never the text. Raises GitMemError if it cannot be written; then nothing
    may be sent."""
    time = now.isoformat(timespec="seconds")
    rows = [{"time": time, "provider": provider, "path": path, "blob": blob} for path, blob in origins]
    try:
        append_private(state / EGRESS_LOG, "".join(f"{json.dumps(row, ensure_ascii=True)}\n" for row in rows).encode())
    except OSError as error:
        raise GitMemError(
            f"nothing was sent to {provider}: the egress log cannot be written ({error.strerror})",
            f"check {state / EGRESS_LOG}",
        ) from None
