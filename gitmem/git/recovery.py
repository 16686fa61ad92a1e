"""Puts back the files of a write that failed, or that a killed run left."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from gitmem.errors import GitMemError, Locked, OutsideRepository
from gitmem.git.attempt_record import RECORD, AttemptedFile, drop_record, read_record
from gitmem.git.git_index import blob_oids, is_blob, unstage
from gitmem.git.replacement import Replacement
from gitmem.git.repository import Repository
from gitmem.git.scratch_files import scratch_folder
from gitmem.git.undo_record import digest
from gitmem.git.worktree import content
from gitmem.messages import Message
from gitmem.system import blocked_signals

GIT_WAIT_SECONDS = 5.0  # for the `git commit` of a killed run
RECOVERY_HINT = "the next git mem command that writes puts it back"


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
    cannot be put back; the record stays then. The caller holds the lock of all writers.
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
                Message("wait for it; if no git runs any more: {}", f"rm {shlex.quote(str(lock))}"),
            )
        time.sleep(0.02)
