"""Working memory of running sessions: small values by key, in the Git directory, never committed.

Keys are hierarchical (`entity:name:phase`), normalised, and expire; an expired one is dropped when it is met. One file
a key, written atomically, so that processes never see half a value; a process that lives long keeps what it read or
wrote in memory for as long as the file stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from gitmem.errors import GitMemError, UsageError
from gitmem.git.worktree import read_bytes, state_dir, write_atomic

PARTS = (2, 5)  # entity:name, up to entity:name:phase:sub:sub
LIMIT = 64_000  # bytes of one value
MAX_VALUES = 1_000  # values of one repository that hold at a time
HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its key as it was normalised, when it was set and when it ends."""

    key: str
    text: str
    at: datetime
    until: datetime


def normalise(key: str) -> str:
    """`Entity: Name :phase` -> `entity:name:phase`. Raises UsageError for what is no key."""
    parts = [_plain(part) for part in key.split(":")]
    if not PARTS[0] <= len(parts) <= PARTS[1] or not all(parts) or any(ord(c) < 32 for c in key):
        raise UsageError(f"'{key}' is not a session key", "write it as entity:name[:phase[:sub]]")
    return ":".join(parts)


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
        self._folder = common_dir / "gitmem" / ("working" if not profile else f"working-{_name(profile)}")
        self._cache: dict[str, tuple[Value, FileStamp]] = {}

    def set(self, key: str, text: str, now: datetime, hours: float = HOURS) -> Value:
        """Keep a value for `hours`. Raises UsageError when it is too large or `hours` is not positive."""
        key = normalise(key)
        if len(text.encode("utf-8", "surrogateescape")) > LIMIT:
            raise UsageError(f"a session value holds at most {LIMIT} bytes", "put longer text into a note")
        if not 0 < hours <= 24 * 366:
            raise UsageError("--ttl is a number of hours above 0", "--ttl 24")
        if not self._stamp(_name(key)) and len(self.list("", now)) >= MAX_VALUES:
            raise UsageError(
                f"there are {MAX_VALUES} session values already", "git mem session list; set one to '' to drop it"
            )
        value = Value(key, text, now, now + timedelta(hours=hours))
        state_dir(self._common_dir)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise GitMemError(f"cannot make '{self._folder}': {error.strerror}", "check its permissions") from None
        record = {"key": key, "text": text, "at": now.isoformat(), "until": value.until.isoformat()}
        write_atomic(
            self._folder, _name(key), json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"), private=True
        )
        stamp = self._stamp(_name(key))
        if stamp:
            self._cache[key] = value, stamp
        return value

    def get(self, key: str, now: datetime) -> Value | None:
        """The value, None when there is none or it has ended."""
        key = normalise(key)
        stamp = self._stamp(_name(key))
        known = self._cache.get(key)
        value = known[0] if known and known[1] == stamp else self._read(_name(key))
        if value is None or value.key != key:
            self._cache.pop(key, None)
            return None
        if value.until <= now:
            self._forget_ended(key)
            return None
        if stamp:
            self._cache[key] = value, stamp
        return value

    def list(self, prefix: str, now: datetime) -> list[Value]:
        """Every value below `prefix` ("" for all), by key; what has ended is dropped on the way."""
        names = sorted(p.name for p in self._folder.iterdir() if p.is_file()) if self._folder.is_dir() else []
        values = [value for value in map(self._read, names) if value is not None]
        for value in values:
            if value.until <= now:
                self._forget_ended(value.key)
        wanted = ":".join(map(_plain, prefix.strip().strip(":").split(":")))
        live = [v for v in values if v.until > now]
        return sorted((v for v in live if not wanted or (v.key + ":").startswith(wanted + ":")), key=lambda v: v.key)

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._cache.pop(key, None)
        try:
            (self._folder / _name(key)).unlink(missing_ok=True)
        except OSError as error:
            raise GitMemError(f"cannot write in '{self._folder}': {error.strerror}", "check its permissions") from None

    def _forget_ended(self, key: str) -> None:
        """Forget a value that has ended; where nothing can be written, another does it."""
        with suppress(GitMemError):
            self.drop(key)

    def clear(self) -> None:
        """Forget all: what a switch of profile does, so that nothing is carried over."""
        self._cache.clear()
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            file.unlink(missing_ok=True)

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            status = (self._folder / name).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self, name: str) -> Value | None:
        try:
            record = json.loads(read_bytes(self._folder, name, 4 * LIMIT))
            at, until = datetime.fromisoformat(record["at"]), datetime.fromisoformat(record["until"])
            whole = at.tzinfo is not None and until.tzinfo is not None  # as `set` writes them
            return Value(str(record["key"]), str(record["text"]), at, until) if whole else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError, GitMemError):
            return None  # damaged, or put there by somebody else


def drop_saying(common_dir: Path, texts: Iterable[str]) -> list[str]:
    """Forget every value, of whatever profile, that says one of these texts, letter case and white space aside; the
    keys that held them, in order. What cannot be removed is not named.
    """
    wanted = [folded for text in texts if (folded := _plain(text))]
    dropped = []
    for folder in sorted(common_dir.glob("gitmem/working*")) if wanted else ():
        for file in sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else ():
            try:
                record = json.loads(read_bytes(folder, file.name, 4 * LIMIT))
                key, said = str(record["key"]), _plain(f"{record['key']} {record['text']}")
            except (OSError, ValueError, KeyError, TypeError, RecursionError, GitMemError):
                continue
            if any(text in said for text in wanted):
                with suppress(OSError):
                    file.unlink(missing_ok=True)
                    dropped.append(key)
    return sorted(dropped)


def _name(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
