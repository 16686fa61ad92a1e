"""Old episodes become one fact with links; they are marked, and searches leave them out unless asked."""

from __future__ import annotations

import json

import pytest

from gitmem.sessions.distill import marked
from tests.harness import Repo

EPISODE = """---
type: episode
session: "{n}"
---
# Session

## Summary

- user: The deploy worker of zone {n} stops on restart.

## Decisions

- Restart the deploy worker of zone {n} by hand.

## Topics

deploy, worker
"""


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", "2026-03-01T10:00:00+00:00")
    files = {f"memory/sessions/2026-01-0{n}-deploy-worker.md": EPISODE.format(n=n) for n in (1, 2)}
    files["memory/sessions/2026-02-25-deploy-worker.md"] = EPISODE.format(n=9)
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- Invoices are in UTC.\n", **files})
    return repo


def found(repo: Repo, *args: str) -> set[str]:
    return {hit["path"] for hit in json.loads(repo.mem("search", "deploy worker zone", "--json", *args).stdout)["hits"]}


def test_old_episodes_become_one_linked_fact_and_leave_the_search(memory: Repo) -> None:
    old = {"memory/sessions/2026-01-01-deploy-worker.md", "memory/sessions/2026-01-02-deploy-worker.md"}
    assert old & found(memory)
    dry = memory.mem("session", "distill", "--older-than", "30", "--dry-run").stdout
    assert "would write" in dry and memory.git("status", "--porcelain") == ""
    done = json.loads(memory.mem("session", "distill", "--older-than", "30", "--json").stdout)
    assert set(done["episodes"]) == old and done["skipped"] == []
    line = memory.read("MEMORY.md").splitlines()[done["line"] - 1]
    assert "type=episode-digest" in line and all(f"src={path}#L" in line for path in old)
    assert "deploy" in done["text"] and "zone 2 by hand" in done["text"] and "2026-01-01 to 2026-01-02" in done["text"]
    for path in old:
        assert "promoted: true\n---\n# Session" in memory.read(path)
    assert "memory/sessions/2026-02-25-deploy-worker.md" in found(memory) and not old & found(memory)
    assert "MEMORY.md" in found(memory)
    assert old <= found(memory, "--path", "memory/sessions/*") and old & found(memory, "--expired")
    memory.commit("digest")
    why = json.loads(memory.mem("why", f"MEMORY.md:{done['line']}", "--json").stdout)
    assert {source["path"] for source in why["sources"]} == old and all("zone" in s["text"] for s in why["sources"])
    before = memory.read("MEMORY.md")
    assert "no episode is old enough" in memory.mem("session", "distill", "--older-than", "30").stdout
    assert memory.read("MEMORY.md") == before


def test_an_episode_the_gate_refuses_is_left_and_said(memory: Repo) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
    path = memory.write("memory/sessions/2026-01-03-x.md", f"# S\n\nThe token is {token}\n")
    before = path.read_bytes()
    done = json.loads(memory.mem("session", "distill", "--older-than", "30", "--json").stdout)
    assert len(done["episodes"]) == 2 and done["skipped"][0]["path"] == "memory/sessions/2026-01-03-x.md"
    assert token not in json.dumps(done) and path.read_bytes() == before


@pytest.mark.parametrize("text", [b"# A\n", b"---\ntype: x\n---\n# A\n", b"---\r\ntype: x\r\n---\r\n# A\r\n", b""])
def test_marking_changes_the_front_matter_alone_and_twice_is_once(text: bytes) -> None:
    once = marked(text)
    assert marked(once) == once and once.endswith(text.rsplit(b"---", 1)[-1].lstrip(b"\r\n"))
    assert once.count(b"promoted: true") == 1


def test_each_episode_of_a_digest_can_be_found_by_a_topic_of_its_own(memory: Repo) -> None:
    names = ("zebra", "giraffe", "lion", "otter", "heron")
    for n, name in enumerate(names, 11):
        text = EPISODE.format(n=n).replace(
            "deploy, worker", f"{name}, because, deadline, budget, fence, apples, friday"
        )
        memory.write(f"memory/sessions/2025-12-{n}-{name}.md", text)
    done = json.loads(memory.mem("session", "distill", "--older-than", "30", "--json").stdout)
    about = done["text"].partition(". Decided")[0]
    assert all(name in about for name in names) and "because" not in about and len(about) < 400


def test_a_decision_over_two_lines_and_one_without_a_marker_are_in_the_digest_whole(memory: Repo) -> None:
    text = EPISODE.format(n=1).replace(
        "- Restart the deploy worker of zone 1 by hand.\n",
        "1. Restart the worker of zone 1\n   only after Aune has said so.\n\nNobody restarts it at night.\n",
    )
    memory.write("memory/sessions/2026-01-01-deploy-worker.md", text)
    done = json.loads(memory.mem("session", "distill", "--older-than", "30", "--json").stdout)
    assert "Restart the worker of zone 1 only after Aune has said so; Nobody restarts it at night" in done["text"]
