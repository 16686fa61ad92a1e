"""Ending the sessions that nobody ended: those whose day or whose time is over (`mem.sessionReset`), with a flush and
an episode each. What a session says afterwards is a new part of it, with an episode of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.regular_file import read_regular
from gitmem.git.worktree import locked
from gitmem.hosts.transcript import Transcript, Turn, parse
from gitmem.sessions.lifecycle import Source, end
from gitmem.sessions.reset_policy import Reset, over
from gitmem.sessions.rolling_summary import MARKS, key
from gitmem.sessions.state import State, known, load_state, save_state


@dataclass(frozen=True, slots=True)
class Renewed:
    """A session that was ended: why, its episode ("" when nothing was said), how many lines it still wrote.

    `problem` says what kept it from being ended in full.
    """

    session: str
    reason: str
    episode: str = ""
    kept: int = 0
    problem: str = ""


def renew(
    repo: Repository, config: Config, now: datetime, local: Callable[[datetime], datetime],
    given: Mapping[str, Transcript] | None = None,
) -> list[Renewed]:  # fmt: skip
    """End every session that is over at `now`; `given` are transcripts in hand, by the session's name.

    The episode is of the day on which the session was last active. Twice is the same as once.
    """
    policy = Reset(config.session_reset)
    if policy is Reset.NEVER or repo.root is None or not (repo.common_dir / "gitmem/sessions").is_dir():
        return []
    done = []
    with locked(repo.common_dir, "sessions"):
        for state in known(repo.common_dir, now):
            if state.ended or state.seen is None:
                continue
            hour, minutes = config.session_hour, config.session_idle
            reason = over(policy, state.seen, now, hour=hour, minutes=minutes, local=local)
            if reason:
                done.append(_end(repo, config, state, state.seen, reason, (given or {}).get(state.name)))
    return done


def _end(
    repo: Repository, config: Config, state: State, seen: datetime, reason: str, transcript: Transcript | None
) -> Renewed:
    problem, path, kept = "", "", 0
    if transcript is None:
        try:
            transcript = parse(read_regular(Path(state.transcript))) if state.transcript else Transcript(())
        except OSError as error:
            transcript, problem = Transcript(()), f"its transcript cannot be read: {error.strerror}"
    old = _until(transcript, state, seen)
    try:
        flushed, path = end(repo, config, old, Source(session=state.name), now=seen)
        kept = len(flushed.kept)
    except GitMemError as error:
        problem = error.message
    last = load_state(repo.common_dir, state.name)
    said = tuple(key(turn) for turn in old.spoken())
    marks = said[-MARKS:] or last.closed
    save_state(
        repo.common_dir, state.name, replace(last, part=last.part + bool(said), closed=marks, seen=seen, ended=True)
    )
    return Renewed(state.name, reason, path, kept, problem)


def _until(transcript: Transcript, state: State, seen: datetime) -> Transcript:
    """The turns up to the session's last activity: by their time, else those that were read by then."""
    spoken = {id(turn) for turn in transcript.spoken()}
    turns: list[Turn] = []
    for turn in transcript.turns:
        late = turn.at > seen if turn.at is not None else bool(state.turns) and key(turn) not in state.turns
        if id(turn) in spoken and late:
            break
        turns.append(turn)
    return replace(transcript, turns=tuple(turns))
