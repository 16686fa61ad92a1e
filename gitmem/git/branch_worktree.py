"""A branch in a temporary work tree of its own, so that what is written there leaves the user's alone.

The branch moves when the block is done, and only from where it was. One at a time: what a killed run left goes first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem.errors import Changed, GitFailed, GitMemError
from gitmem.git.opening import Repository, open_repository
from gitmem.git.worktree import locked
from gitmem.git.write import run_git

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
            raise GitMemError(f"'{branch}' is checked out in another work tree", "run it there, or name another branch")
        old = dict(repo.refs()).get(ref, "")
        first = start or repo.resolve(ref)
        folder = tempfile.mkdtemp(prefix=PREFIX)
        try:
            run_git(repo, ["worktree", "add", "--quiet", "--detach", folder, first])
            environ = {key: value for key, value in repo.environ.items() if key not in _ELSEWHERE}
            there = open_repository(Path(folder), environ)
            try:
                yield there
                tip = there.head() or first
            finally:
                there.close()
            if tip not in (first, old):
                _move(repo, ref, tip, old)
        finally:
            with suppress(GitFailed):
                run_git(repo, ["worktree", "remove", "--force", "--force", folder])


def _move(repo: Repository, ref: str, tip: str, old: str) -> None:
    try:
        run_git(repo, ["update-ref", "-m", "git mem", ref, tip, old or "0" * len(tip)])
    except GitFailed:
        if dict(repo.refs()).get(ref, "") == old:
            raise
        raise Changed(
            f"'{ref.removeprefix('refs/heads/')}' moved meanwhile and is left as it is", "run it again"
        ) from None


def _remove_left_over(repo: Repository) -> None:
    """Remove the temporary work trees of killed runs. The caller holds the lock under which they are made."""
    for line in run_git(repo, ["worktree", "list", "--porcelain", "-z"]).split("\0"):
        folder = line.removeprefix("worktree ")
        if folder != line and Path(folder).name.startswith(PREFIX):
            run_git(repo, ["worktree", "remove", "--force", "--force", folder])
