"""List the daily logs of a work tree: those below memory/ and those that match the patterns of `[memory] daily`. Reads
names only."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from datetime import date
from pathlib import Path

from gitmem.daily_logs import daily_glob, log_day
from gitmem.paths import Kind, kind, log_date


def log_files(root: Path, patterns: Iterable[str], days: Collection[date] | None = None) -> dict[str, date]:
    """Path -> day of each daily log, sorted by path.

    `patterns`: patterns of daily logs outside memory/, as `daily_glob` reads them. `days`: only logs of these days,
    None for all. Logs below memory/ are left out if memory/ is a symbolic link.
    """
    found: dict[str, date] = {}
    folder = root / "memory"
    for name in os.listdir(folder) if folder.is_dir() and not folder.is_symlink() else ():
        path = f"memory/{name}"
        day = log_date(path) if kind(path) is Kind.DAILY else None
        if day is not None and (days is None or day in days):
            found[path] = day
    for pattern in patterns:
        for glob in [daily_glob(pattern)] if days is None else {daily_glob(pattern, day) for day in days}:
            for file in root.glob(glob.lstrip("/") or "-"):
                path = file.relative_to(root).as_posix()
                day = log_day(path, [pattern])
                if day is not None and (days is None or day in days):
                    found[path] = day
    return dict(sorted(found.items()))
