"""Numbers with units: one value whatever the spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.numbers import numbers, quantities


def read(text: str) -> list[tuple[float, str] | tuple[float, str, float]]:
    return [
        (round(each.value, 6), each.unit) if each.high is None else (round(each.value, 6), each.unit, each.high)
        for each in quantities(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the timeout is 45 seconds", [(45, "s")]),
        ("타임아웃은 45초로 정했다", [(45, "s")]),
        ("タイムアウトは45秒です", [(45, "s")]),
        ("超时为45秒", [(45, "s")]),
        ("30 min, 1.5h and 250ms", [(1800, "s"), (5400, "s"), (0.25, "s")]),
        ("1시간 30분", [(3600, "s"), (1800, "s")]),
        ("keeps 12 % of 4 GB", [(12, "%"), (4e9, "byte")]),
        ("메모리 4기가, 점유율 12퍼센트", [(4e9, "byte"), (12, "%")]),
        ("1,200 rows", [(1200, "")]),
        ("3,5 kg Mehl", [(3500, "g")]),
        ("$1,200 or 30 EUR or €5", [(1200, "usd"), (30, "eur"), (5, "eur")]),
        ("예산은 3만 원, 상한 2억원", [(30000, "krw"), (2e8, "krw")]),
        ("予算は500万円、价格是2万元", [(5e6, "jpy"), (20000, "cny")]),
        ("10-20 s or 10~20%", [(10, "s", 20), (10, "%", 20)]),
        ("90 s to 2 min, 10초~5분", [(90, "s", 120), (10, "s", 300)]),
        ("10 to 20 million, 5k-10k", [(1e7, "", 2e7), (5000, "", 10000)]),
        ("5 min to 3 GB", [(300, "s")]),
        ("3 to 5 days, 10시간에서", [(259200, "s", 432000), (36000, "s")]),
        ("after three weeks or 2 years", [(1814400, "s"), (24, "month")]),
        ("사흘 뒤, 두 시간 안에", [(259200, "s"), (7200, "s")]),
        ("三天后，两小时", [(259200, "s"), (7200, "s")]),
        ("5k requests, 2 million users", [(5000, ""), (2e6, "")]),
        ("a 30-minute call", [(1800, "s")]),
        ("-5 kg", [(-5000, "g")]),
        ("7일 만에 복구, 10분 주기", [(604800, "s"), (600, "s")]),
        ("402 원인 규명, 1.3 초과 재고", [(402, ""), (1.3, "")]),
        ("세일즈 두 분이 한 달 동안", [(1, "month")]),
        ("30 분을 넘기면 안 된다", [(1800, "s")]),
        ("1s to 5s, 3만~5만 원", [(1, "s", 5), (30000, "krw", 50000)]),
    ],
)
def test_a_quantity_has_one_value_in_one_unit(text: str, expected: list[tuple[float, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "on 2026-02-05", "at 9:30", "v2.1.0 and 1.2.3", "ERR_1042", "see #12 and a.py:40", "port :8443", "10.0.0.1", "3/14",
        "2026년 2월 5일", "2026年2月5日", "2026 年世代", "8503061d", "utf8 sha256 x86_64", "file_2.md", "memory/2026.md",
    ],
)  # fmt: skip
def test_dates_clocks_versions_and_identifiers_are_no_quantities(text: str) -> None:
    assert read(text) == []


def test_numbers_are_compared_without_separators_and_leading_zeros() -> None:
    assert numbers("1,000 and 007 at 10:00") == {"1000", "007", "7", "10:00"}
    assert numbers("1,200 rows of 007 in 3.5") == {"1200", "007", "7", "3.5"}


@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from(
            [
                "12",
                "1,200",
                "3.5",
                "초",
                "min",
                "%",
                "$",
                "-",
                "~",
                "to",
                "만",
                "원",
                "사흘",
                "三",
                "天",
                ":",
                "/",
                "v",
                "x",
            ]
        )
    ).map(" ".join)
)
def test_any_text_has_quantities_in_order_within_it(text: str) -> None:
    found = quantities(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert [each.start for each in found] == sorted(each.start for each in found)
