"""When a session is over: at four in the morning where the person is, or after a while, whatever the clocks do."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gitmem.sessions.resets import Reset, reason_to_end

NEW_YORK = ZoneInfo("America/New_York")


def at(text: str, zone: ZoneInfo = NEW_YORK) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def why(policy: str, seen: datetime, now: datetime, hour: int = 4, minutes: int = 60, zone: ZoneInfo = NEW_YORK) -> str:
    return reason_to_end(
        Reset(policy), seen, now, hour=hour, minutes=minutes, local=lambda naive: naive.replace(tzinfo=zone)
    )


def test_a_day_begins_at_its_hour_and_not_at_midnight() -> None:
    seen = at("2026-02-05T23:00")
    assert not why("daily", seen, at("2026-02-06T03:59")) and why("daily", seen, at("2026-02-06T04:00"))
    assert not why("daily", at("2026-02-06T04:00"), at("2026-02-06T23:59"))
    assert why("daily", at("2026-02-06T03:59"), at("2026-02-06T04:01")) == "a new day began at 04:00"
    assert why("daily", seen, at("2026-02-06T00:30"), hour=0) and why("daily", at("2026-01-01T12:00"), seen)


def test_idle_counts_minutes_and_either_is_whichever_comes_first() -> None:
    seen = at("2026-02-05T12:00")
    assert not why("idle", seen, seen + timedelta(minutes=59)) and why("idle", seen, seen + timedelta(minutes=60))
    assert why("either", seen, seen + timedelta(minutes=61)) == "nothing happened for 60 minutes"
    assert "04:00" in why("either", at("2026-02-05T03:50"), at("2026-02-05T04:10"))
    assert not why("daily", seen, seen + timedelta(hours=9)) and not why("never", seen, seen + timedelta(days=9))


@pytest.mark.parametrize("day", ["2026-03-08", "2026-11-01"], ids=["an hour is missing", "an hour comes twice"])
def test_the_hour_is_the_one_on_the_wall_when_the_clocks_change(day: str) -> None:
    before = at(f"{day}T00:30")
    assert not why("daily", before, at(f"{day}T03:59")) and why("daily", before, at(f"{day}T04:00"))
    assert why("daily", before, at(f"{day}T12:00"), hour=2)
    assert not why("daily", at(f"{day}T04:00"), at(f"{day}T23:00"), hour=2)


def test_another_zone_has_another_day() -> None:
    seoul = ZoneInfo("Asia/Seoul")
    seen, now = at("2026-02-06T03:00", seoul), at("2026-02-06T05:00", seoul)
    assert why("daily", seen, now, zone=seoul)
    assert not why("daily", seen.astimezone(NEW_YORK), now.astimezone(NEW_YORK))


def test_a_clock_that_goes_back_ends_nothing() -> None:
    assert not why("either", at("2026-02-06T12:00"), at("2026-02-05T12:00"), minutes=1)
