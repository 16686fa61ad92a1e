"""Records a write in progress with the old bytes of its files, and puts them back when the write failed or was killed.

The record is a file of Git's directory of the work tree.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gitmem.errors import GitMemError, Locked, OutsideRepository
from gitmem.git.git_index import blob_oids, is_blob, unstage
from gitmem.git.replacement import Replacement
from gitmem.git.repository import Repository
from gitmem.git.scratch_files import scratch_folder
from gitmem.git.undo_record import digest
from gitmem.git.worktree import content, read_bytes, write_atomic
from gitmem.json_values import parse_json
from gitmem.messages import Message
from gitmem.shell_word import shell_word
from gitmem.system import blocked_signals

RECORD = "gitmem-attempt.json"
MAX_RECORD_BYTES = 64 << 20  # memory files are small, and the record may be somebody else's
GIT_WAIT_SECONDS = 5.0  # for the `git commit` of a killed run
RECOVERY_HINT = "the next git mem command that writes puts it back"


class AttemptedFile(NamedTuple):
    """A file of the record. `before`: its old bytes, None if there was no file. `after`: SHA-256 (hex) of the bytes
    that the killed run wrote, None if it removed the file."""

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


class Outcome(NamedTuple):
    """What became of files that were to be put back.

    `undone`: paths with their old text again. `mixed`: paths that somebody else saved meanwhile; they stay. `failed`: a
    sentence about the files that could not be put back, "" if there are none.
    """

    undone: list[str]
    mixed: list[str]
    failed: str


def put_back(repo: Repository, files: Sequence[Replacement], *, committed: bool) -> Outcome:
    """Put the files and their staged entries back. `committed`: HEAD moved since the write; a file whose new bytes HEAD
    has now is left in place. An error of one file goes to `Outcome.failed`, and the others are still put back."""
    undone, mixed, failed = [], [], []
    oids = {}
    if committed:
        oids = blob_oids(repo, repo.head(), [file.path for file in files])
    for file in reversed(files):
        try:
            if committed and is_blob(repo, oids.get(file.path), file.after):
                # A git that was killed after it moved HEAD left its index with the old text (the loop of kills of all
                # processes): the next commit would bring it back.
                unstage(repo, file.path, keep=file.after, drop=file.before)
            else:
                if file.undo():
                    undone.append(file.path)
                else:
                    mixed.append(file.path)
                unstage(repo, file.path, keep=file.before, drop=file.after)
        except (OSError, GitMemError) as error:
            failed.append(Message("'{}' could not be put back ({})", file.path, error))
    return Outcome(undone, mixed, ", ".join(failed))


def recover(repo: Repository) -> list[str]:
    """Put back the files that a killed run wrote and did not commit. Returns their paths.

    A file that somebody changed since stays as it is, and so does any path in the record that is not a plain file of
    this repository. Raises Locked while a commit that the killed run began is still running, GitMemError if a file
    cannot be put back; the record stays then. The caller must hold the lock of all writers.
    """
    if not os.path.lexists(repo.git_dir / RECORD):
        return []
    head, rows = read_record(repo)
    undone = []
    if rows:
        _await_git(repo)
        with blocked_signals():
            undone = _recovered(repo, head, rows)
    drop_record(repo)
    return undone


def _recovered(repo: Repository, head: str | None, rows: Sequence[AttemptedFile]) -> list[str]:
    assert repo.root is not None
    files = []
    try:
        for path, before, after in rows:
            with suppress(OSError, ValueError, OutsideRepository):  # not a file that a writer could have written
                data = content(repo.root, path)
                if data != before and digest(data) == after:
                    file = Replacement(repo.root, path, before, data, scratch_folder(repo))
                    file.resume()
                    files.append(file)
        outcome = put_back(repo, files, committed=repo.head() != head)
    finally:
        for file in files:
            file.close()
    if outcome.failed:
        raise GitMemError(outcome.failed, RECOVERY_HINT)
    return outcome.undone


def _await_git(repo: Repository) -> None:
    """Wait until the `git commit` of a killed run ends: the files that it commits must not be put back meanwhile.

    The loop of kills, in which Git goes on, needs this. Raises Locked after GIT_WAIT_SECONDS.
    """
    lock = repo.git_dir / "index.lock"
    deadline = time.monotonic() + GIT_WAIT_SECONDS
    while lock.exists():
        if time.monotonic() >= deadline:
            raise Locked(
                "a commit that git mem began is still running here, or was killed",
                Message("wait for it; if no git runs any more: {}", f"rm {shell_word(str(lock))}"),
            )
        time.sleep(0.02)
