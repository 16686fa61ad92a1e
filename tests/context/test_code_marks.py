"""A context marks what cites code that changed, keeps its rank, and pins nothing whose code is gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitmem.context.assembly import assemble
from gitmem.context.context_request import ContextRequest, Scope
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Recalled, RecalledHit
from gitmem.json_values import json_object
from gitmem.memory.code_state import CitedCode, CodeState
from gitmem.memory.document import Document, parse
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)
MEMORY = """\
# Memory

- Entry is refused after 30 attempts <!-- mem pinned=true code=a -->
- The cellar is locked at night <!-- mem code=b -->
- The attic has a lamp
- We chose a lamp of oil <!-- mem type=decision code=a -->
"""
CODE = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"


def scope(code: Mapping[str, CitedCode]) -> Scope:
    def read(path: str) -> Document | None:
        return parse(MEMORY.encode(), path) if path == "MEMORY.md" else None

    def ask(values: Iterable[str]) -> Mapping[str, CitedCode]:
        return {value: code[value] for value in values if value in code}

    return Scope("project", ("MEMORY.md",), read, cited_code=ask)


def test_without_a_change_nothing_is_said() -> None:
    done = assemble([scope({})], ContextRequest("x"), NOW)
    assert "[" not in done.text and done.parts[0].layer is Layer.PINNED


def test_code_that_changed_is_marked_where_it_stands_and_stays_pinned() -> None:
    said = {value: CitedCode(CodeState.CHANGED, "src/limit.py:1-4") for value in "ab"}
    plain, done = (assemble([scope(code)], ContextRequest("x"), NOW) for code in ({}, said))
    assert "- [code changed: src/limit.py:1-4] Entry is refused" in done.text and "git mem confirm" in done.text
    assert [part.content for part in done.parts] == [part.content for part in plain.parts]
    assert "We chose a lamp" in done.text and "] We chose" not in done.text
    parts = json_object(done)["parts"]
    assert isinstance(parts, list) and parts[0]["code"][0]["state"] == "changed"


def test_code_that_is_gone_is_pinned_no_more_and_last() -> None:
    done = assemble(
        [scope({"a": CitedCode(CodeState.GONE, "src/limit.py:1-4", "", "c" * 40)})], ContextRequest("x"), NOW
    )
    assert [part.layer for part in done.parts] == [Layer.MEMORY] * 4
    assert done.parts[-1].content.startswith("- Entry") or "Entry" in done.parts[-1].content
    assert "[not in the code any more: src/limit.py:1-4, since cccccccccccc] Entry" in done.text


def test_a_short_context_leaves_out_what_is_gone() -> None:
    gone = {"b": CitedCode(CodeState.GONE, "src/limit.py:1-4", "", "c" * 40)}
    asked = ContextRequest("when is the cellar locked at night", min_evidence=0.05, whole_memory_tokens=0)
    assert "cellar" in assemble([scope({})], asked, NOW).text
    done = assemble([scope(gone)], asked, NOW)
    assert "cellar" not in done.text
    assert any(why == "the code that it cites is gone" for _, why in done.dropped)


def test_a_new_path_is_told_without_a_word_of_doubt() -> None:
    said = {"b": CitedCode(CodeState.RENAMED, "src/limit.py:1-4", "src/bound.py")}
    done = assemble([scope(said)], ContextRequest("x"), NOW)
    assert "[src/limit.py:1-4 is in src/bound.py now] The cellar" in done.text and "git mem confirm" not in done.text


def test_a_hit_of_a_memory_whose_files_are_not_at_hand_is_marked_as_the_search_said() -> None:
    gone = CitedCode(CodeState.GONE, "src/limit.py:1-4", commit="c" * 40)
    hits = [
        RecalledHit("a/MEMORY.md", 5, 5, "Memory", "- Entry is refused after 30 attempts", 0.9, code=(gone,)),
        RecalledHit("b/MEMORY.md", 5, 5, "Memory", "- The cellar is locked at night", 0.8),
    ]
    done = assemble([Scope("shared", recall=lambda _: Recalled(hits, 2))], ContextRequest("entry cellar"), NOW)
    assert "[not in the code any more: src/limit.py:1-4, since cccccccccccc] Entry" in done.text
    assert "- The cellar" in done.text


@pytest.mark.parametrize("size", [40, 200, 2000])
def test_the_marks_keep_the_budget(size: int) -> None:
    said = {value: CitedCode(CodeState.CHANGED, "src/limit.py:1-4") for value in "ab"}
    done = assemble([replace(scope(said))], ContextRequest("x", budget=size, without_layers=frozenset({"pinned"})), NOW)
    assert done.tokens <= size


def test_the_command_asks_the_repository(repo: Repo) -> None:
    repo.commit("o", {"src/limit.py": CODE, "MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after 30 attempts")
    assert "[" not in repo.mem("context", "entry").stdout
    repo.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    assert "[code changed: src/limit.py:1-4] Entry" in repo.mem("context", "entry").stdout
    assert "[code" not in repo.mem("context", "entry", "--at", "HEAD~1").stdout
