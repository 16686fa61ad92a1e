"""Temporary work trees, so that a write to a commit or to another branch leaves the user's work tree alone.

There is one temporary work tree at a time in a repository. The next run removes one that a killed run left.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem import system
from gitmem.errors import Changed, GitFailed, GitMemError
from gitmem.git import undo_record
from gitmem.git.opening import Repository, open_repository
from gitmem.git.signing import run_commit
from gitmem.git.worktree import locked
from gitmem.git.write import run_git
from gitmem.messages import Message
from gitmem.shell_word import shell_word

WAIT_SECONDS = 60.0  # for another run with a temporary work tree
PREFIX = "git-mem-branch-"  # of its folder: the next run recognises a folder of a killed run by it
_OTHER_PLACE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")  # variables that name another work tree


@contextmanager
def branch_worktree(repo: Repository, branch: str, start: str = "") -> Iterator[Repository]:
    """A detached work tree at the commit `start`, or the tip of `branch` if "". Its commits become those of `branch`.

    `branch` is made or moved at the end of the block, if the block committed something and raised nothing. Raises
    GitMemError if a work tree of the repository, this one too, has the branch checked out, UnknownRevision if `start`
    is "" and there is no such branch, Changed if somebody moved it meanwhile, Locked if another run holds the lock for
    WAIT_SECONDS, GitFailed if `branch` cannot name a branch or Git cannot make the work tree.
    """
    run_git(repo, ["check-ref-format", "--branch", branch])
    ref = f"refs/heads/{branch}"
    with locked(repo.common_dir, "branch", WAIT_SECONDS):
        _remove_left_over(repo)
        if _is_checked_out(repo, ref):
            raise GitMemError(
                Message("'{}' is checked out in another work tree", branch), "run it there, or name another branch"
            )
        old_tip = dict(repo.refs()).get(ref, "")
        first_commit = start or repo.resolve(ref)
        with _temporary(repo, first_commit) as temporary:
            yield temporary
            tip = temporary.head() or first_commit
            if tip not in (first_commit, old_tip):
                _update_ref(repo, ref, old_tip, ["-m", "git mem", ref, tip, old_tip or "0" * len(tip)])
                undo_record.carry(repo, temporary, branch)


@contextmanager
def updated_branch_worktree(repo: Repository, branch: str, head: str) -> Iterator[Repository]:
    """A temporary work tree on the tip of `branch` with the commit `head` merged into it, or at `head` if the branch is
    new or `head` contains it. Its commits become those of `branch`. Raises as `branch_worktree` and
    `bring_up_to_date`."""
    with branch_worktree(repo, branch, branch_tip(repo, branch, head)) as temporary:
        bring_up_to_date(temporary, branch, head)
        yield temporary


def branch_tip(repo: Repository, branch: str, head: str) -> str:
    """The commit on which a new commit of `branch` builds: the tip of the branch when `head` does not contain it, else
    `head`. `branch`: "" for the current one."""
    if not branch:
        return head
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    if tip and not repo.is_ancestor(tip, head):
        return tip
    return head


def bring_up_to_date(worktree: Repository, branch: str, head: str) -> None:
    """Merge `head` into the branch, which `worktree` has checked out, unless the branch contains it. Raises GitMemError
    for a conflict, and as `run_commit` when a hook refuses the merge or it cannot be signed."""
    if worktree.is_ancestor(head, worktree.head() or head):
        return
    try:
        run_commit(worktree, ["merge", "--quiet", "--no-edit", "-m", f"memory: bring {branch} up to date", head])
    except GitMemError as error:
        if not run_git(worktree, ["ls-files", "--unmerged"]).strip():
            raise
        raise GitMemError(
            Message("'{}' conflicts with the current branch", branch),
            Message("merge or delete it: {}", f"git branch -D {shell_word(branch)}"),
        ) from error


def delete_branch(repo: Repository, branch: str, tip: str) -> None:
    """Delete a local branch whose tip is `tip`, merged or not. Its configuration stays, for a branch of the same name
    made again.

    Raises GitMemError if a work tree has the branch checked out, Changed if there is no such branch or its tip is
    another one, Locked if another run holds the lock for WAIT_SECONDS, GitFailed if Git fails otherwise; the branch
    stays then.
    """
    ref = f"refs/heads/{branch}"
    with locked(repo.common_dir, "branch", WAIT_SECONDS):
        if _is_checked_out(repo, ref):
            raise GitMemError(Message("'{}' is checked out in a work tree", branch), "git worktree list")
        _update_ref(repo, ref, tip, ["-m", "git mem: branch closed", "-d", ref, tip])


@contextmanager
def detached_worktree(repo: Repository, start: str) -> Iterator[Repository]:
    """A detached work tree at the commit `start`, removed at the end of the block. No branch moves, whatever is
    committed. Raises Locked if another run holds the lock for WAIT_SECONDS, GitFailed if Git cannot make the work
    tree."""
    with locked(repo.common_dir, "branch", WAIT_SECONDS):
        _remove_left_over(repo)
        with _temporary(repo, start) as temporary:
            yield temporary


def is_temporary(root: Path) -> bool:
    """Whether `root` is, by its name and its folder, a temporary work tree of this module, which is removed when its
    run ends."""
    return root.name.startswith(PREFIX) and root.parent.resolve() == Path(tempfile.gettempdir()).resolve()


@contextmanager
def _temporary(repo: Repository, start: str) -> Iterator[Repository]:
    folder = tempfile.mkdtemp(prefix=PREFIX)
    try:
        keys = _git_crypt_folder(repo)
        checkout = "--no-checkout" if keys else "--checkout"
        run_git(repo, ["worktree", "add", "--quiet", "--detach", checkout, folder, start])
        environ = {key: value for key, value in repo.environ.items() if key not in _OTHER_PLACE}
        temporary = open_repository(Path(folder), environ)
        try:
            if keys:  # git-crypt 0.7 looks for its keys in a work tree's own Git directory
                (temporary.git_dir / keys.name).symlink_to(keys)
                run_git(temporary, ["reset", "--quiet", "--hard"])
            yield temporary
        finally:
            undo_record.discard(temporary)
            temporary.close()
    finally:
        with suppress(GitFailed):
            run_git(repo, ["worktree", "remove", "--force", "--force", folder])


def _git_crypt_folder(repo: Repository) -> Path | None:
    """The folder with the keys of git-crypt; None if the clone has none."""
    places = (folder.absolute() / "git-crypt" for folder in (repo.common_dir, repo.git_dir))
    return next((place for place in places if place.is_dir()), None)


def _is_checked_out(repo: Repository, ref: str) -> bool:
    """Whether a work tree of this repository, this one too, has the branch checked out. `ref`: its full name."""
    return f"branch {ref}\n" in run_git(repo, ["worktree", "list", "--porcelain"]) + "\n"


def _update_ref(repo: Repository, ref: str, old: str, args: Sequence[str]) -> None:
    """Run `git update-ref ARGS` for the branch `ref` (a full name), which is expected at the commit `old`, "" for a new
    branch. Raises Changed if it is at another commit, GitFailed if Git fails otherwise."""
    try:
        run_git(repo, ["update-ref", *args])
    except GitFailed:
        if dict(repo.refs()).get(ref, "") == old:
            raise
        raise Changed(
            Message("'{}' moved meanwhile and is left as it is", ref.removeprefix("refs/heads/")), "run it again"
        ) from None


def _remove_left_over(repo: Repository) -> None:
    """Remove the temporary work trees of killed runs. The caller must hold the lock `branch`."""
    for line in run_git(repo, ["worktree", "list", "--porcelain", "-z"]).split("\0"):
        folder = line.removeprefix("worktree ")
        if folder == line or not Path(folder).name.startswith(PREFIX):
            continue
        if _is_stripped(Path(folder)):
            shutil.rmtree(folder)
        run_git(repo, ["worktree", "remove", "--force", "--force", folder])


def _is_stripped(folder: Path) -> bool:
    """Whether `folder` is a temporary folder of ours without its `.git`: Git refuses to remove such a work tree."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_our_folder = stat.S_ISDIR(status.st_mode) and system.is_ours(status)
    return is_our_folder and folder.parent == Path(tempfile.gettempdir()).resolve() and not (folder / ".git").exists()
