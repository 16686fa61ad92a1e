"""Judges: language models that say of a statement how likely `yes` is, without writing a word. Values, one protocol.

What a judge is told, the rubric, is evaluated once; each statement then costs its own tokens only. The number of one
model says nothing beside that of another: whoever uses it calibrates it first (`promotion/judge_calibration`).
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

STATEMENT = 600  # characters of a statement that are judged: what it says in the beginning decides
BATCH = 8  # statements a question to the model: what a time-out can lose


JUDGES = {"gguf": "gitmem.models.gguf_judge"}  # by what stands before the colon: module with `open(rest, setting)`


@dataclass(frozen=True, slots=True)
class Rubric:
    """What statements are judged by: what the model is told, statements with the answer that is right (True: yes), and
    the two words it answers with."""

    system: str
    examples: tuple[tuple[str, bool], ...]
    yes: str = "yes"
    no: str = "no"


# The log-odds of `yes` for each statement, in order, as they come.
JudgeStatements = Callable[[Rubric, Sequence[str]], Iterator[float]]


class Judge(Protocol):
    """A model that judges statements; `id` names it in `Memory-Model` trailers and in what is kept of it."""

    @property
    def id(self) -> str: ...

    def run(self) -> AbstractContextManager[JudgeStatements]:
        """One run, whose time (`mem.modelSeconds`) is bounded from here on.

        What it gives yields log p(yes) - log p(no) for one statement after the other. That raises OutOfBudget where the
        time is used up, after it yielded what was judged, and ModelUnavailable where the model cannot be loaded or
        cannot judge.
        """


def open_judge(name: str, setting: Setting) -> Judge:
    """The judge that `gguf:/path/to.gguf` names. Raises ModelUnavailable for what cannot judge."""
    kind, _, rest = name.partition(":")
    if kind not in JUDGES or not rest:
        raise ModelUnavailable(
            Message("'{}' cannot judge statements: only gguf:<path> does", name),
            "git config --global mem.modelUse list",
        )
    judge: Judge = import_module(JUDGES[kind]).open(rest, setting)
    return judge
