"""Working memory of sessions: small values by key, in the Git directory, never committed.

A value belongs to a session and an agent (`Owner`); a value without a session belongs to the project. Keys are
hierarchical (`entity:name:phase`) and normalised. Values expire; an expired value is deleted when it is read. Each
value is a file of its own, written atomically. A long-lived process caches a value until its file changes.
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
from gitmem.json_values import json_keys, parse_json
from gitmem.messages import Message
from gitmem.paths import agent_name

MAX_PARTS = 4  # of a key: entity:name:phase:sub
MAX_STORED_PARTS = 5  # of a key that an earlier version stored; such a value can be read, not written
MAX_VALUE_BYTES = 64_000
MAX_VALUES = 1_000  # of one session or of the project, without expired ones
MAX_FILES = 10_000  # of one repository, with expired ones
MAX_SESSION_NAME = 200  # characters
DEFAULT_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a value, or the reader of values; `owner_of` makes one from names as given. `session`: name of the
    session, "" for the project. `agent`: name of the agent, "" for every agent. Names are compared exactly.

    A reader sees the values of its own session and agent, and those whose session or agent is "". A reader with "" sees
    only values with "".
    """

    session: str = ""
    agent: str = ""

    def sees(self, value: Value) -> bool:
        """Whether this reader may read the value: the value's session is "" or the reader's, and so is its agent."""
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
    """The owner with both names in Unicode's NFC and the session's without spaces around it. Names that differ in case
    are different owners.

    Raises UsageError for a session's name of more than MAX_SESSION_NAME characters or with a control or invisible
    character (Unicode category C), and for an agent's name as `agent_name` does.
    """
    name = unicodedata.normalize("NFC", session).strip()
    if len(name) > MAX_SESSION_NAME or any(unicodedata.category(character)[0] == "C" for character in name):
        raise UsageError(
            f"a session's name is one line of at most {MAX_SESSION_NAME} characters", "give the host's session id"
        )
    return Owner(name, agent_name(agent))


@json_keys("key value=text at until session=owner.session? agent=owner.agent?")
@dataclass(frozen=True, slots=True)
class Value:
    """A stored value. `key`: normalised. `at`: when it was set. `until`: when it expires.

    JSON: `at`, `until`: when it was set, and when it expires. `session`: null for a value of the project. `agent`:
    null for a value of every agent.
    """

    key: str
    text: str
    at: datetime
    until: datetime
    owner: Owner = PROJECT


def normalise(key: str) -> str:
    """The normalised key: `entity:name:phase` for `Entity: Name :phase`. Raises UsageError for a key with fewer than 2
    or more than MAX_PARTS parts, an empty part, or a control character."""
    return _normalised(key, MAX_PARTS)


def key_to_read(key: str) -> str:
    """The normalised key, for reading and deleting: it may have five parts, as in values of an earlier version. Raises
    UsageError for an invalid key."""
    return _normalised(key, MAX_STORED_PARTS)


def _normalised(key: str, max_parts: int) -> str:
    """The key with each part normalised. Raises UsageError for fewer than 2 or more than `max_parts` parts, an empty
    part, or a control character."""
    parts = [_plain(part) for part in key.split(":")]
    if len(parts) > max_parts:
        raise UsageError(
            f"a session key has at most {MAX_PARTS} parts, and this one has {len(parts)}",
            "write it as entity:name[:phase[:sub]]",
        )
    if len(parts) < 2 or not all(parts) or any(ord(c) < 32 for c in key):
        raise UsageError(f"'{key}' is not a session key", "write it as entity:name[:phase[:sub]]")
    return ":".join(parts)


def is_below(key: str, prefix: str) -> bool:
    """Whether a normalised key equals `prefix` or begins with the parts of `prefix`; case and the length of white space
    in `prefix` do not matter. True for every key if `prefix` is ""."""
    normalised_prefix = ":".join(map(_plain, prefix.strip().strip(":").split(":")))
    return not normalised_prefix or f"{key}:".startswith(f"{normalised_prefix}:")


def _plain(part: str) -> str:
    """A text in lower case with single spaces."""
    return " ".join(unicodedata.normalize("NFC", part).casefold().split())


