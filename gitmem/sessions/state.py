"""The stored state of a session, in a private file in the Git directory (`gitmem/sessions/`), never committed.

The state has the keys of the turns that were read, the ids of written facts, the time of the last activity, and, in a
file of its own, the rolling summary. After damage or loss of a file turns are read again; no answer is wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from gitmem import system
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes, resolve, state_dir, write_atomic
from gitmem.hosts.transcript import By, Role, Transcript, Turn
from gitmem.hosts.transcript_parser import parse
from gitmem.json_values import parse_json
from gitmem.regular_file import read_regular
from gitmem.sessions import rolling_summary
from gitmem.sessions.compaction import KEPT_TURNS
from gitmem.sessions.rolling_summary import MARK_TURNS, RollingSummary

MAX_FILE_BYTES = 4 << 20
MAX_REREAD_BYTES = 16 << 20  # a longer transcript is not read again at a start
RECALLED = ".recalled.json"
MAX_QUIET_TIME = timedelta(days=180)  # then the state is deleted; the log and the episode stay
MAX_ENDED_PARTS = 20  # that are stored; a transcript of an older part begins a new one
MAX_PART_KEYS = 1_000  # keys of an ended part that are stored, those of its last turns


class EndedPart(NamedTuple):
    """An ended part of a session. `part`: its number. `closed`: the `State.closed` of that part. `turns`: keys of the
    turns in its episode. `at`: time of the last of them, None if the host gives no times."""

    part: int
    closed: tuple[str, ...]
    turns: tuple[str, ...]
    at: datetime | None


@dataclass(frozen=True, slots=True)
class State:
    """The state of a session. `turns`: keys of the turns that were read (`rolling_summary.distinct_keys`). `facts`: ids
    of the facts that were written. `name`: of the session, "" for a new state.

    `transcript`: path of the host's file, "" if unknown. `seen`: time of the last activity, None for a new state.
    `closed`: keys of the last turns before the last reset. `part`: number of the current part, from 1. `ended`: the
    current part has its episode. `parts`: the ended parts in the order of their ends. A part without the turns of
    earlier parts has `turns` of its own, so that a repeated answer in it counts as a new turn.
    """

    turns: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    name: str = ""
    transcript: str = ""
    seen: datetime | None = None
    part: int = 1
    closed: tuple[str, ...] = ()
    ended: bool = False
    parts: tuple[EndedPart, ...] = ()


def session_name(transcript: Transcript, session: str = "") -> str:
    """The name of a session: `session`, else the transcript's own id, else a name made from its first turn."""
    if session or transcript.session:
        return session or transcript.session
    first = next((turn for turn in transcript.turns if turn.text and turn.by is By.SPEAKER), None)
    return f"talk-{rolling_summary.turn_key(first)[:8]}" if first else "talk"


def session_hash(session: str) -> str:
    """24 hex digits made from a session's name, which may contain any characters, for file names."""
    return hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def recalled_file(session: str) -> str:
    """The name of the file with the parts of memory that the session was given (`sessions/recalled_parts.py`)."""
    return f"{session_hash(session)}{RECALLED}"


def state_lock(session: str) -> str:
    """The name of the lock for reading and writing a session's state."""
    return f"session-{session_hash(session)}"


def context_lock(session: str) -> str:
    """The name of the lock for giving a session a context and recording the parts of it."""
    return f"giving-{session_hash(session)}"


def load_state(common_dir: Path, session: str) -> State:
    """The state of the session; an empty one for a new session or a damaged file."""
    return _state(read_private(common_dir, f"{session_hash(session)}.json"))


def _state(data: bytes) -> State:
    """The state from its JSON; an empty one for damaged data."""
    try:
        value = parse_json(data)
        seen = datetime.fromisoformat(value["seen"]) if value["seen"] else None
        return State(
            frozenset(map(str, value["turns"])), frozenset(map(str, value["facts"])), str(value["name"]),
            str(value["transcript"]), seen if seen is None or seen.tzinfo else None, int(value["part"]),
            tuple(map(str, value["closed"])), bool(value["ended"]), tuple(map(_part, value.get("parts", ()))),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, OverflowError):
        return State()


def _part(value: dict[str, object]) -> EndedPart:
    """An ended part from its JSON. Raises ValueError, KeyError or TypeError for another form."""
    closed, turns = value["closed"], value["turns"]
    if not isinstance(closed, list) or not isinstance(turns, list):
        raise ValueError("keys are a list")
    ended_at = datetime.fromisoformat(str(value["at"])) if value["at"] else None
    return EndedPart(int(str(value["part"])), tuple(map(str, closed)), tuple(map(str, turns)), ended_at)


