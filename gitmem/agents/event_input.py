"""One event of an agent's host: its session, prompt and transcript, from the host's JSON and files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.hosts.host import EVENT_SECONDS, Hooks, Host

if TYPE_CHECKING:
    from gitmem.context.session_contents import SessionContents
    from gitmem.hosts.transcript import Transcript
    from gitmem.sessions.recalled_parts import RecalledParts

MAX_TRANSCRIPT_BYTES = 8 << 20  # of a transcript that is read before a prompt is answered
WAIT_SHARE = 0.3  # share of the host's time limit for which an event waits for another event of its session
SESSION_ID = re.compile(r"[A-Za-z0-9][\w-]{0,127}", re.ASCII)  # ids of sessions whose transcripts are looked for by id


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host that has hooks, with the repository and its settings. `name`: our name of the event, a key of
    EVENT_SECONDS. `fields`: the host's JSON object. `called`: when the host called the hook, seconds since 1970."""

    repo: Repository
    config: Config
    host: Host
    name: str
    fields: dict[str, Any]
    now: datetime
    called: float

    @property
    def hooks(self) -> Hooks:
        """The hooks of the host."""
        return self.host.hook_form

    @property
    def transcript(self) -> Path | None:
        """The path of the session's transcript: the one that the host names, else the newest file with the session's
        id; None if there is neither. The named file may not exist yet."""
        named_paths = (self.fields.get(name) for name in self.hooks.transcript_fields)
        path = next((value for value in named_paths if isinstance(value, str) and value), "")
        if path:
            return Path(path)
        return _newest_transcript(self.hooks.transcript_files, self.session)

    @property
    def session(self) -> str:
        """The id of the session, "" if the host names none."""
        return session_id(self.host, self.fields)

    def contents(self, conversation: Transcript | None = None, parts: RecalledParts | None = None) -> SessionContents:
        """The texts that the session already has, so that a context does not repeat them: the memory files that its
        host has loaded (none if the host works in another folder), the turns of `conversation`, and the `parts`
        that were given to it before. An argument is None if that is unknown."""
        from gitmem.context.loaded_files import loaded_files
        from gitmem.context.session_contents import SessionContents, present_texts

        root, field = self.repo.root, self.hooks.workspace_field
        folder = self.fields.get(field) if field else None
        loaded: Sequence[str] = ()
        texts: Sequence[str] = ()
        if root is not None and not (isinstance(folder, str) and Path(folder) != root):
            loaded, texts = loaded_files(self.host, root)
        if conversation is not None:
            texts = (*texts, *present_texts(conversation))
        if parts is None:
            return SessionContents(texts=tuple(texts), loaded=tuple(loaded))
        session = self.session if conversation is None and not parts.compacted else ""
        return SessionContents(frozenset(parts.keys), frozenset(parts.places), tuple(texts), session, tuple(loaded))

    def conversation(self) -> Transcript | None:
        """The parsed transcript; None if there is none, it has no bytes, or its file has more than
        MAX_TRANSCRIPT_BYTES. A transcript in the host's JSON has no limit. Raises OSError if the file cannot be
        read."""
        from gitmem.hosts.transcript_parser import parse

        data = self.transcript_data()
        if data:
            return parse(data)
        return None

    def transcript_data(self) -> bytes:
        """The bytes of the transcript, from the host's JSON or from its file; b"" if there is none or the file has more
        than MAX_TRANSCRIPT_BYTES. Raises OSError if the file cannot be read."""
        from gitmem.regular_file import read_regular

        if self.hooks.transcript is not None:
            return self.hooks.transcript(self.fields) or b""
        path = self.transcript
        if path is None or not path.is_file() or path.stat().st_size > MAX_TRANSCRIPT_BYTES:
            return b""
        return read_regular(path)


def session_id(host: Host, fields: dict[str, Any]) -> str:
    """The session's id in the host's JSON object `fields`: the first of the host's `session_fields` that is not empty;
    "" if there is none, or if it is not a text."""
    value = next((fields[name] for name in host.hook_form.session_fields if fields.get(name)), "")
    return value if isinstance(value, str) else ""


