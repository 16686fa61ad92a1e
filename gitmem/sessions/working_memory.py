"""Working memory of running sessions: small values by key, in the Git directory, never committed.

A value belongs to a session and an agent (`Owner`); a value without a session is the project's. Keys are hierarchical
(`entity:name:phase`), normalised, and expire; an expired value is dropped when it is met. Each value is a file of its
own, written atomically, so that processes never see half a value; a process that lives long keeps what it read or wrote
in memory for as long as the file stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypedDict

from gitmem.errors import GitMemError, UsageError
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.messages import Message
from gitmem.paths import agent_name

MAX_PARTS = 4  # parts of a key: entity:name:phase:sub
MAX_STORED_PARTS = 5  # parts of a key that an earlier version may have stored; such a value is read, not written
MAX_VALUE_BYTES = 64_000  # bytes of one value
MAX_VALUES = 1_000  # values of one session, or of the project, that hold at a time
MAX_FILES = 10_000  # values of one repository, those that have ended included
MAX_SESSION_NAME = 200  # characters of a session's name
HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a value is, or who reads. `session`: the session's name, "" for the whole project; `agent`: the agent's
    name, "" for every agent."""

    session: str = ""
    agent: str = ""

    def sees(self, value: Value) -> bool:
        """Whether this reader is given the value: the project's and its own session's, of no other agent."""
        return value.owner.session in ("", self.session) and value.owner.agent in ("", self.agent)


PROJECT = Owner()


class SessionValue(TypedDict):
    """A value as JSON (docs/json.md). `at` and `until`: ISO 8601; `session`: None for a value of the project; `agent`:
    None for a value of every agent."""

    key: str
    value: str
    at: str
    until: str
    session: str | None
    agent: str | None


