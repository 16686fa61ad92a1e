"""Write what a session decided, when its host reports the end of a turn or of the session, or a compaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.agents.event_input import Event, context_lock_held, transcript_of
from gitmem.agents.event_log import log_error
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.hosts.transcript import Transcript
    from gitmem.sessions.lifecycle import FlushResult, Source


def write_turn(event: Event) -> None:
    """Stop: write the decisions of the turn to the daily log, unless `mem.sessionFlush` is false. Other sessions that
    are due are ended, and sessions that wait are written."""
    from gitmem.sessions.lifecycle import flush

    def write(transcript: Transcript, source: Source) -> FlushResult:
        return flush(event.repo, event.config, transcript, source, now=event.now)

    _write_transcript(event, write)


def write_before_compaction(event: Event) -> None:
    """PreCompact: before the host drops turns, write their decisions, also those that the configured model chooses;
    nothing is written if `mem.sessionFlush` is false. Parts of memory in these turns may be given again."""
    from gitmem.sessions import recalled_parts
    from gitmem.sessions.automation import session_model
    from gitmem.sessions.lifecycle import flush

    with context_lock_held(event):
        recalled_parts.announce_compaction(event.repo.common_dir, event.session)

    def write(transcript: Transcript, source: Source) -> FlushResult:
        model = session_model(event.repo, event.config, event.now, os.environ)
        return flush(event.repo, event.config, transcript, source, now=event.now, model=model)

    _promote_if_set(event, _write_transcript(event, write))


def write_session(event: Event) -> None:
    """SessionEnd: write the decisions of the session and its episode, unless `mem.sessionFlush` is false, and
    consolidate memory if that is due."""
    from gitmem.sessions.automation import session_model
    from gitmem.sessions.due_consolidation import consolidate_if_due
    from gitmem.sessions.lifecycle import end_session

    def write(transcript: Transcript, source: Source) -> FlushResult:
        model = session_model(event.repo, event.config, event.now, os.environ)
        return end_session(event.repo, event.config, transcript, source, now=event.now, model=model)[0]

    _promote_if_set(event, _write_transcript(event, write, ended=True))
    consolidate_if_due(event.repo, event.config, event.now, os.environ)


def _write_transcript(
    event: Event, write: Callable[[Transcript, Source], FlushResult], *, ended: bool = False
) -> FlushResult | None:  # fmt: skip
    """Read the session's transcript, end the sessions that are due, and call `write` with the transcript and its
    source. Returns the result of `write`, or None if there is no transcript or `mem.sessionFlush` is false.

    A note of the session is kept until `write` has succeeded; then sessions with older notes are written too. An entry
    of the transcript that was too long is logged. Errors of `write` are raised, and the note stays. `ended`: the
    session has ended.
    """
    from gitmem.hosts.transcript import since
    from gitmem.hosts.transcript_parser import too_long_message
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.lifecycle import Source
    from gitmem.sessions.pending_sessions import delete_note

    if not event.config.session_flush:
        return None
    transcript, file = transcript_of(event)
    if transcript is None:
        return None
    if problem := too_long_message(transcript):
        log_error(event.repo, event.host, "transcript", GitMemError(problem), once=True)
    start = _start_of_profile(event.repo)
    transcript = since(transcript, start)
    source = Source(event.session, file=file)
    note = _add_note(event, transcript, source, ended, start)
    end_due_sessions(event.repo, event.config, event.now, transcript, event.session)
    flushed = write(transcript, replace(source, file=str(event.transcript or "")))
    delete_note(event.repo.common_dir, note)
    write_waiting(event)
    return flushed


def _add_note(event: Event, transcript: Transcript, source: Source, ended: bool, start: datetime | None) -> str:
    """Make a note of the session before it is written (`sessions/pending_sessions.py`). Returns the note's name, "" if
    it cannot be written or there is nothing to write. `ended`, `start`: as in `Note`. Sessions whose notes had to go
    for it are named in the hooks' log."""
    from gitmem.sessions.pending_sessions import NoteDetails, add_note

    try:
        name, dropped = add_note(event.repo, transcript, source, NoteDetails(event.now, ended, start))
    except (GitMemError, OSError):  # the session itself can still be written
        return ""
    if dropped:
        sessions = ", ".join(session[:40] for session in dropped[:3])
        problem = f"{counted(len(dropped), 'session')} that waited to be written had to go for newer ones: {sessions}"
        log_error(event.repo, event.host, "pending", GitMemError(problem))
    return name


def write_waiting(event: Event, largest: int | None = None) -> None:
    """Write the sessions that wait because their own events could not write them; problems are logged. Does nothing if
    `mem.sessionFlush` is false. `largest`: skip transcripts with more bytes, None for no limit."""
    from gitmem.sessions.pending_sessions import write_pending

    if not event.config.session_flush:
        return
    for result in write_pending(event.repo, event.config, event.now, largest=largest):
        if result.problem:
            log_error(event.repo, event.host, "pending", GitMemError(result.problem))
        _promote_if_set(event, result.flushed)


def record_activity(event: Event) -> None:
    """End the sessions that are due, and record that this session was active now. Does nothing if `mem.sessionFlush` is
    false or `mem.sessionReset` is "never"."""
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.state import load_state, save_state, with_activity

    if not event.config.session_flush or event.config.session_reset == "never":
        return
    end_due_sessions(event.repo, event.config, event.now)
    if event.session:
        state = load_state(event.repo.common_dir, event.session)
        save_state(event.repo.common_dir, event.session, with_activity(state, event.now, str(event.transcript or "")))


def _promote_if_set(event: Event, flushed: FlushResult | None) -> None:
    """Promote the written lines on a branch for review, if `mem.sessionPromote` is set."""
    from gitmem.sessions.automation import commit_and_promote
    from gitmem.sessions.lifecycle import log_paths

    if event.config.session_promote and flushed is not None and flushed.kept:
        commit_and_promote(event.repo, event.config, log_paths(flushed.kept), event.now, os.environ)


def _start_of_profile(repo: Repository) -> datetime | None:
    """The time at which the profile was last switched, None if it never was. Earlier turns belong to the memory of
    another profile."""
    pairs = repo.user_config()
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return None
    from gitmem import profiles  # needed only where there are profiles

    return profiles.switch_time(pairs)
