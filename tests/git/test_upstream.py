"""What a branch is compared with where nobody says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import GitMemError
from gitmem.git.opening import open_repository
from gitmem.git.upstream import default_range
from tests.harness import Repo


def range_of(repo: Repo) -> str:
    return default_range(open_repository(repo.path, os.environ))


def test_a_branch_is_compared_with_its_upstream_then_the_default_branch_then_its_last_commit(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "memory")
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- Rent is paid on Mondays.\n"})
    with pytest.raises(GitMemError, match="one commit only"):
        range_of(repo)
    repo.commit("two", {"MEMORY.md": "# Memory\n\n- Rent is paid on Tuesdays.\n"})
    assert range_of(repo) == "HEAD~1..HEAD"
    main = repo.git("branch", "--show-current").strip()
    repo.git("switch", "-q", "-c", "작업")
    assert range_of(repo) == f"{main}..HEAD"
    repo.git("switch", "-q", "-c", "base", main)
    repo.git("switch", "-q", "작업")
    repo.git("branch", "-q", "--set-upstream-to=base")
    assert range_of(repo) == "base..HEAD"
    repo.git("branch", "-q", "-D", "base")  # an upstream that is gone is none
    assert range_of(repo) == f"{main}..HEAD"
    repo.git("switch", "-q", "--detach")
    assert range_of(repo) == f"{main}..HEAD"


def test_review_and_changes_take_the_branch_where_no_range_is_given(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "memory")
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- Rent is paid on Mondays.\n"})
    main = repo.git("branch", "--show-current").strip()
    repo.git("switch", "-q", "-c", "next")
    repo.commit("two", {"MEMORY.md": "# Memory\n\n- Rent is paid on Mondays.\n- 월세는 25일에 낸다.\n"})
    for command in ("review", "changes"):
        done = repo.mem(command)
        assert "월세는 25일에 낸다" in done.stdout and f"{main}..HEAD" in done.stderr
        assert repo.mem(command, f"{main}..HEAD").stdout == done.stdout
