"""`gguf:<path>` as a judge: the rubric is evaluated once in the child process, then each statement by itself.

Nothing is generated, so nothing can be invented, and a statement costs the time of its own tokens. What was judged is
kept (`judgement_cache`). Nothing leaves this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message
from gitmem.models.gguf_parameters import parameters
from gitmem.models.judgement_cache import Judgements
from gitmem.models.judging import BATCH, STATEMENT, JudgeStatements, Rubric
from gitmem.models.language import Setting
from gitmem.models.llama_process import CHILD, LlamaProcess, model_file, name_of

SMALL = 4_000_000_000  # parameters below which a model judges unless it is told otherwise
CONTEXT = 4096  # tokens: the rubric takes about a thousand, and a third more in languages a model knows badly


def open(path: str, setting: Setting) -> GgufJudge:
    """The judge of a file. Raises ModelUnavailable: no file, no llama.cpp."""
    return GgufJudge(model_file(path), setting)


def judges_by_default(path: str) -> bool:
    """Whether the model of a file is too small to be asked for lists. Raises ModelUnavailable as `open` does."""
    return parameters(model_file(path)) < SMALL


class GgufJudge:
    """A model in a file; its child process starts with the first statement that nothing is kept of."""

    def __init__(self, file: Path, setting: Setting, *, child: Sequence[str] = CHILD, context: int = CONTEXT) -> None:
        self.setting = setting
        self.id = name_of(file)
        self.process = LlamaProcess(file, setting.environ, child=child, context=context)

    @contextmanager
    def run(self) -> Iterator[JudgeStatements]:
        """As the protocol has it; the child ends with the run."""
        self.process.begin(self.setting.config.model_seconds)
        try:
            yield self._judge
        finally:
            self.process.finish()

    def _judge(self, rubric: Rubric, statements: Sequence[str]) -> Iterator[float]:
        kept = Judgements(self.setting.state, self.id, rubric)
        cut = [statement[:STATEMENT] for statement in statements]
        told = False
        start = 0
        while start < len(cut):
            # The first question of a run is one statement: a run of few seconds gets past it, and it is kept.
            batch = cut[start : start + (BATCH if told else 1)]
            start += len(batch)
            new = [each for each in dict.fromkeys(batch) if kept.get(each) is None]
            if new and not (told and self.process.alive):
                self.process.prepare(
                    {"system": rubric.system, "examples": rubric.examples, "words": (rubric.yes, rubric.no)}
                )
                told = True
            if new:
                kept.put(dict(zip(new, self._answers(new), strict=True)))
            for each in batch:
                judged = kept.get(each)
                assert judged is not None
                yield judged

    def _answers(self, statements: Sequence[str]) -> list[float]:
        given = self.process.ask({"statements": list(statements)}).get("log_odds")
        if not isinstance(given, list) or len(given) != len(statements):
            raise ModelUnavailable(
                Message("the model '{}' gave no judgement for each statement", self.process.file.name)
            )
        if not all(isinstance(each, (int, float)) and isfinite(each) for each in given):
            raise ModelUnavailable(
                Message("the model '{}' gives no usable numbers", self.process.file.name), "is it damaged?"
            )
        return [float(each) for each in given]
