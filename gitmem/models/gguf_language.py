"""`gguf:<path>`: a language model in a file, run by llama.cpp (extra `llama`) in a child process.

The JSON schema of the prompt constrains the reply. A run has limits of time and tokens, and a child that misses its
deadline is killed. Nothing leaves this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gitmem.models.language import MAX_REPLY_TOKENS, Complete, OutOfBudget, Prompt, Reply, Setting
from gitmem.models.llama_process import CHILD, LlamaProcess, model_file, model_id
from gitmem.models.reply_cache import ReplyCache


def open(path: str, setting: Setting) -> GgufModel:
    """The model of a file. Raises ModelUnavailable if there is no such file, it cannot be read, or llama-cpp-python
    is not installed."""
    return GgufModel(model_file(path), setting)


class GgufModel:
    """A language model in a file. A child process runs it: it starts with the first prompt of a run that is not cached
    and ends with the run."""

    def __init__(self, file: Path, setting: Setting, *, child: Sequence[str] = CHILD, context: int = 0) -> None:
        self.setting = setting
        self.id = model_id(file)
        self.process = LlamaProcess(file, setting.environ, child=child, context=context)
        self._tokens = setting.config.model_tokens
        self._cache = ReplyCache(setting.state, self.id)

    @contextmanager
    def run(self) -> Iterator[Complete]:
        """Start a run of at most `mem.modelSeconds`; the value of the `with` statement is a function that replies to a
        prompt (`LanguageModel.run`)."""
        with self.process.run(self.setting.config.model_seconds):
            yield self._complete

    def _complete(self, prompt: Prompt) -> Reply:
        """The reply to a prompt, from the cache or the model. At the limit of time or of an answer's bytes it is the
        text so far, marked as cut; without any text OutOfBudget is raised. Any other reply takes its tokens from the
        budget, and is cached as `ReplyCache.put` says."""
        cached = self._cache.known(prompt, self._tokens)
        if cached is not None:
            return cached
        request = {
            "system": prompt.system, "user": prompt.user, "schema": prompt.schema,
            "max_tokens": min(MAX_REPLY_TOKENS, self._tokens),
        }  # fmt: skip
        pieces: list[str] = []
        try:
            answer = self.process.ask(request, pieces)
        except OutOfBudget as error:
            if not pieces:
                raise
            return Reply("".join(pieces), cut=True, tokens=len(pieces), stopped=str(error))
        reply = Reply(
            str(answer.get("text", "")), bool(answer.get("cut")), int(answer.get("tokens", 0)),
            bool(answer.get("too_long")),
        )  # fmt: skip
        self._tokens -= reply.tokens
        self._cache.put(prompt, reply)
        return reply
