"""The record of the last writes in a work tree, from which `git mem undo` takes the last one back.

It is a private file in the state folder, the newest entry last. It holds the old text of a file only if that text was
not committed. `redact` drops all texts from it, so that no masked text stays.
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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.json_values import parse_json
from gitmem.messages import Message

MAX_ENTRIES = 20  # writes, or groups of writes, in the record
CARRY_WAIT_SECONDS = 10.0  # for another writer
MAX_FILE_BYTES = 8 << 20  # of the record; the oldest entries are dropped first

_group: ContextVar[str] = ContextVar("group", default="")


class Written(NamedTuple):
    """One file of a write.

    `text`: the bytes before, None if a commit has them or there was no file. `before`, `after`: SHA-256 (hex) of the
    bytes before and after, None for no file.
    """

    text: bytes | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One write.

    `at`: its time, UTC, ISO format. `commit`: its commit, "" if none. `group`: entries of one group are undone
    together, "" for an entry alone. `files`: path -> the file; empty if the write was too large for the record.
    `branch`: the branch that it wrote in a temporary work tree, "" for the branch checked out here.
    """

    at: str
    commit: str
    group: str
    files: Mapping[str, Written]
    branch: str = ""


def digest(data: bytes | None) -> str | None:
    """The SHA-256 of a file's bytes in hex; None if there is no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else None


@contextmanager
def together() -> Iterator[None]:
    """Make all writes in the block one group, which `git mem undo` undoes together."""
    token = _group.set(secrets.token_hex(8))
    try:
        yield
    finally:
        _group.reset(token)


def remember(
    repo: Repository, noted: Mapping[str, bytes | None], contents: Mapping[str, bytes | None], commit: str
) -> None:
    """Add the write of `contents` over the bytes `noted` to the record. `commit`: the commit of the write, "" if none.

    Does nothing if the record cannot be written (a full disk): the write itself is done. The caller must hold the lock
    of all writers.
    """
    if not contents:
        return
    with suppress(OSError, GitMemError):
        committed: dict[str, str | None] = {}
        if commit:
            committed = _parent_digests(repo, commit, [path for path in contents if noted[path] is not None])
        files = {}
        for path, data in contents.items():
            text, before = noted[path], digest(noted[path])
            if before == committed.get(path):
                text = None
            files[path] = Written(text, before, digest(data))
        _save(repo, [*load(repo), Entry(_now(), commit, _group.get(), files)])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _parent_digests(repo: Repository, commit: str, paths: Sequence[str]) -> dict[str, str | None]:
    """path -> digest of the file in the parent of `commit`, for those of `paths` that the parent has."""
    parents = repo.commit(commit).parents
    if not parents or not paths:
        return {}
    oids = repo.blobs(parents[0], paths)
    texts = dict(repo.read_many(list(dict.fromkeys(oids.values()))))
    return {path: digest(texts[oid]) for path, oid in oids.items()}


def load(repo: Repository) -> list[Entry]:
    """The entries of the record, the oldest first; empty if the file is missing, unreadable or not ours."""
    try:
        return _read(repo)
    except (OSError, GitMemError):
        return []


def _read(repo: Repository) -> list[Entry]:
    """The entries of the record, the oldest first; empty if there is none or it is damaged. Raises OSError if it cannot
    be read, GitMemError if another user owns it."""
    if not os.path.lexists(repo.common_dir / "gitmem"):
        return []
    try:
        rows = parse_json(read_bytes(state_dir(repo.common_dir, make=False), _name(repo), MAX_FILE_BYTES + 1))
        return [_entry(row) for row in rows]
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return []


def last_write(repo: Repository) -> list[Entry]:
    """The last write and the other writes of its group, the oldest first; empty if there is none.

    A write that was too large for the record is one entry without files. Raises OSError if the record cannot be read,
    GitMemError if another user owns it: then nobody knows whether there is one.
    """
    groups = _grouped(_read(repo))
    return groups[-1] if groups else []


def carry(repo: Repository, worktree: Repository, branch: str) -> None:
    """Add the writes of the temporary `worktree`, now those of `branch`, to the record of `repo` as one group.

    Does nothing if the record cannot be written: the writes themselves are done.
    """
    group = secrets.token_hex(8)
    entries = [replace(entry, group=group, branch=branch) for entry in load(worktree)]
    with suppress(OSError, GitMemError), locked(repo.common_dir, "write", CARRY_WAIT_SECONDS):
        if entries:
            _save(repo, [*load(repo), *entries])


def discard(repo: Repository) -> None:
    """Remove the record of a work tree that is being removed."""
    with suppress(OSError):
        (state_dir(repo.common_dir, make=False) / _name(repo)).unlink(missing_ok=True)


def drop(repo: Repository, entries: Sequence[Entry]) -> None:
    """Remove these entries, which were undone, from the record. The caller must hold the lock of all writers."""
    _save(repo, [entry for entry in load(repo) if entry not in entries])


def drop_texts(repo: Repository, *, mark: bool = False) -> None:
    """Drop all texts from the record, and the records of the repository's other work trees.

    Writes that were committed and files that were created can still be undone. `mark`: add an entry without files, so
    that an earlier write is not undone in place of this one. Raises GitMemError if a record cannot be removed. The
    caller must hold the lock of all writers.
    """
    entries = [_without_texts(entry) for entry in load(repo)]
    if mark:
        entries.append(Entry(_now(), "", "", {}))
    remaining: list[Entry] = []
    for entry in entries:
        repeated = remaining and not remaining[-1].files and not entry.files
        if not repeated:  # of several entries without files in a row one is enough
            remaining.append(entry)
    for file in state_dir(repo.common_dir, make=False).glob("undo-*.json"):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise GitMemError(Message("cannot remove '{}': {}", file, error.strerror)) from None
    _save(repo, remaining)


def _name(repo: Repository) -> str:
    """The name of the record; every linked work tree has its own."""
    return f"undo-{hashlib.sha256(os.fsencode(repo.git_dir)).hexdigest()[:12]}.json"


def _grouped(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries, those of one group in one list."""
    groups: list[list[Entry]] = []
    for entry in entries:
        if groups and entry.group and entry.group == groups[-1][-1].group:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _save(repo: Repository, entries: Sequence[Entry]) -> None:
    """Write the record: the newest MAX_ENTRIES groups, fewer if they are larger than MAX_FILE_BYTES."""
    groups = [_all_or_no_files(group) for group in _grouped(entries)[-MAX_ENTRIES:]]
    rows = [[_as_json(entry) for entry in group] for group in groups]
    sizes = [len(json.dumps(row)) + 2 for row in rows]
    while len(rows) > 1 and sum(sizes) > MAX_FILE_BYTES:
        rows, sizes = rows[1:], sizes[1:]
    if sum(sizes) > MAX_FILE_BYTES:
        rows = [[_as_json(_without_files(groups[-1][-1]))]]
    data = json.dumps([entry for row in rows for entry in row]).encode()
    write_atomic(state_dir(repo.common_dir), _name(repo), data, private=True)


