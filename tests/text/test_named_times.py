"""Times as people say them: in English and Korean, in the person's own zone, and nothing else."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.text.day_spans import days_in_question
from gitmem.text.english import MONTHS
from gitmem.text.named_times import first_day, last_day, named_days, start_of
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
        (("2026-01-31", "20260131", "2026/1/31", "2026. 1. 31".replace(" ", "")), "2026-01-31", "2026-01-31"),
        (
            ("3 Nov", "Nov 3", "November 3rd", "3rd of november", "11월 3일", "11월3일", "11月3日"),
            "2025-11-03",
            "2025-11-03",
        ),
        (("3 Feb", "2월 3일", "Feb 3, 2026", "3 February 2026", "2026년 2월 3일"), "2026-02-03", "2026-02-03"),
        (("29 Feb", "2월 29일"), "2024-02-29", "2024-02-29"),
        (("February", "feb", "2월", "2026-02", "2026년 2월", "Feb 2026"), "2026-02-01", "2026-02-28"),
        (("11월", "November", "nov 2025"), "2025-11-01", "2025-11-30"),
        (("2024", "2024년"), "2024-01-01", "2024-12-31"),
        (
            ("now", "지금", "1시간 전", "한 시간 전", "2 hours ago", "30분 전", "10 minutes ago"),
            "2026-02-05",
            "2026-02-05",
        ),
        (("20 hours ago", "20시간 전", "하루 전", "a day ago"), "2026-02-04", "2026-02-04"),
        (
            ("이틀 전", "the day before yesterday", "엊그제", "a couple of days ago", "48시간 전"),
            "2026-02-03",
            "2026-02-03",
        ),
        (("사흘 전", "three days ago"), "2026-02-02", "2026-02-02"),
        (("열흘 전", "ten days ago"), "2026-01-26", "2026-01-26"),
        (("일주일 전", "일주일전", "한 주 전"), "2026-01-29", "2026-01-29"),
        (("한 달 전", "a month ago"), "2026-01-05", "2026-01-05"),
        (("두 달 전", "two months ago"), "2025-12-05", "2025-12-05"),
        (("일 년 전", "one year ago"), "2025-02-05", "2025-02-05"),
        (("week before last", "the week before last", "지지난주", "저저번 주"), "2026-01-19", "2026-01-25"),
        (("지지난달", "month before last"), "2025-12-01", "2025-12-31"),
        (("last 3 days", "past three days", "지난 사흘", "최근 3일", "지난 3일간"), "2026-02-02", "2026-02-05"),
        (("last 2 weeks", "지난 2주", "최근 두 주"), "2026-01-22", "2026-02-05"),
        (("last 24 hours", "최근 24시간"), "2026-02-04", "2026-02-05"),
        (("monday", "mon", "월요일"), "2026-02-02", "2026-02-02"),
        (("thursday", "목요일"), "2026-02-05", "2026-02-05"),
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
    [
        "soon",
        "yesterday's plan",
        "어제 회의",
        "last week of May",
        "3 days",
        "-1",
        "999 years",
        "2026-02-30",
        " ",
        "3 Nov meeting",
        "11월 3일 회의",
        "13월 1일",
        "2월 30일",
        "11월 0일",
        "31 Feb",
        "11/3",
        "지난 3일",
        "3일 전체",
        "Jun bug",
        "4 days ago or so",
        "0000",
        "9999 years ago",
        "9999년 전",
        "회의 30분 전",
    ],
)
def test_what_only_holds_a_time_or_none_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match="--since takes a day") as caught:
        first_day(text, NOW)
    assert "yesterday" in caught.value.hint and "지난주" in caught.value.hint and "YYYY-MM-DD" in caught.value.hint
    assert named_days(text, NOW) is None


def test_no_text_is_no_day() -> None:
    assert first_day("", NOW) is None and last_day("", NOW) is None


def test_the_day_is_that_of_the_persons_zone() -> None:
    night = datetime(2026, 2, 5, 23, 30, tzinfo=UTC)
    assert first_day("yesterday", night) == date(2026, 2, 4)
    assert first_day("어제", night.astimezone(SEOUL)) == date(2026, 2, 5)


PAST = st.dates(date(1990, 1, 1), NOW.date())
UNITS = {"day": "일", "week": "주", "month": "개월", "year": "년", "hour": "시간", "minute": "분"}


def spelled(day: date) -> tuple[str, ...]:
    """A day with its year, as people write it."""
    month = MONTHS[day.month - 1]
    return (
        f"{day}", f"{day:%Y/%m/%d}", f"{day.year}년 {day.month}월 {day.day}일", f"{day.day} {month[:3]} {day.year}",
        f"{month.title()} {day.day}, {day.year}", f"{day.day} of {month} {day.year}",
    )  # fmt: skip


@given(PAST)
def test_every_way_to_write_a_day_names_that_day_for_options_and_questions(day: date) -> None:
    for text in spelled(day):
        assert named_days(text, NOW) == (day, day, 0, 0), text
        asked = days_in_question(
            f"what did we decide on {text.replace('jun ', 'june ').replace('jul ', 'july ')}?", NOW.date()
        )
        assert [(found.first, found.last) for found in asked] == [(day, day)], text


@given(st.dates(date(2025, 2, 6), NOW.date()))
def test_a_day_without_its_year_is_the_latest_that_was(day: date) -> None:
    for text in (
        f"{day.month}월 {day.day}일",
        f"{day.day} {MONTHS[day.month - 1]}",
        f"{MONTHS[day.month - 1][:3]} {day.day}",
    ):
        assert named_days(text, NOW) == (day, day, 0, 0), text


@given(st.integers(1, 999), st.sampled_from(sorted(UNITS)))
def test_so_long_ago_is_the_same_in_both_languages_and_never_after_now(number: int, unit: str) -> None:
    english, korean = f"{number} {unit}s ago", f"{number}{UNITS[unit]} 전"
    assert start_of(english, NOW) == start_of(korean, NOW)
    found = start_of(english, NOW)
    assert found is not None and found <= NOW
    named = named_days(english, NOW)
    assert named is not None and named.first == named.last == found.date()
    since = named_days(f"last {number} {unit}s", NOW)
    assert since is not None and (since.first, since.last) == (named.first, NOW.date())
    asked = days_in_question(f"what broke {english}?", NOW.date())
    assert len(asked) == 1 and asked[0].first is not None and asked[0].last is not None
    assert asked[0].first <= named.first <= asked[0].last <= NOW.date()


WORDS = st.lists(
    st.sampled_from(
        [
            "last",
            "past",
            "this",
            "next",
            "week",
            "month",
            "year",
            "day",
            "days",
            "ago",
            "3",
            "3일",
            "11월",
            "2026년",
            "전",
            "지난",
            "최근",
            "주",
            "월요일",
            "friday",
            "nov",
            "of",
            "2nd",
            "어제",
            "이틀",
            "한",
            "0",
            "99999",
            "간",
            "before",
            "yesterday",
            ",",
            ".",
            "-",
            "/",
        ]
    ),
    max_size=6,
)


@given(st.one_of(st.text(max_size=30), WORDS.map(" ".join), WORDS.map("".join)), st.datetimes(timezones=st.just(UTC)))
def test_any_text_names_days_in_order_or_none(text: str, now: datetime) -> None:
    named = named_days(text, now)
    assert named is None or (named.first is not None and named.last is not None and named.first <= named.last)
    days_in_question(text, now.date())


def test_hours_and_minutes_are_a_moment_where_one_is_asked_for() -> None:
    assert start_of("2 hours ago", NOW) == start_of("2시간 전", NOW) == NOW - timedelta(hours=2)
    assert start_of("20시간 전", NOW) == NOW - timedelta(hours=20)
    assert start_of("yesterday", NOW) == datetime(2026, 2, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did we do 2 hours ago", "2026-02-04", "2026-02-05"),
        ("2시간 전에 뭘 정했지", "2026-02-04", "2026-02-05"),
        ("이틀 전에 정한 것", "2026-02-03", "2026-02-03"),
        ("지난 3일간 정한 것", "2026-02-02", "2026-02-05"),
        ("what changed in the last two weeks", "2026-01-22", "2026-02-05"),
        ("지지난주 회의", "2026-01-19", "2026-01-25"),
        ("what was said the day before yesterday", "2026-02-03", "2026-02-03"),
    ],
)
def test_a_question_names_the_same_times(question: str, first: str, last: str) -> None:
    assert [(found.first, found.last) for found in days_in_question(question, NOW.date())] == [
        (date.fromisoformat(first), date.fromisoformat(last))
    ]


@pytest.mark.parametrize(
    "question", ["회의 30분 전에 알림을 보내나", "배포 2시간 전에 누구에게 알리나", "3분기 전략", "만두 주 재료"]
)
def test_what_is_so_long_before_something_else_is_no_day(question: str) -> None:
    assert days_in_question(question, NOW.date()) == []


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
