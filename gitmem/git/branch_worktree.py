"""A temporary work tree, so that what is written there leaves the user's alone: of a commit, or of a branch, which
moves when the block is done, and only from where it was. One at a time: what a killed run left goes first.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem import system
from gitmem.errors import Changed, GitFailed, GitMemError
from gitmem.git import undo_record
from gitmem.git.opening import Repository, open_repository
from gitmem.git.worktree import locked
from gitmem.git.write import run_git
from gitmem.messages import Message

PREFIX = "git-mem-branch-"  # of its folder: by it the next run knows what a killed one left
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


@contextmanager
def branch_worktree(repo: Repository, branch: str, start: str = "", *, wait: float = 60.0) -> Iterator[Repository]:
    """A detached work tree at `start` (a commit; "" for the branch's tip), which becomes `branch` when the block ends.

    Nothing committed there: no branch is made or moved. Raises GitMemError where another work tree has the branch,
    Changed where somebody moved it meanwhile, Locked when another run holds on for `wait` seconds, GitFailed for a
    name that is none.
    """
    run_git(repo, ["check-ref-format", "--branch", branch])
    ref = f"refs/heads/{branch}"
    with locked(repo.common_dir, "branch", wait):
        _remove_left_over(repo)
        if f"branch {ref}\n" in run_git(repo, ["worktree", "list", "--porcelain"]) + "\n":
            raise GitMemError(
                Message("'{}' is checked out in another work tree", branch), "run it there, or name another branch"
            )
        old = dict(repo.refs()).get(ref, "")
        first = start or repo.resolve(ref)
        with _temporary(repo, first) as there:
            yield there
            tip = there.head() or first
            if tip not in (first, old):
                _move(repo, ref, tip, old)
                undo_record.carry(repo, there, branch)


def delete_branch(repo: Repository, branch: str, tip: str, *, wait: float = 60.0) -> None:
    """Delete a local branch that is at `tip`. Its settings stay, so that a branch made again at `tip` has them.

    Raises GitMemError where a work tree has the branch, Changed where it moved meanwhile; it stays as it is then.
    """
    ref = f"refs/heads/{branch}"
    with locked(repo.common_dir, "branch", wait):
        if f"branch {ref}\n" in run_git(repo, ["worktree", "list", "--porcelain"]) + "\n":
            raise GitMemError(Message("'{}' is checked out in a work tree", branch), "git worktree list")
        try:
            run_git(repo, ["update-ref", "-m", "git mem: branch closed", "-d", ref, tip])
        except GitFailed:
            if dict(repo.refs()).get(ref, "") == tip:
                raise
            raise Changed(Message("'{}' moved meanwhile and is left as it is", branch), "run it again") from None


@contextmanager
def detached_worktree(repo: Repository, start: str, *, wait: float = 60.0) -> Iterator[Repository]:
    """A detached work tree at the commit `start`; no branch moves, whatever is committed. Raises Locked, GitFailed."""
    with locked(repo.common_dir, "branch", wait):
        _remove_left_over(repo)
        with _temporary(repo, start) as there:
            yield there


def is_temporary(root: Path) -> bool:
    """Whether a work tree is one of these: it goes when its run ends."""
    return root.name.startswith(PREFIX) and root.parent.resolve() == Path(tempfile.gettempdir()).resolve()


@contextmanager
def _temporary(repo: Repository, start: str) -> Iterator[Repository]:
    folder = tempfile.mkdtemp(prefix=PREFIX)
    try:
        keys = _git_crypt_folder(repo)
        run_git(repo, ["worktree", "add", "--quiet", "--detach", *(["--no-checkout"] if keys else []), folder, start])
        environ = {key: value for key, value in repo.environ.items() if key not in _ELSEWHERE}
        there = open_repository(Path(folder), environ)
        try:
            if keys:  # git-crypt 0.7 looks for its keys in a work tree's own Git directory
                (there.git_dir / keys.name).symlink_to(keys)
                run_git(there, ["reset", "--quiet", "--hard"])
            yield there
        finally:
            undo_record.discard(there)
            there.close()
    finally:
        with suppress(GitFailed):
            run_git(repo, ["worktree", "remove", "--force", "--force", folder])


def _git_crypt_folder(repo: Repository) -> Path | None:
    """Where git-crypt has its keys, None where the clone has none."""
    places = (folder.absolute() / "git-crypt" for folder in (repo.common_dir, repo.git_dir))
    return next((place for place in places if place.is_dir()), None)


def _move(repo: Repository, ref: str, tip: str, old: str) -> None:
    try:
        run_git(repo, ["update-ref", "-m", "git mem", ref, tip, old or "0" * len(tip)])
    except GitFailed:
        if dict(repo.refs()).get(ref, "") == old:
            raise
        raise Changed(
            Message("'{}' moved meanwhile and is left as it is", ref.removeprefix("refs/heads/")), "run it again"
        ) from None


def _remove_left_over(repo: Repository) -> None:
    """Remove the temporary work trees of killed runs. The caller holds the lock under which they are made."""
    for line in run_git(repo, ["worktree", "list", "--porcelain", "-z"]).split("\0"):
        folder = line.removeprefix("worktree ")
        if folder == line or not Path(folder).name.startswith(PREFIX):
            continue
        if _is_stripped(Path(folder)):
            shutil.rmtree(folder)
        run_git(repo, ["worktree", "remove", "--force", "--force", folder])


def _is_stripped(folder: Path) -> bool:
    """Whether it is a temporary folder of ours whose `.git` is gone: Git refuses to remove such a work tree."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(status.st_mode) and system.is_ours(status)
    return ours and folder.parent == Path(tempfile.gettempdir()).resolve() and not (folder / ".git").exists()
