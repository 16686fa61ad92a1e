"""A merge that was begun in a terminal and stopped at conflicts of memory: what is open of it, and ending it.

What is staged of it already stays as it was settled. The commit is made as that of an open branch (`branch_merge`);
then Git's own merge is given up for it, so that all of it is there or nothing.
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
from gitmem.git.opening import Repository
from gitmem.git.transaction import Reading, ensure_position, position, writer
from gitmem.git.undo_record import digest
from gitmem.git.worktree import read_bytes
from gitmem.git.write import MERGE_HEAD, merging, run_git
from gitmem.messages import Message

MAX_MESSAGE_BYTES = 1 << 16  # bytes of a message
END = "git status; git commit ends it, git merge --abort gives it up"


@dataclass(frozen=True, slots=True)
class BegunMerge:
    """What it would be, and the token of its state: of what is staged, and of the files whose conflicts are open."""

    merge: BranchMerge
    token: str


def begun_merge(repo: Repository, config: Config, today: date) -> BegunMerge:
    """The merge that was begun here. Reads only.

    Raises GitMemError where none was, and for what is left to the terminal: of several branches, with something else
    staged or changed, with a file that one side removed.
    """
    tips = _text(repo, MERGE_HEAD).split()
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
    subject = _text(repo, "MERGE_MSG").partition("\n")[0].strip()
    return BegunMerge(replace(merge, message=subject or merge.message), token)


def _ensure_nothing_else(repo: Repository, merge: BranchMerge, staged: Mapping[str, str], open_paths: set[str]) -> None:
    """Raise GitMemError where giving Git's merge up would lose more than it: edits, and what is staged besides."""
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
    """Commit the merge that was begun, with these contents of the files that both sides changed; the commit.

    Raises Changed where it is not what it was, and as `branch_merge.made_merge`; nothing is changed then. A run that is
    killed leaves the merge begun, or given up, or ended.
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


def _text(repo: Repository, name: str) -> str:
    """A small file of the Git directory, "" where there is none."""
    try:
        return read_bytes(Path(repo.git_dir), name, MAX_MESSAGE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
