"""A conversation with an agent as turns, in the same form for every host. `transcript_parser` makes it from a host's
file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The speaker of a turn; the "speaker" of a tool's result is `tool`."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class By(StrEnum):
    """The author of a turn's text: its speaker, the host (reminders, instruction files, output of a local command), or
    a summary that replaced older turns."""

    SPEAKER = "speaker"
    HOST = "host"
    SUMMARY = "summary"


class FileRead(NamedTuple):
    """A file that a tool call read or edited. `path`: as the host spells it. `first`, `last`: its lines, 0 if the call
    names none."""

    path: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, or one tool result. `id`: of the entry. `line`: 1-based line in the transcript.
    `at`: time, None if unknown. `calls`: ids of the tool calls that it makes. `answers`: id of the tool call whose
    result it is, else "". `name`: name of the tool, or of the called tools separated by commas.

    `by`: who wrote the text. `answer`: an id that is equal for the parts of one answer that a host writes as several
    entries, "" if unknown. `files`: the files that its tool calls read or edited, if the calls name them.
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
    """A conversation. `turns`: in order. `session`: the session's id, "" if unknown. `skipped`: number of lines that
    were not understood. `too_long`: number of these that were too long. `unheard`: number of further lines that lost
    the words of a person or an agent because a text was too long. `lines`: each turn is on a line of its own; False for
    a transcript that is one object, which can be read but not rewritten."""

    turns: tuple[Turn, ...]
    session: str = ""
    skipped: int = 0
    too_long: int = 0
    lines: bool = True
    unheard: int = 0

    def spoken(self) -> list[Turn]:
        """The turns of people and agents with text: no tool output and no text of the host."""
        return [turn for turn in self.turns if turn.role is not Role.TOOL and turn.text and turn.by is By.SPEAKER]


def since(transcript: Transcript, start: datetime | None) -> Transcript:
    """The transcript without the turns before `start`; None for all turns. A turn without a time counts like the turn
    before it; turns before the first time stay."""
    if start is None:
        return transcript
    turns: list[Turn] = []
    is_late = True
    for turn in transcript.turns:
        if turn.at is not None:
            is_late = turn.at >= start
        if is_late:
            turns.append(turn)
    return replace(transcript, turns=tuple(turns))


def first_time(turns: Iterable[Turn]) -> datetime | None:
    """The time of the first turn that has one; None if none has."""
    return next((turn.at for turn in turns if turn.at is not None), None)


def dated(turns: Sequence[Turn], otherwise: datetime, now: datetime, zone: tzinfo | None = None) -> list[Turn]:
    """The turns, each with a time, never later than `now`.

    A turn without a time gets that of the turn before it; turns before the first time get the first time, or
    `otherwise` if no turn has one. `zone`: time zone of the results; None for the local zone, with the offset of each
    day.
    """
    moment = first_time(turns) or otherwise
    timed = []
    for turn in turns:
        if turn.at is not None:
            moment = turn.at
        timed.append(replace(turn, at=min(now, moment.astimezone(zone))))
    return timed
