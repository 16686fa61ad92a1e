"""The record of a write in progress: the old bytes of its files, for the run after a kill.

The record is a file of Git's directory of the work tree.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.undo_record import digest
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.json_values import parse_json
from gitmem.messages import Message

RECORD = "gitmem-attempt.json"
MAX_RECORD_BYTES = 64 << 20  # memory files are small, and the record may be somebody else's


class AttemptedFile(NamedTuple):
    """A file of the record. `before`: its old bytes, None if there was no file. `after`: `digest` of the bytes that the
    killed run wrote, None if it removed the file."""

    path: str
    before: bytes | None
    after: str | None


def write_record(
    repo: Repository, head: str | None, noted: Mapping[str, bytes | None], contents: Mapping[str, bytes | None]
) -> None:
    """Record that `contents` will be written over the bytes `noted`; None means no file. `head`: the commit of HEAD
    now, None before the first commit. Raises GitMemError if the record cannot be written."""
    files = {path: {"before": _spelled(noted[path]), "after": digest(data)} for path, data in contents.items()}
    write_atomic(repo.git_dir, RECORD, json.dumps({"head": head, "files": files}).encode(), private=True)


def _spelled(data: bytes | None) -> str | None:
    return base64.b64encode(data).decode() if data is not None else None


def read_record(repo: Repository) -> tuple[str | None, list[AttemptedFile]]:
    """The commit of HEAD before the killed run (None before the first commit), and the files of the run. The result is
    (None, []) if the record is missing, is not ours or was not written to its end."""
    try:
        record = parse_json(read_bytes(repo.git_dir, RECORD, MAX_RECORD_BYTES))
        return record["head"], [_file(path, row) for path, row in record["files"].items()]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, OutsideRepository):
        return None, []


def _file(path: str, row: Any) -> AttemptedFile:
    before, after = row["before"], row["after"]
    if not isinstance(after, str | None):
        raise TypeError
    if before is not None:
        before = base64.b64decode(before)
    return AttemptedFile(path, before, after)


def drop_record(repo: Repository) -> None:
    """Remove the record. Raises GitMemError if it cannot be removed, because the next run would read it again."""
    try:
        (repo.git_dir / RECORD).unlink(missing_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot remove '{}': {}", repo.git_dir / RECORD, error.strerror)) from None
