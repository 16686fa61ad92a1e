"""Days named in text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.dates import find

WRITTEN = date(2026, 2, 5)  # a Thursday


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("due 2026-03-14", ["2026-03-14"]),
        ("2026년 3월 14일까지", ["2026-03-14"]),
        ("마감 2/27(금) 18시", ["2026-02-27"]),
        ("by March 14 or 3rd of April 2027", ["2026-03-14", "2027-04-03"]),
        ("tomorrow and yesterday", ["2026-02-06", "2026-02-04"]),
        ("by Friday", ["2026-02-06"]),
        ("next Monday", ["2026-02-09"]),
        ("다음 주 금요일까지", ["2026-02-13"]),
        ("금요일까지", ["2026-02-06"]),
        ("1월 3일", ["2027-01-03"]),
        ("version 3.11.2, ratio 3/4%, path a/1/2, 30/45", []),
        ("no date here", []),
        ("Feb 31", []),
    ],
)
def test_days_are_read_and_relative_ones_resolved(text: str, days: list[str]) -> None:
    assert [mention.day.isoformat() for mention in find(text, WRITTEN)] == days


def test_a_day_of_the_past_is_the_nearest_when_not_asked_for_the_future() -> None:
    assert find("1월 3일", WRITTEN, future=False)[0].day == date(2026, 1, 3)


@given(st.text(alphabet="0123456789/-.월일년 marchfi요금토", max_size=40), st.dates(date(2, 1, 10), date(9998, 1, 1)))
def test_any_text_is_read_without_an_error(text: str, written: date) -> None:
    for mention in find(text, written):
        assert 0 <= mention.start < mention.end <= len(text)
