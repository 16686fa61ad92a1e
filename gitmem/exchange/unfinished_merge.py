"""Reads and ends a merge that was begun in a terminal and stopped at conflicts in memory files.

Files of it that are staged keep their staged text. The commit is made as for an open branch (`branch_merge`); then
Git's own merge is aborted and the branch moved to the commit, so that all of the merge is done or nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError
from gitmem.exchange.branch_merge import PREFIX, BranchMerge, go_forward, made_merge, merge_of
from gitmem.git.commit import MERGE_HEAD, merging
from gitmem.git.opening import Repository
from gitmem.git.transaction import Reading, ensure_position, position, writer
from gitmem.git.undo_record import digest
from gitmem.git.worktree import read_bytes
from gitmem.git.write import run_git
from gitmem.messages import Message

MAX_MESSAGE_BYTES = 1 << 16
END = "git status; git commit ends it, git merge --abort gives it up"


@dataclass(frozen=True, slots=True)
class BegunMerge:
    """`merge`: with its open conflicts. `token`: a hash of the staged entries and of the files with conflicts."""

    merge: BranchMerge
    token: str


def begun_merge(repo: Repository, config: Config, today: date) -> BegunMerge:
    """The merge that was begun here. Reads only.

    Raises GitMemError if there is none, and if it must be ended in a terminal: it merges several branches, something
    else is staged or changed, or one side removed a file.
    """
    tips = _git_file_text(repo, MERGE_HEAD).split()
    head = repo.head()
    if not tips or head is None:
        raise GitMemError("no merge was begun here", "git mem ui: Review, Branches")
    if len(tips) > 1 or (Path(repo.git_dir) / "MERGE_AUTOSTASH").exists():
        raise GitMemError("this merge is of several branches, or keeps edits aside: it is ended in a terminal", END)
    name = next((ref.removeprefix(PREFIX) for ref, tip in sorted(repo.refs(PREFIX)) if tip == tips[0]), tips[0][:12])
    open_paths = {row.partition("\t")[2] for row in run_git(repo, ["ls-files", "-u", "-z"]).split("\0") if row}
    staged = {entry.path: entry.oid for entry in repo.staged()}

    def done(path: str) -> bytes | None:
        if path in open_paths:
            return None
        if path not in staged:
            raise GitMemError(Message("'{}' is settled by its removal: the merge is ended in a terminal", path), END)
        return repo.read(staged[path])

    merge = merge_of(repo, config, name, (head, tips[0]), today, done)
    if not merge.others:
        _ensure_nothing_else(repo, merge, staged, open_paths)
    reading = Reading(repo)
    state = [head, tips[0], sorted(staged.items()), [(path, digest(reading.raw(path))) for path in sorted(open_paths)]]
    token = hashlib.sha256(json.dumps(state).encode("ascii")).hexdigest()
    subject = _git_file_text(repo, "MERGE_MSG").partition("\n")[0].strip()
    return BegunMerge(replace(merge, message=subject or merge.message), token)


def _ensure_nothing_else(repo: Repository, merge: BranchMerge, staged: Mapping[str, str], open_paths: set[str]) -> None:
    """Raise GitMemError if `git merge --abort` would lose more than the merge: edits, or other staged changes."""
    settled = {file.path for file in merge.files}
    brought = dict(merge.brought)
    for change in repo.staged_changes():
        path = change.path
        if path in settled or path in open_paths:
            continue
        if brought.get(path) != staged.get(path, ""):
            raise GitMemError(Message("'{}' is staged besides the merge: it is ended in a terminal", path), END)
    edited = {path for path in run_git(repo, ["diff", "--name-only", "-z"]).split("\0") if path} - open_paths
    if mixed := sorted(edited & set(brought)):
        raise GitMemError(
            Message("'{}' has edits that are not staged: the merge is ended in a terminal", mixed[0]), END
        )


def end_merge(repo: Repository, begun: BegunMerge, contents: Mapping[str, bytes], config: Config, today: date) -> str:
    """Commit the merge that was begun. Returns the commit's oid.

    `contents`: of the files that both sides changed, as from `branch_merge.settled`. Raises Changed if the merge is not
    what it was, and as `branch_merge.made_merge`; nothing is changed then. If the process is killed, the merge is still
    begun, or aborted, or ended.
    """
    before = position(repo)
    made = made_merge(repo, begun.merge, contents, today)
    with writer(repo):
        ensure_position(repo, before)
        if not merging(repo) or begun_merge(repo, config, today).token != begun.token:
            raise Changed("the merge changed meanwhile; nothing was committed", "look at it as it is now")
        run_git(repo, ["merge", "--abort"])
        go_forward(repo, begun.merge, made)
    return made


def _git_file_text(repo: Repository, name: str) -> str:
    """The first MAX_MESSAGE_BYTES of a file of the Git directory; "" if there is none."""
    try:
        return read_bytes(Path(repo.git_dir), name, MAX_MESSAGE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
