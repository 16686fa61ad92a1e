"""`http:<url>#<model>`: an OpenAI-compatible chat endpoint (extra `remote`). Opt-in by its name, never a fallback.

Only log lines the gate has nothing against and short facts are sent, redacted, never whole files; each place is in
the egress log before it leaves. `http:https://api.example.org/v1#name` posts to `.../v1/chat/completions`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gitmem.egress import record
from gitmem.errors import BadConfig, GitMemError, ModelUnavailable
from gitmem.models.asking import REPLY_LIMIT, REPLY_TOKENS, OutOfBudget, Prompt, Reply, ask
from gitmem.models.cache import Cache
from gitmem.models.protocol import Log, Proposal
from gitmem.types import Fact

if TYPE_CHECKING:
    from gitmem.models import Setting

TRIES = 4
TIMEOUT = 60.0  # seconds for one request
LONGEST_WAIT = 20.0  # seconds before a next try, whatever the server says
LOOPBACK = ("localhost", "127.0.0.1", "::1")
BODY = 4 * REPLY_LIMIT  # bytes of an answer that are read


def open(address: str, setting: Setting) -> HttpModel:
    """The model of `<url>#<model>`. Raises BadConfig for another form, ModelUnavailable without its key or a log."""
    url, _, model = address.partition("#")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not model or parts.username:
        raise BadConfig(
            "a model's endpoint is http:<url>#<model>", "git config --global mem.model http:https://HOST/v1#MODEL"
        )
    key = _key(setting.config.http_key_file)
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig("the key is not sent over plain http", "use https, or unset mem.httpKeyFile")
    if setting.state is None:
        raise ModelUnavailable("nothing is sent without a place for the egress log")
    return HttpModel(url.rstrip("/"), model, key, setting)


def _key(file: str) -> str:
    if not file:
        return ""
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ModelUnavailable(
            "mem.httpKeyFile cannot be read", "git config --global mem.httpKeyFile <path of a file with the key>"
        ) from None


class HttpModel:
    """Requests one at a time, with time and tokens of the run bounded."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        setting: Setting,
        *,
        transport: Any = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        parts = urlsplit(url)
        self.provider = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        self.id = f"http:{self.provider}#{model}"
        self._url, self._model, self._key, self.setting = url, model, key, setting
        self._transport, self._sleep, self._now = transport, sleep, now
        self._tokens = setting.config.model_tokens
        self._deadline = 0.0
        self._cache = Cache(setting.state, self.id)

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """Ask batch by batch. Raises ModelUnavailable where the endpoint gives no answer."""
        self._deadline = time.monotonic() + self.setting.config.model_seconds
        redact = self.setting.redact
        shown = [replace(fact, text=redact(fact.text, "MEMORY.md")) for fact in existing]
        return ask(logs, shown, lambda text, path: redact(text, path) == text, self._complete)

    def _complete(self, prompt: Prompt) -> Reply:
        known = self._cache.get(prompt)
        if known is not None:
            return known
        if self._tokens <= 0:
            raise OutOfBudget("the run's tokens (mem.modelTokens) are used up")
        assert self.setting.state is not None
        origins = dict.fromkeys((source.log.path, source.log.blob) for source in prompt.sources)
        try:
            record(self.setting.state, self._now(), self.provider, origins)
        except GitMemError as error:
            raise ModelUnavailable(error.message, error.hint) from None
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "temperature": 0,
            "max_tokens": min(REPLY_TOKENS, self._tokens),
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "facts", "strict": True, "schema": prompt.schema},
            },
        }
        reply = self._reply(self._post(body))
        self._tokens -= reply.tokens or REPLY_TOKENS
        self._cache.put(prompt, reply)
        return reply

    def _post(self, body: dict[str, Any]) -> Any:
        try:
            import httpx
        except ImportError:
            raise ModelUnavailable(
                "an endpoint needs httpx, which is not installed", "pip install 'git-mem[remote]'"
            ) from None
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        trouble = ""
        # No redirects: what was allowed is this host, not where it points to.
        with httpx.Client(timeout=TIMEOUT, follow_redirects=False, transport=self._transport) as client:
            for attempt in range(TRIES):
                if time.monotonic() >= self._deadline:
                    raise OutOfBudget("the run took longer than mem.modelSeconds allows")
                wait = min(2.0**attempt, LONGEST_WAIT)
                try:
                    with client.stream("POST", f"{self._url}/chat/completions", json=body, headers=headers) as answer:
                        data = b""
                        for piece in answer.iter_bytes():
                            data += piece
                            if len(data) > BODY:
                                raise OutOfBudget(f"the answer of {self.provider} was longer than {BODY} bytes")
                            if time.monotonic() >= self._deadline:
                                raise OutOfBudget("the run took longer than mem.modelSeconds allows")
                except httpx.HTTPError as error:
                    trouble = type(error).__name__
                else:
                    if answer.status_code == 200:
                        return data
                    trouble = f"HTTP {answer.status_code}"
                    if answer.status_code not in (408, 409, 425, 429) and answer.status_code < 500:
                        break
                    after = answer.headers.get("retry-after", "")
                    wait = min(float(after), LONGEST_WAIT) if after.isdigit() else wait
                if attempt + 1 < TRIES:
                    self._sleep(wait)
        raise ModelUnavailable(
            f"{self.provider} gave no answer ({trouble})", "check the address, the model's name and mem.httpKeyFile"
        )

    def _reply(self, data: bytes) -> Reply:
        import json

        try:
            value = json.loads(data)
            choice = value["choices"][0]
            text = choice["message"]["content"]
            tokens = value.get("usage", {}).get("completion_tokens", 0)
            return Reply(text if isinstance(text, str) else "", choice.get("finish_reason") == "length", int(tokens))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise ModelUnavailable(
                f"the answer of {self.provider} is not what an OpenAI-compatible endpoint gives"
            ) from None
