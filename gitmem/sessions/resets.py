"""End the sessions that nobody ended and that are over by `mem.sessionReset`, each with a flush and an episode.

Turns that a host adds to such a session later form a new part with an episode of its own.
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
from gitmem.json_values import json_keys
from gitmem.regular_file import read_regular
from gitmem.sessions.lifecycle import Source, end_session
from gitmem.sessions.rolling_summary import MARK_TURNS, turn_key
from gitmem.sessions.state import State, all_states, load_state, save_state

LocalTime = Callable[[datetime], datetime]  # a time without a zone -> the same time in the person's zone on that day


class Reset(StrEnum):
    """The values of `mem.sessionReset`: when a session counts as over. DAILY: a new day began after its last activity.
    IDLE: nothing happened for some minutes. EITHER: one of the two."""

    NEVER = "never"
    DAILY = "daily"
    IDLE = "idle"
    EITHER = "either"


@json_keys("session reason episode? kept problem?")
@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that was ended. `reason`: why it was over. `episode`: path, "" for a session without statements.
    `kept`: number of lines that the flush wrote. `problem`: why it could not be ended completely, "" if it could.

    JSON: `episode`: null if nothing was said. `kept`: how many lines were written. `problem`: why it could not be
    ended in full.
    """

    session: str
    reason: str
    episode: str = ""
    kept: int = 0
    problem: str = ""


def reason_to_end(
    policy: Reset, seen: datetime, now: datetime, *, hour: int, minutes: int, local: LocalTime
) -> str:  # fmt: skip
    """A sentence that says why a session that was last active at `seen` is over at `now`; "" if it is not over.

    Daily: the latest `hour` o'clock in the person's time zone is after `seen`. Idle: `minutes` have passed since
    `seen`. `local`: adds the person's time zone to a time, with the offset of that day, because daylight saving time
    changes it.
    """
    if seen >= now:
        return ""
    if policy in (Reset.DAILY, Reset.EITHER) and seen < _day_began(now, hour, local):
        return f"a new day began at {hour:02}:00"
    if policy in (Reset.IDLE, Reset.EITHER) and now - seen >= timedelta(minutes=minutes):
        return f"nothing happened for {minutes} minutes"
    return ""


def _day_began(now: datetime, hour: int, local: LocalTime) -> datetime:
    """The latest `hour` o'clock, in the person's time zone, at or before `now`."""
    today = datetime.combine(now.date(), time(hour))
    start = local(today)
    return start if start <= now else local(today - timedelta(days=1))


def end_due(
    repo: Repository, config: Config, now: datetime, local: LocalTime, transcripts: Mapping[str, Transcript]
) -> list[EndedSession]:
    """End each session that is over at `now`; returns the ended sessions, the longest inactive first.

    `transcripts`: session name -> transcript that the caller has already read; others are read from the file that the
    session's state names. The episode gets the time of the session's last activity. A second call has no effect. [] in
    a bare repository. Raises Locked if another process goes on ending sessions, GitMemError or OSError if the state of
    a session cannot be stored; a session whose memory cannot be written has the reason in its `problem`.
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
    """Flush and end one session as of its last activity, and store that its part has ended. `transcript`: None to read
    it from the file that the state names."""
    assert state.seen is not None
    problem, path, line_count = "", "", 0
    if transcript is None:
        transcript, problem = _stored_transcript(state)
    finished = _turns_until(transcript, state, state.seen)
    try:
        flushed, path = end_session(repo, config, finished, Source(session=state.name), now=state.seen, wait=0)
        line_count = len(flushed.kept)
    except Locked as error:  # the next event ends it
        return EndedSession(state.name, reason, problem=error.message)
    except GitMemError as error:
        problem = error.message
    stored = load_state(repo.common_dir, state.name)
    keys = tuple(turn_key(turn) for turn in finished.spoken())
    updated = replace(
        stored, part=stored.part + bool(keys), closed=keys[-MARK_TURNS:] or stored.closed, seen=state.seen, ended=True
    )  # fmt: skip
    save_state(repo.common_dir, state.name, updated)
    return EndedSession(state.name, reason, path, line_count, problem)


def _stored_transcript(state: State) -> tuple[Transcript, str]:
    """The transcript in the file that a session's state names (no turns if it names none or the file cannot be read),
    and why it cannot be read, "" if there is no problem."""
    if not state.transcript:
        return Transcript(()), ""
    try:
        return parse(read_regular(Path(state.transcript))), ""
    except OSError as error:
        return Transcript(()), f"its transcript cannot be read: {error.strerror}"


def _turns_until(transcript: Transcript, state: State, seen: datetime) -> Transcript:
    """The transcript without the turns after the session's last activity `seen`. A turn without a time is later if the
    state does not have its key."""
    spoken = {id(turn) for turn in transcript.spoken()}
    turns: list[Turn] = []
    for turn in transcript.turns:
        if turn.at is not None:
            late = turn.at > seen
        else:
            late = bool(state.turns) and turn_key(turn) not in state.turns
        if id(turn) in spoken and late:
            break
        turns.append(turn)
    return replace(transcript, turns=tuple(turns))
