"""A time that is counted from the day on which it was said, in four languages."""

from __future__ import annotations

import pytest

from gitmem.text.relative_times import counts_from_its_day


@pytest.mark.parametrize(
    "text",
    [
        "We will migrate next month.",
        "From today backups are kept for 90 days.",
        "The contract ended last week.",
        "Dana joined three weeks ago.",
        "Dana starts next Monday.",
        "다음 달에 이전한다.",
        "오늘부터 백업은 90일 보관한다.",
        "지난주에 계약이 끝났다.",
        "来月に移行する。",
        "今日からバックアップは90日間保存する。",
        "下个月迁移。",
        "从今天起备份保留90天。",
    ],
)
def test_a_text_that_counts_from_its_day(text: str) -> None:
    assert counts_from_its_day(text)


@pytest.mark.parametrize(
    "text",
    [
        "We will migrate on 2026-12-01.",
        "We deploy on Fridays.",
        "Backups are kept for 90 days.",
        "The next step is a review.",
        "배포는 화요일에 한다.",
        "백업은 90일 보관한다.",
        "毎週金曜日にデプロイする。",
        "备份保留90天。",
    ],
)
def test_a_text_that_means_the_same_on_every_day(text: str) -> None:
    assert not counts_from_its_day(text)
