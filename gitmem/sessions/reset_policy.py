"""When a session is over although nobody ended it: a new day began, or nothing happened for a while. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from enum import StrEnum


class Reset(StrEnum):
    """`mem.sessionReset`."""

    NEVER = "never"
    DAILY = "daily"
    IDLE = "idle"
    EITHER = "either"


def over(
    policy: Reset, seen: datetime, now: datetime, *, hour: int, minutes: int, local: Callable[[datetime], datetime]
) -> str:
    """Why a session that was last active at `seen` is over at `now`, "" while it is not.

    Daily: `hour` o'clock of the person's day passed since. Idle: `minutes` passed. `local` gives a time of day without
    a zone the zone it is meant in, with the offset of that day (daylight saving time changes it).
    """
    if seen >= now:
        return ""
    if policy in (Reset.DAILY, Reset.EITHER) and seen < boundary(now, hour, local):
        return f"a new day began at {hour:02}:00"
    if policy in (Reset.IDLE, Reset.EITHER) and now - seen >= timedelta(minutes=minutes):
        return f"nothing happened for {minutes} minutes"
    return ""


def boundary(now: datetime, hour: int, local: Callable[[datetime], datetime]) -> datetime:
    """The latest `hour` o'clock that is not after `now`."""
    today = datetime.combine(now.date(), time(hour))
    start = local(today)
    return start if start <= now else local(today - timedelta(days=1))
