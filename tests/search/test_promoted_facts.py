"""A line of a log that was promoted answers as its fact, with the line below it; on the terminal, in JSON, over MCP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.search.promoted_facts import citations_by_file, promoted_fact
from tests.harness import Repo

LOG = """# 2026-02-05

## 10:00 - api

- we decided on REST webhooks for the PoC because they are easier to debug
- the staging database is called quartz and lives in Frankfurt
- lunch was noodles

## 16:00 - 배포

- 배포는 오전 11시 이전에만 하기로 결정했다
- the invoice worker retries five times
"""
MEMORY = """# Memory

## Decisions

- REST webhooks for the PoC: easier to debug <!-- mem type=decision src=memory/2026-02-05.md#L5 -->
- 배포는 오전 11시 이전에만 한다 <!-- mem type=decision src=memory/2026-02-05.md#L11 -->

## Facts

- The staging database is called quartz
  and lives in Frankfurt. <!-- mem type=fact src=memory/2026-02-05.md#L6 -->
- The invoice worker retries five times. <!-- mem type=fact src=memory/2026-02-05.md#L12 -->
"""
ASKED = [
    ("why REST webhooks for the PoC, easier to debug", 5, 5),
    ("we decided on REST webhooks for the PoC because they are easier to debug", 5, 5),
    ("배포는 오전 11시 이전에만 하기로 결정했다", 6, 11),
    ("staging database quartz Frankfurt", 10, 6),
    ("how often does the invoice worker retry", 12, 12),
    ("the invoice worker retries five times", 12, 12),
]


@pytest.fixture
def promoted(repo: Repo) -> Repo:
    repo.commit("memory", {"MEMORY.md": MEMORY, "memory/2026-02-05.md": LOG})
    return repo


def hits(repo: Repo, *asked: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("search", *asked, "--json").stdout)["hits"]
    return found


@pytest.mark.parametrize(("asked", "line", "source"), ASKED)
def test_a_fact_asked_by_its_own_words_or_its_sources_answers_first(
    promoted: Repo, asked: str, line: int, source: int
) -> None:
    found = hits(promoted, asked)
    assert (found[0]["path"], found[0]["start_line"]) == ("MEMORY.md", line)
    first = found[0]["sources"][0]
    assert first["path"] == "memory/2026-02-05.md" and first["start_line"] <= source <= first["end_line"]
    rivals = [hit for hit in found if hit["path"] == "memory/2026-02-05.md"]
    assert not any(hit["start_line"] <= source <= hit["end_line"] for hit in rivals)
    places = [(hit["path"], hit["start_line"]) for hit in found]
    assert len(places) == len(set(places))


def test_the_terminal_shows_the_source_below_its_fact(promoted: Repo) -> None:
    told = promoted.mem("search", ASKED[1][0], "-n", "1").stdout
    assert told.index("MEMORY.md:5") < told.index("from memory/2026-02-05.md:5")
    assert "because they are easier to debug" in told


def test_a_line_that_no_fact_says_answers_for_itself(promoted: Repo) -> None:
    found = hits(promoted, "what was for lunch, noodles?")
    assert found[0]["path"] == "memory/2026-02-05.md" and found[0]["start_line"] <= 7 <= found[0]["end_line"]
    assert "sources" not in found[0]


def test_a_search_of_logs_alone_has_their_lines(promoted: Repo) -> None:
    found = hits(promoted, ASKED[1][0], "--path", "memory/*")
    assert found[0]["path"] == "memory/2026-02-05.md"


def test_the_day_that_is_asked_for_is_told_as_it_was_written(promoted: Repo) -> None:
    found = hits(promoted, "what happened on 2026-02-05?")
    assert {hit["path"] for hit in found} == {"memory/2026-02-05.md"}


def test_a_fact_is_whole_and_its_source_has_to_say_it() -> None:
    lines = MEMORY.split("\n")
    here = citations_by_file([(("MEMORY.md", "b"), lines)], ["memory/2026-02-05.md"])["memory/2026-02-05.md"]
    fact = promoted_fact(here, 6, 6, "- the staging database is called quartz and lives in Frankfurt")
    assert fact is not None and (fact.first, fact.last) == (10, 11)
    assert promoted_fact(here, 6, 6, "- lunch was noodles with soup") is None
    assert promoted_fact(here, 7, 7, "- the staging database is called quartz and lives in Frankfurt") is None
