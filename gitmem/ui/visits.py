"""Reads and writes the time and the commit of the last visit, in a private file in the Git directory."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.json_values import parse_json

FILE = "last-visit.json"
MAX_FILE_BYTES = 4096


class Visit(NamedTuple):
    """One visit to the pages. `commit`: the oid of HEAD at that time. Before the first visit, `commit` is "" and `at`
    is None."""

    commit: str = ""
    at: datetime | None = None


def last_visit(common_dir: Path) -> Visit:
    """The last recorded visit; `Visit()` if there is none or its file is damaged."""
    try:
        value = parse_json(read_bytes(common_dir / "gitmem", FILE, MAX_FILE_BYTES))
        return Visit(str(value["commit"]), datetime.fromisoformat(value["at"]).astimezone())
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError, OverflowError):
        return Visit()


def record_visit(common_dir: Path, visit: Visit) -> None:
    """Record a visit in place of the last one. Does nothing for a visit without a time, and when the file cannot be
    written."""
    if visit.at is None:
        return
    value = {"commit": visit.commit, "at": visit.at.isoformat(timespec="seconds")}
    with suppress(OSError, GitMemError):
        write_atomic(state_dir(common_dir), FILE, json.dumps(value).encode("ascii") + b"\n", private=True)
