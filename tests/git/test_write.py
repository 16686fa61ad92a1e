"""What a commit of ours names: the commit that Git made, whatever its message says."""

from __future__ import annotations

import os

import pytest

from gitmem.git.commit import commit_paths
from gitmem.git.opening import open_repository
from tests.harness import Repo


@pytest.mark.parametrize(
    "subject", ["see [ref abcd] x", "[main 0123abc] as Git prints it", "plain", "한국어 [a dead] 말"]
)
def test_the_new_commit_is_named_although_its_subject_looks_like_one(repo: Repo, subject: str) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    repo.write("MEMORY.md", "# Memory\n- a fact\n")
    made = commit_paths(open_repository(repo.path, os.environ), subject, ["MEMORY.md"])
    assert made == repo.git("rev-parse", "HEAD").strip()
    assert repo.git("log", "-1", "--format=%s").strip() == subject
