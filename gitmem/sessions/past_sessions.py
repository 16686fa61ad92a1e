"""List the sessions whose files the hosts left on this machine: name, start, project and file of each.

Only the beginning of each file is read where that is enough, so that ten thousand sessions can be listed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import UsageError
from gitmem.hosts.entries import string_at
from gitmem.hosts.host import SessionDatabase
from gitmem.hosts.registry import HOSTS, all_hosts, host_named
from gitmem.hosts.session_database import is_database, read_session, stored_sessions
from gitmem.hosts.transcript import Transcript, first_time
from gitmem.hosts.transcript_parser import parse
from gitmem.json_values import parse_json
from gitmem.regular_file import read_regular, read_start
from gitmem.sessions.state import session_name

HEAD_BYTES = 64 << 10  # read to list a transcript; a transcript with a longer first turn is read whole
ENDINGS = (".jsonl", ".json", ".sqlite", ".db")


class Recording(NamedTuple):
    """The turns of a session, and the SHA-256 (64 hex digits) of the bytes that they were read from."""

    transcript: Transcript
    sha256: str


@dataclass(frozen=True, slots=True)
class PastSession:
    """A session that a host stored. `name`: of the session. `start`: local time of its first turn, or of the file's
    last change if no turn has a time. `place`: path for messages to a person, with `#id` in a database or archive.
    `file`: name of the file without its folder, with `#id` in a database; `service/id` in an archive. `project`: folder
    that the session worked in, "" if unknown. `read`: reads the session; raises OSError.

    A host that writes a new file for a resumed session makes several sessions of one name.
    """

    name: str
    start: datetime
    place: str
    file: str
    project: str
    read: Callable[[], Recording]


@dataclass(frozen=True, slots=True)
class Listing:
    """`sessions`: the sessions, the earliest first. `left_out`: (file, reason) for each file or conversation that is
    not a session."""

    sessions: tuple[PastSession, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def of_project(self, folder: Path) -> Listing:
        """The listing with only the sessions that worked in `folder` or below it; sessions without a known project are
        left out, and `left_out` stays."""
        top = folder.absolute()
        inside = (s for s in self.sessions if s.project and Path(s.project).is_relative_to(top))
        return replace(self, sessions=tuple(inside))


def importable_hosts() -> list[str]:
    """The names of the hosts whose transcript files git-mem can read, in the order of HOSTS."""
    known = ((name, host_named(name)) for name in HOSTS)
    return [name for name, host in known if host.entries is not None or host.whole is not None]


def files_of_host(name: str, home: Path) -> list[Path]:
    """The transcripts and session databases of the host `name` below the home folder `home`, sorted."""
    files: set[Path] = set()
    host = host_named(name)
    for pattern in (*host.transcripts, *(host.database.paths if host.database is not None else ())):
        files.update(path for path in home.glob(pattern) if path.is_file())
    return sorted(files)


def files_below(path: Path) -> list[Path]:
    """The transcripts at `path`, sorted: the file itself, or all files with one of ENDINGS below the folder. Symbolic
    links to folders are not followed. Raises UsageError if `path` does not exist."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix in ENDINGS and file.is_file())
    if not path.is_file():
        raise UsageError(f"there is no file or folder '{path}'", "name a transcript, or a folder of them")
    return [path]


def list_sessions(files: Iterable[Path]) -> Listing:
    """The sessions in these transcripts and databases; a file that cannot be read or has no turns is left out with the
    reason."""
    sessions: list[PastSession] = []
    left_out: list[tuple[str, str]] = []
    for path in files:
        try:
            if is_database(path):
                file_sessions = _sessions_in_database(path)
            else:
                file_sessions = _session_in_file(path)
        except OSError as error:
            left_out.append((str(path), f"cannot be read: {error.strerror}"))
            continue
        sessions += file_sessions
        if not file_sessions:
            left_out.append((str(path), "holds no turn of a known host"))
    return Listing(by_start(sessions), tuple(left_out))


def by_start(sessions: Iterable[PastSession]) -> tuple[PastSession, ...]:
    """The sessions in the order of their start, then of their place."""
    return tuple(sorted(sessions, key=lambda session: (session.start, session.place)))


def _sessions_in_database(path: Path) -> list[PastSession]:
    """The sessions of a host's SQLite database, [] for an unknown form. Raises OSError if the file cannot be read."""
    for form in (host.database for host in all_hosts() if host.database is not None):
        stored = stored_sessions(path, form)
        if stored:
            changed = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            return [
                PastSession(
                    session.id, session.start or changed, f"{path}#{session.id}", f"{path.name}#{session.id}",
                    session.project, partial(_read_stored, path, form, session.id),
                )
                for session in stored
            ]  # fmt: skip
    return []


def _session_in_file(path: Path) -> list[PastSession]:
    """The session of a transcript as a list of one, [] for a file without turns. Raises OSError if the file cannot be
    read.

    The beginning of the file is read, or the whole file if the beginning has no session id or no time.
    """
    head, whole = read_start(path, HEAD_BYTES)
    if not whole:
        head = head[: head.rfind(b"\n") + 1]
    transcript = parse(head)
    if not whole and not (transcript.session and first_time(transcript.turns)):
        head = read_regular(path)
        transcript = parse(head)
    if not transcript.turns:
        return []
    start = first_time(transcript.turns) or datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    return [PastSession(session_name(transcript), start, str(path), path.name, _project(head), partial(_read, path))]


def _read(path: Path) -> Recording:
    return _recording(read_regular(path))


def _read_stored(path: Path, form: SessionDatabase, session: str) -> Recording:
    return _recording(read_session(path, form, session))


def _recording(data: bytes) -> Recording:
    return Recording(parse(data), hashlib.sha256(data).hexdigest())


def _project(head: bytes) -> str:
    """The first `cwd` that is not empty, in an object of the JSON lines or in an object at most two levels inside it;
    "" if there is none. Of one line the outermost `cwd` counts. Lines that are no JSON are skipped."""
    for line in head.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        try:
            entry = parse_json(line)
        except ValueError:
            continue
        if not isinstance(entry, dict):
            continue
        members = [value for value in entry.values() if isinstance(value, dict)]
        below = [value for member in members for value in member.values()]
        for part in (entry, *members, *below):
            folder = string_at(part, "cwd") if isinstance(part, dict) else ""
            if folder:
                return folder
    return ""
