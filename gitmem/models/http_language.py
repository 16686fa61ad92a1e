"""`http:<url>#<model>`: an OpenAI-compatible chat endpoint (extra `remote`). Opt-in by its name, never a fallback.

Only short facts and log lines that pass the gate are sent, redacted, never whole files; the source of each is written
to the egress log first. `http:https://api.example.org/v1#name` posts to `.../v1/chat/completions`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gitmem.errors import ModelUnavailable
from gitmem.json_values import parse_json
from gitmem.models import endpoint
from gitmem.models.endpoint import Endpoint, ErrorStatus, LimitExceeded, RequestLimits
from gitmem.models.language import MAX_REPLY_CHARACTERS, MAX_REPLY_TOKENS, Complete, OutOfBudget, Prompt, Reply, Setting
from gitmem.models.reply_cache import ReplyCache

# Ways to ask a server for a JSON reply, the strictest first. If a server refuses one, the next is used.
FORMATS: tuple[Callable[[Mapping[str, Any]], dict[str, Any]], ...] = (
    lambda schema: {
        "response_format": {"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": schema}}
    },
    lambda schema: {"response_format": {"type": "json_object", "schema": schema}},  # llama_cpp.server, and others
    lambda schema: {},
)
UNKNOWN_FORMAT = (400, 404, 415, 422, 500, 501)  # statuses with which servers refuse an unknown `response_format`
MAX_ANSWER_BYTES = 4 * MAX_REPLY_CHARACTERS


def open(address: str, setting: Setting) -> HttpModel:
    """The model of an address `<url>#<model>`. Raises BadConfig for another form, ModelUnavailable if its key cannot be
    read or there is no folder for the egress log."""
    url, model = endpoint.parse(address, "git config --global mem.model http:https://HOST/v1#MODEL")
    key = endpoint.read_key(url, setting.config.http_key_file)
    if setting.state is None:
        raise ModelUnavailable("nothing is sent without a place for the egress log")
    server = Endpoint(url, model, key, timeout=None, mask=lambda words: setting.redact(words, "reply"))
    return HttpModel(server, setting)


class HttpModel:
    """A language model at an endpoint. It sends one request at a time, within the time and token limits of a run."""

    def __init__(self, server: Endpoint, setting: Setting) -> None:
        self.id = f"http:{server.provider}#{server.model}"
        self.setting = setting
        self._server = server
        self._tokens = setting.config.model_tokens
        self._deadline = 0.0
        self._format = 0
        self._cache = ReplyCache(setting.state, self.id)

    @contextmanager
    def run(self) -> Iterator[Complete]:
        """Start a run of at most `mem.modelSeconds`; the value of the `with` statement is a function that replies to a
        prompt (`LanguageModel.run`)."""
        self._deadline = time.monotonic() + self.setting.config.model_seconds
        yield self._complete

    def _complete(self, prompt: Prompt) -> Reply:
        """The reply to a prompt, from the cache or the server; it is cached and its tokens are taken from the budget.
        Raises OutOfBudget at the time limit, and for an answer that is late or too long."""
        cached = self._cache.known(prompt, self._tokens)
        if cached is not None:
            return cached
        if time.monotonic() >= self._deadline:
            raise OutOfBudget("the run took longer than mem.modelSeconds allows")
        try:
            data = self._send(prompt)
        except LimitExceeded as error:
            raise OutOfBudget(error.message) from None
        reply = self._reply(data)
        self._tokens -= reply.tokens or MAX_REPLY_TOKENS
        self._cache.put(prompt, reply)
        return reply

    def _send(self, prompt: Prompt) -> bytes:
        """The server's response, in the strictest of FORMATS that it takes. A refused format is not tried again."""
        body = {
            "model": self._server.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "temperature": 0,
            "max_tokens": min(MAX_REPLY_TOKENS, self._tokens),
        }
        while True:
            last = self._format + 1 == len(FORMATS)
            try:
                return self._server.post(
                    "chat/completions", {**body, **FORMATS[self._format](prompt.schema)},
                    RequestLimits(MAX_ANSWER_BYTES, self._deadline, final_statuses=() if last else UNKNOWN_FORMAT),
                    state=self.setting.state, origins=prompt.origins,
                )  # fmt: skip
            except ErrorStatus as error:
                if last or error.status not in UNKNOWN_FORMAT:
                    raise
                self._format += 1

    def _reply(self, data: bytes) -> Reply:
        try:
            value = parse_json(data)
            choice = value["choices"][0]
            text = choice["message"]["content"]
            tokens = value.get("usage", {}).get("completion_tokens", 0)
            if not isinstance(text, str):
                text = ""
            return Reply(text, choice.get("finish_reason") == "length", int(tokens))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise self._server.wrong("is not what an OpenAI-compatible endpoint gives") from None
