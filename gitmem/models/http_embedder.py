"""`http:<url>#<model>`: an OpenAI-compatible embeddings endpoint (extra `remote`). Opt-in, never a fallback.

Only chunks and questions are sent, never whole files; each is redacted, and its source is written to the egress log
first. `http:https://api.example.org/v1#name` posts to `https://api.example.org/v1/embeddings`.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.json_values import parse_json
from gitmem.models import endpoint
from gitmem.models.endpoint import TRIES, Endpoint, RequestLimits, TimedOut
from gitmem.models.prefixes import NO_PREFIXES, Prefixes, id_suffix, prefixes_of

MAX_BATCH_TEXTS = 64  # texts of a request
MAX_BATCH_CHARS = 32_000  # of a request: about 8,000 tokens of English, 16,000 and more of Korean
MAX_ANSWER_BYTES = 32 << 20  # a batch of vectors of 16,384 numbers in 25 characters each is 26 MB
MIN_BATCH_SECONDS = 180.0  # time limit for a batch with its retries; longer for a long `mem.httpSeconds`
QUESTION_TRIES = 2  # a person waits, and the lexical search answers without the vector
QUESTION = "(question)"  # the path of a question in the egress log


def open(address: str, config: Config, state: Path | None = None) -> HttpEmbedder:
    """The embedder of an address `<url>#<model>`. `state`: the folder of the egress log; without it nothing is sent.
    Raises BadConfig for another form, ModelUnavailable if its key cannot be read."""
    url, model = endpoint.parse(address, "git config --global mem.embedder http:https://HOST/v1#MODEL")
    key = endpoint.read_key(url, config.http_key_file)
    server = Endpoint(url, model, key, timeout=config.http_seconds)
    return HttpEmbedder(server, prefixes_of(model, config), config.http_seconds, state)


class HttpEmbedder:
    """An embedder at an endpoint. `seconds`: time limit of a question. `state`: the folder of the egress log; without
    it nothing is sent."""

    def __init__(
        self,
        server: Endpoint,
        prefixes: Prefixes = NO_PREFIXES,
        seconds: float = 30.0,
        state: Path | None = None,
    ) -> None:
        self.id = f"http:{server.provider}{server.path}#{server.model}{id_suffix(prefixes)}"
        self._state = state
        self._server = server
        self._prefixes = prefixes
        self._seconds = seconds
        self._dims = 0
        # The size of a batch; both are lowered for good after a time-out.
        self._max_texts, self._max_chars = MAX_BATCH_TEXTS, MAX_BATCH_CHARS

    @property
    def dims(self) -> int:
        """How many numbers a vector has. The first call asks the endpoint with a constant text. Raises ModelUnavailable
        if it does not answer."""
        if not self._dims:
            self.embed_query("memory")
        return self._dims

    def embed(self, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[bytes]:
        """One unit vector for each text, in order; zeros for an empty text, and where the endpoint gives zeros.

        `origins`: (path, blob oid) of each text, for the egress log; empty for texts of no file. A batch that times out
        is sent again in halves, down to a single text; later batches are no larger than these halves. Raises
        ModelUnavailable if the endpoint does not answer in time or gives other values, ValueError if the lengths of
        `texts` and `origins` differ, and Refused for a text that cannot be redacted.
        """
        if not origins:
            origins = [("", "")] * len(texts)
        if len(origins) != len(texts):
            raise ValueError(f"{len(texts)} texts have {len(origins)} origins")
        vectors: list[bytes] = []
        while len(vectors) < len(texts):
            start = len(vectors)
            count = self._fitting(texts[start : start + self._max_texts])
            batch = slice(start, start + count)
            deadline = time.monotonic() + max(MIN_BATCH_SECONDS, 2 * self._seconds)
            try:
                vectors += self._send(self._prefixes.passage, texts[batch], origins[batch], TRIES, deadline)
            except TimedOut:
                if count == 1:
                    raise
                self._max_texts = (count + 1) // 2
                self._max_chars = sum(map(len, texts[batch])) // 2
        return vectors

    def _fitting(self, texts: Sequence[str]) -> int:
        """How many of the first texts one request takes: as many as have `_max_chars` characters together, at least
        one."""
        total = 0
        for count, text in enumerate(texts):
            total += len(text)
            if count and total > self._max_chars:
                return count
        return len(texts)

    def embed_query(self, text: str) -> bytes:
        """The unit vector of a question, zeros for a blank one. Raises ModelUnavailable, also where the endpoint gives
        zeros for a question with text, and Refused for a question that cannot be redacted."""
        deadline = time.monotonic() + self._seconds
        (vector,) = self._send(self._prefixes.query, [text], [(QUESTION, "")], QUESTION_TRIES, deadline)
        if text.strip() and not any(vector):
            raise self._wrong("holds no vector with a direction")
        return vector

    def _send(
        self, prefix: str, texts: Sequence[str], origins: Sequence[tuple[str, str]], tries: int, deadline: float
    ) -> list[bytes]:
        """Send one batch, secrets redacted, and return its unit vectors; zeros for a blank text. `deadline`: of all
        `tries` together, monotonic clock. Raises ModelUnavailable if there is no answer in time, or one of another form
        or number."""
        from gitmem.gate.policy import Policy
        from gitmem.gate.redaction import redact

        # Some servers refuse an empty text. Its vector is replaced by zeros below.
        shown = [prefix + (redact(text, "", Policy()) or " ") for text in texts]
        answer = self._server.post(
            "embeddings", {"model": self._server.model, "input": shown},
            RequestLimits(MAX_ANSWER_BYTES, deadline, tries, retry_timeouts=False), state=self._state, origins=origins,
        )  # fmt: skip
        vectors = self._vectors(answer, len(texts))
        return [vector if text.strip() else bytes(len(vector)) for text, vector in zip(texts, vectors, strict=True)]

    def _vectors(self, data: bytes, count: int) -> list[bytes]:
        """The unit vectors of a response for `count` texts, in their order. Raises ModelUnavailable for a response of
        another form or number."""
        try:
            answer: Any = parse_json(data)
        except ValueError:
            raise self._wrong("is no JSON") from None
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(count)):
                raise self._wrong(f"has not {count} vectors")
            return [self._unit_vector(row["embedding"]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._wrong("is not what an OpenAI-compatible endpoint gives") from None

    def _unit_vector(self, numbers: list[float]) -> bytes:
        """The numbers scaled to length 1, as float32; zeros stay zeros. Raises ModelUnavailable for no numbers, for one
        that is not finite, and for another count of numbers than before."""
        length = math.sqrt(sum(float(x) * float(x) for x in numbers))
        if not numbers or not math.isfinite(length):
            raise self._wrong("holds a vector without a direction")
        if self._dims and len(numbers) != self._dims:
            raise self._wrong(f"has vectors of {len(numbers)} numbers, not {self._dims}")
        self._dims = len(numbers)
        # Some servers return zeros for a text without a word that the model knows.
        return array("f", [x / (length or 1.0) for x in numbers]).tobytes()

    def _wrong(self, fault: str) -> ModelUnavailable:
        return self._server.wrong(fault, "is it an embeddings endpoint and model?")
