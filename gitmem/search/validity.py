"""Computes the period in which a fact was valid: from its key `from` to its key `until`, or to the day on which another
fact superseded it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from gitmem.memory.state import iso_day
from gitmem.text.day_spans import Days


class Period(NamedTuple):
    """The days on which a fact was valid. `start`, `end`: the first and the last of them, None for an open end."""

    start: date | None = None
    end: date | None = None


def last_day(moment: str) -> str:
    """The last ISO day on which a fact is not stale; "" if `moment` is not an ISO date or time.

    `moment`: the time from which the fact is stale. For midnight the result is the day before, else the day itself.
    """
    try:
        stale = datetime.fromisoformat(moment.strip().replace("Z", "+00:00"))
        at_midnight = not (stale.hour or stale.minute or stale.second)
        return (stale.date() - timedelta(days=at_midnight)).isoformat()
    except (ValueError, OverflowError):
        return ""


def period_of(meta: Mapping[str, Sequence[str]], ended: date | None = None) -> Period:
    """The period of a fact. `meta`: metadata key of its line -> values. `ended`: the day on which another fact
    superseded it, None if none did."""
    start, end = (iso_day(next(iter(meta.get(key, ())), "")) for key in ("from", "until"))
    return Period(start, min((day for day in (end, ended) if day), default=None))


def past_periods(days: Iterable[Days], today: date) -> tuple[Days, ...]:
    """The periods of `days` that have a first and a last day and ended before today."""
    return tuple(named for named in days if named.first and named.last and named.last < today)


def was_valid_during(period: Period, when: date | None, days: Iterable[Days]) -> bool:
    """Whether a fact was valid during one of `days`; False if there are none.

    `period`: of the fact. If it has a first or a last day, it must overlap the days asked about. If it has neither, or
    if a month (or a day of a month) of any year is asked about, only single days are compared: the period's first or
    last day, or `when`, must be one of those asked about. `when`: the day of the fact's log, None if unknown.
    """
    for named in days:
        if named.first and named.last and (period.start or period.end):
            if (not period.start or period.start <= named.last) and (not period.end or period.end >= named.first):
                return True
        elif any(named.match(day) >= 1.0 for day in (period.start, period.end, when) if day):
            return True
    return False
