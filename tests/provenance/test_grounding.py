"""What a text claims that the lines it cites do not bear out: numbers and dates."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.provenance.grounding import uncounted, undated, unsupported

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
    assert "is not in the lines it cites" in uncounted(text, cited, [day])
    assert unsupported(text, [cited], [day]) == "a number in it is not in the lines it cites"


@pytest.mark.parametrize(
    "when",
    [
        "2026-02-05", "2026/02/05", "2026.2.5", "2/5", "February 5", "Feb 5, 2026", "5 February 2026", "5th of February",
        "2월 5일", "2026년 2월 5일", "February 2026", "2026년 2월", "2월", "2026년", "in 2026",
    ],
)  # fmt: skip
def test_the_logs_own_date_counts_where_the_fact_spells_a_date(when: str) -> None:
    text, cited = f"The PoC uses webhooks ({when})", "The PoC uses webhooks"
    assert (uncounted(text, cited, [FIFTH]), undated(text, cited, [FIFTH])) == ("", "")


@pytest.mark.parametrize(
    ("when", "cited"),
    [
        ("2026-02-06", "tomorrow"), ("2월 6일", "내일"), ("February 13", "next Friday"), ("2026-03-14", "March 14"),
        ("3/14", "3월 14일"), ("February 4", "yesterday"), ("2026-02-13", "다음 주 금요일"),
    ],
)  # fmt: skip
def test_a_date_the_lines_name_counts_resolved_against_the_log(when: str, cited: str) -> None:
    assert uncounted(f"The PoC ends {when}", f"The PoC ends {cited}", [FIFTH]) == ""


@pytest.mark.parametrize("when", ["2026-02-07", "2월 7일", "February 7", "March 2026", "3월", "in 2025", "2025년 2월"])
def test_another_date_is_refused(when: str) -> None:
    text, cited = f"The PoC uses webhooks ({when})", "The PoC uses webhooks"
    assert uncounted(text, cited, [FIFTH])


def test_a_date_needs_no_day_of_a_log_where_the_lines_hold_its_parts() -> None:
    assert uncounted("The PoC ends 2026-02-05", "The PoC ends 2026년 2월 5일", []) == ""
    assert uncounted("The PoC ends 2026-02-06", "The PoC ends 2026년 2월 5일", [])
