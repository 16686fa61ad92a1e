"""An OpenAI-compatible endpoint (extra `remote`): opt-in by its name in the user's own settings, never a fallback.

Only chunks and questions are sent, never whole files; each is redacted first and written to the egress log before it
leaves. `http:<url>#<model>`: `http:https://api.example.org/v1#name` posts to `https://api.example.org/v1/embeddings`.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitmem.config import Config
from gitmem.egress import record
from gitmem.errors import BadConfig, GitMemError, ModelUnavailable

BATCH = 64  # texts to a request
TRIES = 4
TIMEOUT = 30.0  # seconds for one request
LONGEST_WAIT = 20.0  # seconds before a next try, whatever the server says
LOOPBACK = ("localhost", "127.0.0.1", "::1")
QUESTION = "(question)"


def open(address: str, config: Config) -> HttpEmbedder:
    """The embedder of `<url>#<model>`. Raises BadConfig for another form, ModelUnavailable without httpx."""
    url, _, model = address.partition("#")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not model or parts.username:
        raise BadConfig(
            "an embedding endpoint is http:<url>#<model>",
            "git config --global mem.embedder http:https://HOST/v1#MODEL",
        )
    key = _key(config.http_key_file)
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig("the key is not sent over plain http", "use https, or unset mem.httpKeyFile")
    return HttpEmbedder(url.rstrip("/"), model, key)


def _key(file: str) -> str:
    if not file:
        return ""
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ModelUnavailable(
            "mem.httpKeyFile cannot be read", "git config --global mem.httpKeyFile <path of a file with the key>"
        ) from None


class HttpEmbedder:
    """`state` is where the egress log lies; without it nothing is sent. `origins` says whence the next texts are."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        transport: Any = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        parts = urlsplit(url)
        self.provider = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        self.id = f"http:{self.provider}{parts.path}#{model}"
        self.state: Path | None = None
        self.origins: Sequence[tuple[str, str]] = ()
        self._url, self._model, self._key = url, model, key
        self._transport, self._sleep, self._now = transport, sleep, now
        self._dims = 0
        self._client: Any = None

    @property
    def dims(self) -> int:
        if not self._dims:
            self._send(["memory"], [(QUESTION, "")])
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One unit vector a text. `origins` (path, blob) of these texts, set before, goes to the egress log."""
        origins = list(self.origins) if len(self.origins) == len(texts) else [("", "")] * len(texts)
        found: list[bytes] = []
        for at in range(0, len(texts), BATCH):
            found += self._send(texts[at : at + BATCH], origins[at : at + BATCH])
        return found

    def embed_query(self, text: str) -> bytes:
        return self._send([text], [(QUESTION, "")])[0]

    def _send(self, texts: Sequence[str], origins: Sequence[tuple[str, str]]) -> list[bytes]:
        from gitmem.policy import Policy
        from gitmem.redaction import redact

        if self.state is None:
            raise ModelUnavailable(f"nothing was sent to {self.provider}: there is no place for the egress log")
        # An empty text is an error to some servers; its vector is never compared with anything.
        shown = [redact(text, "", Policy()) or " " for text in texts]
        try:
            record(self.state, self._now(), self.provider, origins)
        except GitMemError as error:
            raise ModelUnavailable(error.message, error.hint) from None
        vectors = self._vectors(self._post({"model": self._model, "input": shown}), len(texts))
        return [vector if text.strip() else bytes(len(vector)) for text, vector in zip(texts, vectors, strict=True)]

    def _post(self, body: dict[str, Any]) -> Any:
        try:
            import httpx
        except ImportError:
            raise ModelUnavailable(
                "an endpoint needs httpx, which is not installed", "pip install 'git-mem[remote]'"
            ) from None
        if self._client is None:
            # No redirects: what was allowed is this host, not where it points to.
            self._client = httpx.Client(timeout=TIMEOUT, follow_redirects=False, transport=self._transport)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        trouble = ""
        for attempt in range(TRIES):
            wait = min(2.0**attempt, LONGEST_WAIT)
            try:
                answer = self._client.post(f"{self._url}/embeddings", json=body, headers=headers)
            except httpx.HTTPError as error:
                trouble = type(error).__name__
            else:
                if answer.status_code == 200:
                    try:
                        return answer.json()
                    except ValueError:
                        raise self._wrong("is no JSON") from None
                trouble = f"HTTP {answer.status_code}"
                if answer.status_code not in (408, 409, 425, 429) and answer.status_code < 500:
                    break
                after = answer.headers.get("retry-after", "")
                wait = min(float(after), LONGEST_WAIT) if after.isdigit() else wait
            if attempt + 1 < TRIES:
                self._sleep(wait)
        raise ModelUnavailable(
            f"{self.provider} gave no embeddings ({trouble})", "check the address, the model's name and mem.httpKeyFile"
        )

    def _vectors(self, answer: Any, count: int) -> list[bytes]:
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(count)):
                raise self._wrong(f"has not {count} vectors")
            found = [self._vector(row["embedding"]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._wrong("is not what an OpenAI-compatible endpoint gives") from None
        return found

    def _vector(self, numbers: list[float]) -> bytes:
        length = math.sqrt(sum(float(x) * float(x) for x in numbers))
        if not numbers or not math.isfinite(length) or not length:
            raise self._wrong("holds a vector without a direction")
        if self._dims and len(numbers) != self._dims:
            raise self._wrong(f"has vectors of {len(numbers)} numbers, not {self._dims}")
        self._dims = len(numbers)
        return array("f", [x / length for x in numbers]).tobytes()

    def _wrong(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"the answer of {self.provider} {what}", "is it an embeddings endpoint and model?")
