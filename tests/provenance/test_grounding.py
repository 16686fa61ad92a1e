"""What a text claims that the lines it cites do not bear out: numbers and dates."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.provenance.grounding import date_problem, name_problem, number_problem, reason_problem, support_problem

FIFTH = date(2026, 2, 5)
LAST = date(2026, 2, 26)


@pytest.mark.parametrize(
    ("text", "cited", "day"),
    [
        ("The PoC uses webhooks in phase 2", "The PoC uses webhooks in this phase", FIFTH),
        ("The PoC has 5 webhooks", "The PoC has webhooks", FIFTH),
        ("The PoC runs release 02", "The PoC runs a release", FIFTH),
        ("The PoC has 26 webhooks", "The PoC has webhooks", LAST),
        ("The PoC serves 2026 webhooks", "The PoC serves webhooks", FIFTH),
        ("The PoC retries on the 5th webhook", "The PoC retries a webhook", FIFTH),
        ("PoC 2단계는 웹훅을 쓴다", "PoC 이번 단계는 웹훅을 쓴다", FIFTH),
        ("PoC는 웹훅 5개를 쓴다", "PoC는 웹훅을 쓴다", FIFTH),
        ("PoC는 02 버전 웹훅을 쓴다", "PoC는 웹훅을 쓴다", FIFTH),
        ("PoC는 웹훅 26개를 쓴다", "PoC는 웹훅을 쓴다", LAST),
        ("PoC는 5일 동안 웹훅을 쓴다", "PoC는 웹훅을 쓴다", FIFTH),
        ("The PoC has 6 webhooks", "The PoC has webhooks from tomorrow on", FIFTH),
        ("The PoC has 3 webhooks", "The PoC has webhooks from March 14 on", FIFTH),
    ],
)
def test_a_digit_of_the_days_own_date_is_no_number_of_the_lines(text: str, cited: str, day: date) -> None:
    assert "is not in the lines it cites" in number_problem(text, cited, [day])
    assert support_problem(text, [cited], [day]) == "a number in it is not in the lines it cites"


@pytest.mark.parametrize(
    "when",
    [
        "2026-02-05", "2026/02/05", "2026.2.5", "2/5", "February 5", "Feb 5, 2026", "5 February 2026", "5th of February",
        "Feb 5", "5 Feb", "Feb. 5", "2월 5일", "2026년 2월 5일", "February 2026", "2026년 2월", "2월", "2026년", "in 2026",
    ],
)  # fmt: skip
def test_the_logs_own_date_counts_where_the_fact_spells_a_date(when: str) -> None:
    text, cited = f"The PoC uses webhooks ({when})", "The PoC uses webhooks"
    assert [judge(text, cited, [FIFTH]) for judge in (number_problem, date_problem, name_problem)] == ["", "", ""]


@pytest.mark.parametrize("text", [
    "The tests fail since 2/5", "The tests fail on 2/5 because of the proxy", "The tests fail from 2/5, says the bot",
    "The tests fail (2/5)", "The tests fail Thursday 2/5", "2/5부터 테스트가 실패한다", "テストは 2/5 から失敗する",
    "The tests fail in 2026", "In 2026, the tests fail", "In 2026 the tests fail", "The tests fail since 2026 because of it",
])  # fmt: skip
def test_a_date_of_the_logs_day_passes_as_a_date(text: str) -> None:
    assert number_problem(text, "The tests fail because of the proxy, says the bot", [FIFTH]) == ""


@pytest.mark.parametrize("text", [
    "2/5 of the tests fail", "The tests fail on 2/5 machines", "The tests fail on 2/5 of the machines",
    "The tests score 2/5", "2/5 tests fail", "Step 2/5 of the tests fails", "테스트 2/5가 실패한다", "テストの2/5が失敗する",
    "The tests fail in 2026 places", "The tests fail in 2026 other places", "The tests fail since 2026 commits",
])  # fmt: skip
def test_a_share_or_a_count_that_looks_like_the_logs_day_is_refused(text: str) -> None:
    assert "is not in the lines it cites" in number_problem(text, "The tests fail", [FIFTH])


def test_a_share_in_the_lines_is_a_share_in_the_fact() -> None:
    text, cited = "2/5 of the tests fail", "2 of 5 tests fail"
    assert [judge(text, cited, [LAST]) for judge in (number_problem, date_problem, name_problem)] == ["", "", ""]


def test_a_month_is_a_name_where_no_day_of_it_is_known() -> None:
    assert "Feb" in name_problem("The tests of Feb 5", "The tests", [date(2026, 3, 1)])


@pytest.mark.parametrize(
    ("when", "cited"),
    [
        ("2026-02-06", "tomorrow"), ("2월 6일", "내일"), ("February 13", "next Friday"), ("2026-03-14", "March 14"),
        ("3/14", "3월 14일"), ("February 4", "yesterday"), ("2026-02-13", "다음 주 금요일"),
    ],
)  # fmt: skip
def test_a_date_the_lines_name_counts_resolved_against_the_log(when: str, cited: str) -> None:
    assert number_problem(f"The PoC ends {when}", f"The PoC ends {cited}", [FIFTH]) == ""


@pytest.mark.parametrize("when", ["2026-02-07", "2월 7일", "February 7", "March 2026", "3월", "in 2025", "2025년 2월"])
def test_another_date_is_refused(when: str) -> None:
    text, cited = f"The PoC uses webhooks ({when})", "The PoC uses webhooks"
    assert number_problem(text, cited, [FIFTH])


def test_a_date_needs_no_day_of_a_log_where_the_lines_hold_its_parts() -> None:
    assert number_problem("The PoC ends 2026-02-05", "The PoC ends 2026년 2월 5일", []) == ""
    assert number_problem("The PoC ends 2026-02-06", "The PoC ends 2026년 2월 5일", [])


@pytest.mark.parametrize(
    ("fact", "cited"),
    [
        ("The widget was dropped", "We dropped the widget. The reason is that nobody opens it"),
        ("ウィジェットは廃止する", "ウィジェットは廃止する。理由は誰も開かないからだ"),
        ("移动端小组件下线", "移动端小组件下线，原因是没有人打开"),
    ],
)
def test_a_decision_that_leaves_out_the_reason_of_its_lines_is_found(fact: str, cited: str) -> None:
    assert reason_problem(fact, cited) == "the log gives a reason and the fact leaves it out"
    assert reason_problem(cited, cited) == ""


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("The timeout is 1.5 minutes", "set the timeout to 90 seconds"),
        ("예산은 30,000원이다", "예산은 3만 원"),
        ("Keeps logs for 14 days", "logs: two weeks"),
    ],
)
def test_a_quantity_follows_from_lines_that_give_it_in_another_unit(text: str, cited: str) -> None:
    assert number_problem(text, cited, []) == ""


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("The timeout is 90 minutes", "set the timeout to 60 seconds"),
        ("예산은 3,000원이다", "예산은 3만 원"),
        ("Keeps logs for 2 days", "logs: 48"),
    ],
)
def test_a_quantity_does_not_follow_from_another_one(text: str, cited: str) -> None:
    assert number_problem(text, cited, [])
