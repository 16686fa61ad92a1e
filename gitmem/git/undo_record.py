"""What the writers of memory did in this work tree, so that the last of it can be taken back (`git mem undo`).

A private file beside the search index, the newest entry last. The text that stood in a file is kept only where it was
not committed. `redact` drops every text: nothing keeps what was masked.
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
from pathlib import Path
from typing import Any, NamedTuple

from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.messages import Message

MAX_ENTRIES = 20  # writes, or groups of them, that are remembered
CARRY_WAIT = 10.0  # seconds for another that writes
MAX_FILE_BYTES = 8 << 20  # bytes of the file; the oldest entries go first

_group: ContextVar[str] = ContextVar("group", default="")


class Written(NamedTuple):
    """One file of a write: the bytes before, None for no file and where a commit has them; `digest` of those before and
    of those after."""

    text: bytes | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One write. `at` is when, in UTC; `commit` what it committed, "" for nothing; entries of one `group` belong
    together. `files` are path -> `Written`. `branch`: the branch that was written in a temporary work tree, "" for what
    was checked out here.
    """

    at: str
    commit: str
    group: str
    files: Mapping[str, Written]
    branch: str = ""


def digest(data: bytes | None) -> str | None:
    """The SHA-256 of a file's bytes in hex; None for no file."""
    if data is None:
        return None
    return hashlib.sha256(data).hexdigest()


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
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError, GitMemError):
        if commit:
            held = _committed(repo, commit, [path for path in contents if noted[path] is not None])
        else:
            held = {}
        files = {
            path: Written(
                None if digest(noted[path]) == held.get(path) else noted[path], digest(noted[path]), digest(data)
            )
            for path, data in contents.items()
        }
        _save(repo, [*load(repo), Entry(at, commit, _group.get(), files)])


def _committed(repo: Repository, commit: str, paths: Sequence[str]) -> dict[str, str | None]:
    """path -> digest of what the parent of a commit has there, of those paths that it has."""
    parents = repo.commit(commit).parents
    if parents and paths:
        oids = repo.blobs(parents[0], paths)
    else:
        oids = {}
    texts = dict(repo.read_many(list(dict.fromkeys(oids.values()))))
    return {path: digest(texts[oid]) for path, oid in oids.items()}


def load(repo: Repository) -> list[Entry]:
    """The writes that are remembered, the oldest first; none where the file is missing or is not ours."""
    try:
        rows = json.loads(read_bytes(state_dir(repo.common_dir, make=False), _name(repo), MAX_FILE_BYTES + 1))
        return [_entry(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, GitMemError):
        return []


def last_write(repo: Repository) -> list[Entry]:
    """The last write, or all of its group, the oldest first; empty where none is remembered. One that was too large to
    be remembered is an entry without files."""
    runs = _runs(load(repo))
    if not runs:
        return []
    return runs[-1]


def carry(repo: Repository, there: Repository, branch: str) -> None:
    """Add the writes of the temporary work tree `there`, which became `branch`, to those of `repo`, as one.

    A record that cannot be written is left out: the writes themselves are done.
    """
    made = load(there)
    group = secrets.token_hex(8)
    with suppress(OSError, GitMemError), locked(repo.common_dir, "write", CARRY_WAIT):
        entries = [replace(entry, group=group, branch=branch) for entry in made]
        if entries:
            _save(repo, [*load(repo), *entries])


def discard(repo: Repository) -> None:
    """Remove the record of a work tree that goes."""
    with suppress(OSError):
        (state_dir(repo.common_dir, make=False) / _name(repo)).unlink(missing_ok=True)


def drop(repo: Repository, entries: Sequence[Entry]) -> None:
    """Forget these entries: they were taken back. The caller is the writer."""
    _save(repo, [entry for entry in load(repo) if entry not in entries])


def drop_texts(repo: Repository, *, mark: bool = False) -> None:
    """Forget the texts that are kept here, and in other work trees of the repository every write; what was committed
    here, and files that were made here, can still be taken back. With `mark` a write that cannot be stands in the
    record. The caller is the writer."""
    own: list[Entry] = []
    if mark:
        marker = [Entry(datetime.now(UTC).isoformat(timespec="seconds"), "", "", {})]
    else:
        marker = []
    for entry in [*map(_without_texts, load(repo)), *marker]:
        if entry.files or not (own and not own[-1].files):  # one of those that are not kept in a row is enough
            own.append(entry)
    for file in _files(repo):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise GitMemError(Message("cannot remove '{}': {}", file, error.strerror)) from None
    _save(repo, own)


def _files(repo: Repository) -> Iterator[Path]:
    yield from state_dir(repo.common_dir, make=False).glob("undo-*.json")


def _name(repo: Repository) -> str:
    """One file for each linked work tree."""
    return f"undo-{hashlib.sha256(os.fsencode(repo.git_dir)).hexdigest()[:12]}.json"


def _runs(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries with those of one group together."""
    runs: list[list[Entry]] = []
    for entry in entries:
        if runs and entry.group and entry.group == runs[-1][-1].group:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _save(repo: Repository, entries: Sequence[Entry]) -> None:
    runs = [_bounded(run) for run in _runs(entries)[-MAX_ENTRIES:]]
    rows = [[_spelled(entry) for entry in run] for run in runs]
    sizes = [len(json.dumps(run)) + 2 for run in rows]
    while len(rows) > 1 and sum(sizes) > MAX_FILE_BYTES:
        rows, sizes = rows[1:], sizes[1:]
    if sum(sizes) > MAX_FILE_BYTES:
        rows = [[_spelled(_unkept(runs[-1][-1]))]]
    data = json.dumps([row for run in rows for row in run]).encode()
    write_atomic(state_dir(repo.common_dir), _name(repo), data, private=True)


def _bounded(run: list[Entry]) -> list[Entry]:
    """A group of which a part is not kept is not kept at all: half of it could not be taken back rightly."""
    if all(entry.files for entry in run):
        return run
    return [_unkept(run[-1])]


def _without_texts(entry: Entry) -> Entry:
    """A write that is taken back without a text of ours: to what was committed before it, whatever else stood in its
    files, or to no file; one that needs such a text is not kept."""
    if not entry.commit and any(file.before is not None for file in entry.files.values()):
        return _unkept(entry)
    files = {path: file._replace(text=None) for path, file in entry.files.items()}
    return replace(entry, files=files)


def _unkept(entry: Entry) -> Entry:
    return replace(entry, files={})


def _spelled(entry: Entry) -> dict[str, Any]:
    files = {
        path: {
            "text": None if file.text is None else base64.b64encode(file.text).decode(),
            "before": file.before,
            "after": file.after,
        }
        for path, file in entry.files.items()
    }
    return {
        "at": entry.at, "commit": entry.commit, "group": entry.group, "files": files, "branch": entry.branch,
    }  # fmt: skip


def _entry(row: Any) -> Entry:
    files: dict[str, Written] = {}
    for path, file in row["files"].items():
        text, before, after = file["text"], file["before"], file["after"]
        if not isinstance(before, str | None) or not isinstance(after, str | None):
            raise TypeError
        files[path] = Written(None if text is None else base64.b64decode(text), before, after)
    at, commit, group, branch = row["at"], row["commit"], row["group"], row.get("branch", "")
    if not all(isinstance(text, str) for text in (at, commit, group, branch)):
        raise TypeError
    return Entry(at, commit, group, files, branch)
