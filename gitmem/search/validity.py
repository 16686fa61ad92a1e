"""The period in which a fact held: from its key `from` to its key `until`, or to the day of the fact that supersedes
it.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from gitmem.text.day_spans import Days


class Period(NamedTuple):
    """The first and the last day on which a fact held; None for an end that its line does not name."""

    start: date | None = None
    end: date | None = None


def day(text: str) -> date | None:
    """The day that an ISO date or time begins with; None for any other text."""
    try:
        if not text:
            return None
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def last_day(moment: str) -> str:
    """The last day on which something is not stale yet, as ISO text; "" where `moment` is no ISO date or time.

    `moment`: the time from which it is stale. At midnight that is the day before, else the day itself.
    """
    try:
        stale = datetime.fromisoformat(moment.strip().replace("Z", "+00:00"))
        at_midnight = not (stale.hour or stale.minute or stale.second)
        return (stale.date() - timedelta(days=at_midnight)).isoformat()
    except (ValueError, OverflowError):
        return ""


def period_of(meta: Mapping[str, Sequence[str]], ended: date | None = None) -> Period:
    """The period of a fact. `meta`: the keys of its line; `ended`: the day on which another fact superseded it."""
    start, end = (day(next(iter(meta.get(key, ())), "")) for key in ("from", "until"))
    return Period(start, min((each for each in (end, ended) if each), default=None))


def past_periods(days: Iterable[Days], today: date) -> tuple[Days, ...]:
    """Those of the named periods that ended before today."""
    return tuple(named for named in days if named.first and named.last and named.last < today)


def held_during(period: Period, when: date | None, days: Iterable[Days]) -> bool:
    """Whether a fact held on one of the named days.

    `period`: of the fact. `when`: the day of its log, which counts where the period names no day.
    """
    for named in days:
        if named.first and named.last and (period.start or period.end):
            if (not period.start or period.start <= named.last) and (not period.end or period.end >= named.first):
                return True
        elif any(named.match(each) >= 1.0 for each in (period.start, period.end, when) if each):
            return True
    return False
