"""A git process that writes: what is said when it fails or cannot be started, and which function runs it."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.opening import open_repository
from gitmem.git.signing import run_commit
from gitmem.git.write import init_repository, run_git
from tests.harness import SOURCE, Repo

NO_COMMIT = {"--ff-only", "--no-commit", "--abort"}  # options by which `merge` makes no commit


@pytest.mark.parametrize("run", [run_git, run_commit])
def test_a_git_that_is_not_installed_is_a_failure_of_git(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., str]
) -> None:
    opened = open_repository(repo.path, os.environ)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(GitFailed, match="not installed") as failed:
        run(opened, ["commit", "--allow-empty", "-m", "x"], env={"PATH": str(tmp_path / "empty")})
    assert failed.value.hint == "install Git 2.36 or newer"
    with pytest.raises(GitFailed, match="not installed"):
        init_repository(tmp_path / "new", {"PATH": str(tmp_path / "empty")})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no execute bit")
def test_a_git_that_cannot_be_started_is_a_failure_of_git(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_repository(repo.path, os.environ)
    (tmp_path / "git").write_bytes(b"")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed, match="git status failed: Permission denied"):
        run_git(opened, ["status"], env={"PATH": str(tmp_path)})


def test_every_command_that_makes_commits_is_run_so_that_it_is_signed() -> None:
    unsigned = []
    for path in (SOURCE / "gitmem").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "run_git"
                and isinstance(node.args[1], ast.List)
            ):
                words = [word.value for word in node.args[1].elts if isinstance(word, ast.Constant)]
                if words[:1] in (["commit"], ["merge"]) and not NO_COMMIT.intersection(words):
                    unsigned.append(f"{path}:{node.lineno}")
    assert not unsigned
