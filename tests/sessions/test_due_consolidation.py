"""`mem.distillAfter`: sessions that end are counted, and a consolidation is proposed on a branch when they are enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo
from tests.promotion.test_consolidation import NOW, TWICE

BRANCH = "memory/consolidate"


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for name, value in {**NOW, "GITMEM_DETACHED": "1"}.items():
        monkeypatch.setenv(name, value)
    repo.commit("memory", {"MEMORY.md": TWICE})
    repo.git("config", "--global", "mem.distillAfter", "2")
    return repo


def end(repo: Repo, folder: Path, session: str, said: str) -> None:
    """The end of a host's session, in the process that its hook detaches."""
    path = folder / f"{session}.jsonl"
    path.write_text(json.dumps({"id": f"t-{session}", "role": "user", "text": said}) + "\n")
    given = {"session_id": session, "transcript_path": str(path)}
    done = repo.mem("session", "hook", "SessionEnd", "--host", "claude", input=json.dumps(given))
    assert done.stdout == done.stderr == ""


def status(repo: Repo) -> Any:
    return json.loads(repo.mem("status", "--json").stdout)["consolidation"]


def has_branch(repo: Repo) -> bool:
    return bool(repo.git("branch", "--list", BRANCH).strip())


def test_enough_ended_sessions_propose_a_consolidation_on_a_branch_of_its_own(memory: Repo, tmp_path: Path) -> None:
    head = memory.git("rev-parse", "HEAD")
    end(memory, tmp_path, "s1", "We decided that the harbour crane is painted blue.")
    end(memory, tmp_path, "s1", "We decided that the harbour crane is painted blue.")
    assert not has_branch(memory) and status(memory)["sessions"] == 1, "a session counts once"
    end(memory, tmp_path, "s2", "결제 콜백의 멱등키는 주문번호로 하기로 결정했다.")
    told = status(memory)
    assert told["sessions"] == 0 and told["did"] == "1 merge" and told["branch"] == BRANCH and not told["problem"]
    assert memory.git("rev-parse", BRANCH).strip() == told["commit"]
    assert memory.git("show", f"{BRANCH}:MEMORY.md").count("retries a failed payment") == 1
    assert memory.git("rev-parse", "HEAD") == head and memory.read("MEMORY.md") == TWICE
    assert f"1 merge on {BRANCH}; 0 of 2 sessions until the next one" in memory.mem("status").stdout


def test_nothing_is_consolidated_without_the_setting(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "--unset", "mem.distillAfter")
    for name in ("s1", "s2", "s3"):
        end(memory, tmp_path, name, f"We decided that crane {name} of the harbour is painted blue.")
    assert not has_branch(memory) and status(memory)["sessions"] == 0


def test_a_run_that_cannot_be_is_said_and_tried_again_at_the_next_end(memory: Repo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    memory.git("worktree", "add", "-q", "-b", BRANCH, str(elsewhere))
    for name in ("s1", "s2"):
        end(memory, tmp_path, name, f"We decided that crane {name} of the harbour is painted blue.")
    told = status(memory)
    assert "checked out in another work tree" in told["problem"] and told["sessions"] == 2
    memory.git("worktree", "remove", str(elsewhere))
    end(memory, tmp_path, "s3", "We decided that the third crane of the harbour is painted red.")
    assert status(memory)["did"] == "1 merge" and status(memory)["problem"] is None


def test_the_end_by_hand_names_the_command_and_that_begins_the_count_again(memory: Repo, tmp_path: Path) -> None:
    for name in ("s1", "s2"):
        path = tmp_path / f"{name}.jsonl"
        said = f"We decided that crane {name} of the harbour is painted blue."
        path.write_text(json.dumps({"id": name, "role": "user", "text": said}) + "\n")
        done = memory.mem("session", "end", str(path), "--session", name)
        assert ("2 sessions ended" in done.stderr) == (name == "s2") and not has_branch(memory)
    memory.mem("consolidate", "--dry-run")
    assert status(memory)["sessions"] == 2
    memory.mem("consolidate")
    assert status(memory)["sessions"] == 0


def test_a_damaged_record_counts_anew(memory: Repo, tmp_path: Path) -> None:
    (memory.path / ".git/gitmem").mkdir(exist_ok=True)
    (memory.path / ".git/gitmem/consolidation.json").write_text('{"episodes": 3}')
    end(memory, tmp_path, "s1", "We decided that the harbour crane is painted blue.")
    assert status(memory)["sessions"] == 1
