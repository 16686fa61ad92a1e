"""A branch is written in a work tree of its own, which is gone afterwards, also after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from gitmem.errors import Changed, GitFailed, GitMemError
from gitmem.git.branch_worktree import PREFIX, branch_worktree, detached_worktree
from gitmem.git.commit import commit_paths
from gitmem.git.opening import open_repository
from tests.harness import SOURCE, Repo

KILLED = """
    import os, signal
    from pathlib import Path
    from gitmem.git.branch_worktree import branch_worktree
    from gitmem.git.opening import open_repository
    repo = open_repository(Path.cwd(), os.environ)
    with branch_worktree(repo, "side", repo.head()):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    return repo


def worktrees(repo: Repo) -> int:
    return repo.git("worktree", "list", "--porcelain").count("worktree ")


def test_the_branch_moves_when_the_block_is_done_and_not_when_it_fails(memory: Repo) -> None:
    repo = open_repository(memory.path, os.environ)
    head = repo.head()
    assert head is not None
    with pytest.raises(RuntimeError), branch_worktree(repo, "side", head) as there:
        assert there.root is not None
        (there.root / "MEMORY.md").write_text("# Other\n")
        commit_paths(there, "other", ["MEMORY.md"])
        raise RuntimeError
    assert memory.git("branch", "--list", "side") == "" and worktrees(memory) == 1
    with branch_worktree(repo, "side", head) as there:
        assert there.root is not None
        (there.root / "MEMORY.md").write_text("# Other\n")
        commit_paths(there, "other", ["MEMORY.md"])
    assert memory.git("show", "side:MEMORY.md") == "# Other\n" and memory.read("MEMORY.md") == "# Memory\n"
    assert worktrees(memory) == 1


def test_a_branch_that_somebody_moved_meanwhile_stays(memory: Repo) -> None:
    memory.git("branch", "side")
    repo = open_repository(memory.path, os.environ)
    moved = ""
    with pytest.raises(Changed), branch_worktree(repo, "side") as there:
        assert there.root is not None
        (there.root / "MEMORY.md").write_text("# Other\n")
        commit_paths(there, "other", ["MEMORY.md"])
        moved = memory.commit("mine", {"MEMORY.md": "# Mine\n"})
        memory.git("branch", "-f", "side", "HEAD")
    assert memory.git("rev-parse", "side").strip() == moved


def test_a_branch_that_is_checked_out_is_refused(memory: Repo) -> None:
    repo = open_repository(memory.path, os.environ)
    with pytest.raises(GitMemError, match="checked out"), branch_worktree(repo, "main"):
        pass


def test_the_work_tree_of_a_killed_run_is_removed_by_the_next(memory: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED)], cwd=memory.path, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL and worktrees(memory) == 2
    repo = open_repository(memory.path, os.environ)
    with branch_worktree(repo, "side", repo.head() or ""):
        assert worktrees(memory) == 2
    assert worktrees(memory) == 1


def test_what_a_killed_run_left_goes_also_where_its_git_file_is_gone(memory: Repo, tmp_path: Path) -> None:
    repo = open_repository(memory.path, os.environ)
    lost, kept = Path(tempfile.mkdtemp(prefix=PREFIX)), tmp_path / "kept"
    for folder in (lost, kept):
        memory.git("worktree", "add", "-q", "--detach", str(folder))
    (lost / ".git").unlink()
    (kept / ".git").rename(tmp_path / "elsewhere")  # as on a disk that is not there
    try:
        with detached_worktree(repo, "HEAD"):
            assert not lost.exists()
        assert kept.exists() and worktrees(memory) == 2  # the user's own is left to Git
    finally:
        shutil.rmtree(lost, ignore_errors=True)


def test_a_folder_that_is_not_a_temporary_one_of_ours_is_not_removed(memory: Repo, tmp_path: Path) -> None:
    foreign = tmp_path / f"{PREFIX}x"
    memory.git("worktree", "add", "-q", "--detach", str(foreign))
    (foreign / ".git").unlink()
    with (
        pytest.raises(GitFailed, match="worktree"),
        detached_worktree(open_repository(memory.path, os.environ), "HEAD"),
    ):
        pass
    assert (foreign / "MEMORY.md").exists()
