"""Working memory of sessions: small values by key, in the Git directory, never committed.

A value belongs to a session and an agent (`Owner`); a value without a session belongs to the project. Keys are
hierarchical (`entity:name:phase`) and normalised. Values expire, and an expired value is deleted when it is read. Each
value is a file of its own, written atomically. A long-lived process caches values as long as their files do not change.
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

MAX_PARTS = 4  # of a key: entity:name:phase:sub
MAX_STORED_PARTS = 5  # of a key that an earlier version stored; such a value can be read, not written
MAX_VALUE_BYTES = 64_000
MAX_VALUES = 1_000  # of one session or of the project, without expired ones
MAX_FILES = 10_000  # of one repository, with expired ones
MAX_SESSION_NAME = 200  # characters
HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a value, or a reader. `session`: the session's name, "" for the project. `agent`: the agent's name,
    "" for every agent."""

    session: str = ""
    agent: str = ""

    def sees(self, value: Value) -> bool:
        """Whether this reader may read the value: one of the project or of its own session, and of no other agent."""
        return value.owner.session in ("", self.session) and value.owner.agent in ("", self.agent)


PROJECT = Owner()


class SessionValue(TypedDict):
    """A value as JSON (docs/json.md). `at`, `until`: ISO 8601. `session`: None for a value of the project. `agent`:
    None for a value of every agent."""

    key: str
    value: str
    at: str
    until: str
    session: str | None
    agent: str | None


def owner_of(session: str, agent: str) -> Owner:
    """The owner with both names normalised. Raises UsageError for an invalid name."""
    name = unicodedata.normalize("NFC", session).strip()
    if len(name) > MAX_SESSION_NAME or any(unicodedata.category(character)[0] == "C" for character in name):
        raise UsageError(
            f"a session's name is one line of at most {MAX_SESSION_NAME} characters", "give the host's session id"
        )
    return Owner(name, agent_name(agent))


@dataclass(frozen=True, slots=True)
class Value:
    """A stored value: normalised key, text, time of setting, time of expiry, owner."""

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
    """The normalised key: `entity:name:phase` for `Entity: Name :phase`. Raises UsageError for an invalid key."""
    return _normalised(key, MAX_PARTS)


def key_to_read(key: str) -> str:
    """As `normalise`, for reading and deleting: an earlier version stored keys of five parts."""
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
    """Whether a normalised key equals `prefix` or is below it; every key is below ""."""
    wanted = ":".join(map(_plain, prefix.strip().strip(":").split(":")))
    return not wanted or f"{key}:".startswith(f"{wanted}:")


def _plain(part: str) -> str:
    return " ".join(unicodedata.normalize("NFC", part).casefold().split())


FileStamp = tuple[int, int, int]  # inode, modification time, size


class Store:
    """The values of one repository and profile, with a write-through cache.

    Reading creates no folder. Raises GitMemError if the folder is a link or belongs to another user.
    """

    def __init__(self, common_dir: Path, profile: str = "") -> None:
        self._common_dir = common_dir
        if os.path.lexists(common_dir / "gitmem"):
            state_dir(common_dir, make=False)
        self._folder = common_dir / "gitmem" / ("working" if not profile else f"working-{_hash(profile)}")
        self._cache: dict[str, tuple[Value, FileStamp]] = {}  # file name -> value

    def set(self, key: str, text: str, now: datetime, hours: float = HOURS, owner: Owner = PROJECT) -> Value:
        """Store a value for `hours`. Raises UsageError if it is too large, `hours` is not positive, or the owner has
        MAX_VALUES."""
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
        """The value of a key for this reader; None if there is none or it has expired.

        A value of the session wins over one of the project, and one of the agent over one of every agent.
        """
        key = key_to_read(key)
        for owner in _owners_seen_by(reader):
            value = self._value(key, owner, now)
            if value is not None:
                return value
        return None

    def _value(self, key: str, owner: Owner, now: datetime) -> Value | None:
        """The value of exactly this owner, or None."""
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
        """The values below `prefix` ("" for all) for this reader, by key; for each key the one that `get` returns.

        Deletes expired values.
        """
        own = _session_prefix(reader.session)
        names = [name for name in self._names() if "-" not in name or (own and name.startswith(own))]
        seen: dict[str, Value] = {}
        for _, value in self._holding(names, now):
            best = seen.get(value.key)
            if reader.sees(value) and (best is None or _nearness(value) > _nearness(best)):
                seen[value.key] = value
        return [seen[key] for key in sorted(seen) if is_below(key, prefix)]

    def of_everybody(self, prefix: str, now: datetime) -> Sequence[Value]:
        """All values below `prefix`, of every owner, by key and owner; for the person who owns the repository."""
        values = (value for _, value in self._holding(self._names(), now) if is_below(value.key, prefix))
        return sorted(values, key=lambda value: (value.key, value.owner.session, value.owner.agent))

    def drop(self, key: str, owner: Owner = PROJECT) -> None:
        """Delete the value of exactly this owner."""
        self._remove(_file_name(key_to_read(key), owner))

    def clear(self) -> None:
        """Delete all values, as for a switch between profiles."""
        self._cache.clear()
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            file.unlink(missing_ok=True)

    def _make_room(self, owner: Owner, now: datetime) -> None:
        """Raise UsageError if the owner cannot store another value.

        The first value of a session checks all files, so that expired values of forgotten sessions are deleted.
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
        """(file, value) of these files without expired values, which are deleted."""
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
        """Delete an expired value; in a read-only folder it stays."""
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
            owner = Owner(
                str(record.get("session", "")), str(record.get("agent", ""))
            )  # missing in older files: the project's
            whole = at.tzinfo is not None and until.tzinfo is not None  # `set` writes both with a zone
            if not whole:
                return None
            return Value(str(record["key"]), str(record["text"]), at, until, owner)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, GitMemError):
            return None  # damaged, or not ours


def _owners_seen_by(reader: Owner) -> list[Owner]:
    """The owners whose values a reader may read, the most specific first."""
    sessions = dict.fromkeys((reader.session, ""))
    agents = dict.fromkeys((reader.agent, ""))
    return [Owner(session, agent) for session in sessions for agent in agents]


def _nearness(value: Value) -> tuple[bool, bool]:
    """Sort key of values of one key: a session's value wins over the project's, one agent's over every agent's."""
    return bool(value.owner.session), bool(value.owner.agent)


def drop_saying(common_dir: Path, texts: Iterable[str]) -> list[str]:
    """Delete the values of all profiles that contain one of these texts, ignoring case and white space.

    Returns the keys of the deleted values in order; a value that cannot be deleted is left out.
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
    """The file name of a value. A session's file names begin with the session, so that they are found without reading
    others. A value of the project and every agent has the name that values had before they had owners."""
    return _session_prefix(owner.session) + _hash(f"{key}\0{owner.agent}" if owner.agent else key)


def _session_prefix(session: str) -> str:
    if not session:
        return ""
    return f"{_hash(session)[:16]}-"


def _is_of(name: str, owner: Owner) -> bool:
    """Whether a file may belong to the owner's session, or to the project."""
    if owner.session:
        return name.startswith(_session_prefix(owner.session))
    return "-" not in name


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
