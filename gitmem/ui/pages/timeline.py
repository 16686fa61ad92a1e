"""The page Timeline: one day from top to bottom - what was logged, what sessions left, what became of facts."""

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
from gitmem.review.commit_diff import fact_changes, without_forgotten
from gitmem.review.fact_diff import Op, archives
from gitmem.ui.pages.compare import Row, parted, rows_of
from gitmem.ui.rendering import fitting
from gitmem.ui.view import View

MAX_ROWS = 200  # sections and episodes of one page, each
FACTS = 10  # facts that came of a day
TEXT = 20_000  # bytes of the sections of one page: a longer day is read page by page
EPISODES = 6_000  # bytes of its episodes


@dataclass(frozen=True, slots=True)
class Entry:
    """A section of a log, or an episode: `heading` what it is about, `text` its Markdown, `agent` who wrote it."""

    path: str
    time: str
    heading: str
    text: str
    line: int
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Committed:
    """What the commits of a day did to facts that last: the first, how many in all, from which commit to which.
    `earlier`: who wrote, by fact id, those that came back or were copied that day and had been written before."""

    rows: Sequence[Row] = ()
    count: int = 0
    base: str = ""
    head: str = ""
    earlier: Mapping[str, Writer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Month:
    """The strip of one month: (day, files it has) of all its days, and the nearest days with a log around it."""

    first: date
    days: tuple[tuple[date, int], ...]
    before: date | None
    after: date | None


def page(view: View) -> Response:
    """The day that the address names, else the newest that has a log. Raises UsageError for what is no day."""
    days = timeline.days_of(view.repo, view.snapshot.commit, view.config.memory_daily)
    day = _day(view, days)
    daily = view.config.memory_daily
    found = timeline.timeline(
        view.repo, since=day, until=day, rev=view.snapshot.commit, daily=daily, forgotten=view.forgotten
    )
    entries = [
        Entry(log.path, section.time, section.topic, "\n".join(section.lines), section.start_line, log.agent)
        for one in found
        for log in one.logs
        for section in log.sections
    ]
    entries.sort(key=lambda entry: _minutes(entry.time))
    episodes = [
        Entry(path, "", _session(path, data), _body(data), 1)
        for path, data in timeline.episodes_of(view.repo, day, view.snapshot.commit)
    ]
    ids = {(path, fact.id) for one in found for path, fact in one.facts}
    key = (view.snapshot.commit or view.repo.head(), day, view.config)
    changes = view.site.kept.of("committed", key, lambda: _committed(view, day))
    if ids:
        became = [row for row in view.facts.rows if (row.path, row.fact.id) in ids]
    else:
        became = []
    others = sorted(days)
    first = _start(view, len(entries))
    shown = fitting(entries[first : first + MAX_ROWS], lambda entry: entry.text, TEXT)
    return view.render(
        "timeline.html", day=day, month=_month(day, days), entries=shown, first=first, total=len(entries),
        episodes=fitting(episodes[:MAX_ROWS], lambda entry: entry.text, EPISODES), ended=len(episodes),
        became=became[:FACTS], came=len(became), changes=changes, archives=archives,
        former=max((other for other in others if other < day), default=None),
        later=min((other for other in others if other > day), default=None),
    )  # fmt: skip


def _day(view: View, days: Mapping[date, int]) -> date:
    named = view.fields.get("day", "").strip()
    if not named:
        return max((day for day in days if day <= view.today), default=max(days, default=view.today))
    try:
        return date.fromisoformat(named)
    except ValueError:
        raise UsageError(Message("'{}' is no day", named[:40]), "YYYY-MM-DD") from None


def _start(view: View, count: int) -> int:
    """The section at which the page begins: the first, or the one that the address names, counted from 1."""
    text = view.fields.get("from", "")
    number = 0
    if text.isascii() and text.isdigit() and len(text) < 7:
        number = int(text)
    if 0 < number <= count:
        return number - 1
    return 0


def _minutes(time: str) -> int:
    """The minute of the day of a time such as `9:30 PM`, for sorting; -1 for a text without a time."""
    hour, _, rest = time.partition(":")
    if not hour.isdigit() or not rest[:2].isdigit():
        return -1
    half = rest[2:].replace(".", "").strip().lower()
    hours = int(hour)
    if half:
        hours = hours % 12 + (12 if half == "pm" else 0)
    return hours * 60 + int(rest[:2])


def _body(data: bytes) -> str:
    """The Markdown of an episode without its front matter and title."""
    document = parse_lines_only(data)
    lines = [line for line in document.lines[document.front :] if not line.startswith("# ")]
    return "\n".join(lines).strip()


def _session(path: str, data: bytes) -> str:
    """The session an episode is of, as its front matter says; else the name of its file."""
    return str(parse_lines_only(data).front_matter.get("session") or path.rpartition("/")[2])


def _month(day: date, days: Mapping[date, int]) -> Month:
    first = day.replace(day=1)
    last = first.replace(day=calendar.monthrange(day.year, day.month)[1])
    within = tuple(
        (each, days.get(each, 0)) for each in (first + timedelta(days=n) for n in range((last - first).days + 1))
    )
    before = max((other for other in days if other < first), default=None)
    return Month(first, within, before, min((other for other in days if other > last), default=None))


def _committed(view: View, day: date) -> Committed:
    """The changes of facts in the commits of one day, and the earlier writers of these facts."""
    tip = view.snapshot.commit or view.repo.head()
    base = head = ""
    for commit in view.repo.log([tip], first_parent=True) if tip else ():
        head = head or (commit.oid if commit.commit_date.date() <= day else "")
        if commit.commit_date.date() < day:
            base = commit.oid
            break
    if not head or head == base:
        return Committed()
    changes = fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), day)
    changes = without_forgotten(changes, view.forgotten)
    lasting, _ = parted(changes, view.config.memory_daily)
    rows = rows_of(view, lasting)
    came = [row.change.fact for row in rows if row.change.op in (Op.ADDED, Op.PROMOTED)]
    known = writers(view.repo, head, came)
    if base:
        revisions = [head, f"^{base}"]
    else:
        revisions = [head]
    if known:
        within = {commit.oid for commit in view.repo.log(revisions)}
    else:
        within = set()
    earlier = {ident: one for ident, one in known.items() if one.commit.oid not in within}
    return Committed(rows, len(lasting), base, head, earlier)
