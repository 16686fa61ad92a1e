"""What a running session remembers of itself, in the Git directory (`gitmem/sessions/`): private, never committed.

Which turns were read, which facts were written, and the rolling summary of what was said. A file that is damaged or
gone costs work, never a wrong answer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from gitmem import rolling
from gitmem.compaction import KEEP
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.rolling import Rolling
from gitmem.transcript import By, Transcript
from gitmem.worktree import read_bytes, state_dir, write_atomic

LIMIT = 4 << 20  # bytes of one file


@dataclass(frozen=True, slots=True)
class State:
    """What a session has already given: keys of the turns that were read, ids of the facts that were written."""

    turns: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()


def name_of(transcript: Transcript, session: str = "") -> str:
    """The session's name: the one given, the transcript's own, else one made of its first turn."""
    if session or transcript.session:
        return session or transcript.session
    first = next((turn for turn in transcript.turns if turn.text and turn.by is By.SPEAKER), None)
    return f"talk-{rolling.key(first)[:8]}" if first else "talk"


def file_of(session: str) -> str:
    """A file name for a session's name, which somebody else chose."""
    return hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def load_state(common_dir: Path, session: str) -> State:
    """What the session has already given; nothing when it is new or its file is damaged."""
    try:
        value = json.loads(_read(common_dir, f"{file_of(session)}.json"))
        return State(frozenset(map(str, value["turns"])), frozenset(map(str, value["facts"])))
    except (ValueError, KeyError, TypeError):
        return State()


def save_state(common_dir: Path, session: str, state: State) -> None:
    """Remember it, privately."""
    data = json.dumps({"turns": sorted(state.turns), "facts": sorted(state.facts)})
    _write(common_dir, f"{file_of(session)}.json", data.encode())


def summary(common_dir: Path, transcript: Transcript, session: str = "", *, keep: int = KEEP) -> Rolling:
    """The rolling summary of all but the last `keep` spoken turns: only what is new is read, and it is kept for the
    next time. `rolling.render(summary(...), budget, focus)` is its text. Where nothing can be written it is made anew.
    """
    name = f"{file_of(name_of(transcript, session))}.summary.json"
    before = rolling.load(_read(common_dir, name))
    after = rolling.resume(before, transcript.turns, keep)
    if after != before and (after.turns >= before.turns or not before.turns):
        try:
            _write(common_dir, name, rolling.dump(after))
        except (GitMemError, OSError):
            return after
    return after


def _read(common_dir: Path, name: str) -> bytes:
    try:
        return read_bytes(common_dir / "gitmem/sessions", name, LIMIT)
    except (OSError, OutsideRepository):
        return b""


def _write(common_dir: Path, name: str, data: bytes) -> None:
    folder = state_dir(common_dir) / "sessions"
    folder.mkdir(mode=0o700, exist_ok=True)
    write_atomic(folder, name, data, private=True)
