"""End the sessions that nobody ended and that are due by `mem.sessionReset`, each with a flush and an episode.

Later turns of such a session are a new part with an episode of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from enum import StrEnum
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitMemError, Locked
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.hosts.transcript import Transcript, Turn
from gitmem.hosts.transcript_parser import parse
from gitmem.json_values import json_object
from gitmem.regular_file import read_regular
from gitmem.sessions.lifecycle import Source, end
from gitmem.sessions.rolling_summary import MARK_TURNS, key
from gitmem.sessions.state import State, all_states, load_state, save_state

LocalTime = Callable[[datetime], datetime]  # a time without a zone -> the same time in the person's zone on that day


class Reset(StrEnum):
    """`mem.sessionReset`."""

    NEVER = "never"
    DAILY = "daily"
    IDLE = "idle"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that was ended: the reason, its episode ("" for a session without statements), and its written lines.

    `problem`: why it was not ended completely, "" if it was.
    """

    session: str
    reason: str
    episode: str = ""
    kept: int = 0
    problem: str = ""

    def as_value(self) -> dict[str, str | int | None]:
        """`reset` of docs/json.md."""
        return json_object(self, "session reason episode? kept problem?")


def reason_to_end(
    policy: Reset, seen: datetime, now: datetime, *, hour: int, minutes: int, local: LocalTime
) -> str:  # fmt: skip
    """Why a session that was last active at `seen` is over at `now`; "" if it is not.

    Daily: `hour` o'clock in the person's zone has passed since. Idle: `minutes` have passed since. `local` applies the
    offset of the day, which daylight saving time changes.
    """
    if seen >= now:
        return ""
    if policy in (Reset.DAILY, Reset.EITHER) and seen < _day_began(now, hour, local):
        return f"a new day began at {hour:02}:00"
    if policy in (Reset.IDLE, Reset.EITHER) and now - seen >= timedelta(minutes=minutes):
        return f"nothing happened for {minutes} minutes"
    return ""


def _day_began(now: datetime, hour: int, local: LocalTime) -> datetime:
    """The latest `hour` o'clock at or before `now`."""
    today = datetime.combine(now.date(), time(hour))
    start = local(today)
    if start <= now:
        return start
    return local(today - timedelta(days=1))


def end_due(
    repo: Repository, config: Config, now: datetime, local: LocalTime, transcripts: Mapping[str, Transcript]
) -> list[EndedSession]:
    """End each session that is over at `now`.

    `transcripts`: session name -> transcript that is already read. The episode gets the day of the session's last
    activity. A second call has no effect. Raises Locked while another process ends sessions; a failure of one session
    is in its `problem`.
    """
    policy = Reset(config.session_reset)
    if policy is Reset.NEVER or repo.root is None or not (repo.common_dir / "gitmem/sessions").is_dir():
        return []
    ended = []
    with locked(repo.common_dir, "sessions"):
        for state in all_states(repo.common_dir, now):
            if state.ended or state.seen is None:
                continue
            hour, minutes = config.session_hour, config.session_idle
            reason = reason_to_end(policy, state.seen, now, hour=hour, minutes=minutes, local=local)
            if reason:
                ended.append(_end(repo, config, state, reason, transcripts.get(state.name)))
    return ended


def _end(
    repo: Repository, config: Config, state: State, reason: str, transcript: Transcript | None
) -> EndedSession:  # fmt: skip
    assert state.seen is not None
    problem, path, kept = "", "", 0
    if transcript is None:
        transcript, problem = _remembered(state)
    old = _until(transcript, state, state.seen)
    try:
        flushed, path = end(repo, config, old, Source(session=state.name), now=state.seen, wait=0)
        kept = len(flushed.kept)
    except Locked as error:  # the next event ends it
        return EndedSession(state.name, reason, problem=error.message)
    except GitMemError as error:
        problem = error.message
    last = load_state(repo.common_dir, state.name)
    keys = tuple(key(turn) for turn in old.spoken())
    after = replace(
        last, part=last.part + bool(keys), closed=keys[-MARK_TURNS:] or last.closed, seen=state.seen, ended=True
    )  # fmt: skip
    save_state(repo.common_dir, state.name, after)
    return EndedSession(state.name, reason, path, kept, problem)


def _remembered(state: State) -> tuple[Transcript, str]:
    """The transcript that a session's state names, and why it cannot be read ("" if it can, or none is named)."""
    if not state.transcript:
        return Transcript(()), ""
    try:
        return parse(read_regular(Path(state.transcript))), ""
    except OSError as error:
        return Transcript(()), f"its transcript cannot be read: {error.strerror}"


def _until(transcript: Transcript, state: State, seen: datetime) -> Transcript:
    """The turns up to the session's last activity, by their times, else by which turns were read then."""
    spoken = {id(turn) for turn in transcript.spoken()}
    turns: list[Turn] = []
    for turn in transcript.turns:
        if turn.at is not None:
            late = turn.at > seen
        else:
            late = bool(state.turns) and key(turn) not in state.turns
        if id(turn) in spoken and late:
            break
        turns.append(turn)
    return replace(transcript, turns=tuple(turns))
