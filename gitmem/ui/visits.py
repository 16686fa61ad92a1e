"""When somebody last looked, and which commit was there: in the Git directory, private. A damaged file is no visit."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic

FILE = "last-visit.json"
MAX_FILE_BYTES = 4096


class Visit(NamedTuple):
    """`commit` is "" and `at` None before the first."""

    commit: str = ""
    at: datetime | None = None


def last_visit(common_dir: Path) -> Visit:
    """The visit that was kept."""
    try:
        value = json.loads(read_bytes(common_dir / "gitmem", FILE, MAX_FILE_BYTES))
        return Visit(str(value["commit"]), datetime.fromisoformat(value["at"]).astimezone())
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Visit()


def keep(common_dir: Path, visit: Visit) -> None:
    """Remember a visit; nothing happens where that cannot be written."""
    if visit.at is None:
        return
    value = {"commit": visit.commit, "at": visit.at.isoformat(timespec="seconds")}
    try:
        write_atomic(state_dir(common_dir), FILE, json.dumps(value).encode("ascii") + b"\n", private=True)
    except (OSError, GitMemError):
        return
