"""When a fact held: from its `from` to its `until`, or to the day of the fact that supersedes it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from gitmem.light_typing import NamedTuple
from gitmem.text.dates import Days


class Held(NamedTuple):
    """The days on which a fact held; None where its line does not say."""

    start: date | None = None
    end: date | None = None


def day(text: str) -> date | None:
    """The day an ISO date or time begins with; None for another text."""
    try:
        if not text:
            return None
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def last_day(moment: str) -> str:
    """The last whole or begun day before the ISO moment from which something is stale, "" where it is none."""
    try:
        stale = datetime.fromisoformat(moment.strip().replace("Z", "+00:00"))
        at_midnight = not (stale.hour or stale.minute or stale.second)
        return (stale.date() - timedelta(days=at_midnight)).isoformat()
    except (ValueError, OverflowError):
        return ""


def held(meta: Mapping[str, Sequence[str]], ended: date | None = None) -> Held:
    """By the keys of a fact; `ended` is when another superseded it."""
    start, end = (day(next(iter(meta.get(key, ())), "")) for key in ("from", "until"))
    return Held(start, min((each for each in (end, ended) if each), default=None))


def over(days: Iterable[Days], today: date) -> tuple[Days, ...]:
    """The periods among the named days that ended before today."""
    return tuple(named for named in days if named.first and named.last and named.last < today)


def stood(fact: Held, when: date | None, days: Iterable[Days]) -> bool:
    """Whether a fact held on one of the named days; by `when`, the day of its log, where its line says nothing."""
    for named in days:
        if named.first and named.last and (fact.start or fact.end):
            if (not fact.start or fact.start <= named.last) and (not fact.end or fact.end >= named.first):
                return True
        elif any(named.match(each) >= 1.0 for each in (fact.start, fact.end, when) if each):
            return True
    return False
