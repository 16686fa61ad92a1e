"""What a promotion model is asked and what it may answer. Values and one protocol; no model is imported here.

A model only proposes. Whatever it says is checked by `gitmem.promotion.plan` before a byte of MEMORY.md changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Protocol

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact


class Op(StrEnum):
    """What a model may do with a line of a log."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Log:
    """One daily log. `new` are the 1-based lines to read; the others are context only.

    `day` is the date in its name; `origin` that of its front matter; `blob` the oid of its bytes.
    """

    path: str
    blob: str
    day: date
    lines: tuple[str, ...]
    new: frozenset[int]
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One proposal. `target` is the id of the fact an UPDATE or SUPERSEDE is about; `reason` says why, one line.

    `until` is an ISO date or empty. `odds`: the log-odds that its line is worth keeping, as far as another judge may
    change them; None where nothing may.
    """

    op: Op
    text: str
    sources: tuple[Span, ...]
    type: str = "fact"
    importance: float = 0.5
    until: str = ""
    target: str = ""
    reason: str = ""
    pinned: bool = False
    origin: str = ""
    odds: float | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a model answered: its operations, and notes for the person (cut replies, limits that were reached).

    `whole` is False where lines were left unread; they are read again in the next run. `unreadable` is what was wrong
    with the answers where none of them could be read, "" else.
    """

    operations: tuple[Operation, ...]
    notes: tuple[str, ...] = ()
    whole: bool = True
    unreadable: str = ""


class Model(Protocol):
    """A promotion model; `id` goes into `Memory-Model` (`rules/1`)."""

    @property
    def id(self) -> str: ...

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """Operations for the new lines of `logs`, given the facts that are there. Raises ModelUnavailable."""
