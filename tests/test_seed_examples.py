"""The examples that this project began with: they hold as they were first printed."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo

MEMORY = """# 메모리

## 결정

- REST over GraphQL 채택: 단순하고 캐시가 쉽다. <!-- mem type=decision from=2026-02-05 -->
- PostgreSQL 선택: 트랜잭션이 필요하다. <!-- mem type=decision from=2026-02-06 -->
- Q3 계획: 결제 모듈을 먼저 끝낸다. <!-- mem type=goal from=2026-07-01 until=2026-09-30 -->

## 정보

- 점심은 12시에 먹는다.
- 회의실은 3층에 있다.
"""


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("memory", {"MEMORY.md": MEMORY}, date="2026-07-02T12:00:00Z")
    return repo


def found(repo: Repo, question: str, *options: str) -> list[str]:
    return [hit["text"] for hit in json.loads(repo.mem("search", "--json", question, *options).stdout)["hits"]]


def test_a_plan_for_the_third_quarter_is_left_out_in_october(memory: Repo) -> None:
    july = memory.git("rev-parse", "HEAD").strip()
    memory.commit("october", {"README.md": "x\n"}, date="2026-10-05T12:00:00Z")
    assert any("결제 모듈" in text for text in found(memory, "Q3 계획", "--at", july))
    assert not any("결제 모듈" in text for text in found(memory, "Q3 계획", "--at", "HEAD"))
    assert any("결제 모듈" in text for text in found(memory, "Q3 계획", "--at", "HEAD", "--expired"))
    assert "결제 모듈" in memory.mem("context", "Q3 계획", "--at", july).stdout
    assert "결제 모듈" not in memory.mem("context", "Q3 계획", "--at", "HEAD").stdout


@pytest.mark.parametrize(
    ("question", "answer"),
    [("API에 대해 무엇을 결정했나?", "REST over GraphQL 채택"), ("데이터베이스 관련 것", "PostgreSQL 선택")],
)
def test_a_question_in_korean_finds_the_decision_that_lacks_its_word(memory: Repo, question: str, answer: str) -> None:
    first, second, *_ = found(memory, question)  # the two decisions before all that has nothing to do with it
    assert answer in first + second


def test_the_decision_of_a_paragraph_is_promoted(repo: Repo) -> None:
    log = "# 2026-02-05\n\n## 10:00 - API\n\nREST vs GraphQL 논의. 결정: 단순성을 위해 REST 사용.\n"
    repo.commit("log", {"MEMORY.md": "# Memory\n", "memory/2026-02-05.md": log}, date="2026-02-05T12:00:00Z")
    repo.mem("promote")
    assert "단순성을 위해 REST 사용" in repo.read("MEMORY.md")
