"""The daily timeline: for each day the sections of its logs and the facts that cite them, newest day first.

Never writes.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from gitmem.daily_logs import agent_of, log_day
from gitmem.errors import OutsideRepository
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.git.unmerged import WorkTreeReader
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, cited_spans
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.memory.statements import time_and_topic
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_date


@json_keys("time? topic? start_line end_line lines")
@dataclass(frozen=True, slots=True)
class Section:
    """One section of a log.

    `time`, `topic`: of its heading, as written, "" without one. `start_line`, `end_line`: its lines in the file, with
    the heading. `lines`: its non-empty lines without the heading.
    """

    time: str
    topic: str
    start_line: int
    end_line: int
    lines: tuple[str, ...]


@json_keys("path agent? sections")
@dataclass(frozen=True, slots=True)
class DayLog:
    """One daily log. `agent`: the agent whose log it is, "" for the shared log."""

    path: str
    agent: str
    sections: tuple[Section, ...]


@json_keys("path line=fact.line text=fact.text type?")
class DayFact(NamedTuple):
    """A fact of MEMORY.md or an archive that cites a log."""

    path: str
    fact: Fact

    @property
    def type(self) -> str:
        return self.fact.get("type")


@json_keys("date=day logs facts")
@dataclass(frozen=True, slots=True)
class Day:
    """One day: its logs, sorted by path, and the facts in MEMORY.md and archives that cite one of them.

    JSON: `facts`: those facts of long-term memory that cite one of the day's logs.
    """

    day: date
    logs: tuple[DayLog, ...]
    facts: tuple[DayFact, ...]


def timeline(
    repo: Repository, *, since: date | None = None, until: date | None = None, agent: str = "", rev: str = "",
    daily: Sequence[str] = (), forgotten: Forgotten = NOTHING,
) -> list[Day]:  # fmt: skip
    """The days from `since` to `until` (both included; None for no limit) that have a log, newest first.

    `agent`: only this agent's logs, "" for all. `rev`: read this commit; "" reads the work tree, in a bare repository
    HEAD. `daily`: patterns of daily logs outside memory/ (`daily_logs.log_day`). `forgotten`: texts to mask.
    """
    days: dict[date, list[DayLog]] = defaultdict(list)
    derived: dict[str, list[DayFact]] = defaultdict(list)

    def wanted(path: str) -> bool:
        day = log_day(path, daily)
        if day is None:
            return kind(path) in (Kind.MEMORY, Kind.ARCHIVE)
        within = (since is None or day >= since) and (until is None or day <= until)
        return within and (not agent or agent_of(path) == agent)

    for path, data in _files(repo, rev, wanted, anywhere=bool(daily)):
        day = log_day(path, daily)
        if forgotten and (day is not None or kind(path) is not Kind.MEMORY or rev):
            data = forgotten.masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if day is not None:
            days[day].append(DayLog(path, agent_of(path), tuple(sections(data))))
            continue
        if b"src" not in data:  # no fact of this file cites a log
            continue
        for fact in memory_facts.parse(data).facts:
            for source in {span.path for span in cited_spans(fact.meta)}:
                derived[source].append(DayFact(path, fact))
    timeline_days = []
    for day in sorted(days, reverse=True):
        logs = sorted(days[day], key=lambda log: log.path)
        facts = dict.fromkeys(item for log in logs for item in derived.get(log.path, ()))
        timeline_days.append(Day(day, tuple(logs), tuple(facts)))
    return timeline_days


def titled_days(
    repo: Repository, *, since: date | None = None, until: date | None = None, rev: str = "", daily: Sequence[str] = ()
) -> list[str]:
    """The paths of files in memory/ whose name has a day and a title (`memory/2026-02-05-review.md`), from `since` to
    `until`. They are episodes: no log, and no promotion reads them. The arguments are those of `timeline`."""

    def wanted(path: str) -> bool:
        if kind(path) is not Kind.SESSION or path.count("/") != 1 or log_day(path, daily) is not None:
            return False
        day = log_date(path)
        return day is None or ((since is None or day >= since) and (until is None or day <= until))

    return sorted(path for path, _ in _listed(repo, rev, wanted, anywhere=False))


def sections(data: bytes) -> Iterator[Section]:
    """The sections of a log in order. A section begins at a `## ` heading; deeper headings are among its lines.

    Lines above the first such heading are a section without time and topic; titles (`# `) are left out of it. A section
    with neither a heading's text nor lines is left out.
    """
    lines = blob_lines(data.removeprefix(BOM_UTF8))  # an editor on Windows begins a file with it
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("## ")]
    for start, next_start in zip([0, *starts], [*starts, len(lines) + 1], strict=True):
        body = lines[start : next_start - 1]
        if start == 0:
            body = [line for line in body if not line.startswith("# ")]
        while body and not body[-1].strip():
            body.pop()
        heading = lines[start - 1][3:].strip() if start else ""
        if not heading and not any(line.strip() for line in body):
            continue
        time, topic = time_and_topic(heading)
        yield Section(time, topic, max(start, 1), next_start - 1, tuple(line for line in body if line.strip()))


def days_of(repo: Repository, rev: str = "", daily: Sequence[str] = ()) -> dict[date, int]:
    """Day -> number of its logs and session episodes, oldest day first. Reads file names only. `rev`: a commit, "" for
    the work tree. `daily`: patterns of daily logs outside memory/."""
    days: dict[date, int] = defaultdict(int)

    def wanted(path: str) -> bool:
        return kind(path) is Kind.SESSION or log_day(path, daily) is not None

    for path, _ in _listed(repo, rev, wanted, anywhere=bool(daily)):
        if (day := log_day(path, daily) or log_date(path)) is not None:
            days[day] += 1
    return dict(sorted(days.items()))


def episodes_of(repo: Repository, day: date, rev: str = "") -> list[tuple[str, bytes]]:
    """(path, bytes) of the session episodes of one day, sorted by path. `rev`: a commit, "" for the work tree."""
    return sorted(_files(repo, rev, lambda path: kind(path) is Kind.SESSION and log_date(path) == day))


def _listed(repo: Repository, rev: str, is_wanted: Callable[[str], bool], *, anywhere: bool) -> list[tuple[str, str]]:
    """(path, oid) of the files whose path `is_wanted`; the oid is "" in the work tree.

    Untracked files are looked for in memory/, MEMORY.md and .claude, or in all folders if `anywhere`.
    """
    if rev or repo.root is None:
        rev = rev or repo.head() or ""
        if not rev:
            return []
        entries = repo.entries(rev)
        files = [entry for entry in entries if entry.is_file]
        return [(entry.path, entry.oid) for entry in files if is_wanted(entry.path)]
    untracked = repo.untracked([] if anywhere else ["memory", "MEMORY.md", ".claude"])
    paths = {*(entry.path for entry in repo.staged()), *untracked}
    return [(path, "") for path in sorted(paths) if is_wanted(path)]


def _files(
    repo: Repository, rev: str, is_wanted: Callable[[str], bool], *, anywhere: bool = False
) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of the wanted files; unreadable files are left out. Of a larger file the work tree gives the first
    MAX_MEMORY_FILE_BYTES, a commit nothing."""
    listed = _listed(repo, rev, is_wanted, anywhere=anywhere)
    if rev or repo.root is None:
        yield from read_small_blobs(repo, listed)
        return
    reader = WorkTreeReader(repo)
    for path, _ in listed:
        try:
            yield path, reader.read(path, MAX_MEMORY_FILE_BYTES)
        except (OSError, OutsideRepository):
            continue
