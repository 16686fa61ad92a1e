"""Notes of sessions that are still to be written to memory. The next event of any session writes them.

A note is made before a session is written and deleted afterwards, so that a held lock, a time limit or a killed process
loses nothing. A note names the host's transcript if that is a file; else it contains the unread turns with masked
secrets. Notes are in the folder of the sessions' state (mode 0700, files 0600), at most MAX_NOTES files and MAX_BYTES;
if the oldest are deleted for that, the caller is told their sessions. Writing a note twice has no further effect, since
a flush and the end of a session remember what they wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError, Locked, OutsideRepository
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked, read_bytes
from gitmem.hosts.transcript import Role, Transcript, Turn, since
from gitmem.hosts.transcript_parser import parse
from gitmem.json_values import parse_json
from gitmem.promotion.proposal import Model
from gitmem.regular_file import read_regular
from gitmem.sessions.compaction import KEPT_TURNS
from gitmem.sessions.lifecycle import FlushResult, Source, end_session, flush, unread_turns
from gitmem.sessions.pending_session_names import ENDING, FOLDER
from gitmem.sessions.rolling_summary import turn_key
from gitmem.sessions.state import load_state, session_hash, session_name, write_private

MAX_NOTES = 64  # of one repository; the oldest are dropped first
MAX_BYTES = 16 << 20  # of all notes together
MAX_COPY_BYTES = 1 << 20  # of the turns in one note; the oldest are dropped first
MAX_TURN_BYTES = 64 << 10  # a longer turn is left out of a note
MAX_TRIES = 3  # by events; after that a person writes the note


@dataclass(frozen=True, slots=True)
class Note:
    """A session that is still to be written to memory, as a file in the Git directory keeps it.

    `name`: file name of the note. `session`: name of the session. `agent`: whose daily logs are written, "" for the
    configured agent. `at`: when the note was made. `ended`: the session ended, so that an episode is due too. `file`:
    path of the host's transcript, "" if `turns` has the turns.
    `start`: turns before this time belong to another repository and are ignored; None to use all. `tries`: how often an
    event began to write the note. `cut`: number of turns that were left out because they are too long.
    """

    name: str
    session: str
    at: datetime
    ended: bool = False
    agent: str = ""
    file: str = ""
    start: datetime | None = None
    tries: int = 0
    cut: int = 0
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteResult:
    """The result of writing a note. `flushed`: the flush. `episode`: path, "" for none. `problem`: why the note stays,
    "" if it was written."""

    note: Note
    flushed: FlushResult = field(default_factory=lambda: FlushResult((), ()))
    episode: str = ""
    problem: str = ""


class NoteDetails(NamedTuple):
    """Details of a new note. `now`: the current time. `ended`: the session ended. `start`: turns before this time are
    ignored, None to use all."""

    now: datetime
    ended: bool = False
    start: datetime | None = None


def add_note(
    repo: Repository, transcript: Transcript, source: Source, details: NoteDetails
) -> tuple[str, tuple[str, ...]]:  # fmt: skip
    """Make a note of a session before it is written.

    Returns the note's name ("" if there is nothing to write) and the names of sessions whose notes were deleted to stay
    within the limits. An older note of the session is deleted if the new note covers it. Raises GitMemError or OSError
    if the note cannot be written.
    """
    common = repo.common_dir
    session = session_name(transcript, source.session)
    turns: tuple[Turn, ...] = ()
    omitted = 0
    if not source.file:
        spoken = transcript.spoken()  # an episode covers all turns
        if details.ended:
            new_turns = spoken
        else:
            new_turns = unread_turns(spoken, load_state(common, session).turns)
        if not new_turns:
            return "", ()
        turns, omitted = _copied_turns(new_turns, spoken)
    name = f"{session_hash(session)}-{details.now.timestamp():.6f}-{os.getpid()}{ENDING}"
    note = Note(name, session, details.now, details.ended, source.agent, source.file, details.start, 0, omitted, turns)
    _save(common, note)
    for older in list_notes(common):
        if older.name != name and older.session == session and _covers(older, note):
            delete_note(common, older.name)
    return name, _drop_oldest(common, name)


def _copied_turns(new_turns: Sequence[Turn], spoken: Sequence[Turn]) -> tuple[tuple[Turn, ...], int]:
    """The turns to store in a note, and the number of turns that were left out: from KEPT_TURNS before the first turn
    of `new_turns` to the end of `spoken`, with masked secrets, within MAX_TURN_BYTES each and MAX_COPY_BYTES
    together."""
    from gitmem.gate.policy import Policy
    from gitmem.gate.redaction import redact

    start = next(index for index, turn in enumerate(spoken) if turn is new_turns[0])
    copied: list[Turn] = []
    size, left_out_count = 0, 0
    for turn in reversed(spoken[max(0, start - KEPT_TURNS) :]):
        length = len(turn.text.encode("utf-8", "replace"))
        if length > MAX_TURN_BYTES or size + length > MAX_COPY_BYTES:
            left_out_count += 1
            continue
        size += length
        copied.append(replace(turn, text=redact(turn.text, "transcript", Policy(), only_secrets=True)))
    return tuple(reversed(copied)), left_out_count


def _covers(older: Note, newer: Note) -> bool:
    """Whether writing the newer note also writes everything of an older note of the same session."""
    if older.ended and not newer.ended:
        return False
    if older.file or newer.file:
        return older.file == newer.file and older.start == newer.start
    return {turn_key(turn) for turn in older.turns} <= {turn_key(turn) for turn in newer.turns}


def _drop_oldest(common_dir: Path, newest: str) -> tuple[str, ...]:
    """Delete the oldest notes, but not `newest`, until MAX_NOTES and MAX_BYTES are kept. Returns the sessions of the
    deleted notes."""
    folder = common_dir / FOLDER
    dropped: list[str] = []
    notes = list_notes(common_dir)
    sizes = {note.name: _size(folder / note.name) for note in notes}
    for note in notes:
        if note.name == newest or (len(sizes) <= MAX_NOTES and sum(sizes.values()) <= MAX_BYTES):
            continue
        delete_note(common_dir, note.name)
        del sizes[note.name]
        dropped.append(note.session)
    return tuple(dropped)


def _size(path: Path) -> int:
    """The size of a file in bytes, 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _save(common_dir: Path, note: Note) -> None:
    """Write a note: a JSON line with its fields, then a JSON line for each turn. Does not wait for the disk."""
    head = {
        "session": note.session, "at": note.at.isoformat(), "ended": note.ended, "agent": note.agent,
        "file": note.file, "start": note.start.isoformat() if note.start else "", "tries": note.tries, "cut": note.cut,
    }  # fmt: skip
    rows: list[dict[str, object]] = [head]
    for turn in note.turns:
        time_field = {"at": turn.at.isoformat()} if turn.at else {}
        rows.append({"id": turn.id, "role": turn.role.value, "text": turn.text, **time_field})
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    write_private(common_dir, note.name, text.encode("utf-8", "replace"), durable=False)


