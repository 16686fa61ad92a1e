"""A conversation with an agent as turns, the same for every host. `transcript_parser` makes it from a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The speaker of a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class By(StrEnum):
    """Who wrote the words of a turn: its speaker, the host (reminders, instruction files, output of a local command),
    or a summary that replaced older turns."""

    SPEAKER = "speaker"
    HOST = "host"
    SUMMARY = "summary"


class FileRead(NamedTuple):
    """A file that a tool call read or edited. `path`: as the host spells it. The lines are 0 when the call names
    none."""

    path: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said. `calls` are ids of the tool calls it makes, `answers` the one it answers; `line` is 1-based.

    `answer` is the same for the parts of one answer that a host writes as entries of their own. `by` tells what a
    person or the agent said from what the host put in their mouths. `files` are those its calls read or edited, as far
    as the host's calls name them.
    """

    id: str
    role: Role
    text: str
    line: int
    at: datetime | None = None
    calls: tuple[str, ...] = ()
    answers: str = ""
    name: str = ""
    by: By = By.SPEAKER
    answer: str = ""
    files: tuple[FileRead, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns in order, the session's id, and how many lines were not understood, `too_long` of them for their
    length. `unheard`: how many further lines lost the words of a person or an agent to their length. Without `lines` it
    is one object, whose turns have no line of their own: it can be read, not rewritten."""

    turns: tuple[Turn, ...]
    session: str = ""
    skipped: int = 0
    too_long: int = 0
    lines: bool = True
    unheard: int = 0

    def spoken(self) -> list[Turn]:
        """What people and the agent said: neither tool output nor words of the host."""
        return [turn for turn in self.turns if turn.role is not Role.TOOL and turn.text and turn.by is By.SPEAKER]


def since(transcript: Transcript, start: datetime | None) -> Transcript:
    """The turns from `start` on; one without a time goes with the turn before it, and the first ones stay."""
    if start is None:
        return transcript
    kept: list[Turn] = []
    late = True
    for turn in transcript.turns:
        if turn.at is not None:
            late = turn.at >= start
        if late:
            kept.append(turn)
    return replace(transcript, turns=tuple(kept))


def first_time(turns: Iterable[Turn]) -> datetime | None:
    """When the first turn that has a time was said; None where none has."""
    return next((turn.at for turn in turns if turn.at is not None), None)


def dated(turns: Sequence[Turn], otherwise: datetime, now: datetime, zone: tzinfo | None = None) -> list[Turn]:
    """The turns, each with the time at which it was said, never later than `now`.

    One without a time has that of the turn before it, the first ones that of the first that has one, else `otherwise`.
    In `zone`; None is that of this machine, which knows what its offset was on each day.
    """
    when = first_time(turns) or otherwise
    timed = []
    for turn in turns:
        if turn.at is not None:
            when = turn.at
        timed.append(replace(turn, at=min(now, when.astimezone(zone))))
    return timed
