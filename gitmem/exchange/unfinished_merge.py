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
from gitmem.git.transaction import ensure_position, position, writer
from gitmem.git.undo_record import digest
from gitmem.git.worktree import content, read_bytes
from gitmem.git.write import run_git
from gitmem.messages import Message

MAX_MESSAGE_BYTES = 1 << 16
END = "git status; git commit ends it, git merge --abort gives it up"


@dataclass(frozen=True, slots=True)
class BegunMerge:
    """A merge that was begun in a terminal. `merge`: what it does, with its open conflicts. `token`: a hash of the
    staged entries and of the files with conflicts."""

    merge: BranchMerge
    token: str


@dataclass(frozen=True, slots=True)
class StagedMerge:
    """Git's index during the merge. `oids`: path -> the staged blob; ours for a path with an open conflict. `unmerged`:
    the paths with open conflicts, which Git keeps in stages 1 to 3."""

    repo: Repository
    oids: Mapping[str, str]
    unmerged: frozenset[str]

    def settled(self, path: str) -> bytes | None:
        """The staged bytes of a file that both sides changed; None while its conflict is open. Raises GitMemError if
        the conflict was settled by removing the file."""
        if path in self.unmerged:
            return None
        if path not in self.oids:
            raise GitMemError(Message("'{}' is settled by its removal: the merge is ended in a terminal", path), END)
        return self.repo.read(self.oids[path])


def begun_merge(repo: Repository, config: Config, today: date) -> BegunMerge:
    """The merge that was begun here. Reads only.

    Raises GitMemError if there is none, and if it must be ended in a terminal: it merges several branches, something
    else is staged or changed, or one side removed a file.
    """
    head, tip = _sides(repo)
    staged = _staged_merge(repo)
    merge = merge_of(repo, config, _name_of(repo, tip), (head, tip), today, staged.settled)
    if not merge.others:  # `made_merge` refuses a merge with other files, and says why
        _ensure_nothing_else(repo, merge, staged)
    subject = _git_file_text(repo, "MERGE_MSG").partition("\n")[0].strip()
    return BegunMerge(replace(merge, message=subject or merge.message), _token(repo, head, tip, staged))


def _sides(repo: Repository) -> tuple[str, str]:
    """(HEAD, the commit that is merged into it). Raises GitMemError if no merge was begun, or not one of this form."""
    tips = _git_file_text(repo, MERGE_HEAD).split()
    head = repo.head()
    if not tips or head is None:
        raise GitMemError("no merge was begun here", "git mem ui: Review, Branches")
    has_autostash = (Path(repo.git_dir) / "MERGE_AUTOSTASH").exists()  # Git 2.27: edits that end with the merge
    if len(tips) > 1 or has_autostash:
        raise GitMemError("this merge is of several branches, or keeps edits aside: it is ended in a terminal", END)
    return head, tips[0]


def _name_of(repo: Repository, tip: str) -> str:
    """The first local branch whose tip this is; the beginning of the oid if there is none."""
    for ref, ref_tip in sorted(repo.refs(PREFIX)):
        if ref_tip == tip:
            return ref.removeprefix(PREFIX)
    return tip[:12]


def _staged_merge(repo: Repository) -> StagedMerge:
    unmerged_rows = _nul_ended(run_git(repo, ["ls-files", "-u", "-z"]))  # MODE OID STAGE<tab>PATH
    return StagedMerge(
        repo=repo,
        oids={entry.path: entry.oid for entry in repo.staged()},
        unmerged=frozenset(row.partition("\t")[2] for row in unmerged_rows),
    )


def _token(repo: Repository, head: str, tip: str, staged: StagedMerge) -> str:
    """A hash of what a person was shown: both sides, the staged entries and the files with open conflicts."""
    assert repo.root is not None
    unmerged_files = [(path, digest(content(repo.root, path))) for path in sorted(staged.unmerged)]
    state = [head, tip, sorted(staged.oids.items()), unmerged_files]
    return hashlib.sha256(json.dumps(state).encode("ascii")).hexdigest()


def _ensure_nothing_else(repo: Repository, merge: BranchMerge, staged: StagedMerge) -> None:
    """Raise GitMemError if `git merge --abort` would lose more than the merge: other staged changes, or edits of files
    that the merge changes. It keeps edits of all other files."""
    changed_by_both = {file.path for file in merge.files}
    brought = dict(merge.brought)  # path -> the blob that the merge stages, "" for a removal
    for change in repo.staged_changes():
        path = change.path
        if path in changed_by_both or path in staged.unmerged:
            continue
        is_of_the_merge = path in brought and staged.oids.get(path, "") == brought[path]
        if not is_of_the_merge:
            raise GitMemError(Message("'{}' is staged besides the merge: it is ended in a terminal", path), END)
    edited = set(_nul_ended(run_git(repo, ["diff", "--name-only", "-z"]))) - staged.unmerged
    lost = sorted(edited & brought.keys())
    if lost:
        raise GitMemError(Message("'{}' has edits that are not staged: the merge is ended in a terminal", lost[0]), END)


def end_merge(repo: Repository, begun: BegunMerge, contents: Mapping[str, bytes], config: Config, today: date) -> str:
    """Commit the merge that was begun. Returns the commit's oid.

    `contents`: bytes of the files that both sides changed, from `branch_merge.settled`. Raises Changed if the merge is
    not what it was, GitFailed if a hook refuses, Refused if the gate blocks, GitMemError if it changes more than
    memory; nothing is changed then. If the process is killed, the merge is still begun, or aborted, or ended.
    """
    old_position = position(repo)
    # Hooks and the gate may take long or refuse. So the commit is made first, outside the lock, in a work tree of its
    # own: no branch has it yet, and Git's own merge is untouched.
    commit = made_merge(repo, begun.merge, contents, today)
    with writer(repo):
        ensure_position(repo, old_position)
        if not merging(repo) or begun_merge(repo, config, today).token != begun.token:
            raise Changed("the merge changed meanwhile; nothing was committed", "look at it as it is now")
        # The branch cannot move forward during a merge. After the abort the work tree is that of HEAD, so moving the
        # branch writes each file of the commit; all that the abort drops is in the commit (`_ensure_nothing_else`).
        run_git(repo, ["merge", "--abort"])
        go_forward(repo, begun.merge, commit)
    return commit


def _nul_ended(listing: str) -> list[str]:
    """The rows of a listing of Git with `-z`."""
    return [row for row in listing.split("\0") if row]


def _git_file_text(repo: Repository, name: str) -> str:
    """The first MAX_MESSAGE_BYTES of a file of the Git directory; "" if there is none."""
    try:
        return read_bytes(Path(repo.git_dir), name, MAX_MESSAGE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
