"""The daily timeline: each day's log sections and the facts that came of them, newest day first. Reads only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from gitmem.errors import OutsideRepository
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.protocol import Repository
from gitmem.git.worktree import read_bytes
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, normalise, parse_span
from gitmem.paths import LIMIT, Kind, agent_of, kind, log_date

_TIMED = re.compile(r"(\d{1,2}:\d{2}(?:[ \t]*[AaPp]\.?[Mm]\.?)?)(?:[ \t]*(?:[-–—:][ \t]*)?(.*))?$")


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under one heading of a log, the heading not among `lines`. `time` as written, "" where there is none."""

    time: str
    topic: str
    start_line: int
    end_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DayLog:
    path: str
    agent: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """One day: its logs in order of path, and (path, fact) of long-term memory that cite one of them."""

    day: date
    logs: tuple[DayLog, ...]
    facts: tuple[tuple[str, Fact], ...]


def timeline(
    repo: Repository, *, since: date | None = None, until: date | None = None, agent: str = "", rev: str = ""
) -> list[Day]:
    """Days from `since` to `until` (both included), newest first; with `agent` its own logs only.

    Of the work tree, of `rev` where given or where there is no work tree.
    """
    days: dict[date, list[DayLog]] = defaultdict(list)
    derived: dict[str, list[tuple[str, Fact]]] = defaultdict(list)
    for path, data in _files(repo, rev):
        if kind(path) is Kind.DAILY:
            day = log_date(path)
            wanted = not agent or agent_of(path) == agent
            if day and wanted and (since is None or day >= since) and (until is None or day <= until):
                days[day].append(DayLog(path, agent_of(path), tuple(sections(data))))
            continue
        for fact in memory_facts.parse(data).facts:
            for source in {span.path for key, value in fact.meta if key == "src" and (span := parse_span(value))}:
                derived[source].append((path, fact))
    timeline_days = []
    for day in sorted(days, reverse=True):
        logs = sorted(days[day], key=lambda log: log.path)
        facts = dict.fromkeys(item for log in logs for item in derived.get(log.path, ()))
        timeline_days.append(Day(day, tuple(logs), tuple(facts)))
    return timeline_days


def sections(data: bytes) -> Iterator[Section]:
    """The sections of a log; what stands above the first heading is one without a topic."""
    lines = blob_lines(data)
    starts = [n for n, line in enumerate(lines, 1) if line.startswith("## ")]
    for first, after in zip([0, *starts], [*starts, len(lines) + 1], strict=True):
        body = lines[first : after - 1]
        if first == 0:
            body = [line for line in body if not line.startswith("# ")]
        while body and not body[-1].strip():
            body.pop()
        heading = lines[first - 1][3:].strip() if first else ""
        if not heading and not any(line.strip() for line in body):
            continue
        match = _TIMED.match(heading)
        time, topic = (match[1], (match[2] or "").strip()) if match else ("", heading)
        kept = tuple(line for line in body if line.strip())
        yield Section(time, topic, max(first, 1), after - 1, kept)


def plain(line: str) -> str:
    """A log line as it is read: no bullet marker, no comment of ours."""
    return normalise(line)


def _files(repo: Repository, rev: str) -> Iterator[tuple[str, bytes]]:
    wanted = (Kind.DAILY, Kind.MEMORY, Kind.ARCHIVE)
    if rev or repo.root is None:
        entries = [e for e in repo.entries(rev or "HEAD") if kind(e.path) in wanted and e.mode in (REGULAR, EXECUTABLE)]
        sizes = repo.sizes([entry.oid for entry in entries])
        entries = [entry for entry in entries if sizes.get(entry.oid, LIMIT + 1) <= LIMIT]
        for entry, (_, data) in zip(entries, repo.read_many([e.oid for e in entries]), strict=True):
            yield entry.path, data or b""
        return
    paths = {entry.path for entry in repo.staged()} | set(repo.untracked(["memory", "MEMORY.md", ".claude"]))
    for path in sorted(path for path in paths if kind(path) in wanted):
        try:
            yield path, read_bytes(repo.root, path, LIMIT)
        except (OSError, OutsideRepository):
            continue
