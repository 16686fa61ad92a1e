"""How long facts of a type last: the last day that a fact is given when it is written, and which facts end soon.

`mem.retention` and `[retention]` of .gitmem.toml name lives by type (`note=180d`). A fact that names its own last day
keeps it, a pinned fact gets none, and a fact that is there already is never changed. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from gitmem.config import lives
from gitmem.memory.fact import Fact, Meta

SOON_DAYS = 30  # days ahead that `doctor`, the page Today and a reader look
SAID_DAYS = 90  # days after its end that an exception is named at the start of a session


def with_until(meta: Meta, retention: tuple[str, ...], today: date) -> Meta:
    """The keys of a new fact with its last day, where its type has a life and it names none and is not pinned.

    `retention`: entries `TYPE=DAYSd`, as in `Config.retention`; a fact without a type is of type `fact`.
    """
    keys: Mapping[str, str] = dict(meta)
    if "until" in keys or keys.get("pinned") == "true":
        return meta
    days = lives(retention).get(keys.get("type") or "fact")
    if days is None:
        return meta
    return (*meta, ("until", (today + timedelta(days=days)).isoformat()))


def last_day(fact: Fact) -> date | None:
    """The last day on which a fact holds, None where it names none or no day."""
    try:
        return date.fromisoformat(fact.get("until"))
    except ValueError:
        return None


def ending_soon(facts: Iterable[Fact], today: date) -> list[tuple[date, Fact]]:
    """(last day, fact) of the facts that end within SOON_DAYS and have not ended, the nearest end first."""
    rows = [(day, fact) for fact in facts if (day := last_day(fact)) is not None]
    soon = [row for row in rows if today <= row[0] <= today + timedelta(days=SOON_DAYS)]
    return sorted(soon, key=lambda row: (row[0], row[1].line))


def ended_exceptions(facts: Iterable[Fact], today: date) -> list[tuple[date, Fact]]:
    """(last day, fact) of the exceptions that ended in the last SAID_DAYS, the latest end first: what they allowed is
    not allowed any more."""
    rows = [(day, fact) for fact in facts if fact.get("type") == "exception" and (day := last_day(fact)) is not None]
    over = [row for row in rows if today - timedelta(days=SAID_DAYS) <= row[0] < today]
    return sorted(over, key=lambda row: (row[0], -row[1].line), reverse=True)
