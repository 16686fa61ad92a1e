"""When a fact held."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.memory.state import iso_day
from gitmem.search.validity import Period, last_day, past_periods, period_of, was_valid_during
from gitmem.text.day_spans import Days
from tests.harness import Repo

YEAR = Days(date(2024, 1, 1), date(2024, 12, 31))
MARCH = Days(month=3)


def test_a_fact_holds_from_its_from_to_its_until_or_to_what_superseded_it() -> None:
    meta = {"from": ["2024-05-01"], "until": ["2025-08-31T10:00"]}
    assert period_of(meta) == Period(date(2024, 5, 1), date(2025, 8, 31))
    assert period_of(meta, date(2025, 1, 1)).end == date(2025, 1, 1)
    assert period_of({"from": ["soon"]}) == Period()


def test_it_stood_on_a_day_of_a_period_that_it_overlaps() -> None:
    assert was_valid_during(Period(date(2023, 1, 1), date(2024, 1, 1)), None, [YEAR])
    assert was_valid_during(Period(date(2024, 12, 31)), None, [YEAR]) and was_valid_during(
        Period(None, date(2026, 1, 1)), None, [YEAR]
    )
    assert not was_valid_during(Period(date(2025, 1, 1)), None, [YEAR])
    assert not was_valid_during(Period(None, date(2023, 12, 31)), date(2024, 5, 1), [YEAR])


def test_without_days_of_its_own_the_day_of_its_log_counts() -> None:
    assert was_valid_during(Period(), date(2024, 5, 1), [YEAR]) and not was_valid_during(
        Period(), date(2025, 5, 1), [YEAR]
    )
    assert was_valid_during(Period(date(2020, 3, 7)), None, [MARCH]) and not was_valid_during(
        Period(), None, [YEAR, MARCH]
    )


def test_only_periods_that_have_ended_are_over() -> None:
    assert past_periods([YEAR, MARCH], date(2025, 1, 1)) == (YEAR,) and past_periods([YEAR], date(2024, 12, 31)) == ()


def test_a_day_that_is_none_is_none() -> None:
    assert iso_day("2025-02-30") is None and iso_day("") is None


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-12-31T00:00:00Z", "2026-12-30"), ("2026-12-31T14:00:00Z", "2026-12-31"), ("2026-12-31", "2026-12-30"),
        ("2026-03-01T00:00:00+09:00", "2026-02-28"), ("soon", ""), ("0001-01-01", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_last_day_of_what_becomes_stale(moment: str, day: str) -> None:
    assert last_day(moment) == day


def test_a_concept_of_the_open_knowledge_format_is_expired_when_it_is_stale(repo: Repo) -> None:
    front = "---\ntype: Note\nstale_after: {}T00:00:00Z\n---\n"
    repo.commit(
        "c",
        {
            "memory/a.md": front.format("2026-01-01") + "The mast is oak.\n",
            "memory/b.md": front.format("2099-01-01") + "The mast is pine.\n",
        },
    )
    found = repo.mem("search", "mast").stdout
    assert "pine" in found and "oak" not in found
    assert "oak" in repo.mem("search", "mast", "--expired").stdout
