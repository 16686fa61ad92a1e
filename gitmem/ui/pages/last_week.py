"""The last seven days of a memory in numbers, and the sessions that asked last: two parts of the page Today.

A present fact counts for the day on which its text first came to long-term memory (`provenance/writers`). What sessions
got is counted by the receipts of this machine. This module only reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gitmem.memory import timeline
from gitmem.provenance.writers import Writer
from gitmem.sessions import receipts
from gitmem.sessions.episode import list_episodes
from gitmem.sessions.receipts import SEARCH, Receipt
from gitmem.sessions.written_ids import stored_names
from gitmem.ui.view import View

DAYS = 7
MAX_SESSIONS = 5  # shown
MAX_BAR_HEIGHT = 24  # in SVG units, of the day with the most facts


@dataclass(frozen=True, slots=True)
class Day:
    """One day. `facts`: how many of the present facts were first written on it. `files`: how many logs and episodes it
    has. `tokens`: how many tokens the sessions on this machine were given, searches included. `height`: of the day's
    bar in SVG units, MAX_BAR_HEIGHT for the day with the most facts, 0 without facts."""

    day: date
    facts: int
    files: int
    tokens: int
    height: float


@dataclass(frozen=True, slots=True)
class Week:
    """The seven days up to the day of the snapshot. `facts`: how many were written; `before`: how many in the seven
    days before. `logged`: the number of days with a log or an episode. `sessions`: the number of sessions with a
    receipt. `asked`: the number of contexts and searches."""

    days: tuple[Day, ...]
    facts: int
    before: int
    logged: int
    sessions: int
    asked: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session by its receipts. `title`: the first line of its episode, "" for none. `facts`: how many present facts
    it got."""

    name: str
    title: str
    last: datetime
    contexts: int
    searches: int
    tokens: int
    facts: int


def last_week(view: View, writer_of: Mapping[str, Writer], given_receipts: Sequence[Receipt]) -> Week:
    """The numbers of the seven days that end on the day of the snapshot: new facts, log and episode files, and the
    parts that sessions were given.

    `writer_of`: fact id -> its writer, whose commit gives the day of the fact. `given_receipts`: the receipts.
    """
    last = view.today
    first = last - timedelta(days=DAYS - 1)
    present = (writer_of[ident] for ident in view.facts.by_id if ident in writer_of)
    written_on = Counter(writer.commit.author_date.astimezone().date() for writer in present)
    files = timeline.days_of(view.repo, view.snapshot.commit, view.config.memory_daily)
    within = [receipt for receipt in given_receipts if first <= receipt.at.date() <= last]
    tokens: Counter[date] = Counter()
    for receipt in within:
        tokens[receipt.at.date()] += receipt.total
    dates = [first + timedelta(days=number) for number in range(DAYS)]
    highest = max(1, *(written_on[day] for day in dates))
    days = tuple(
        Day(day, written_on[day], files.get(day, 0), tokens[day], round(MAX_BAR_HEIGHT * written_on[day] / highest, 1))
        for day in dates
    )
    return Week(
        days,
        facts=sum(day.facts for day in days),
        before=sum(written_on[day - timedelta(days=DAYS)] for day in dates),
        logged=sum(day.files > 0 for day in days),
        sessions=len({receipt.session for receipt in within}),
        asked=len(within),
        tokens=tokens.total(),
    )


def receipts_here(view: View) -> Sequence[Receipt]:
    """The receipts of this machine; none for an export and for a page of the past."""
    if view.static or view.snapshot.past:
        return []
    return receipts.read(view.repo.common_dir)


def latest_sessions(view: View, given_receipts: Iterable[Receipt]) -> tuple[Sequence[SessionSummary], int]:
    """(the MAX_SESSIONS sessions with the newest receipts, newest first; the number of all sessions)."""
    by_session = receipts.by_session(given_receipts)
    last_of = {name: max(receipt.at for receipt in rows) for name, rows in by_session.items()}
    latest = sorted(by_session, key=lambda name: -last_of[name].timestamp())[:MAX_SESSIONS]
    titles: dict[str, str] = {}
    if view.repo.root is not None and latest:
        titles = {episode.session: episode.title for episode in list_episodes(view.repo.root)}
    summaries = []
    for name in latest:
        rows = by_session[name]
        searches = sum(receipt.kind == SEARCH for receipt in rows)
        parts = {part for receipt in rows for part in receipt.parts}
        title = next((titles[stored] for stored in stored_names(name) if stored in titles), "")
        summaries.append(
            SessionSummary(
                name, title, last_of[name], len(rows) - searches, searches,
                sum(receipt.total for receipt in rows), sum(part in view.facts.by_id for part in parts),
            )
        )  # fmt: skip
    return summaries, len(by_session)
