"""Which commit a date or a branch means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from gitmem.errors import UnknownRevision
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.git.revision import resolve_at
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)  # a Thursday
SEOUL = timezone(timedelta(hours=9))


@pytest.fixture
def history(repo: Repo) -> Iterator[Repository]:
    for day in ("2026-01-20T12:00:00+00:00", "2026-01-30T12:00:00+00:00", "2026-02-04T16:00:00+00:00"):
        repo.commit(day[:10], {"MEMORY.md": f"- {day}\n"}, date=day)
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def subject(repo: Repository, text: str, now: datetime = NOW) -> str:
    return repo.commit(resolve_at(repo, text, now)).message.strip()


def test_at_takes_the_last_commit_by_the_end_of_the_days_that_are_named(repo: Repo, history: Repository) -> None:
    assert subject(history, "yesterday") == subject(history, "어제") == "2026-02-04"
    assert subject(history, "last week") == subject(history, "지난주") == subject(history, "3 days ago") == "2026-01-30"
    assert subject(history, "1월 30일") == subject(history, "30 Jan") == subject(history, "January") == "2026-01-30"
    assert subject(history, "23 hours ago") == "2026-01-30" and subject(history, "23시간 전") == "2026-01-30"
    assert subject(history, "1시간 전") == subject(history, "2 hours ago") == "2026-02-04"
    assert subject(history, "2026-01-29") == subject(history, "2026-01-30T11:00Z") == "2026-01-20"
    assert subject(history, "어제", NOW.astimezone(SEOUL)) == "2026-01-30"  # there it is of today already


def test_a_branch_of_that_name_comes_before_the_day(repo: Repo, history: Repository) -> None:
    repo.git("branch", "yesterday", "HEAD~2")
    assert subject(history, "yesterday") == "2026-01-20"


def test_at_says_what_it_takes_and_that_there_was_nothing_yet(repo: Repo, history: Repository) -> None:
    with pytest.raises(UnknownRevision) as caught:
        resolve_at(history, "soon", NOW)
    assert "yesterday" in caught.value.hint and "git log" in caught.value.hint
    with pytest.raises(UnknownRevision, match="there is no commit at or before last year"):
        resolve_at(history, "last year", NOW)