FileStamp = tuple[int, int, int]  # inode, modification time, size


class Store:
    """The values of one repository and profile. Reading creates no folder. Raises GitMemError if the folder is a link
    or belongs to another user."""

    def __init__(self, common_dir: Path, profile: str = "") -> None:
        self._common_dir = common_dir
        if os.path.lexists(common_dir / "gitmem"):
            state_dir(common_dir, make=False)
        self._folder = common_dir / "gitmem" / ("working" if not profile else f"working-{_hash(profile)}")
        self._cache: dict[str, tuple[Value, FileStamp]] = {}  # file name -> value

    def set(self, key: str, text: str, now: datetime, hours: float = DEFAULT_HOURS, owner: Owner = PROJECT) -> Value:
        """Store a value that expires after `hours` hours; returns it. Replaces the owner's value of the same key.

        Raises UsageError for an invalid key, text longer than MAX_VALUE_BYTES, hours outside 0 to 366 days, an owner
        with MAX_VALUES values, or MAX_FILES files; GitMemError when the folder cannot be written.
        """
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
        """The value of a key for this reader; None if there is none or it has expired. An expired value is deleted.
        Raises UsageError for an invalid key.

        A value of the reader's session takes precedence over one of the project; within these, a value of the reader's
        agent over one of every agent.
        """
        key = key_to_read(key)
        for owner in _owners_seen_by(reader):
            value = self._value(key, owner, now)
            if value is not None:
                return value
        return None

    def _value(self, key: str, owner: Owner, now: datetime) -> Value | None:
        """The value of a key that belongs to exactly this owner, None if there is none or it has expired."""
        name = _file_name(key, owner)
        stamp = self._stamp(name)
        cached = self._cache.get(name)
        value = cached[0] if cached and cached[1] == stamp else self._read(name)
        if value is None or value.key != key or value.owner != owner:
            self._cache.pop(name, None)
            return None
        if value.until <= now:
            self._remove_expired(name)
            return None
        if stamp:
            self._cache[name] = value, stamp
        return value

    def list(self, prefix: str, now: datetime, reader: Owner = PROJECT) -> list[Value]:
        """The values that this reader may read, below `prefix` ("" for all), sorted by key; for each key the one that
        `get` returns. Deletes expired values."""
        start = _session_prefix(reader.session)
        names = [name for name in self._names() if "-" not in name or (start and name.startswith(start))]
        best_values: dict[str, Value] = {}
        for _, value in self._unexpired(names, now):
            best = best_values.get(value.key)
            if reader.sees(value) and (best is None or _specificity(value) > _specificity(best)):
                best_values[value.key] = value
        return [best_values[key] for key in sorted(best_values) if is_below(key, prefix)]

    def list_all(self, prefix: str, now: datetime) -> Sequence[Value]:
        """The values of every owner below `prefix`, sorted by key and owner; for the person who owns the repository.
        Deletes expired values."""
        values = (value for _, value in self._unexpired(self._names(), now) if is_below(value.key, prefix))
        return sorted(values, key=lambda value: (value.key, value.owner.session, value.owner.agent))

    def drop(self, key: str, owner: Owner = PROJECT) -> None:
        """Delete the value of exactly this owner, if there is one. Raises UsageError for an invalid key, GitMemError if
        the file cannot be deleted."""
        self._remove(_file_name(key_to_read(key), owner))

    def clear(self) -> None:
        """Delete all values of the profile. Raises GitMemError if a file cannot be deleted."""
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            self._remove(file.name)

    def _make_room(self, owner: Owner, now: datetime) -> None:
        """Raise UsageError if the owner cannot store another value.

        If the owner has no values or a limit is reached, all files are read first, so that expired values are deleted.
        """
        names = self._names()
        owned = [name for name in names if _may_belong(name, owner)]
        if not owned or len(owned) >= MAX_VALUES or len(names) >= MAX_FILES:
            names = [name for name, _ in self._unexpired(names, now)]
            owned = [name for name in names if _may_belong(name, owner)]
        if len(owned) >= MAX_VALUES or len(names) >= MAX_FILES:
            limit = MAX_VALUES if len(owned) >= MAX_VALUES else MAX_FILES
            raise UsageError(
                f"there are {limit} session values already", "git mem session list; set one to '' to drop it"
            )

    def _unexpired(self, names: Iterable[str], now: datetime) -> Iterator[tuple[str, Value]]:
        """(file name, value) of these files. Expired values are deleted; files that cannot be read are left out."""
        for name in names:
            value = self._read(name)
            if value is None:
                continue
            if value.until > now:
                yield name, value
            else:
                self._remove_expired(name)

    def _names(self) -> Sequence[str]:
        """The names of all files with values, sorted."""
        if not self._folder.is_dir():
            return ()
        return sorted(p.name for p in self._folder.iterdir() if p.is_file())

    def _remove_expired(self, name: str) -> None:
        """Delete an expired value; in a read-only folder it stays."""
        with suppress(GitMemError):
            self._remove(name)

    def _remove(self, name: str) -> None:
        """Delete a file and forget its cached value. Raises GitMemError if it cannot be deleted."""
        self._cache.pop(name, None)
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise GitMemError(f"cannot write in '{self._folder}': {error.strerror}", "check its permissions") from None

    def _stamp(self, name: str) -> FileStamp | None:
        """The state of a file, from which a change is recognised; None if there is no file."""
        try:
            status = (self._folder / name).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self, name: str) -> Value | None:
        """The value in a file, None if it cannot be read or is damaged."""
        try:
            record = parse_json(read_bytes(self._folder, name, 4 * MAX_VALUE_BYTES))
            set_at, until = datetime.fromisoformat(record["at"]), datetime.fromisoformat(record["until"])
            owner = Owner(
                str(record.get("session", "")), str(record.get("agent", ""))
            )  # missing in older files: the project's
            has_zone = set_at.tzinfo is not None and until.tzinfo is not None  # `set` writes both with a zone
            if not has_zone:
                return None
            return Value(str(record["key"]), str(record["text"]), set_at, until, owner)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, GitMemError):
            return None  # damaged, or not ours


