"""Promotion and agents' trailers as Git's hooks run them: real commits, real detached processes."""

from __future__ import annotations

import json
import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from gitmem.cli import promotion_hook
from gitmem.git.branch_worktree import detached_worktree
from gitmem.git.opening import open_repository
from tests.harness import Repo

LOG = "# 2026-02-05\n\n- We decided to use REST webhooks in phase 1\n"
AGENT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "mem.agent", "GIT_CONFIG_VALUE_0": "bot"}


def record(repo: Repo) -> dict[str, Any]:
    """What the detached promotion noted, once it has."""
    file = repo.path / ".git/gitmem/promotion.json"
    for _ in range(3000):
        if file.exists():
            value: dict[str, Any] = json.loads(file.read_text())
            return value
        time.sleep(0.1)  # another process is at work; nothing else tells that it is done
    raise AssertionError("the promotion in the background did not end")


def settled(repo: Repo, mode: str) -> dict[str, Any]:
    repo.mem("install", f"--promote={mode}")
    repo.write("memory/2026-02-05.md", LOG)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "log", env={"GITMEM_NOW": "2026-02-07T12:00:00+00:00"})
    return record(repo)


@pytest.fixture
def base(repo: Repo) -> Repo:
    repo.commit("start", {"README.md": "x\n"})
    return repo


def test_a_commit_of_a_log_leaves_its_facts_on_a_branch(base: Repo) -> None:
    done = settled(base, "branch")
    assert (done["facts"], done["branch"]) == (1, "memory/promote")
    assert "REST webhooks" in base.git("show", "memory/promote:MEMORY.md")
    assert "Memory-Agent: git-mem" in base.git("log", "-1", "--format=%B", "memory/promote")
    assert not (base.path / "MEMORY.md").exists()
    assert "1 fact on memory/promote" in base.mem("status").stdout
    assert len(base.git("worktree", "list").splitlines()) == 1


def test_a_commit_of_a_log_leaves_its_facts_committed_or_staged(base: Repo) -> None:
    done = settled(base, "commit")
    assert base.git("rev-parse", "HEAD").strip() == done["commits"][0]
    (base.path / ".git/gitmem/promotion.json").unlink()
    base.mem("install", "--promote=stage")
    base.write("memory/2026-02-06.md", "# 2026-02-06\n\n- Never run migrations by hand in production\n")
    base.git("add", "-A")
    base.git("commit", "-q", "-m", "log")
    assert record(base)["facts"] == 1
    assert base.git("diff", "--cached", "--name-only").split() == ["MEMORY.md"]


def test_a_commit_without_a_log_starts_nothing_and_a_problem_is_noted(base: Repo) -> None:
    base.mem("install", "--promote=commit")
    base.write("MEMORY.md", "# M\n\n- a fact of my own\n")
    base.git("add", "-A")
    base.git("commit", "-q", "-m", "memory")
    assert not (base.path / ".git/gitmem/promotion.json").exists()
    base.write("MEMORY.md", "# M\n\n- a fact of my own, edited\n")
    base.write("memory/2026-02-05.md", LOG)
    base.git("add", "memory")
    base.git("commit", "-q", "-m", "log")
    assert "not committed" in record(base)["problem"]
    assert "not committed" in base.mem("status").stdout


def test_an_agents_memory_commit_says_who_and_why(base: Repo) -> None:
    base.mem("install")
    base.write("MEMORY.md", "# M\n\n- Deploys go through Argo\n")
    base.git("add", "-A")
    base.git("commit", "-q", "-m", "note how deploys go", env=AGENT)
    body = base.git("log", "-1", "--format=%(trailers:only)")
    assert body.splitlines()[:2] == ["Memory-Agent: bot", "Memory-Reason: note how deploys go"]


@pytest.mark.parametrize("char", ["#", ";", "auto"])
def test_an_agents_trailers_stand_above_the_diff_of_a_verbose_commit(base: Repo, char: str) -> None:
    base.mem("install")
    files = {"MEMORY.md": "# M\n\n- Deploys go through Argo\n"}
    commit = base.verbose_commit('{ printf "note it\\n"; cat "$1"; } > "$1.n" && mv "$1.n" "$1"', files, char)
    assert "say why" in base.run("git", *commit, check=False, env=AGENT).stderr
    base.editor('printf "note it\\n\\nMemory-Reason: it is so" | cat - "$1" > "$1.n" && mv "$1.n" "$1"')
    base.git(*commit, env=AGENT)
    body = base.git("log", "-1", "--format=%B").split("\n")
    assert [line for line in body if line] == ["note it", "Memory-Reason: it is so", "Memory-Agent: bot"]


def test_a_persons_commit_and_an_agents_log_are_left_alone(base: Repo) -> None:
    base.mem("install")
    base.write("MEMORY.md", "# M\n\n- Deploys go through Argo\n")
    base.git("add", "-A")
    base.git("commit", "-q", "-m", "by hand")
    assert "Memory-" not in base.git("log", "-1", "--format=%B")
    base.write("memory/2026-02-05.md", LOG)
    base.git("add", "-A")
    base.git("commit", "-q", "-m", "log", env=AGENT)
    assert "Memory-" not in base.git("log", "-1", "--format=%B")


def test_an_agent_that_names_another_is_refused(base: Repo) -> None:
    base.mem("install")
    base.write("MEMORY.md", "# M\n\n- Deploys go through Argo\n")
    base.git("add", "-A")
    done = base.run(
        "git", "commit", "-q", "-m", "x\n\nMemory-Agent: other\nMemory-Reason: because", check=False, env=AGENT
    )
    assert done.returncode != 0 and "agent" in done.stderr


def test_nothing_is_promoted_from_a_temporary_work_tree(base: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    processes = SimpleNamespace(Popen=lambda *_, **options: started.append(options["cwd"]))
    monkeypatch.setattr(promotion_hook, "subprocess", processes)
    base.commit("log", {"memory/2026-02-05.md": LOG})
    monkeypatch.chdir(base.path)
    promotion_hook.start("branch")
    assert started == [base.path]
    opened = open_repository(base.path, os.environ)
    with detached_worktree(opened, "HEAD") as there:
        assert there.root is not None
        monkeypatch.chdir(there.root)
        promotion_hook.start("branch")
    monkeypatch.chdir(base.path)
    opened.close()
    assert started == [base.path]
