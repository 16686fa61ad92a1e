"""`gguf:<path>` as a judge: a child process evaluates the rubric once, and then each statement after it.

The model generates no text, so it can invent nothing, and a statement takes only the time of its own tokens. Judgements
are cached (`judgement_cache`). Nothing leaves this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message
from gitmem.models.gguf_parameters import parameters
from gitmem.models.judgement_cache import JudgementCache, judge_key
from gitmem.models.judging import MAX_STATEMENT_CHARACTERS, STATEMENTS_PER_REQUEST, JudgeStatements, Rubric
from gitmem.models.language import Setting
from gitmem.models.llama_process import CHILD, LlamaProcess, model_file, model_id

SMALL_MODEL_PARAMETERS = 4_000_000_000  # a model with fewer judges by default
CONTEXT_TOKENS = 4096  # the rubric takes about 1,000, and a third more in languages that the model tokenizes badly


def open(path: str, setting: Setting) -> GgufJudge:
    """The judge of a file. Raises ModelUnavailable if there is no such file, it cannot be read, or llama-cpp-python
    is not installed."""
    return GgufJudge(model_file(path), setting)


def judges_by_default(path: str) -> bool:
    """Whether the model in a file is small, so that it judges statements by default: a small model cannot write lists
    of facts well. Raises ModelUnavailable as `open` does, and for a file that is not GGUF."""
    return parameters(model_file(path)) < SMALL_MODEL_PARAMETERS


class GgufJudge:
    """A judge whose model is in a file. A child process runs the model: it starts with the first statement that is not
    cached and ends with the `run`."""

    def __init__(
        self, file: Path, setting: Setting, *, child: Sequence[str] = CHILD, context: int = CONTEXT_TOKENS
    ) -> None:
        self.setting = setting
        self.id = model_id(file)
        self.process = LlamaProcess(file, setting.environ, child=child, context=context)

    @contextmanager
    def run(self) -> Iterator[JudgeStatements]:
        """Start a run of at most `mem.modelSeconds`; the value of the `with` statement is a function that yields the
        log-odds of each statement (`Judge.run`)."""
        with self.process.run(self.setting.config.model_seconds):
            yield self._judge

    def _judge(self, rubric: Rubric, statements: Sequence[str]) -> Iterator[float]:
        """The log odds of each statement, in order, cut to MAX_STATEMENT_CHARACTERS. Cached ones are not asked for; new
        ones are asked for in batches and cached."""
        cache = JudgementCache(self.setting.state, judge_key(self.id, rubric))
        cut = [statement[:MAX_STATEMENT_CHARACTERS] for statement in statements]
        is_prepared = False
        batch_size = 1  # of the first request, so that even a run of a few seconds caches a judgement
        start = 0
        while start < len(cut):
            batch = cut[start : start + batch_size]
            start += len(batch)
            uncached = [statement for statement in dict.fromkeys(batch) if cache.get(statement) is None]
            if uncached and not (is_prepared and self.process.alive):
                self.process.prepare(
                    {"system": rubric.system, "examples": rubric.examples, "words": (rubric.yes, rubric.no)}
                )
                is_prepared, batch_size = True, STATEMENTS_PER_REQUEST
            if uncached:
                cache.put(dict(zip(uncached, self._log_odds(uncached), strict=True)))
            for statement in batch:
                log_odds = cache.get(statement)
                assert log_odds is not None
                yield log_odds

    def _log_odds(self, statements: Sequence[str]) -> list[float]:
        """The log odds of these statements by the model. Raises ModelUnavailable unless it gives a finite number for
        each."""
        values = self.process.ask({"statements": list(statements)}).get("log_odds")
        if not isinstance(values, list) or len(values) != len(statements):
            raise ModelUnavailable(
                Message("the model '{}' gave no judgement for each statement", self.process.file.name)
            )
        if not all(isinstance(value, (int, float)) and isfinite(value) for value in values):
            raise ModelUnavailable(
                Message("the model '{}' gives no usable numbers", self.process.file.name), "is it damaged?"
            )
        return list(map(float, values))
