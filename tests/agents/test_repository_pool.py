"""A repository pool open between calls: settings, commits and another repository at its place are seen all the same."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from gitmem.agents.repository_pool import LIBRARY_FROM_CALL, RepositoryPool
from gitmem.errors import GitMemError
from gitmem.git.library import LibraryRepository
from gitmem.git.opening import open_repository
from tests.harness import Repo


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("one", {"MEMORY.md": "- The invoice date is UTC.\n"})
    return repo


def test_a_call_finds_the_repository_open_and_commits_of_others(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)
    with pool.lend() as (repo, _):
        first, head = repo, repo.head()
    memory.commit("two", {"memory/x.md": "- x\n"})
    with pool.lend() as (repo, _):
        assert repo is first and repo.head() not in (None, head) and repo.blobs("HEAD", ["memory/x.md"])


def test_a_setting_that_changes_is_in_force_at_the_next_call(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)

    def agent() -> str:
        with pool.lend() as (_, config):
            return config.agent

    assert agent() == ""
    memory.git("config", "--global", "mem.agent", "coder")
    assert agent() == "coder"
    memory.git("config", "--local", "mem.agent", "intruder")
    assert agent() == "coder"
    memory.git("config", "--global", "--unset", "mem.agent")
    assert agent() == ""
    memory.write(".gitmem.toml", "[promote]\nmax-facts = 3\n")
    with pool.lend() as (_, config):
        assert config.max_facts == 3


def test_an_included_file_of_settings_is_watched_too(memory: Repo) -> None:
    more = memory.path.parent / "more.config"
    more.write_text("[mem]\n\tagent = one\n")
    memory.git("config", "--global", "include.path", str(more))
    pool = RepositoryPool(memory.path)
    for name in ("one", "second"):
        more.write_text(f"[mem]\n\tagent = {name}\n")
        with pool.lend() as (_, config):
            assert config.agent == name


def test_another_repository_at_the_same_place_is_opened_anew(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)
    with pool.lend() as (repo, _):
        head = repo.head()
    shutil.rmtree(memory.path / ".git")
    with pytest.raises(GitMemError), pool.lend():
        pass
    memory.git("init", "-q")
    memory.commit("other", {"MEMORY.md": "- Something else.\n"})
    with pool.lend() as (repo, _):
        assert repo.head() not in (None, head)


def test_calls_at_once_share_nothing_and_one_that_failed_leaves_nothing(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)
    with pool.lend() as (one, _), pool.lend() as (two, _):
        assert one is not two
    with pytest.raises(ValueError), pool.lend() as (broken, _):
        raise ValueError
    with pool.lend() as (repo, _):
        assert repo is not broken
    heads: list[str | None] = []

    def ask() -> None:
        for _ in range(20):
            with pool.lend() as (repo, _):
                heads.append(repo.head())

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heads) == 120 and len(set(heads)) == 1


def test_working_values_of_another_process_are_seen_and_forgotten_ones_are_gone(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)
    from datetime import datetime

    now = datetime.now().astimezone()

    def value() -> str:
        with pool.lend() as (repo, config), pool.values(repo, config) as store:
            found = store.get("ticket:4711", now)
            return found.text if found else ""

    assert value() == ""
    memory.mem("session", "set", "ticket:4711", "waiting for Bea")
    assert value() == value() == "waiting for Bea"
    memory.mem("session", "set", "Ticket: 4711", "done")
    assert value() == "done"
    memory.mem("session", "set", "ticket:4711", "")
    assert value() == "" and open_repository(memory.path, {}).root == memory.path


def test_a_process_that_goes_on_reads_over_libgit2_what_others_commit_and_repack(memory: Repo) -> None:
    pool = RepositoryPool(memory.path)
    for at in range(1, LIBRARY_FROM_CALL + 4):
        text = f"- fact {at}\n"
        memory.commit("more", {"memory/x.md": text})
        if at % 4 == 0:
            memory.git("gc", "--quiet", "--prune=now")
        with pool.lend() as (repo, _):
            assert isinstance(repo, LibraryRepository) is (at >= LIBRARY_FROM_CALL)
            (oid,) = [entry.oid for entry in repo.entries("HEAD") if entry.path == "memory/x.md"]
            assert repo.read(oid) == text.encode()


def test_what_libgit2_cannot_open_is_read_by_the_git_binary(tmp_path: Path) -> None:
    sha256 = Repo(tmp_path / "sha256", True, "--object-format=sha256")
    origin = Repo(tmp_path / "origin")
    for repo in (sha256, origin):
        repo.commit("one", {"MEMORY.md": "- The invoice date is UTC.\n"})
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{origin.path}", str(tmp_path / "partial"))
    for path in (sha256.path, tmp_path / "partial"):
        pool = RepositoryPool(path)
        for _ in range(LIBRARY_FROM_CALL + 1):
            with pool.lend() as (repo, _):
                assert not isinstance(repo, LibraryRepository)
                assert [entry.path for entry in repo.entries("HEAD")] == ["MEMORY.md"]
