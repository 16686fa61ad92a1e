"""Times as people say them: in English and Korean, in the person's own zone, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from gitmem.errors import UnknownRevision, UsageError
from gitmem.git.opening import open_repository
from gitmem.git.protocol import Repository
from gitmem.memory.dates import named_days
from gitmem.memory.named_times import first_day, last_day, resolve_at
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)  # a Thursday
SEOUL = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("texts", "first", "last"),
    [
        (("today", "오늘", "今日", "今天"), "2026-02-05", "2026-02-05"),
        (("yesterday", "Yesterday ", "어제", "昨日", "昨天"), "2026-02-04", "2026-02-04"),
        (("그저께", "그제", "一昨日"), "2026-02-03", "2026-02-03"),
        (("3 days ago", "three days ago", "3일 전", "3일전", "3日前", "3天前"), "2026-02-02", "2026-02-02"),
        (("a week ago", "1 week ago", "1주 전", "1주일 전"), "2026-01-29", "2026-01-29"),
        (("3 months ago", "3개월 전"), "2025-11-05", "2025-11-05"),
        (("2 years ago", "2년 전"), "2024-02-05", "2024-02-05"),
        (("last week", "지난주", "지난 주", "先週", "上周"), "2026-01-26", "2026-02-01"),
        (("this week", "이번 주"), "2026-02-02", "2026-02-08"),
        (("last month", "지난달"), "2026-01-01", "2026-01-31"),
        (("last year", "작년", "지난해"), "2025-01-01", "2025-12-31"),
        (("last friday", "지난 금요일"), "2026-01-30", "2026-01-30"),
        (("지난주 금요일",), "2026-01-30", "2026-01-30"),
        (("2026-01-31", "20260131"), "2026-01-31", "2026-01-31"),
    ],
)
def test_a_time_is_named_as_people_say_it(texts: tuple[str, ...], first: str, last: str) -> None:
    for text in texts:
        assert (first_day(text, NOW), last_day(text, NOW)) == (date.fromisoformat(first), date.fromisoformat(last)), (
            text
        )


def test_months_back_end_on_the_last_day_of_a_shorter_month() -> None:
    end = datetime(2026, 3, 31, tzinfo=UTC)
    assert first_day("1 month ago", end) == date(2026, 2, 28) and first_day("25개월 전", end) == date(2024, 2, 29)


@pytest.mark.parametrize(
    "text",
    ["soon", "yesterday's plan", "어제 회의", "last week of May", "3 days", "-1", "999 years", "2026-02-30", " "],
)
def test_what_only_holds_a_time_or_none_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match="--since takes a day") as caught:
        first_day(text, NOW)
    assert "yesterday" in caught.value.hint and "지난주" in caught.value.hint and "YYYY-MM-DD" in caught.value.hint
    assert named_days(text, NOW.date()) is None


def test_no_text_is_no_day() -> None:
    assert first_day("", NOW) is None and last_day("", NOW) is None


def test_the_day_is_that_of_the_persons_zone() -> None:
    night = datetime(2026, 2, 5, 23, 30, tzinfo=UTC)
    assert first_day("yesterday", night) == date(2026, 2, 4)
    assert first_day("어제", night.astimezone(SEOUL)) == date(2026, 2, 5)


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


def test_log_and_search_take_them(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", NOW.isoformat())
    logs = {
        f"memory/2026-0{day}.md": f"# 2026-0{day}\n\n## 09:00\n\n- The crane {day}.\n"
        for day in ("1-20", "1-28", "2-04")
    }
    repo.commit("logs", logs, date="2026-02-04T12:00:00+00:00")
    assert "crane 1-28" in (shown := repo.mem("log", "--since", "지난주", "--until", "last week").stdout)
    assert "2-04" not in shown and "1-20" not in shown
    found = repo.mem("search", "crane", "--since", "어제", "--json").stdout
    assert "crane 2-04" in found and "crane 1-28" not in found
    refused = repo.mem("log", "--since", "soon", check=False)
    assert refused.returncode == 2 and "--since takes a day, not 'soon'" in refused.stderr
