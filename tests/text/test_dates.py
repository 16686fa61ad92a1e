"""Days named in text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.dates import find_days, find_periods

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
        ("2月14日までに", ["2026-02-14"]),
        ("2026年2月14日", ["2026-02-14"]),
        ("截止2月14号", ["2026-02-14"]),
        ("昨日決めた", ["2026-02-04"]),
        ("昨天决定,明天上线", ["2026-02-04", "2026-02-06"]),
        ("一昨日と明後日", ["2026-02-03", "2026-02-07"]),
        ("前天和后天", ["2026-02-03", "2026-02-07"]),
        ("그저께 정하고 모레 배포", ["2026-02-03", "2026-02-07"]),
        ("the day after tomorrow, not the day before yesterday", ["2026-02-07", "2026-02-03"]),
        ("先週の火曜に決めた", ["2026-01-27"]),
        ("上周二决定的", ["2026-01-27"]),
        ("上星期二决定的", ["2026-01-27"]),
        ("지난주 화요일에 정했다", ["2026-01-27"]),
        ("来週の金曜日まで", ["2026-02-13"]),
        ("下周五之前", ["2026-02-13"]),
        ("金曜まで", ["2026-02-06"]),
        ("今週の金曜まで", ["2026-02-06"]),
        ("周五之前", ["2026-02-06"]),
        ("这周五之前", ["2026-02-06"]),
        ("다음 주 목까지", ["2026-02-12"]),
        ("다음 주 목표와 다음 주 일정", []),
        ("그제서야 알았다. 一周三次,每星期两次,后天性,大前天", []),
        ("decided last Tuesday", ["2026-02-03"]),
        ("decided last Thursday and last Friday", ["2026-01-29", "2026-01-30"]),
        ("agreed this past Monday", ["2026-02-02"]),
        ("Tuesday of last week, last week's Friday, last week on Monday", ["2026-01-27", "2026-01-30", "2026-01-26"]),
        ("지난 화요일에 정했다", ["2026-02-03"]),
        ("前の火曜日に決めた", ["2026-02-03"]),
        ("上个星期二决定的", ["2026-01-27"]),
        ("이번 주 금요일까지", ["2026-02-06"]),
        ("the last Tuesdays, on Mondays", []),
        ("no date here", []),
        ("Feb 31", []),
    ],
)
def test_days_are_read_and_relative_ones_resolved(text: str, days: list[str]) -> None:
    assert [mention.day.isoformat() for mention in find_days(text, WRITTEN)] == days


@pytest.mark.parametrize(
    "text", ["공개는2/5에 한다", "リリースは2/5に行う", "締め切りは2/5まで", "上线日期2/5", "公開 2/5", "ゲーム2/5"]
)
def test_a_day_with_a_stroke_is_found_behind_a_letter_of_a_script_without_spaces(text: str) -> None:
    assert [mention.day.isoformat() for mention in find_days(text, date(2026, 1, 20))] == ["2026-02-05"]


@pytest.mark.parametrize(
    "text", ["v2/5", "a2/5", "参加者の2/5が来た", "전체의2/5", "約2/5", "第2/5号", "1.2/5", "src/2/5"]
)
def test_a_share_or_a_part_of_a_name_is_no_day(text: str) -> None:
    assert find_days(text, date(2026, 1, 20)) == []


def test_a_day_of_the_past_is_the_nearest_when_not_asked_for_the_future() -> None:
    assert find_days("1월 3일", WRITTEN, future=False)[0].day == date(2026, 1, 3)


def test_months_and_years_are_read_without_a_day() -> None:
    named = [(p.year, p.month) for p in find_periods("March 2026, 3월, 2026年4月 and since 2024")]
    assert named == [(2026, 3), (0, 3), (2026, 4), (2026, 0), (2024, 0)]


@given(
    st.text(alphabet="0123456789/-.월일년 marchfi요금토月日年曜先週上下周五昨天", max_size=40),
    st.dates(date(2, 1, 10), date(9998, 1, 1)),
)
def test_any_text_is_read_without_an_error(text: str, written: date) -> None:
    for mention in find_days(text, written):
        assert 0 <= mention.start < mention.end <= len(text)


@pytest.mark.parametrize("written", [date.min, date.max])
@pytest.mark.parametrize("text", ["send it tomorrow", "send it next monday", "어제 보냈다", "last Tuesday"])
def test_the_end_of_the_calendar_names_no_day_beyond_it(written: date, text: str) -> None:
    assert list(find_days(text, written)) == []
