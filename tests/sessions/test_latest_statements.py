"""A talk that changes a decision and changes it back ends with its last word: in the log, the episode and MEMORY.md."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.rivals import PlacedFact, judge, surely_supersedes
from gitmem.memory.similarity import adds_nothing, is_near_duplicate
from gitmem.sessions.lifecycle import end_session, flush
from gitmem.sessions.rolling_summary import distinct_keys
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
BLUE = "We decided that the harbour crane is painted blue."
RED = "We decided that the harbour crane is painted red."
RED_INSTEAD = "We decided that the harbour crane is painted red instead of blue."
BLUE_INSTEAD = "We decided that the harbour crane is painted blue instead of red."
TUESDAY = "배포는 화요일에 하기로 했다."
FRIDAY_INSTEAD = "배포는 화요일 대신 금요일에 하기로 했다."
TUESDAY_INSTEAD = "배포는 금요일 대신 화요일에 하기로 했다."
TABS, SPACES = "We decided to use tabs.", "We decided to use spaces."
CHANGED_BACK = [
    (BLUE, RED_INSTEAD, BLUE),
    (BLUE, RED_INSTEAD, BLUE_INSTEAD),
    (BLUE, RED, BLUE),
    (TUESDAY, FRIDAY_INSTEAD, TUESDAY),
    (TUESDAY, FRIDAY_INSTEAD, TUESDAY_INSTEAD),
    (TABS, SPACES, TABS),
]


def session(repo: Repo, texts: tuple[str, ...], *, each_turn: bool) -> tuple[list[str], str]:
    """The lines of the log and the episode of a session in which a person says these texts, each answered by "Noted.",
    flushed after each answer or once at its end."""
    turns = [
        turn
        for number, text in enumerate(texts)
        for turn in (Turn(f"u{number}", Role.USER, text, number), Turn(f"a{number}", Role.ASSISTANT, "Noted.", number))
    ]
    git = open_repository(repo.path, os.environ)
    for said in range(2, len(turns) + 1, 2) if each_turn else ():
        flush(git, Config(), Transcript(tuple(turns[:said]), "s1"), now=NOW + timedelta(minutes=said))
    _, episode = end_session(git, Config(), Transcript(tuple(turns), "s1"), now=NOW + timedelta(hours=1))
    git.close()
    log = repo.read("memory/2026-02-05.md").splitlines()
    return [line[2:].partition(" <!--")[0] for line in log if line.startswith("- ")], repo.read(episode)


@pytest.mark.parametrize("each_turn", [True, False], ids=["a flush each turn", "one flush"])
@pytest.mark.parametrize("texts", CHANGED_BACK, ids=lambda texts: texts[-1])
def test_the_log_ends_with_the_last_word(repo: Repo, texts: tuple[str, ...], each_turn: bool) -> None:
    assert session(repo, texts, each_turn=each_turn)[0] == list(texts)


@pytest.mark.parametrize("texts", [each for each in CHANGED_BACK if each[1] in (RED_INSTEAD, FRIDAY_INSTEAD)])
def test_an_episode_has_the_last_word_alone(repo: Repo, texts: tuple[str, ...]) -> None:
    _, episode = session(repo, texts, each_turn=True)
    assert texts[1] not in episode and episode.count(texts[2]) == 2  # in its summary and among its decisions
    assert "small talk" not in episode


def test_a_decision_that_is_only_said_again_is_written_once(repo: Repo) -> None:
    kafka = "We decided to use Kafka for the event bus."
    assert session(repo, (BLUE, kafka, BLUE), each_turn=True)[0] == [BLUE, kafka]


@pytest.mark.parametrize("texts", [(BLUE, RED_INSTEAD, BLUE), (TUESDAY, FRIDAY_INSTEAD, TUESDAY_INSTEAD)])
@pytest.mark.parametrize("days", [1, 2, 3], ids=["in one log", "in two logs", "promoted day by day"])
def test_promotion_leaves_the_last_word_alone(repo: Repo, texts: tuple[str, ...], days: int) -> None:
    written = {1: [texts], 2: [texts[:2], texts[2:]], 3: [(text,) for text in texts]}[days]
    for number, said in enumerate(written):
        day = f"2026-02-0{number + 1}"
        lines = "".join(f"- {text} <!-- mem type=decision origin=user -->\n" for text in said)
        repo.write(f"memory/{day}.md", f"# {day}\n\n## 14:30 - session\n\n{lines}")
        repo.commit(day)
        if days == 3 or number == len(written) - 1:
            assert repo.mem("promote").returncode == 0
    facts = [line[2:].partition(" <!--")[0] for line in repo.read("MEMORY.md").splitlines() if line[:2] == "- "]
    assert facts == [texts[2]]


def placed(text: str, day: str, **meta: str) -> PlacedFact:
    pairs = (("type", "decision"), ("src", "memory/a.md#L1@000000000000"), *meta.items())
    return PlacedFact("MEMORY.md", Fact(text, fact_id(text), 1, "", pairs), day)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [(RED_INSTEAD, BLUE), (RED_INSTEAD, BLUE_INSTEAD), (FRIDAY_INSTEAD, TUESDAY), (FRIDAY_INSTEAD, TUESDAY_INSTEAD)],
)
def test_what_takes_a_change_back_surely_replaces_it_but_for_a_persons_own(earlier: str, later: str) -> None:
    one, other = placed(earlier, "2026-02-01"), placed(later, "2026-02-02")
    assert surely_supersedes(one, other)
    pinned = placed(earlier, "2026-02-01", pinned="true")
    assert not judge(pinned, other).automatic and judge(pinned, other).asks


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We decided that the lamp is red instead of blue for uploads.", "We decided that the lamp is blue."),
        ("We decided to use red and blue.", "We decided to use blue."),
        (RED_INSTEAD, RED_INSTEAD),
        ("We decided that the mast is painted red instead of blue.", "We decided that the crane is painted blue."),
    ],
)
def test_what_only_shares_words_with_a_change_takes_nothing_back(earlier: str, later: str) -> None:
    assert not surely_supersedes(placed(earlier, "2026-02-01"), placed(later, "2026-02-02"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RED_INSTEAD, BLUE_INSTEAD),
        (FRIDAY_INSTEAD, TUESDAY_INSTEAD),
        ("請求書は赤色ではなく青色の紙に刷ることにした。", "請求書は青色ではなく赤色の紙に刷ることにした。"),
        ("我们决定用蓝色而不是红色。", "我们决定用红色而不是蓝色。"),
    ],
)
def test_two_texts_that_put_each_others_value_in_its_place_do_not_say_the_same(one: str, other: str) -> None:
    assert not is_near_duplicate(one, other) and not adds_nothing(one, other) and is_near_duplicate(one, one)


def test_a_text_that_is_said_again_is_another_turn() -> None:
    assert distinct_keys(["a", "b", "a", "a"]) == ["a", "b", "a.2", "a.3"]
