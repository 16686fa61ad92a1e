"""The protocol of judges and its values. A judge gives the log-odds of `yes` for a statement, and generates no text.

The model evaluates the rubric once; each statement then costs its own tokens only. The numbers of two models cannot be
compared, so callers calibrate them first (`promotion/judge_calibration`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.models.language import Setting

MAX_STATEMENT_CHARACTERS = 600  # maximum characters of a statement that are judged
STATEMENTS_PER_REQUEST = 8  # statements of one request; a time-out loses at most these
JUDGES = {"gguf": "gitmem.models.gguf_judge"}  # part of a setting before the colon -> module with `open(rest, setting)`


@dataclass(frozen=True, slots=True)
class Rubric:
    """The task of a judge. `system`: the instruction. `examples`: (statement, whether the answer is yes). `yes`, `no`:
    the two words that an answer can be."""

    system: str
    examples: tuple[tuple[str, bool], ...]
    yes: str = "yes"
    no: str = "no"


# Yields the log-odds of `yes` for each statement, in order.
JudgeStatements = Callable[[Rubric, Sequence[str]], Iterator[float]]


class Judge(Protocol):
    """A model that judges statements. `id`: its name in `Memory-Model` trailers and in the cache."""

    @property
    def id(self) -> str: ...

    def run(self) -> AbstractContextManager[JudgeStatements]:
        """Start a run, which may take `mem.modelSeconds` in all.

        The value of the `with` statement is a function that yields log p(yes) - log p(no) for each statement. It raises
        OutOfBudget after the time limit, when it has yielded the numbers it has, and ModelUnavailable if the model
        cannot be loaded or cannot judge.
        """


def open_judge(name: str, setting: Setting) -> Judge:
    """The judge of a setting `gguf:/path/to.gguf`. Raises ModelUnavailable for any other kind of model, if there is no
    such file, it cannot be read, or llama-cpp-python is not installed."""
    kind, _, path = name.partition(":")
    if kind not in JUDGES or not path:
        raise ModelUnavailable(
            Message("'{}' cannot judge statements: only gguf:<path> does", name),
            "git config --global mem.modelUse list",
        )
    judge: Judge = import_module(JUDGES[kind]).open(path, setting)
    return judge