def save_state(common_dir: Path, session: str, state: State) -> None:
    """Store the state in the session's file, with mode 0600. Raises GitMemError or OSError if it cannot be written."""
    value = {
        "turns": sorted(state.turns), "facts": sorted(state.facts), "name": session, "transcript": state.transcript,
        "seen": state.seen.isoformat() if state.seen else "", "part": state.part, "closed": list(state.closed),
        "ended": state.ended,
        "parts": [{**part._asdict(), "at": part.at.isoformat() if part.at else ""} for part in state.parts],
    }  # fmt: skip
    write_private(common_dir, f"{session_hash(session)}.json", json.dumps(value).encode())


def with_activity(state: State, now: datetime, transcript: str) -> State:
    """The state with its last activity at `now` and its current part open again (`ended` False). Saves nothing.
    `transcript`: path of the host's file, "" to keep the known one."""
    return replace(state, seen=now, transcript=transcript or state.transcript, ended=False)


def all_states(common_dir: Path, now: datetime) -> list[State]:
    """The states of all sessions, the longest inactive first; a damaged file is left out. Deletes the files of sessions
    that were inactive for MAX_QUIET_TIME."""
    states = []
    for path in _files(common_dir):
        state = _state(read_private(common_dir, path.name))
        if state.seen is not None and now - state.seen > MAX_QUIET_TIME:
            path.unlink(missing_ok=True)
            for lock in (state_lock(state.name), context_lock(state.name)):
                (common_dir / "gitmem" / f"{lock}.lock").unlink(missing_ok=True)
            for part in range(1, min(state.part, 1_000) + 1):
                (path.parent / f"{session_hash(part_name(state.name, part))}.summary.json").unlink(missing_ok=True)
            (path.parent / recalled_file(state.name)).unlink(missing_ok=True)
        elif state.name and state.seen is not None:
            states.append((state.seen, state.name, state))
    return [state for _, _, state in sorted(states, key=lambda row: row[:2])]


def _files(common_dir: Path) -> Iterator[Path]:
    """The files with states of sessions, sorted."""
    folder = common_dir / "gitmem/sessions"
    if folder.is_dir() and not folder.is_symlink():
        others = (".summary.json", RECALLED)
        yield from (path for path in sorted(folder.glob("*.json")) if not path.name.endswith(others))


def part_name(session: str, part: int) -> str:
    """The name of a part of a session: `s1` for the first, then `s1#2`, `s1#3`."""
    if part == 1:
        return session
    return f"{session}#{part}"


def with_part_of(state: State, transcript: Transcript) -> State:
    """The state switched to the part of the session that the transcript belongs to. Saves nothing.

    A transcript with the last turns of an ended part continues that part. A transcript without them begins a new part
    if the current one has ended: a host may keep the session id when a person starts again (OpenClaw's `/new`). A
    transcript with only turns of an ended part is an older copy of that part. A transcript without turns changes
    nothing.
    """
    spoken = transcript.spoken()
    if not spoken or not state.parts:
        return state
    keys = [rolling_summary.turn_key(turn) for turn in spoken]
    end, index = max((_end_in(part, keys, spoken), index) for index, part in enumerate(state.parts))
    if end:
        return _in_ended_part(state, state.parts[index], keys[:end])
    older = next((part for part in state.parts if _is_older_reading(part, keys, spoken)), None)
    if older is not None:
        return _in_ended_part(state, older, [])
    return _in_new_part(state)


def _in_new_part(state: State) -> State:
    """The state in a new part, or unchanged if the current part has not ended."""
    if all(part.part != state.part for part in state.parts):
        return state
    number = max(part.part for part in state.parts) + 1
    return replace(state, part=number, closed=(), turns=frozenset(), ended=False)


def _in_ended_part(state: State, ended: EndedPart, keys: Sequence[str]) -> State:
    """The state in the part `ended`; unchanged if that is the current part, or if a reset began the current part after
    these turns. `keys`: keys of the turns up to the end of that part."""
    running = all(part.part != state.part for part in state.parts)
    cut_by_reset = running and rolling_summary.summarised_count(keys, state.closed) == len(keys) > 0
    if state.part == ended.part or cut_by_reset:
        return state
    turns = frozenset((*rolling_summary.distinct_keys(ended.turns), *rolling_summary.distinct_keys(keys)))
    return replace(state, part=ended.part, closed=ended.closed, turns=turns, ended=True)


def _end_in(ended: EndedPart, keys: Sequence[str], spoken: Sequence[Turn]) -> int:
    """The number of turns up to the last turn of an ended part; 0 if the transcript does not contain it."""
    if _is_later(ended, spoken):
        return 0
    return rolling_summary.summarised_count(keys, ended.turns[-MARK_TURNS:])


def _is_older_reading(ended: EndedPart, keys: Sequence[str], spoken: Sequence[Turn]) -> bool:
    """Whether the transcript has only turns of an ended part."""
    return not _is_later(ended, spoken) and set(keys) <= set(ended.turns)


def _is_later(ended: EndedPart, spoken: Sequence[Turn]) -> bool:
    """Whether all turns are later than an ended part, so that a repeated text is a new turn."""
    times = [turn.at for turn in spoken]
    return ended.at is not None and all(said_at is not None and said_at > ended.at for said_at in times)