def _all_or_no_files(group: list[Entry]) -> list[Entry]:
    """The group, or one entry without files if an entry lost its files: half of a group must not be undone."""
    if all(entry.files for entry in group):
        return group
    return [_without_files(group[-1])]


def _without_texts(entry: Entry) -> Entry:
    """The entry without texts; without files if it cannot be undone then.

    A write can be undone without a text if it was committed or only created files.
    """
    if not entry.commit and any(file.before is not None for file in entry.files.values()):
        return _without_files(entry)
    files = {path: file._replace(text=None) for path, file in entry.files.items()}
    return replace(entry, files=files)


def _without_files(entry: Entry) -> Entry:
    return replace(entry, files={})


def _as_json(entry: Entry) -> dict[str, Any]:
    files = {}
    for path, file in entry.files.items():
        text = base64.b64encode(file.text).decode() if file.text is not None else None
        files[path] = {"text": text, "before": file.before, "after": file.after}
    return {
        "at": entry.at, "commit": entry.commit, "group": entry.group, "files": files, "branch": entry.branch,
    }  # fmt: skip


def _entry(row: Any) -> Entry:
    """The entry of a JSON object. Raises KeyError, TypeError, ValueError or AttributeError if it is not ours."""
    files: dict[str, Written] = {}
    for path, file in row["files"].items():
        text, before, after = file["text"], file["before"], file["after"]
        if not isinstance(before, str | None) or not isinstance(after, str | None):
            raise TypeError
        if text is not None:
            text = base64.b64decode(text)
        files[path] = Written(text, before, after)
    written_at, commit, group, branch = row["at"], row["commit"], row["group"], row.get("branch", "")
    if not all(isinstance(text, str) for text in (written_at, commit, group, branch)):
        raise TypeError
    return Entry(written_at, commit, group, files, branch)