def delete_note(common_dir: Path, name: str) -> None:
    """Delete the note with the file name `name`. Does nothing for "" or a note that is gone. Raises OSError if the file
    cannot be deleted."""
    if name:
        (common_dir / FOLDER / name).unlink(missing_ok=True)


def list_notes(common_dir: Path) -> list[Note]:
    """The waiting notes, the oldest first. Files that are not notes are ignored."""
    folder = common_dir / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING) and not name.startswith("."))
    notes = (_load_note(folder, name) for name in names)
    return sorted((note for note in notes if note is not None), key=lambda note: (note.at, note.name))


def _load_note(folder: Path, name: str) -> Note | None:
    """The note in a file, None if the file cannot be read or is not a note."""
    try:
        data = read_bytes(folder, name, MAX_BYTES)
        head, _, turn_lines = data.partition(b"\n")
        value = parse_json(head)
        noted_at = datetime.fromisoformat(value["at"])
        start = datetime.fromisoformat(value["start"]) if value["start"] else None
        turns = tuple(turn for turn in parse(turn_lines).turns if turn.role is not Role.TOOL)
        note = Note(
            name, str(value["session"]), noted_at, bool(value["ended"]), str(value["agent"]), str(value["file"]), start,
            int(value["tries"]), int(value["cut"]), turns,
        )  # fmt: skip
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError):
        return None
    return note if noted_at.tzinfo is not None else None


def write_pending(
    repo: Repository, config: Config, now: datetime, *, model: Model | None = None, largest: int | None = None,
    tries: int | None = MAX_TRIES, wait: float = 0,
) -> Iterator[NoteResult]:  # fmt: skip
    """Write the waiting sessions to memory, the oldest first, and yield the result for each. Nothing is written before
    a caller asks for the next result.

    A written note is deleted. `model`: None for the rules alone. `largest`: skip notes of longer transcripts (bytes);
    `tries`: skip notes that were tried so often; None for no limit. `wait`: seconds to wait for the lock of the
    writers; if it is held longer, the notes that are left stay. A GitMemError or OSError of one note is part of its
    result; other errors are raised.
    """
    for note in list_notes(repo.common_dir):
        too_long = largest is not None and note.file and _size(Path(note.file)) > largest
        if too_long or (tries is not None and note.tries >= tries):
            continue
        try:
            with locked(repo.common_dir, "write", wait):
                pass  # a writer waits longer than a host's event may take
        except GitMemError as error:
            yield NoteResult(note, problem=error.message)
            return
        yield _write_note(repo, config, note, now, model, wait)


def _write_note(
    repo: Repository, config: Config, note: Note, now: datetime, model: Model | None, wait: float
) -> NoteResult:  # fmt: skip
    """Write the session of one note and delete the note. If that fails the note stays, and the result has the reason.
    Each call counts as a try of the note, except one that finds a lock held for `wait` seconds. `model`: None for the
    rules alone."""
    common = repo.common_dir
    source = Source(note.session, note.agent, note.file)
    try:
        _save(common, replace(note, tries=note.tries + 1))  # counted first: the process may be killed while it writes
        try:
            transcript = _transcript(note)
        except OSError as error:
            return NoteResult(note, problem=f"its transcript cannot be read: {error.strerror}")
        if note.ended:
            flushed, episode = end_session(repo, config, transcript, source, now=now, model=model, wait=wait)
        else:
            flushed, episode = flush(repo, config, transcript, source, now=now, model=model, wait=wait), ""
    except Locked as error:
        _save(common, note)
        return NoteResult(note, problem=error.message)
    except GitMemError as error:
        return NoteResult(note, problem=error.message)
    except OSError as error:
        return NoteResult(note, problem=f"it cannot be written: {error.strerror}")
    delete_note(common, note.name)
    return NoteResult(note, flushed, episode)


def _transcript(note: Note) -> Transcript:
    """The turns of a note, read from the host's file if it names one. Raises OSError if this file cannot be read."""
    if not note.file:
        return Transcript(note.turns, note.session)
    return since(parse(read_regular(Path(note.file))), note.start)
