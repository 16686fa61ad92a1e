"""The hooks that refresh the index, in processes apart from Git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from gitmem.cli import index_hooks
from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.git.worktree import locked, state_dir
from gitmem.index import indexer
from gitmem.index.freshness import ready
from tests.harness import Repo


@pytest.fixture
def repo(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.delenv("GITMEM_FOREGROUND")
    repo.commit(files={"memory/a.md": "- alpha\n"})
    state_dir(repo.path / ".git")  # as `install` leaves it
    return repo


@contextmanager
def apart(repo: Repo, *command: str) -> Iterator[None]:
    """Run a command to its end; on the way out wait until what it started has ended too: until nobody holds the pipe
    open any more."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as pipe:
        child = subprocess.Popen(command, cwd=repo.path, stdin=subprocess.DEVNULL, pass_fds=[theirs])
        os.close(theirs)
        assert child.wait() == 0
        yield
        assert pipe.read() == ""


def run_apart(repo: Repo, name: str = "post-commit") -> None:
    with apart(repo, sys.executable, "-P", "-m", "gitmem", "hook", name):
        pass


def covered(repo: Repo) -> bool:
    """Whether the index has all of HEAD, without a search's help."""
    opened = open_repository(repo.path, os.environ)
    try:
        found = ready(opened, Config(auto_index=False), opened.head() or "")
        found.close()
        return found.index is not None and repo.mem("status", "--json").stdout.find('"stale": true') < 0
    finally:
        opened.close()


@pytest.mark.parametrize("name", ["post-commit", "post-merge", "post-checkout", "post-rewrite"])
def test_a_hook_refreshes_the_index_after_it_has_ended(repo: Repo, name: str) -> None:
    run_apart(repo, name)
    assert covered(repo) and not (state(repo) / index_hooks.AGAIN).exists()
    assert not (state(repo) / "hooks.log").exists()


def state(repo: Repo) -> Path:
    return repo.path / ".git" / "gitmem"


def test_a_hook_leaves_the_work_to_the_one_that_is_at_it(repo: Repo) -> None:
    with locked(repo.path / ".git", "refresh"):
        run_apart(repo)
        assert (state(repo) / index_hooks.AGAIN).exists() and not (state(repo) / "index.sqlite").exists()
    run_apart(repo)
    assert covered(repo) and not (state(repo) / index_hooks.AGAIN).exists()


def test_one_at_work_looks_again_when_another_came_by(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    heads = []

    def refresh(opened, config, name, budget, wait, make):  # type: ignore[no-untyped-def]
        heads.append(opened.head())
        if len(heads) == 1:
            repo.commit(files={"memory/b.md": "- beta\n"})
            run_apart(repo)  # finds us at work
            assert (state(repo) / index_hooks.AGAIN).exists()

    monkeypatch.setattr(index_hooks, "_refresh", refresh)
    index_hooks._refresh_detached("post-commit")
    assert len(set(heads)) == 2 and not (state(repo) / index_hooks.AGAIN).exists()


def test_what_goes_wrong_apart_is_a_line_in_the_log(repo: Repo) -> None:
    repo.mem("index")
    (state(repo) / "index.sqlite").unlink()
    (state(repo) / "index.sqlite").symlink_to(repo.path / "elsewhere")
    run_apart(repo, "post-merge")
    assert "post-merge: " in (state(repo) / "hooks.log").read_text()
    assert not (repo.path / "elsewhere").exists()


def test_what_is_removed_while_a_hook_works_stays_removed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    real = indexer.refresh

    def refresh(*given, **named):  # type: ignore[no-untyped-def]
        shutil.rmtree(state(repo))
        return real(*given, **named)

    monkeypatch.setattr(indexer, "refresh", refresh)
    index_hooks._refresh_detached("post-commit")
    assert not state(repo).exists()  # a script's `rm -rf` of the repository would fail: not empty


def test_installing_makes_the_state_folder_since_no_hook_does(repo: Repo) -> None:
    shutil.rmtree(state(repo))
    run_apart(repo)
    assert not state(repo).exists()
    repo.mem("install", "--dry-run")
    assert not state(repo).exists()
    repo.mem("install")
    assert state(repo).stat().st_mode & 0o777 == 0o700


def test_nothing_is_done_where_the_index_is_left_to_the_person(repo: Repo) -> None:
    repo.git("config", "--global", "mem.autoIndex", "false")
    run_apart(repo)
    assert not list(state(repo).iterdir())


def test_a_commit_with_the_hooks_installed_returns_before_the_index_is_made(repo: Repo) -> None:
    repo.mem("install")
    repo.write("memory/b.md", "- beta\n")
    repo.git("add", "-A")
    lock = locked(repo.path / ".git", "index")  # whoever waited for the index would now wait for us
    with ExitStack() as held:
        held.enter_context(lock)
        with apart(repo, "git", "commit", "-q", "-m", "two"):
            assert not (state(repo) / "index.sqlite").exists()
            held.close()
    assert covered(repo)
