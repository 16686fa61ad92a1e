"""The input and the output of a promotion model: values and one protocol. No model is imported here.

A model only proposes operations. `gitmem.promotion.plan` checks each of them before MEMORY.md changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Protocol

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact, fact_id


class Op(StrEnum):
    """The operations of a model: add a fact, correct one, replace one, or skip the line."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Log:
    """One daily log, or an episode that is read like one."""

    path: str
    blob: str  # oid of its bytes
    day: date  # the date in its name
    lines: tuple[str, ...]
    new: frozenset[int]  # numbers, from 1, of the lines to promote from; the others are context
    origin: str = ""  # of its front matter


@dataclass(frozen=True, slots=True)
class Operation:
    """One proposed change of MEMORY.md, or a line that the model skips."""

    op: Op
    text: str  # of the new fact, or of the skipped line
    sources: tuple[Span, ...]  # the lines of logs that say it
    type: str = "fact"
    importance: float = 0.5  # 0 to 1
    until: str = ""  # ISO date of the last day on which it is true, "" for none
    target: str = ""  # id of the fact that an UPDATE or SUPERSEDE changes
    reason: str = ""  # why, one line
    pinned: bool = False  # whether the new fact shall be pinned
    origin: str = ""  # one of `fact.ORIGINS`, "" if unknown
    odds: float | None = None  # log-odds that the line is worth keeping; None when a judge may not change the operation
    type_guessed: bool = False  # no label, comment or deciding cue states the type: a replacement keeps the old one

    @property
    def id(self) -> str:
        """The id of the fact with this text; "" without one."""
        if not self.text:
            return ""
        return fact_id(self.text)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The answer of a promotion model."""

    operations: tuple[Operation, ...]
    notes: tuple[str, ...] = ()  # sentences for a person: replies that were cut, limits that were reached
    complete: bool = True  # False when lines were not read; the next run reads them again
    unreadable: str = ""  # what was wrong with the replies, when none of them could be read


class Model(Protocol):
    """A promotion model. `id`: its name and version for the trailer `Memory-Model`, such as `rules/1`."""

    @property
    def id(self) -> str: ...

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """Propose operations for the new lines of `logs`. `existing`: the facts of MEMORY.md. Raises ModelUnavailable
        if the model cannot be asked."""