def owner_of(session: str, agent: str) -> Owner:
    """The owner with both names in their one spelling. Raises UsageError for a name that is none."""
    name = unicodedata.normalize("NFC", session).strip()
    if len(name) > MAX_SESSION_NAME or any(unicodedata.category(character)[0] == "C" for character in name):
        raise UsageError(
            f"a session's name is one line of at most {MAX_SESSION_NAME} characters", "give the host's session id"
        )
    return Owner(name, agent_name(agent))


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its key as it was normalised, when it was set, when it ends, and whose it is."""

    key: str
    text: str
    at: datetime
    until: datetime
    owner: Owner = PROJECT


def as_value(value: Value) -> SessionValue:
    """The JSON of docs/json.md, "session set"."""
    return {
        "key": value.key, "value": value.text, "at": value.at.isoformat(), "until": value.until.isoformat(),
        "session": value.owner.session or None, "agent": value.owner.agent or None,
    }  # fmt: skip


def normalise(key: str) -> str:
    """`Entity: Name :phase` -> `entity:name:phase`. Raises UsageError for what is no key."""
    return _normalised(key, MAX_PARTS)


def key_to_read(key: str) -> str:
    """The same for a key that is only read or dropped: an earlier version stored keys of five parts."""
    return _normalised(key, MAX_STORED_PARTS)


def _normalised(key: str, most: int) -> str:
    parts = [_plain(part) for part in key.split(":")]
    if len(parts) > most:
        raise UsageError(
            f"a session key has at most {MAX_PARTS} parts, and this one has {len(parts)}",
            "write it as entity:name[:phase[:sub]]",
        )
    if len(parts) < 2 or not all(parts) or any(ord(c) < 32 for c in key):
        raise UsageError(f"'{key}' is not a session key", "write it as entity:name[:phase[:sub]]")
    return ":".join(parts)


def is_below(key: str, prefix: str) -> bool:
    """Whether a normalised key is the prefix or stands below it; "" is above every key."""
    wanted = ":".join(map(_plain, prefix.strip().strip(":").split(":")))
    return not wanted or f"{key}:".startswith(f"{wanted}:")


def _plain(part: str) -> str:
    return " ".join(unicodedata.normalize("NFC", part).casefold().split())


FileStamp = tuple[int, int, int]  # inode, time, size of a file


class Store:
    """The values of one repository (and one profile); a cache in memory before the files, written through.

    Reading makes no folder. Raises GitMemError where that of the values is a link or another user's.
    """

    def __init__(self, common_dir: Path, profile: str = "") -> None:
        self._common_dir = common_dir
        if os.path.lexists(common_dir / "gitmem"):
            state_dir(common_dir, make=False)
        self._folder = common_dir / "gitmem" / ("working" if not profile else f"working-{_hash(profile)}")
        self._cache: dict[str, tuple[Value, FileStamp]] = {}  # by file name

    def set(self, key: str, text: str, now: datetime, hours: float = HOURS, owner: Owner = PROJECT) -> Value:
        """Keep a value for `hours`. Raises UsageError when it is too large, `hours` is not positive, or the owner has
        too many."""
        key = normalise(key)
        if len(text.encode("utf-8", "surrogateescape")) > MAX_VALUE_BYTES:
            raise UsageError(f"a session value holds at most {MAX_VALUE_BYTES} bytes", "put longer text into a note")
        if not 0 < hours <= 24 * 366:
            raise UsageError("--ttl is a number of hours above 0", "--ttl 24")
        name = _file_name(key, owner)
        if not self._stamp(name):
            self._make_room(owner, now)
        value = Value(key, text, now, now + timedelta(hours=hours), owner)
        state_dir(self._common_dir)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise GitMemError(
                Message("cannot make '{}': {}", self._folder, error.strerror), "check its permissions"
            ) from None
        record = {
            "key": key, "text": text, "at": now.isoformat(), "until": value.until.isoformat(),
            "session": owner.session, "agent": owner.agent,
        }  # fmt: skip
        data = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        write_atomic(self._folder, name, data, private=True)
        stamp = self._stamp(name)
        if stamp:
            self._cache[name] = value, stamp
        return value

    def get(self, key: str, now: datetime, reader: Owner = PROJECT) -> Value | None:
        """The value that this reader sees, None when there is none or it has ended: the session's before the
        project's, and the agent's own before that of every agent."""
        key = key_to_read(key)
        for owner in _owners_seen_by(reader):
            value = self._value(key, owner, now)
            if value is not None:
                return value
        return None

    def _value(self, key: str, owner: Owner, now: datetime) -> Value | None:
        """The value of exactly this owner."""
        name = _file_name(key, owner)
        stamp = self._stamp(name)
        known = self._cache.get(name)
        value = known[0] if known and known[1] == stamp else self._read(name)
        if value is None or value.key != key or value.owner != owner:
            self._cache.pop(name, None)
            return None
        if value.until <= now:
            self._forget_ended(name)
            return None
        if stamp:
            self._cache[name] = value, stamp
        return value

    def list(self, prefix: str, now: datetime, reader: Owner = PROJECT) -> list[Value]:
        """The values below `prefix` ("" for all) that this reader sees, by key: of one key the one that `get` gives.
        What has ended is dropped on the way."""
        own = _session_prefix(reader.session)
        names = [name for name in self._names() if "-" not in name or (own and name.startswith(own))]
        seen: dict[str, Value] = {}
        for _, value in self._holding(names, now):
            best = seen.get(value.key)
            if reader.sees(value) and (best is None or _nearness(value) > _nearness(best)):
                seen[value.key] = value
        return [seen[key] for key in sorted(seen) if is_below(key, prefix)]

    def of_everybody(self, prefix: str, now: datetime) -> Sequence[Value]:
        """Every value below `prefix`, whoever's it is, by key and owner: for the person whose repository it is."""
        values = (value for _, value in self._holding(self._names(), now) if is_below(value.key, prefix))
        return sorted(values, key=lambda value: (value.key, value.owner.session, value.owner.agent))

    def drop(self, key: str, owner: Owner = PROJECT) -> None:
        """Forget the value of exactly this owner."""
        self._remove(_file_name(key_to_read(key), owner))

    def clear(self) -> None:
        """Forget all: what a switch of profile does, so that nothing is carried over."""
        self._cache.clear()
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            file.unlink(missing_ok=True)

    def _make_room(self, owner: Owner, now: datetime) -> None:
        """Raise UsageError where no further value of this owner has room.

        A session's first value looks at everybody's, so that the values of sessions that nobody asks for any more do
        not outlive their time.
        """
        names = self._names()
        own = [name for name in names if _is_of(name, owner)]
        if not own or len(own) >= MAX_VALUES or len(names) >= MAX_FILES:
            names = [name for name, _ in self._holding(names, now)]
            own = [name for name in names if _is_of(name, owner)]
        if len(own) >= MAX_VALUES or len(names) >= MAX_FILES:
            if len(own) >= MAX_VALUES:
                most = MAX_VALUES
            else:
                most = MAX_FILES
            raise UsageError(
                f"there are {most} session values already", "git mem session list; set one to '' to drop it"
            )

    def _holding(self, names: Iterable[str], now: datetime) -> Iterator[tuple[str, Value]]:
        """(file, value) of these files that have not ended; those that have are dropped."""
        for name in names:
            value = self._read(name)
            if value is None:
                continue
            if value.until > now:
                yield name, value
            else:
                self._forget_ended(name)

    def _names(self) -> Sequence[str]:
        if not self._folder.is_dir():
            return ()
        return sorted(p.name for p in self._folder.iterdir() if p.is_file())

    def _forget_ended(self, name: str) -> None:
        """Forget a value that has ended; where nothing can be written, another does it."""
        with suppress(GitMemError):
            self._remove(name)

    def _remove(self, name: str) -> None:
        self._cache.pop(name, None)
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise GitMemError(f"cannot write in '{self._folder}': {error.strerror}", "check its permissions") from None

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            status = (self._folder / name).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self, name: str) -> Value | None:
        try:
            record = json.loads(read_bytes(self._folder, name, 4 * MAX_VALUE_BYTES))
            at, until = datetime.fromisoformat(record["at"]), datetime.fromisoformat(record["until"])
            owner = Owner(str(record.get("session", "")), str(record.get("agent", "")))  # absent: the project's
            whole = at.tzinfo is not None and until.tzinfo is not None  # as `set` writes them
            if not whole:
                return None
            return Value(str(record["key"]), str(record["text"]), at, until, owner)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, GitMemError):
            return None  # damaged, or put there by somebody else


