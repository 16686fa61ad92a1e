"""Which working values a context is given: those of its own session, and of the project's those that are asked
about."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem import api
from gitmem.context.working_values import is_entity_named
from gitmem.text.terms import terms
from tests.harness import Repo


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("acme:analysis", "How is ACME doing?"),
        ("company:acme:analysis", "what do we know about Acme"),
        ("ticket:4711:review", "go on with 4711"),
        ("tasks:deploy api", "may we deploy the API now?"),
        ("에이스:분석", "에이스는 어때?"),
        ("회사:에이스", "에이스의 마진은?"),
    ],
)
def test_what_is_asked_about_is_named(key: str, asked: str) -> None:
    assert is_entity_named(key, frozenset(terms(asked)))


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("acme:analysis", "write the analysis of Globex"),
        ("company:acme", "which company is Globex?"),
        ("회사:에이스", "글로벡스 회사의 마진은?"),
        ("에이스:분석", "글로벡스 분석을 써 줘"),
        ("task:review", "this is another task"),
        ("alone", "something else"),
    ],
)
def test_another_entity_s_value_is_not_named(key: str, asked: str) -> None:
    assert not is_entity_named(key, frozenset(terms(asked)))


def working(opened: api.Memory, prompt: str = "", **more: Any) -> list[str]:
    made = opened.context(prompt, **more)
    return sorted(part["label"] for part in made["parts"] if part["layer"] == "working")


def test_a_clean_context_shows_only_its_own_prefix(repo: Repo) -> None:
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- Globex pays in euros.\n"})
    repo.mem("session", "set", "acme:analysis", "margin fell to 3 %")
    repo.mem("session", "set", "globex:analysis", "margin rose to 9 %")
    repo.mem("session", "set", "globex:plan", "call them", "--session", "run-1")
    repo.mem("session", "set", "acme:plan", "wait", "--session", "run-2")
    with api.open(repo.path) as opened:
        assert working(opened, "How is Globex doing?") == ["globex:analysis"]
        assert working(opened, "What is the weather?") == []
        assert working(opened) == ["acme:analysis", "globex:analysis"]
        assert working(opened, "How is Globex doing?", session="run-1") == ["globex:analysis", "globex:plan"]
        assert working(opened, "and what else?", session="run-1") == ["globex:plan"]
        assert working(opened, "Acme?", entity="globex") == ["globex:analysis"]
        assert working(opened, session="run-2", entity="globex") == ["globex:analysis"]
        assert "3 %" not in opened.context("How is Globex doing?")["text"]
    told = repo.mem("context", "Acme?", "--entity", "acme:plan", "--session", "run-2").stdout
    assert "wait" in told and "3 %" not in told


def test_the_command_line_keeps_values_of_sessions_apart_and_a_person_sees_whose_they_are(repo: Repo) -> None:
    repo.mem("session", "set", "task:deploy", "half done", "--session", "s1", "--agent", "coder")
    repo.mem("session", "set", "task:deploy", "not begun")
    assert repo.mem("session", "get", "task:deploy", "--session", "s1", "--agent", "coder").stdout == "half done\n"
    assert repo.mem("session", "get", "task:deploy", "--session", "s2").stdout == "not begun\n"
    listed = repo.mem("session", "list").stdout
    assert listed == "task:deploy  not begun\ntask:deploy  half done  (session s1, agent coder)\n"
    assert repo.mem("session", "list", "--session", "s2").stdout == "task:deploy  not begun\n"
    repo.mem("session", "set", "task:deploy", "")
    gone = repo.mem("session", "get", "task:deploy", check=False)
    assert gone.returncode == 1 and "git mem session list" in gone.stderr
    five = repo.mem("session", "set", "a:b:c:d:e", "x", check=False)
    assert five.returncode == 2 and "at most 4 parts" in five.stderr
    start = repo.mem("session", "start").stdout
    assert "half done" not in start
