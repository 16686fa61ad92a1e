"""The retention of facts by type: give a new fact its last day, and find the facts that end soon.

`mem.retention` and `[retention]` of .gitmem.toml set a number of days for a type (`note=180d`). A new fact that names
its own last day keeps it, a pinned fact gets none, and existing facts are never changed. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from gitmem.config.retention import lives
from gitmem.memory.fact import Fact, Meta, is_true
from gitmem.memory.state import iso_day

SOON_DAYS = 30  # a fact ends soon if its last day is at most this many days ahead
SAID_DAYS = 90  # days after its end for which the start of a session still names an exception


def with_until(meta: Meta, retention: tuple[str, ...], today: date) -> Meta:
    """The comment of a new fact, with `until` added if its type has a retention. A comment with `until` or
    `pinned=true` is returned as it is.

    `retention`: entries `TYPE=DAYSd`, as in `Config.retention`. `today`: the day from which the days count. A fact
    without a type has the type `fact`.
    """
    keys: Mapping[str, str] = dict(meta)
    if "until" in keys or is_true(keys.get("pinned", "")):
        return meta
    days = lives(retention).get(keys.get("type") or "fact")
    if days is None:
        return meta
    return (*meta, ("until", (today + timedelta(days=days)).isoformat()))


def last_day(fact: Fact) -> date | None:
    """The last day on which a fact holds; None if its `until` is missing or does not begin with an ISO date."""
    return iso_day(fact.get("until"))


def ending_soon(facts: Iterable[Fact], today: date) -> list[tuple[date, Fact]]:
    """(last day, fact) of the facts whose last day is today or in the next SOON_DAYS days, the nearest first."""
    soon = _ending(facts, today, today + timedelta(days=SOON_DAYS))
    return sorted(soon, key=lambda row: (row[0], row[1].line))


def ended_exceptions(facts: Iterable[Fact], today: date) -> list[tuple[date, Fact]]:
    """(last day, fact) of the facts of type `exception` that ended in the last SAID_DAYS days, the latest first.

    Callers name them, because an agent may still rely on what such an exception allowed.
    """
    exceptions = [fact for fact in facts if fact.get("type") == "exception"]
    ended = _ending(exceptions, today - timedelta(days=SAID_DAYS), today - timedelta(days=1))
    return sorted(ended, key=lambda row: (row[0], -row[1].line), reverse=True)


def _ending(facts: Iterable[Fact], first: date, last: date) -> list[tuple[date, Fact]]:
    """(last day, fact) of the facts whose last day is `first`, `last` or between them."""
    rows = []
    for fact in facts:
        day = last_day(fact)
        if day is not None and first <= day <= last:
            rows.append((day, fact))
    return rows