def _owners_seen_by(reader: Owner) -> list[Owner]:
    """The owners whose values a reader is given, the nearest first."""
    sessions = dict.fromkeys((reader.session, ""))
    agents = dict.fromkeys((reader.agent, ""))
    return [Owner(session, agent) for session in sessions for agent in agents]


def _nearness(value: Value) -> tuple[bool, bool]:
    """What of two values of one key wins: a session's over the project's, one agent's over that of every agent."""
    return bool(value.owner.session), bool(value.owner.agent)


def drop_saying(common_dir: Path, texts: Iterable[str]) -> list[str]:
    """Forget every value, of whatever profile, that says one of these texts, letter case and white space aside; the
    keys that held them, in order. What cannot be removed is not named.
    """
    wanted = [folded for text in texts if (folded := _plain(text))]
    dropped = []
    for folder in sorted(common_dir.glob("gitmem/working*")) if wanted else ():
        for file in sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else ():
            try:
                record = json.loads(read_bytes(folder, file.name, 4 * MAX_VALUE_BYTES))
                key, said = str(record["key"]), _plain(f"{record['key']} {record['text']}")
            except (OSError, ValueError, KeyError, TypeError, RecursionError, GitMemError):
                continue
            if any(text in said for text in wanted):
                with suppress(OSError):
                    file.unlink(missing_ok=True)
                    dropped.append(key)
    return sorted(dropped)


def _file_name(key: str, owner: Owner) -> str:
    """The file of a value. A project's value of every agent has the name that it had before values had owners; a
    session's names begin with the session, so that a session's values are found without reading the others."""
    return _session_prefix(owner.session) + _hash(f"{key}\0{owner.agent}" if owner.agent else key)


def _session_prefix(session: str) -> str:
    if not session:
        return ""
    return f"{_hash(session)[:16]}-"


def _is_of(name: str, owner: Owner) -> bool:
    """Whether a file may be of the owner's session, or of the project."""
    if owner.session:
        return name.startswith(_session_prefix(owner.session))
    return "-" not in name


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
