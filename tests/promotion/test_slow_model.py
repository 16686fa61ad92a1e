"""What people do while a slow model thinks is never overwritten, and what a model says badly is asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.harness import Repo
from tests.promotion.slow_server import SlowServer, slow_server

MEMORY = "# Memory\n\n- We use Postgres 16\n"
LOG = "# 2026-02-05\n\n## 09:00 - plan\n\n- Decided: deploys happen on Tuesdays because support is there\n"
FACT = "Deploys happen on Tuesdays because support is there"
ANSWER = json.dumps(
    {
        "facts": [
            {"op": "add", "type": "decision", "lines": ["L1"], "importance": 8, "until": "", "target": "", "text": FACT}
        ]
    }
)
NOW = {"GITMEM_NOW": "2026-02-07T12:00:00+00:00"}


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": MEMORY, "memory/2026-02-05.md": LOG})
    return repo


def promotion(repo: Repo, server: SlowServer, *args: str) -> subprocess.Popen[str]:
    """A promotion that has asked the model and waits for its answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "promote", "--model", server.model, *args], cwd=repo.path,
        env={**os.environ, **NOW}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert server.asked.wait(60)
    return process


def finished(process: subprocess.Popen[str], server: SlowServer) -> tuple[int, str]:
    server.answer.set()
    out, problem = process.communicate(timeout=120)
    return process.returncode, out + problem


def test_a_line_saved_while_the_model_thinks_stays(memory: Repo) -> None:
    with slow_server(ANSWER) as server:
        process = promotion(memory, server)
        memory.write("MEMORY.md", MEMORY + "- saved meanwhile\n")
        code, words = finished(process, server)
    assert code == 3 and "edits that are not committed" in words
    assert memory.read("MEMORY.md") == MEMORY + "- saved meanwhile\n"
    assert memory.git("log", "--format=%s") == "start\n"


def test_a_fact_committed_while_the_model_thinks_stays_and_the_promotion_is_made_on_top(memory: Repo) -> None:
    with slow_server(ANSWER) as server:
        process = promotion(memory, server)
        memory.commit("mine", {"MEMORY.md": MEMORY + "- committed meanwhile\n"})
        code, words = finished(process, server)
    assert code == 0, words
    assert "- committed meanwhile" in memory.git("show", "HEAD:MEMORY.md")
    assert FACT in memory.git("show", "HEAD:MEMORY.md") and memory.git("status", "--porcelain") == ""


def test_another_branch_checked_out_while_the_model_thinks_gets_nothing(memory: Repo) -> None:
    memory.git("branch", "side")
    with slow_server(ANSWER) as server:
        process = promotion(memory, server)
        memory.git("switch", "-q", "side")
        code, words = finished(process, server)
    assert code == 3 and "the branch changed from 'main' to 'side'" in words
    assert memory.read("MEMORY.md") == MEMORY and memory.git("log", "--format=%s", "--all") == "start\n"


def test_add_does_not_wait_for_the_model(memory: Repo) -> None:
    with slow_server(ANSWER) as server:
        process = promotion(memory, server)
        assert memory.mem("add", "a line of the day", env=NOW).returncode == 0
        code, words = finished(process, server)
    assert code == 0, words
    assert "a line of the day" in memory.read("memory/2026-02-07.md")


def test_an_answer_that_is_no_list_of_facts_is_asked_again_by_the_next_run(memory: Repo) -> None:
    with slow_server("I am sorry, the service is down") as server:
        server.answer.set()
        first = memory.mem("promote", "--model", server.model, check=False, env=NOW)
        assert first.returncode == 3 and "no readable answer" in first.stderr
        server.text = ANSWER
        second = memory.mem("promote", "--model", server.model, env=NOW)
        assert FACT in memory.read("MEMORY.md"), second.stdout
        assert server.requests == 2


def test_an_interrupt_after_git_moved_head_keeps_what_head_holds(memory: Repo) -> None:
    """The work tree is as HEAD, so that the next `git commit -a` takes nothing back."""
    hook = memory.path / ".git/hooks/post-commit"
    hook.write_text("#!/bin/sh\ntouch .git/in-hook\nexec sleep 60\n")
    hook.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "promote"], cwd=memory.path, env={**os.environ, **NOW}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    while not (memory.path / ".git/in-hook").exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    (memory.path / ".git/in-hook").unlink()
    hook.unlink()
    assert process.returncode in (130, -signal.SIGINT)
    assert "deploys happen on Tuesdays" in memory.git("show", "HEAD:MEMORY.md")
    assert memory.git("status", "--porcelain") == ""
    assert not (memory.path / ".git/index.lock").exists()


def test_a_line_saved_while_a_hook_thinks_that_then_refuses_stays(memory: Repo) -> None:
    hook = memory.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho '- saved in the hook' >> MEMORY.md\nexit 1\n")
    hook.chmod(0o755)
    done = memory.mem("forget", "MEMORY.md:3", "--reason", "x", check=False)
    assert done.returncode == 3
    assert "- saved in the hook" in memory.read("MEMORY.md")
    assert not (memory.path / ".git/gitmem-attempt.json").exists()


def test_text_in_utf16_is_not_appended_to(repo: Repo) -> None:
    data = "# Memory\n\n- 하나\n".encode("utf-16")
    repo.commit("start", {"MEMORY.md": data})
    done = repo.mem("add", "--type", "decision", "We use Postgres 16", check=False)
    assert done.returncode == 3 and "not UTF-8" in done.stderr
    assert (repo.path / "MEMORY.md").read_bytes() == data


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_made_anew(memory: Repo) -> None:
    memory.git("sparse-checkout", "set", "--no-cone", "/memory/")
    assert not (memory.path / "MEMORY.md").exists()
    done = memory.mem("add", "--type", "decision", "We deploy on Tuesdays", check=False)
    assert done.returncode == 3 and "sparse checkout" in done.stderr
    assert not (memory.path / "MEMORY.md").exists()