def with_ended_part(state: State, spoken: Sequence[Turn]) -> State:
    """The state with the current part marked as ended with the last MAX_PART_KEYS of these turns; the newest
    MAX_ENDED_PARTS ended parts are kept. Without turns, or if the part already contains them all, only `ended` is
    set."""
    keys = tuple(rolling_summary.turn_key(turn) for turn in spoken)[-MAX_PART_KEYS:]
    current = next((part for part in state.parts if part.part == state.part), None)
    if not keys or (current is not None and set(keys) <= set(current.turns)):
        return replace(state, ended=True)
    other_parts = [part for part in state.parts if part.part != state.part]
    ended = EndedPart(state.part, state.closed, keys, spoken[-1].at)
    return replace(state, ended=True, parts=(*other_parts, ended)[-MAX_ENDED_PARTS:])


def current_part(common_dir: Path, transcript: Transcript, session: str = "") -> Transcript:
    """The transcript cut to the part of the session that it belongs to: the turns since the reset that began this part,
    with the part's name as session. All turns in the first part. Stores nothing."""
    name = session_name(transcript, session)
    state = with_part_of(load_state(common_dir, name), transcript)
    if state.part == 1:
        return replace(transcript, session=name)
    spoken = [index for index, turn in enumerate(transcript.turns) if turn.text and _is_spoken(transcript, index)]
    count = rolling_summary.summarised_count(
        [rolling_summary.turn_key(transcript.turns[index]) for index in spoken], state.closed
    )
    start = spoken[count - 1] + 1 if count else 0
    return replace(transcript, turns=transcript.turns[start:], session=part_name(name, state.part))


def part_at_start(common_dir: Path, transcript: Transcript, session: str) -> str:
    """The name of the part of `session` that the transcript begins or continues; a new part for a transcript without
    turns."""
    state = load_state(common_dir, session)
    if transcript.spoken():
        state = with_part_of(state, transcript)
    else:
        state = _in_new_part(state)
    return part_name(session, state.part)


def _is_spoken(transcript: Transcript, index: int) -> bool:
    """Whether the turn at this index is a person's or an agent's own, not tool output or text inserted by the host."""
    turn = transcript.turns[index]
    return turn.role is not Role.TOOL and turn.by is By.SPEAKER


def summary(common_dir: Path, transcript: Transcript, session: str = "", *, keep: int = KEPT_TURNS) -> RollingSummary:
    """The rolling summary of the turns since the last reset, without the last `keep` spoken ones. Only turns that the
    stored summary lacks are read, and the new summary is stored if the Git directory can be written.

    `rolling_summary.render(summary(...), budget, focus)` gives its text.
    """
    transcript = current_part(common_dir, transcript, session)
    name = f"{session_hash(transcript.session)}.summary.json"
    stored = rolling_summary.load(read_private(common_dir, name))
    resumed = rolling_summary.resume(stored, transcript.turns, keep)
    if resumed != stored and (resumed.turns >= stored.turns or not stored.turns):
        try:
            write_private(common_dir, name, rolling_summary.dump(resumed))
        except (GitMemError, OSError):
            return resumed
    return resumed


def full_summary(common_dir: Path, state: State) -> RollingSummary:
    """The rolling summary of all turns since the last reset; only the stored one, without the last turns, if the host's
    file cannot be read or has more than MAX_REREAD_BYTES. Stores nothing."""
    name = f"{session_hash(part_name(state.name, state.part))}.summary.json"
    before = rolling_summary.load(read_private(common_dir, name))
    try:
        data = b""
        if state.transcript:
            data = read_regular(Path(state.transcript), MAX_REREAD_BYTES)
    except OSError:
        data = b""
    if data:
        return rolling_summary.resume(before, current_part(common_dir, parse(data), state.name).turns, 0)
    return before


def read_private(common_dir: Path, name: str) -> bytes:
    """The first MAX_FILE_BYTES bytes of a file in the folder of the sessions' states; b"" if it cannot be read."""
    try:
        return read_bytes(common_dir / "gitmem/sessions", name, MAX_FILE_BYTES)
    except (OSError, OutsideRepository):
        return b""


def write_private(common_dir: Path, name: str, data: bytes, *, durable: bool = True) -> None:
    """Replace a file in the folder of the sessions' states, with mode 0600. Raises GitMemError or OSError if it cannot
    be written.

    Without `durable` the call does not wait for the disk, and after a crash of the machine the old file may be back.
    """
    folder = state_dir(common_dir) / "sessions"
    folder.mkdir(mode=0o700, exist_ok=True)
    if durable:
        write_atomic(folder, name, data, private=True)
        return
    target = resolve(folder, name)
    temporary = folder / f".{os.getpid()}-{name}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | system.NOFOLLOW | system.RAW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, target)
