"""The last seven days of a memory in numbers, and what sessions asked and were given in them: parts of the page Today.

Facts are counted by the day on which their text first came to long-term memory (`provenance/writers`), of those that
are there still; what sessions were given, by the receipts of this machine. Reads only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gitmem.memory import timeline
from gitmem.provenance.writers import Writer
from gitmem.sessions import receipts
from gitmem.sessions.episode import episodes
from gitmem.sessions.receipts import SEARCH, Receipt
from gitmem.ui.view import View

DAYS = 7
SESSIONS = 5  # that are shown
HIGH = 24  # units that the bar of the day with the most facts is high


@dataclass(frozen=True, slots=True)
class Day:
    """One day: facts written, files of logs and episodes, tokens given, and how high its bar is."""

    day: date
    facts: int
    files: int
    tokens: int
    height: float


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days up to the snapshot's. `before`: facts of the seven days before them; `sessions`, `asked` and `tokens`:
    sessions with a receipt, contexts and searches, tokens in all."""

    days: tuple[Day, ...]
    facts: int
    before: int
    logged: int
    sessions: int
    asked: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A session by its receipts: `title` is the first line of its episode, "" while it has none; `facts`: how many of
    the facts that are there it was given."""

    name: str
    title: str
    last: datetime
    contexts: int
    searches: int
    tokens: int
    facts: int


def last_week(view: View, known: Mapping[str, Writer], given: Sequence[Receipt]) -> Week:
    """The week that ends on the day of the snapshot."""
    last = view.today
    first = last - timedelta(days=DAYS - 1)
    own = (known[ident] for ident in view.facts.by_id if ident in known)
    written = Counter(one.commit.author_date.astimezone().date() for one in own)
    files = timeline.days_of(view.repo, view.snapshot.commit, view.config.memory_daily)
    within = [receipt for receipt in given if first <= receipt.at.date() <= last]
    tokens: Counter[date] = Counter()
    for receipt in within:
        tokens[receipt.at.date()] += receipt.total
    days = [first + timedelta(days=at) for at in range(DAYS)]
    most = max((written[day] for day in days), default=0)
    return Week(
        tuple(
            Day(day, written[day], files.get(day, 0), tokens[day], round(HIGH * written[day] / most, 1) if most else 0)
            for day in days
        ),
        sum(written[day] for day in days), sum(written[day - timedelta(days=DAYS)] for day in days),
        sum(bool(files.get(day)) for day in days), len({receipt.session for receipt in within}), len(within),
        tokens.total(),
    )  # fmt: skip


def receipts_here(view: View) -> Sequence[Receipt]:
    """The receipts of this machine; none of a page of the past and of an export."""
    if view.static or view.snapshot.past:
        return []
    return receipts.read(view.repo.common_dir)


def asked(view: View, given: Iterable[Receipt]) -> tuple[Sequence[Asked], int]:
    """(the sessions that asked last, the latest first, how many there are in all)."""
    own = receipts.by_session(given)
    latest = sorted(own, key=lambda name: -max(receipt.at for receipt in own[name]).timestamp())[:SESSIONS]
    root = view.repo.root
    if root is not None and latest:
        titles = {each.session: each.title for each in episodes(root)}
    else:
        titles = {}
    rows = []
    for name in latest:
        searches = sum(receipt.kind == SEARCH for receipt in own[name])
        parts = {part for receipt in own[name] for part in receipt.parts}
        rows.append(
            Asked(
                name, titles.get(name, ""), max(receipt.at for receipt in own[name]), len(own[name]) - searches,
                searches, sum(receipt.total for receipt in own[name]), sum(part in view.facts.by_id for part in parts),
            )
        )  # fmt: skip
    return rows, len(own)