def _newest_transcript(globs: Sequence[str], session: str) -> Path | None:
    """The newest file below the person's home that matches one of `globs`, in which `{session}` stands for the
    session's id; None if there is none or the id has unusual characters."""
    if not SESSION_ID.fullmatch(session):
        return None
    home = Path(os.path.expanduser("~"))
    files = [path for pattern in globs for path in home.glob(pattern.replace("{session}", session)) if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime, default=None)


def prompt_of(event: Event) -> str:
    """The text of the prompt from the event's field, which has a text or the parts of a message; "" if there is none.

    For a host with `prompt_in_transcript` it is the last turn of the transcript file, "" if a person did not write that
    turn; the field counts only if the file is missing, is empty or has more than MAX_TRANSCRIPT_BYTES. Raises OSError
    if the file cannot be read.
    """
    from gitmem.hosts.entries import text_of
    from gitmem.hosts.transcript import By, Role

    if event.hooks.prompt_in_transcript and (conversation := event.conversation()) is not None:
        turns = conversation.turns
        if turns and turns[-1].role is Role.USER and turns[-1].by is By.SPEAKER:
            return turns[-1].text
        return ""
    values = (_field(event.fields, name) for name in event.hooks.prompt_fields)
    texts = (text_of(value) if isinstance(value, list) else value for value in values)
    return event.hooks.prompt_text(next((text for text in texts if isinstance(text, str)), ""))


def _field(fields: dict[str, Any], name: str) -> Any:
    """The value of a field of the host's JSON, None if there is none. A name with dots (`a.b`) is a path into nested
    objects."""
    value: Any = fields
    for part in name.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def transcript_of(event: Event) -> tuple[Transcript | None, str]:
    """(the session's transcript, None if there is none; path of the file that it was read from, "" if none).

    The transcript is in the host's JSON, in the file that the event names, or in the file that an earlier event of the
    session named (Copilot CLI names none at the end of a session). If there is no file yet, the transcript is the turn
    in the event itself. Raises OSError if the file cannot be read, or does not exist and the event has no turn.
    """
    from gitmem.hosts.transcript_parser import parse
    from gitmem.regular_file import read_regular

    if event.hooks.transcript is not None:
        data = event.hooks.transcript(event.fields)
        return (None if data is None else parse(data)), ""
    turn = zip(("user", "assistant"), map(event.fields.get, event.hooks.turn_fields), strict=False)
    spoken = [(role, text) for role, text in turn if isinstance(text, str)]
    file = event.transcript or _transcript_of_earlier_event(event)
    if file is not None and (file.exists() or not spoken):
        return parse(read_regular(file)), str(file)
    if not spoken:
        return None, ""
    rows = [json.dumps({"role": role, "text": text, "at": event.now.isoformat()}) for role, text in spoken]
    return parse("\n".join(rows).encode("utf-8", "replace")), ""


def _transcript_of_earlier_event(event: Event) -> Path | None:
    """The path of the transcript that an earlier event of the session named; None if none did."""
    from gitmem.sessions.state import load_state

    if not event.session:
        return None
    path = load_state(event.repo.common_dir, event.session).transcript
    if path:
        return Path(path)
    return None


@contextmanager
def context_lock_held(event: Event) -> Iterator[None]:
    """Hold the lock of the session while an event answers with a context and records it, so that two events do not give
    the same.

    Copilot CLI calls the hooks of a session's start and of its first prompt at the same time. An event that cannot get
    the lock within WAIT_SHARE of its time limit, or in a read-only Git directory, answers without it: a repetition is
    better than no memory. If there is time, the event that records second builds its context again (`_must_repeat`).
    """
    from gitmem.sessions.state import context_lock

    with ExitStack() as locks:
        if event.session:
            wait = WAIT_SHARE * EVENT_SECONDS[event.name]
            with suppress(GitMemError, OSError):
                locks.enter_context(locked(event.repo.common_dir, context_lock(event.session), wait))
        yield
