"""An OpenAI-compatible server: its address, its key, and a request that is logged before it leaves.

Opt-in by its name in the user's own settings, never a fallback. It sends what it is given and knows nothing of what
that means; whoever asks redacts first and reads the answer. An answer is read up to a limit and until a deadline.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Container, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitmem.errors import BadConfig, GitMemError, ModelUnavailable
from gitmem.models.egress_log import record
from gitmem.regular_file import read_regular

TRIES = 4
AGAIN = (408, 409, 425, 429)  # and 5xx: the server may answer a next try
CONNECT = 10.0  # seconds for a connection: what takes longer is not there
LONGEST_WAIT = 20.0  # seconds before a next try, whatever the server says
SAID, SAID_BYTES = 300, 4000  # characters of what a server says of an error that are shown, and bytes that are read
KEY_LIMIT = 1 << 16  # bytes of a file with a key
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Refused(ModelUnavailable):
    """A server answered with an error; `status` is its HTTP status."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.status = status


class Exceeded(ModelUnavailable):
    """An answer was longer than asked for, or did not come in time."""


class TimedOut(Exceeded):
    """An answer did not come in time."""


class Endpoint:
    """One server and one model of it. `provider` is what logs and messages call it: host and port, never the key."""

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
        """`timeout` is in seconds, of one silence of the server; None waits for it until the deadline of a request.
        `mask` gives what the server says of an error as a person may see it."""
        parts = urlsplit(url)
        self.provider = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        self.path = parts.path
        self.model = model
        self._url, self._key = url, key
        self._timeout, self._transport, self._sleep, self._now, self._mask = timeout, transport, sleep, now, mask
        self._client: Any = None

    def post(
        self,
        route: str,
        body: dict[str, Any],
        *,
        state: Path | None,
        origins: Iterable[tuple[str, str]],
        limit: int,
        deadline: float,
        tries: int = TRIES,
        repeats: bool = True,
        final: Container[int] = (),
    ) -> bytes:
        """The answer to `body` (at most `limit` bytes, before `deadline` of the monotonic clock), asked for `tries`
        times at most; after a time-out only where it `repeats`.

        `origins`, (path, blob) of what is sent, goes to the egress log in `state` first; without that nothing is
        sent. An error whose status is in `final` is not tried again. Raises Exceeded (TimedOut where it came too late),
        Refused where the server answers with an error, and ModelUnavailable where there is no answer.
        """
        try:
            import httpx
        except ImportError:
            raise ModelUnavailable(
                "an endpoint needs httpx, which is not installed", "pip install 'git-mem[remote]'"
            ) from None
        self._log(state, origins)
        if self._client is None:
            # No redirects: what was allowed is this host, not where it points to.
            self._client = httpx.Client(follow_redirects=False, transport=self._transport)
        if self._key:
            headers = {"Authorization": f"Bearer {self._key}"}
        else:
            headers = {}
        trouble, status = "", 0
        for attempt in range(tries):
            wait = min(2.0**attempt, LONGEST_WAIT)
            left = max(1.0, deadline - time.monotonic())
            silence = httpx.Timeout(self._timeout or left, connect=min(CONNECT, left))
            try:
                with self._client.stream(
                    "POST", f"{self._url}/{route}", json=body, headers=headers, timeout=silence
                ) as answer:
                    data = self._read(answer.iter_bytes(), limit, deadline)
            except httpx.HTTPError as error:
                if isinstance(error, httpx.ReadTimeout) and not repeats:
                    raise self._late() from None
                trouble = type(error).__name__
            else:
                if answer.status_code == 200:
                    return data
                status = answer.status_code
                trouble = f"HTTP {status}"
                if said := self._said(data):
                    trouble += f": {said}"
                if status in final or (status not in AGAIN and status < 500):
                    break
                after = answer.headers.get("retry-after", "")
                if after.isdecimal():
                    wait = min(float(after), LONGEST_WAIT)
            if attempt + 1 < tries:
                if time.monotonic() + wait >= deadline:
                    raise self._late()
                self._sleep(wait)
        message = f"{self.provider} gave no answer ({trouble})"
        hint = "check the address, the model's name and mem.httpKeyFile"
        raise Refused(status, message, hint) if status else ModelUnavailable(message, hint)

    def _said(self, data: bytes) -> str:
        """What a server says of an error, as one masked line; "" for nothing that can be read."""
        text = data[:SAID_BYTES].decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            error = value.get("error", value.get("detail", value))
            if isinstance(error, dict):
                error = error.get("message", error)
            if isinstance(error, str):
                text = error
            else:
                text = json.dumps(error, ensure_ascii=False)
        if "<html" in text.lower():
            return ""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if self._key:
            line = line.replace(self._key, "[key]")
        return self._mask(line)[:SAID]

    def wrong(self, what: str, hint: str = "") -> ModelUnavailable:
        """The refusal of an answer that `what` says the fault of."""
        return ModelUnavailable(f"the answer of {self.provider} {what}", hint)

    def _log(self, state: Path | None, origins: Iterable[tuple[str, str]]) -> None:
        if state is None:
            raise ModelUnavailable(f"nothing was sent to {self.provider}: there is no place for the egress log")
        try:
            record(state, self._now(), self.provider, origins)
        except GitMemError as error:
            raise ModelUnavailable(error.message, error.hint) from None

    def _read(self, pieces: Iterable[bytes], limit: int, deadline: float) -> bytes:
        data = bytearray()
        for piece in pieces:
            data += piece
            if len(data) > limit:
                raise Exceeded(f"the answer of {self.provider} was longer than {limit} bytes")
            if time.monotonic() >= deadline:
                raise self._late()
        return bytes(data)

    def _late(self) -> TimedOut:
        return TimedOut(f"{self.provider} did not answer in time")


def parse(address: str, example: str) -> tuple[str, str]:
    """URL and model of `<url>#<model>`. Raises BadConfig for another form; `example` is the command that sets one."""
    url, _, model = address.partition("#")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not model or parts.username:
        raise BadConfig("an endpoint is http:<url>#<model>", example)
    return url.rstrip("/"), model


def read_key(url: str, file: str) -> str:
    """The key in `file` ("" where none is set). Raises ModelUnavailable where it cannot be read, and BadConfig where
    it would leave this machine unencrypted."""
    if not file:
        return ""
    try:
        key = read_regular(Path(os.path.expanduser(file)), KEY_LIMIT).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ModelUnavailable(
            "mem.httpKeyFile cannot be read", "git config --global mem.httpKeyFile <path of a file with the key>"
        ) from None
    parts = urlsplit(url)
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig("the key is not sent over plain http", "use https, or unset mem.httpKeyFile")
    return key
