"""What an agent takes up is no decision, small talk leaves no episode, and what an episode is filed under are words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.search.keywords import slug, topics
from gitmem.sessions.echoes import acknowledges
from gitmem.sessions.episode import acknowledgements, agent_worked, is_worth_an_episode
from gitmem.sessions.lifecycle import end_session
from gitmem.sessions.selection import select
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
SMALL_TALK = (Path(__file__).parents[2] / "bench/small_talk.txt").read_text("utf-8").splitlines()


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def talk(*said: str) -> list[Turn]:
    """A person and an agent in turns."""
    return [Turn(f"t{at}", (Role.USER, Role.ASSISTANT)[at % 2], text, at + 1, NOW) for at, text in enumerate(said)]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Please answer briefly and don't use bullet points.", "Noted, short answers without bullet points."),
        ("We deploy before 11 from now on.", "Understood. We deploy before 11."),
        ("Never push to main without a review.", "I'll never push to main without a review."),
        ("앞으로는 짧게 답하고 표는 쓰지 마.", "네, 알겠습니다. 앞으로 짧게 답하고 표는 쓰지 않겠습니다."),
        ("배포는 항상 오전 11시 전에 한다.", "확인했습니다. 배포는 오전 11시 전에 하겠습니다."),
    ],
)
def test_what_an_agent_takes_up_of_its_person_is_no_decision(said: str, answer: str) -> None:
    turns = talk(said, answer)
    kept, _ = select(turns, "memory/2026-02-05.md", NOW)
    assert all(item.turn.role is Role.USER for item in kept) and acknowledgements(turns)


def test_an_agent_that_adds_a_number_or_a_matter_takes_up_nothing() -> None:
    said = "Keep the logs, but not for ever."
    for answer in ("Noted, the logs are kept for 30 days.", "Noted. Backups go to the second region in Frankfurt."):
        assert not acknowledges(answer, answer, said)
    assert not acknowledges("The logs are kept.", "The logs are kept.", said)  # it acknowledges nothing
    assert not acknowledges("Noted, the logs are kept.", "Noted, the logs are kept.", "")


def test_small_talk_leaves_no_episode_and_a_decision_or_work_does(repo: Repo, git: Repository) -> None:
    made = [text for text in SMALL_TALK if is_worth_an_episode(talk(text, "Here you are."), NOW, worked=False)]
    assert len(made) <= len(SMALL_TALK) // 20, made
    _, path = end_session(
        git, Config(), Transcript(tuple(talk("안녕", "안녕하세요! 무엇을 도와드릴까요?")), "s1"), now=NOW
    )
    assert path == "" and not (repo.path / "memory/sessions").exists()
    for name, turns in {
        "decided": talk("We decided that the harbour crane is painted blue.", "Done."),
        "worked": [*talk("run the tests", "18 passed."), Turn("r", Role.TOOL, "18 passed", 3, NOW, name="Bash")],
    }.items():
        assert end_session(git, Config(), Transcript(tuple(turns), name), now=NOW)[1], name


def test_looking_something_up_is_no_work() -> None:
    def called(name: str) -> list[Turn]:
        return [Turn("r", Role.TOOL, "sunny", 1, NOW, name=name)]

    looked_up = called("mcp__git-mem__memory_search")
    assert not agent_worked(talk("hi")) and not agent_worked(called("WebSearch")) and not agent_worked(looked_up)
    assert agent_worked(called("Bash")) and agent_worked(called("edit_file"))


def test_topics_and_slugs_are_words_of_a_subject() -> None:
    assert topics(["지금은 오후 3시입니다.", "지금 몇 시야?"]) == ["오후"]
    assert slug(["비에 대한 시를 써줘", "비에 대한 짧은 시입니다.", "빗방울이 골목을 적신다."]) == "빗방울-골목"
    said = topics(["분산락을 조건부로 갱신합니다. 그렇게 하면 재고가 안 꼬여서 좋습니다. Redis에서 락을 잡지 않는다."])
    assert {"분산락", "재고", "Redis"} <= set(said)
    assert not {"갱신합니다", "그렇게", "꼬여서", "좋습니다", "않는다", "에서", "하면"} & set(said)
    assert set(topics(["Don't write it without the user's invoice, and we're done with it"])) == {"invoice", "user"}
    assert slug(["네, 알겠습니다.", "ok thanks"]) == "session"
