"""What the writers of memory did in this work tree, so that the last of it can be taken back (`git mem undo`).

A private file beside the search index, the newest entry last. The text that stood in a file is kept only where it was
not committed. `redact` drops all of it: nothing keeps what was masked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.protocol import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic

KEPT = 20  # writes that are remembered
LIMIT = 8 << 20  # bytes of the file; the oldest entries go first

_group: ContextVar[str] = ContextVar("group", default="")


@dataclass(frozen=True, slots=True)
class Entry:
    """One write. `at` is when, in UTC; `commit` what it committed, "" for nothing; entries of one `group` belong
    together. `files` are path -> (bytes before, None for no file and where it was committed; `digest` of those after).
    """

    at: str
    commit: str
    group: str
    files: Mapping[str, tuple[bytes | None, str | None]]


def digest(data: bytes | None) -> str | None:
    """The SHA-256 of a file's bytes in hex; None for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


@contextmanager
def together() -> Iterator[None]:
    """What is written in the block is taken back together."""
    token = _group.set(secrets.token_hex(8))
    try:
        yield
    finally:
        _group.reset(token)


def remember(
    repo: Repository, noted: Mapping[str, bytes | None], contents: Mapping[str, bytes | None], commit: str
) -> None:
    """Add a write of `contents` over the bytes `noted`. The caller is the writer.

    A record that cannot be written (a full disk) is left out: the write itself is done.
    """
    if not contents:
        return
    files = {path: (None if commit else noted[path], digest(data)) for path, data in contents.items()}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError, GitMemError):
        _save(repo, [*load(repo), Entry(at, commit, _group.get(), files)])


def load(repo: Repository) -> list[Entry]:
    """The writes that are remembered, the oldest first; none where the file is missing or is not ours."""
    try:
        rows = json.loads(read_bytes(state_dir(repo.common_dir, make=False), _name(repo), LIMIT + 1))
        return [_entry(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OutsideRepository):
        return []


def last(repo: Repository) -> list[Entry]:
    """The last write, or all of its group, the oldest first; empty where none is remembered."""
    entries = load(repo)
    group = entries[-1].group if entries else ""
    return [entry for entry in entries if entry.group == group] if group else entries[-1:]


def drop_last(repo: Repository) -> None:
    """Forget what `last` gives: it was taken back."""
    entries = load(repo)
    _save(repo, entries[: len(entries) - len(last(repo))])


def drop_all(repo: Repository) -> None:
    """Forget every write, and with it every text that is kept."""
    file = state_dir(repo.common_dir, make=False) / _name(repo)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise GitMemError(f"cannot remove '{file}': {error.strerror}") from None


def _name(repo: Repository) -> str:
    """One file for each linked work tree."""
    return f"undo-{hashlib.sha256(os.fsencode(repo.git_dir)).hexdigest()[:12]}.json"


def _save(repo: Repository, entries: Sequence[Entry]) -> None:
    rows = [_spelled(entry) for entry in entries[-KEPT:]]
    while rows and len(data := json.dumps(rows).encode()) > LIMIT:
        rows = rows[1:]
    write_atomic(state_dir(repo.common_dir), _name(repo), data if rows else b"[]", private=True)


def _spelled(entry: Entry) -> dict[str, Any]:
    files = {
        path: {"before": None if before is None else base64.b64encode(before).decode(), "after": after}
        for path, (before, after) in entry.files.items()
    }
    return {"at": entry.at, "commit": entry.commit, "group": entry.group, "files": files}


def _entry(row: Any) -> Entry:
    files: dict[str, tuple[bytes | None, str | None]] = {}
    for path, file in row["files"].items():
        before, after = file["before"], file["after"]
        if not isinstance(after, str | None):
            raise TypeError
        files[path] = None if before is None else base64.b64decode(before), after
    at, commit, group = row["at"], row["commit"], row["group"]
    if not all(isinstance(text, str) for text in (at, commit, group)):
        raise TypeError
    return Entry(at, commit, group, files)
