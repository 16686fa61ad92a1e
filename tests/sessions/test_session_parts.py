"""A session's id may outlive its conversation: what begins without the old turns is a part with an episode of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.sessions import state
from gitmem.sessions.episode import list_episodes
from gitmem.sessions.lifecycle import end_session, flush
from gitmem.sessions.resets import end_due
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
HARBOUR = "We decided that the harbour crane is painted blue before May."
INVOICE = "We decided that every invoice date is written in UTC."
BAKERY = "빵 주문은 항상 오전 7시 전에 받기로 했다."
FERRY = "We decided that the ferry timetable is printed on Mondays."


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def talk(*said: str, start: datetime | None = None, session: str = "s1") -> Transcript:
    """A person's turns, each answered; a minute apart from `start`, without times where that is None."""
    turns = []
    for at, text in enumerate(said):
        when = start + timedelta(minutes=at) if start is not None else None
        turns.append(Turn(f"u{at}", Role.USER, text, 2 * at + 1, when))
        turns.append(Turn(f"a{at}", Role.ASSISTANT, f"Done with step {len(text)}.", 2 * at + 2, when))
    return Transcript(tuple(turns), session)


def texts(repo: Repo) -> dict[str, str]:
    """The text of each episode by its session."""
    return {each.session: repo.read(each.path) for each in list_episodes(repo.path)}


def test_a_session_that_begins_anew_under_its_id_leaves_the_old_episode(repo: Repo, git: Repository) -> None:
    end_session(git, Config(), talk(HARBOUR), now=NOW)
    before = texts(repo)["s1"]
    flush(git, Config(), talk(INVOICE), now=NOW)
    end_session(git, Config(), talk(INVOICE), now=NOW)
    end_session(git, Config(), talk(BAKERY), now=NOW)
    found = texts(repo)
    assert found["s1"] == before and set(found) == {"s1", "s1#2", "s1#3"}
    assert "UTC" in found["s1#2"] and "오전 7시" in found["s1#3"] and "UTC" not in found["s1#3"]


def test_a_session_that_goes_on_with_its_old_turns_keeps_its_episode(repo: Repo, git: Repository) -> None:
    end_session(git, Config(), talk(HARBOUR), now=NOW)
    flush(git, Config(), talk(HARBOUR, INVOICE), now=NOW)
    end_session(git, Config(), talk(HARBOUR, INVOICE), now=NOW)
    (found,) = texts(repo).values()
    assert "blue" in found and "UTC" in found
    end_session(git, Config(), talk(HARBOUR), now=NOW)  # a late end of an older reading
    assert list(texts(repo).values()) == [found]


def test_an_older_conversation_that_is_resumed_goes_on_with_its_own_part(repo: Repo, git: Repository) -> None:
    end_session(git, Config(), talk(HARBOUR), now=NOW)
    end_session(git, Config(), talk(INVOICE), now=NOW)
    end_session(git, Config(), talk(HARBOUR, FERRY), now=NOW)
    end_session(git, Config(), talk(INVOICE, BAKERY), now=NOW)
    found = texts(repo)
    assert set(found) == {"s1", "s1#2"}
    assert "ferry" in found["s1"] and "오전 7시" in found["s1#2"] and "ferry" not in found["s1#2"]


def test_the_same_words_said_later_are_a_new_part_and_a_second_yes_is_read(repo: Repo, git: Repository) -> None:
    def agreed(matter: str, when: datetime) -> Transcript:
        turns = (
            Turn("u1", Role.USER, "How should we go about it?", 1, when),
            Turn("a1", Role.ASSISTANT, f"So {matter}, at most 2 GB, not in files.", 2, when),
            Turn("u2", Role.USER, "Yes, do that.", 3, when),
        )
        return Transcript(turns, "s1")

    end_session(git, Config(), agreed("the invoices will be kept in PostgreSQL", NOW), now=NOW)
    done, _ = end_session(
        git, Config(), agreed("the search index will be kept in SQLite", NOW + timedelta(hours=1)), now=NOW
    )
    assert any("SQLite" in line.text for line in done.kept)
    end_session(git, Config(), talk(HARBOUR, start=NOW), now=NOW)
    end_session(git, Config(), talk(HARBOUR, start=NOW + timedelta(hours=3)), now=NOW + timedelta(hours=4))
    assert set(texts(repo)) == {"s1", "s1#2", "s1#3", "s1#4"}


def test_a_reset_and_a_new_beginning_count_on(repo: Repo, git: Repository) -> None:
    config = Config(session_reset="idle", session_idle=60)
    later = NOW + timedelta(hours=3)
    first = talk(HARBOUR, start=NOW)
    flush(git, config, first, now=NOW)
    assert end_due(git, config, later, lambda naive: naive.replace(tzinfo=UTC), {"s1": first})[0].episode
    both = Transcript((*first.turns, *talk(INVOICE, start=later).turns), "s1")
    end_session(git, config, both, now=later)
    end_session(git, config, talk(BAKERY, start=later + timedelta(hours=1)), now=later + timedelta(hours=2))
    found = texts(repo)
    assert set(found) == {"s1", "s1#2", "s1#3"}
    assert "blue" in found["s1"] and "blue" not in found["s1#2"] and "오전 7시" in found["s1#3"]


@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_order_no_episode_loses_what_it_said(repo: Repo, git: Repository, seed: int) -> None:
    random = Random(seed)
    spoken: list[list[str]] = []
    now, timed = NOW, bool(seed % 2)
    began: list[datetime] = []
    open_: list[str] = []
    for step in range(14):
        now += timedelta(hours=1)
        kind = random.choice(("new", "resume", "older", "flush")) if spoken else "new"
        at = random.randrange(len(spoken)) if spoken else 0
        if kind == "new":
            open_ = [f"We decided that the pump in hall {step} is checked every {step + 2} days."]
            spoken.append(list(open_))
            began.append(now)
            at = len(spoken) - 1
        elif kind == "resume":
            spoken[at].append(f"We decided that valve {step} is opened at {step + 3} bar.")
        said = spoken[at][:1] if kind == "older" else spoken[at]
        transcript = talk(*said, start=began[at] if timed else None)
        if kind == "flush" or random.random() < 0.3:
            flush(git, Config(), transcript, now=now)
        if kind != "flush":
            end_session(git, Config(), transcript, now=now)
        check(repo, spoken)
    assert len(texts(repo)) == len(spoken)


def check(repo: Repo, spoken: Sequence[Sequence[str]]) -> None:
    """Every conversation has one episode, with all that was decided in it and nothing of another."""
    found = list(texts(repo).values())
    for said in spoken:
        own = [text for text in found if said[0] in text]
        assert len(own) == 1 and all(sentence in own[0] for sentence in said)
    assert all(sum(said[0] in text for said in spoken) == 1 for text in found)


def test_a_damaged_list_of_parts_costs_work_and_no_error(repo: Repo, git: Repository) -> None:
    end_session(git, Config(), talk(HARBOUR), now=NOW)
    (file,) = (git.common_dir / "gitmem/sessions").glob(f"{state.session_hash('s1')}.json")
    for parts in ('[{"part": 1}]', "[7]", '"x"', '[{"part": 1, "closed": "ab", "turns": [], "at": ""}]'):
        file.write_text(file.read_text().partition('"parts"')[0] + f'"parts": {parts}}}')
        assert state.load_state(git.common_dir, "s1") == state.State()
