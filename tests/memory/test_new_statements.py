"""Every command that writes reports the rivals of a new statement; none refuses or replaces because of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.memory.fact import fact_id
from tests.harness import Repo

OLD, NEW = "The orders service listens on port 8080", "The orders service listens on port 9090"
NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}
SAID = f"differs from MEMORY.md:5 '{OLD}': git mem settle"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("first", {"MEMORY.md": f"# Memory\n\n## Facts\n\n- {OLD} <!-- mem type=fact from=2026-01-01 -->\n"})
    return repo


def answer(repo: Repo, *command: str) -> dict[str, Any]:
    return dict(json.loads(repo.mem(*command, "--json", env=NOW).stdout))


def is_said(found: dict[str, Any], path: str = "MEMORY.md") -> bool:
    (rival,) = found["differs"]
    return (rival["relation"], rival["new"]["text"], rival["new"]["path"], rival["fact"]["id"]) == (
        "replaces", NEW, path, fact_id(OLD),
    )  # fmt: skip


def test_add_says_it_of_a_fact_and_of_a_line_of_the_log(memory: Repo) -> None:
    assert SAID in memory.mem("add", "--type", "fact", NEW, env=NOW).stderr
    assert OLD in memory.read("MEMORY.md") and NEW in memory.read("MEMORY.md")
    memory.git("checkout", "-q", "MEMORY.md")
    assert is_said(answer(memory, "add", NEW), "memory/2026-03-02.md")
    assert answer(memory, "add", "--type", "fact", NEW, "--commit")["differs"]


@pytest.mark.parametrize("text", ["Lunch is at noon", "The payments service listens on port 9090"])
def test_add_says_nothing_of_something_else(memory: Repo, text: str) -> None:
    assert answer(memory, "add", "--type", "fact", text)["differs"] == []


def test_a_log_line_that_repeats_a_fact_is_reported_without_a_question(memory: Repo) -> None:
    said = memory.mem("add", f"{OLD}!", env=NOW).stderr
    assert f"repeats MEMORY.md:5 '{OLD}'" in said and "settle" not in said


def test_edit_says_it_of_the_new_text(memory: Repo) -> None:
    memory.commit("x", {"MEMORY.md": memory.read("MEMORY.md") + "- Lunch is at noon\n"})
    found = answer(memory, "edit", "MEMORY.md:6", NEW, "--reason", "moved")
    assert is_said(found)


def test_what_edit_supersedes_goes_to_the_archive(memory: Repo) -> None:
    assert answer(memory, "edit", "MEMORY.md:5", NEW, "--supersede", "--reason", "moved")["differs"] == []
    assert f"- {OLD} <!-- mem type=fact from=2026-01-01 superseded-by={fact_id(NEW)} -->" in memory.read(
        "memory/archive/2026.md"
    )


def test_promote_says_it_of_the_facts_that_stay(memory: Repo) -> None:
    log = "# 2026-02-05\n\n- We decided that the orders service listens on port 9090\n"
    memory.commit("log", {"memory/2026-02-05.md": log})
    found = answer(memory, "promote")
    assert len(found["facts"]) == 1 and found["facts"][0]["target"] is None
    assert [rival["fact"]["text"] for rival in found["differs"]] == [OLD] and OLD in memory.read("MEMORY.md")


def test_sync_says_it_of_the_facts_that_came(memory: Repo) -> None:
    other = memory.path.parent / "other"
    memory.git("init", "-q", "--bare", "../hub.git")
    memory.git("remote", "add", "origin", "../hub.git")
    memory.mem("sync", env=NOW)
    memory.git("clone", "-q", "../hub.git", str(other))
    there = Repo(other, init=False)
    there.commit("theirs", {"MEMORY.md": memory.read("MEMORY.md").replace("- The", f"- {NEW}\n- The")})
    there.git("push", "-q")
    assert is_said(answer(memory, "sync"))


def test_import_says_it_of_the_facts_that_came(memory: Repo) -> None:
    there = memory.path.parent / "bundle"
    other = Repo(memory.path.parent / "there")
    other.commit("x", {"MEMORY.md": f"# Memory\n\n## Facts\n\n- {NEW} <!-- mem type=fact -->\n"})
    other.mem("export", "okf", str(there), env=NOW)
    done = memory.mem("import", "okf", str(there), "--json", check=False, env=NOW)
    assert is_said(json.loads(done.stdout))
