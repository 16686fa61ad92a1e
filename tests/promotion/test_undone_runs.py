"""A run that `git mem undo` took back never was: its lines are offered again; what a person refused stays refused."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo

MEMORY = "# Memory\n\n## Decisions\n\n- Releases go out every Friday.\n"
LOG = (
    "# 2026-02-05\n\n## 10:00 - talk\n\n- Decision: we use REST webhooks, because they are easier to debug.\n"
    "- Decision: backups run every night at 03:00.\n- Lunch.\n"
)
OTHER = "# 2026-02-06\n\n- Decision: the API is written in Go, because the team knows it.\n"


@pytest.fixture
def logs(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": MEMORY})
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    return repo


def offered(repo: Repo) -> list[str]:
    return sorted(fact["text"] for fact in json.loads(repo.mem("promote", "--dry-run", "--json").stdout)["facts"])


@pytest.mark.parametrize("mode", ["--commit", "--commit-per-fact", "--stage"])
def test_a_run_that_was_taken_back_may_be_run_again(logs: Repo, mode: str) -> None:
    first = offered(logs)
    assert len(first) == 2
    logs.mem("promote", mode)
    assert logs.read("MEMORY.md") != MEMORY
    done = logs.mem("undo", "--yes")
    assert logs.read("MEMORY.md") == MEMORY and offered(logs) == first
    assert ("git mem promote offers these facts again" in done.stderr) is (mode != "--stage")
    logs.mem("promote")
    assert offered(logs) == []
    logs.mem("undo", "--yes")
    assert offered(logs) == first


@pytest.mark.parametrize("mode", ["--commit", "--commit-per-fact"])
def test_a_run_and_its_undo_that_were_rebased_are_still_no_run(logs: Repo, mode: str) -> None:
    first = offered(logs)
    start = logs.git("rev-parse", "HEAD").strip()
    logs.mem("promote", mode)
    logs.mem("undo", "--yes")
    logs.git("checkout", "-q", "-b", "side", start)
    logs.commit("another", {"other.txt": "x\n"})
    logs.git("checkout", "-q", "main")
    logs.git("rebase", "-q", "side")
    assert offered(logs) == first
    logs.mem("promote")  # what this run adds stands, although the texts were taken back once
    assert offered(logs) == []


def test_what_a_person_removed_by_hand_stays_refused_when_a_later_run_is_taken_back(logs: Repo) -> None:
    logs.mem("promote")
    kept = [line for line in logs.read("MEMORY.md").splitlines(keepends=True) if "backups" not in line]
    logs.commit("no backups", {"MEMORY.md": "".join(kept)})
    logs.commit("log", {"memory/2026-02-06.md": OTHER})
    later = offered(logs)
    assert len(later) == 1 and "Go" in later[0]
    logs.mem("promote")
    logs.mem("undo", "--yes")
    assert offered(logs) == later
    logs.mem("promote")
    assert "backups" not in logs.read("MEMORY.md")


def test_what_a_person_declined_stays_declined_when_the_run_is_taken_back(logs: Repo) -> None:
    blob = logs.git("rev-parse", "HEAD:memory/2026-02-05.md").strip()
    (kept, dropped) = offered(logs)
    logs.git(
        "commit", "-q", "--allow-empty", "-m",
        f"memory: reject\n\nMemory-Rejected: memory/2026-02-05.md#L6@{blob} -> MEMORY.md sha256:{'0' * 64}",
    )  # fmt: skip
    (left,) = offered(logs)
    assert left in (kept, dropped) and "backups" not in left
    logs.mem("promote")
    logs.mem("undo", "--yes")
    assert offered(logs) == [left]


def test_a_reverted_run_is_refused_and_so_is_one_that_a_person_took_out_in_words_of_an_undo(logs: Repo) -> None:
    logs.mem("promote")
    logs.git("revert", "--no-edit", "HEAD")
    assert offered(logs) == []
    logs.commit('Undo "a note about nothing"\n\nThis reverts commit ' + "0" * 40 + ".", {"other.txt": "y\n"})
    assert offered(logs) == []
