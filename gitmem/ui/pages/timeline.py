"""The page Timeline: one day with the sections of its logs, the episodes of its sessions, and the changes of facts."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from starlette.responses import Response

from gitmem.errors import UsageError
from gitmem.memory import timeline
from gitmem.memory.document import parse_lines_only
from gitmem.memory.snapshot import layout_at
from gitmem.messages import Message
from gitmem.provenance.writers import Writer, writers
from gitmem.review.commit_diff import fact_changes, range_revisions, without_forgotten
from gitmem.review.fact_diff import Op, is_archiving
from gitmem.ui.pages.compare import Row, rows_of, without_logs
from gitmem.ui.rendering import first_that_fit
from gitmem.ui.view import View

MAX_ROWS = 200  # sections, and episodes, on one page
MAX_FACTS = 10  # listed facts that cite the day
MAX_SECTION_BYTES = 20_000  # of all sections on one page; a longer day has several pages
MAX_EPISODE_BYTES = 6_000  # of all episodes on one page


@dataclass(frozen=True, slots=True)
class Entry:
    """A section of a log, or an episode. `time`: the time of day as the log writes it. `text`: its Markdown. `line`:
    its first line (1-based). `agent`: who wrote it, "" if that is not known."""

    path: str
    time: str
    heading: str
    text: str
    line: int
    agent: str = ""


@dataclass(frozen=True, slots=True)
class DayChanges:
    """The facts that differ between the last commit before a day and the last commit of that day (of first parents);
    facts in logs and episodes are left out. All fields are empty without a commit on that day.

    `rows`: the first of the changes; `count`: the number of all. `base`, `head`: the last commit before the day ("" for
    none) and the last one of it. `earlier`: the writer, by fact id, of each added fact whose first commit is part of
    the history of `base`, as of a promoted one; a fact from a branch merged on that day is not in it.
    """

    rows: Sequence[Row] = ()
    count: int = 0
    base: str = ""
    head: str = ""
    earlier: Mapping[str, Writer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Month:
    """The calendar of one month. `days`: (day, number of its files) of each day. `before`, `after`: the last day with a
    log before the month and the first one after it, None if there is none."""

    first: date
    days: tuple[tuple[date, int], ...]
    before: date | None
    after: date | None


def page(view: View) -> Response:
    """The page of the `day` that the query names, else of the newest day up to today with a log or session episode
    (else the newest of all, else today). Raises UsageError for an invalid day."""
    days = timeline.days_of(view.repo, view.snapshot.commit, view.config.memory_daily)
    day = _day(view, days)
    daily = view.config.memory_daily
    logged_days = timeline.timeline(
        view.repo, since=day, until=day, rev=view.snapshot.commit, daily=daily, forgotten=view.forgotten
    )
    entries = [
        Entry(log.path, section.time, section.topic, "\n".join(section.lines), section.start_line, log.agent)
        for found_day in logged_days
        for log in found_day.logs
        for section in log.sections
    ]
    entries.sort(key=lambda entry: _minutes(entry.time))
    episodes = [
        Entry(path, "", _session(path, data), _body(data), 1)
        for path, data in timeline.episodes_of(view.repo, day, view.snapshot.commit)
    ]
    citing = {(path, fact.id) for found_day in logged_days for path, fact in found_day.facts}
    facts = [row for row in view.facts.rows if (row.path, row.fact.id) in citing]
    key = (view.snapshot.commit or view.repo.head(), day, view.config)
    changes = view.site.cache.get("committed", key, lambda: _changes_of_day(view, day))
    start = view.number("from") - 1 if 0 < view.number("from") <= len(entries) else 0
    shown = first_that_fit(entries[start : start + MAX_ROWS], lambda entry: entry.text, MAX_SECTION_BYTES)
    return view.render(
        "timeline.html", day=day, month=_month(day, days), entries=shown, first=start, total=len(entries),
        episodes=first_that_fit(episodes[:MAX_ROWS], lambda entry: entry.text, MAX_EPISODE_BYTES), ended=len(episodes),
        became=facts[:MAX_FACTS], came=len(facts), changes=changes, archives=is_archiving,
        former=max((other for other in days if other < day), default=None),
        later=min((other for other in days if other > day), default=None),
    )  # fmt: skip


def _day(view: View, days: Mapping[date, int]) -> date:
    """The day that the query names, else the newest of `days` up to today, else the newest of all, else today. Raises
    UsageError for an invalid day."""
    text = view.fields.get("day", "").strip()
    if not text:
        return max((day for day in days if day <= view.today), default=max(days, default=view.today))
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(Message("'{}' is no day", text[:40]), "YYYY-MM-DD") from None


def _minutes(time: str) -> int:
    """The minute of the day of a time such as `9:30 PM`, for sorting; -1 for a text without a time."""
    hour, _, minutes = time.partition(":")
    if not hour.isdecimal() or not minutes[:2].isdecimal():
        return -1
    half = minutes[2:].replace(".", "").strip().lower()
    hours = int(hour)
    if half:
        hours %= 12
    if half == "pm":
        hours += 12
    return hours * 60 + int(minutes[:2])


def _body(data: bytes) -> str:
    """The Markdown of an episode without its front matter and title."""
    document = parse_lines_only(data)
    lines = [line for line in document.lines[document.front :] if not line.startswith("# ")]
    return "\n".join(lines).strip()


def _session(path: str, data: bytes) -> str:
    """The name of an episode's session, by its front matter, else the name of its file."""
    return str(parse_lines_only(data).front_matter.get("session") or path.rpartition("/")[2])


def _month(day: date, days: Mapping[date, int]) -> Month:
    """The month of a day. `days`: day -> number of its files, for all days with any."""
    first = day.replace(day=1)
    last = first.replace(day=calendar.monthrange(day.year, day.month)[1])
    days_of_month = [first + timedelta(days=number) for number in range(last.day)]
    earlier = max((other for other in days if other < first), default=None)
    later = min((other for other in days if other > last), default=None)
    return Month(first, tuple((month_day, days.get(month_day, 0)) for month_day in days_of_month), earlier, later)


def _changes_of_day(view: View, day: date) -> DayChanges:
    """The changes of facts by the commits of one day (on the first-parent history), compared with the last commit
    before it; `DayChanges()` without a commit on that day."""
    tip = view.snapshot.commit or view.repo.head()
    if not tip:
        return DayChanges()
    base = head = ""
    for commit in view.repo.log([tip], first_parent=True):
        commit_day = commit.commit_date.date()
        if not head and commit_day <= day:
            head = commit.oid
        if commit_day < day:
            base = commit.oid
            break
    if not head or head == base:
        return DayChanges()
    changes = fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), day)
    lasting, _ = without_logs(without_forgotten(changes, view.forgotten), view.config.memory_daily)
    rows = rows_of(view, lasting)
    added = [row.change.fact for row in rows if row.change.op in (Op.ADDED, Op.PROMOTED)]
    earlier = dict(writers(view.repo, head, added))
    if earlier:
        within = {commit.oid for commit in view.repo.log(range_revisions(base, head))}
        earlier = {ident: writer for ident, writer in earlier.items() if writer.commit.oid not in within}
    return DayChanges(rows, len(lasting), base, head, earlier)