def _owners_seen_by(reader: Owner) -> list[Owner]:
    """The owners whose values a reader may read, in the order of precedence."""
    sessions = dict.fromkeys((reader.session, ""))
    agents = dict.fromkeys((reader.agent, ""))
    return [Owner(session, agent) for session in sessions for agent in agents]


def _specificity(value: Value) -> tuple[bool, bool]:
    """Sort key of values with the same key: a session's value is greater than the project's, then one agent's than
    every agent's."""
    return bool(value.owner.session), bool(value.owner.agent)


def delete_containing(common_dir: Path, texts: Iterable[str]) -> list[str]:
    """Delete the values of all profiles and owners whose key or text contains one of these texts, ignoring case and
    white space.

    Returns the keys of the deleted values, sorted; a value that cannot be deleted is left out.
    """
    normalised_texts = list(filter(None, map(_plain, texts)))
    dropped = []
    for folder in sorted(common_dir.glob("gitmem/working*")) if normalised_texts else ():
        for file in sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else ():
            try:
                record = parse_json(read_bytes(folder, file.name, 4 * MAX_VALUE_BYTES))
                key, content = str(record["key"]), _plain(f"{record['key']} {record['text']}")
            except (OSError, ValueError, KeyError, TypeError, GitMemError):
                continue
            if any(text in content for text in normalised_texts):
                with suppress(OSError):
                    file.unlink(missing_ok=True)
                    dropped.append(key)
    return sorted(dropped)


def _file_name(key: str, owner: Owner) -> str:
    """The file name of a value. The names of a session's values begin with the session's hash, so that they are found
    without reading others. A value of the project and every agent has the file name of versions that had no owners."""
    return _session_prefix(owner.session) + _hash(f"{key}\0{owner.agent}" if owner.agent else key)


def _session_prefix(session: str) -> str:
    """The beginning of the file names of a session's values, "" for the project."""
    return f"{_hash(session)[:16]}-" if session else ""


def _may_belong(name: str, owner: Owner) -> bool:
    """Whether a file's name is that of a value of the owner's session, or of the project."""
    if owner.session:
        return name.startswith(_session_prefix(owner.session))
    return "-" not in name


def _hash(text: str) -> str:
    """32 hex digits made from a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
