"""The examples do what their pages say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.harness import SOURCE, Repo

NOW = {"GITMEM_NOW": "2026-03-01T12:00:00Z"}
ROWS = [
    json.loads(line) for line in (SOURCE / "examples/past/questions.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("past") / "repo"
    shutil.copytree(SOURCE / "examples" / "past", place)
    return place


@pytest.fixture
def memory(past: Path) -> Repo:
    repo = Repo(past, init=not (past / ".git").exists())
    repo.commit("memory", date="2026-02-20T12:00:00Z")
    return repo


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["query"])
def test_a_question_gets_the_facts_of_the_time_it_asks_about(row: dict[str, Any], memory: Repo) -> None:
    hits = json.loads(memory.mem("search", row["query"], "--json", env=NOW).stdout)["hits"]
    first, line = hits[0], row["relevant"][0]["start_line"]
    assert (first["path"], first["start_line"], first["end_line"]) == ("MEMORY.md", line, line)
    assert bool(first.get("state")) == (row["category"] == "past")
    if row["category"] == "now":
        assert not any(hit.get("state") for hit in hits)


def test_the_questions_pass_as_a_memory_test(memory: Repo) -> None:
    memory.mem("eval", "questions.jsonl", "--floor", "hit@1=1", env=NOW)


def test_what_no_longer_holds_is_marked_for_a_person(memory: Repo) -> None:
    shown = memory.mem("search", "how long did access tokens live before?", "-n", "1", env=NOW).stdout
    assert "SUPERSEDED" in shown and "24 hours" in shown
