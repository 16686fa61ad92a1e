"""An OpenAI-compatible endpoint (extra `remote`): opt-in by its name in the user's own settings, never a fallback.

Only chunks and questions are sent, never whole files; each is redacted first and written to the egress log before it
leaves. `http:<url>#<model>`: `http:https://api.example.org/v1#name` posts to `https://api.example.org/v1/embeddings`.
"""

from __future__ import annotations

import json
import math
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.models import endpoint
from gitmem.models.endpoint import TRIES, Endpoint, TimedOut
from gitmem.models.prefixes import NO_PREFIXES, Prefixes, mark, prefixes_of

BATCH = 64  # texts to a request at most
CHARACTERS = 32_000  # of the texts of a request together: about 8,000 tokens of English, 16,000 and more of Korean
ANSWER_LIMIT = 32 << 20  # bytes: a batch of vectors of 16,384 numbers in 25 characters each is 26 MB
SECONDS = 180.0  # for one batch with its further tries, at least
QUESTION_TRIES = 2  # a person waits, and words answer without it
QUESTION = "(question)"


def open(address: str, config: Config) -> HttpEmbedder:
    """The embedder of `<url>#<model>`. Raises BadConfig for another form, ModelUnavailable without its key."""
    url, model = endpoint.parse(address, "git config --global mem.embedder http:https://HOST/v1#MODEL")
    key = endpoint.read_key(url, config.http_key_file)
    server = Endpoint(url, model, key, timeout=config.http_seconds)
    return HttpEmbedder(server, prefixes_of(model, config), config.http_seconds)


class HttpEmbedder:
    """`state` is where the egress log lies; without it nothing is sent. `origins` says whence the next texts are.
    `seconds`: how long one request may take."""

    def __init__(
        self,
        server: Endpoint,
        prefixes: Prefixes = NO_PREFIXES,
        seconds: float = 30.0,
    ) -> None:
        self.id = f"http:{server.provider}{server.path}#{server.model}{mark(prefixes)}"
        self.state: Path | None = None
        self.origins: Sequence[tuple[str, str]] = ()
        self._server = server
        self._prefixes = prefixes
        self._seconds = seconds
        self._dims = 0
        self._most = CHARACTERS  # of a batch; halved for good where the server did not answer one in time

    @property
    def dims(self) -> int:
        """How many dimensions a vector has; asks the endpoint once, with a text of our own. Raises as `embed`."""
        if not self._dims:
            self._ask("memory")
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One unit vector a text. `origins` (path, blob) of these texts, set before, goes to the egress log.

        A batch that is not answered in time is sent again in halves, down to a single text.
        """
        if len(self.origins) == len(texts):
            origins = list(self.origins)
        else:
            origins = [("", "")] * len(texts)
        vectors: list[bytes] = []
        while len(vectors) < len(texts):
            at = len(vectors)
            count = self._fitting(texts[at : at + BATCH])
            deadline = time.monotonic() + max(SECONDS, 2 * self._seconds)
            try:
                vectors += self._send(
                    self._prefixes.passage, texts[at : at + count], origins[at : at + count], TRIES, deadline
                )
            except TimedOut:
                if count == 1:
                    raise
                self._most = sum(map(len, texts[at : at + count])) // 2
        return vectors

    def _fitting(self, texts: Sequence[str]) -> int:
        """How many of these texts a request takes: one at least, else as many as have `_most` characters together."""
        total = 0
        for count, text in enumerate(texts):
            total += len(text)
            if count and total > self._most:
                return count
        return len(texts)

    def embed_query(self, text: str) -> bytes:
        return self._ask(text)

    def _ask(self, text: str) -> bytes:
        deadline = time.monotonic() + self._seconds
        return self._send(self._prefixes.query, [text], [(QUESTION, "")], QUESTION_TRIES, deadline)[0]

    def _send(
        self, prefix: str, texts: Sequence[str], origins: Sequence[tuple[str, str]], tries: int, deadline: float
    ) -> list[bytes]:
        from gitmem.gate.policy import Policy
        from gitmem.gate.redaction import redact

        # An empty text is an error to some servers; its vector is never compared with anything.
        shown = [prefix + (redact(text, "", Policy()) or " ") for text in texts]
        answer = self._server.post(
            "embeddings", {"model": self._server.model, "input": shown},
            state=self.state, origins=origins, limit=ANSWER_LIMIT, deadline=deadline, tries=tries, repeats=False,
        )  # fmt: skip
        vectors = self._vectors(answer, len(texts))
        return [vector if text.strip() else bytes(len(vector)) for text, vector in zip(texts, vectors, strict=True)]

    def _vectors(self, data: bytes, count: int) -> list[bytes]:
        try:
            answer: Any = json.loads(data)
        except (ValueError, RecursionError):
            raise self._wrong("is no JSON") from None
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(count)):
                raise self._wrong(f"has not {count} vectors")
            vectors = [self._vector(row["embedding"]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._wrong("is not what an OpenAI-compatible endpoint gives") from None
        if not any(map(any, vectors)):
            raise self._wrong("holds no vector with a direction")
        return vectors

    def _vector(self, numbers: list[float]) -> bytes:
        length = math.sqrt(sum(float(x) * float(x) for x in numbers))
        if not numbers or not math.isfinite(length):
            raise self._wrong("holds a vector without a direction")
        if self._dims and len(numbers) != self._dims:
            raise self._wrong(f"has vectors of {len(numbers)} numbers, not {self._dims}")
        self._dims = len(numbers)
        # A vector of zeros is what some servers give for a text they find nothing in: like no text, it is near nothing.
        return array("f", [x / length if length else 0.0 for x in numbers]).tobytes()

    def _wrong(self, what: str) -> ModelUnavailable:
        return self._server.wrong(what, "is it an embeddings endpoint and model?")
