"""Finds daily logs by their paths, and names the log of a day and agent. It reads only the names of files, never their
text."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from datetime import date
from functools import cache
from pathlib import Path

from gitmem.errors import UsageError
from gitmem.messages import Message
from gitmem.paths import DAILY, Kind, agent_name, date_of, kind, log_date, nfc_name

DATE_FIELDS = {"YYYY": ("y", 4), "MM": ("m", 2), "DD": ("d", 2)}  # field of a daily pattern: regex group, digits
DATE_FIELD_RUN = r"(?:(?<![A-Za-z])|(?=YYYY))(?:YYYY|MM|DD)+(?![A-Za-z])"
MAX_PATTERN_CHARS = 200  # of a daily pattern


def log_day(path: str, patterns: Iterable[str] = ()) -> date | None:
    """The day of a daily log, by its place below memory/ or by one of the `patterns` of `[memory] daily`.

    None for any other path, and for a day that no calendar has. Raises UsageError for an invalid pattern, if an earlier
    rule did not decide.
    """
    if kind(path) is Kind.DAILY:
        return log_date(path)
    for pattern in patterns:
        match = daily_form(pattern).fullmatch(path)
        day = date_of(match["y"], match["m"], match["d"]) if match else None
        if day:
            return day
    return None


def is_daily(path: str, patterns: Iterable[str] = ()) -> bool:
    """Whether a path is a daily log, by its place below memory/ or by one of the `patterns` of `[memory] daily`.

    True below memory/ also for a day that no calendar has, of which `log_day` gives None. Raises UsageError for an
    invalid pattern, if the place did not decide.
    """
    return kind(path) is Kind.DAILY or log_day(path, patterns) is not None


def records_events(path: str, patterns: Iterable[str] = ()) -> bool:
    """Whether a file records events, and so is not long-term memory: a daily log (`is_daily`) or an episode of a
    session (`Kind.SESSION`). Raises UsageError for an invalid pattern, if the place did not decide."""
    return kind(path) is Kind.SESSION or is_daily(path, patterns)


@cache
def daily_form(pattern: str) -> re.Pattern[str]:
    """The regular expression for the paths of a daily pattern: YYYY, MM and DD are digits, `*` is any text without "/".

    The groups `y`, `m` and `d` have the date; a field that occurs twice must have the same digits. Raises UsageError
    for a pattern that lacks one of the three fields, that does not end with .md, that has `**`, `[`, `]`, `?` or more
    than two `*`, or that is longer than MAX_PATTERN_CHARS.
    """
    parts = _pattern_parts(pattern)
    is_dated_markdown = {"YYYY", "MM", "DD"} <= set(parts) and pattern.endswith(".md")
    has_other_wildcards = set("[]?") & set(pattern) or "**" in pattern or pattern.count("*") > 2
    if not is_dated_markdown or has_other_wildcards or len(pattern) > MAX_PATTERN_CHARS:
        raise UsageError(Message("'{}' is no pattern of daily logs", pattern), "as in journals/YYYY_MM_DD.md")
    named_parts: set[str] = set()
    form = ""
    for part in parts:
        name, digits = DATE_FIELDS.get(part, ("", 0))
        if part == "*":
            form += "[^/]*"
        elif not name:
            form += re.escape(part)
        elif part in named_parts:
            form += f"(?P={name})"
        else:
            form += rf"(?P<{name}>\d{{{digits}}})"
            named_parts.add(part)
    return re.compile(form, re.ASCII)


def daily_glob(pattern: str, day: date | None = None) -> str:
    """The glob that matches the logs of a daily pattern, on any day or on `day`. It does not check the pattern.

    With a day and a pattern without `*` the glob is the path of that day's log.
    """
    if day:
        values = {"YYYY": f"{day.year:04}", "MM": f"{day.month:02}", "DD": f"{day.day:02}"}
    else:
        values = {field: "[0-9]" * len(field) for field in DATE_FIELDS}
    return "".join(values.get(part, part) for part in _pattern_parts(pattern))


def _pattern_parts(pattern: str) -> list[str]:
    """A daily pattern cut into date fields, stars and plain text. MM inside a word (`COMMON`) is plain text."""
    pieces = re.split(rf"({DATE_FIELD_RUN}|\*)", pattern)
    return [
        part
        for piece in pieces
        for part in (re.findall("|".join(DATE_FIELDS), piece) if re.fullmatch(DATE_FIELD_RUN, piece) else [piece])
    ]


def agent_of(path: str) -> str:
    """The agent's name in the path of a daily log, `memory/YYYY-MM-DD.<agent>.md`; "" for a log without one and for any
    other path."""
    match = DAILY.match(nfc_name(path))
    if not match:
        return ""
    return match.group(4) or ""


def log_path(day: date, agent: str, patterns: Iterable[str]) -> str:
    """The path of the daily log to which a line of this day is added. Every writer of a line calls this function.

    An agent has a log of its own, below memory/. For a person (`agent` is "") the log is named by the first of the
    `patterns` of `[memory] daily` that has no `*` and does not lead out of the repository; without one it is the shared
    log below memory/. Patterns are not checked otherwise: one without a date names one file for all days. Raises
    UsageError for a name that `agent_name` refuses.
    """
    if name := agent_name(agent):
        return f"memory/{day.isoformat()}.{name}.md"
    inside = (each for each in patterns if not each.startswith("/") and ".." not in each.split("/"))
    if pattern := next((pattern for pattern in inside if "*" not in pattern), ""):
        return daily_glob(pattern, day)
    return f"memory/{day.isoformat()}.md"


def log_files(root: Path, patterns: Iterable[str], days: Collection[date] | None = None) -> dict[str, date]:
    """Path -> day of each daily log in the work tree `root`, sorted by path.

    `patterns`: patterns of daily logs outside memory/, such as `journals/YYYY_MM_DD.md`. `days`: only logs of these
    days, None for all. Logs below memory/ are left out if memory/ is a symbolic link. Raises UsageError for an invalid
    pattern that matches a file.
    """
    logs: dict[str, date] = {}
    folder = root / "memory"
    for name in os.listdir(folder) if folder.is_dir() and not folder.is_symlink() else ():
        path = f"memory/{name}"
        day = log_date(path) if kind(path) is Kind.DAILY else None
        if day is not None and (days is None or day in days):
            logs[path] = day
    for pattern in patterns:
        for glob in [daily_glob(pattern)] if days is None else {daily_glob(pattern, day) for day in days}:
            for file in root.glob(glob.lstrip("/") or "-"):
                path = file.relative_to(root).as_posix()
                day = log_day(path, [pattern])
                if day is not None and (days is None or day in days):
                    logs[path] = day
    return dict(sorted(logs.items()))
