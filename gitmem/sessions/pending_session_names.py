"""List the sessions that wait to be written, from the first line of each note of `sessions/pending_sessions.py`. Reads
only."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from gitmem.errors import OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.json_values import parse_json

FOLDER = "gitmem/sessions"  # in the Git directory; the same as in sessions/state.py
ENDING = ".pending"
HEAD = 64 << 10  # the first line of a note is shorter


def waiting_sessions(common_dir: Path) -> list[tuple[datetime, str]]:
    """(time of the note, session name) of each note, the oldest first. Files that are not notes are ignored."""
    folder = common_dir / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    notes = []
    for name in os.listdir(folder):
        if not name.endswith(ENDING):
            continue
        try:
            value = parse_json(read_bytes(folder, name, HEAD).partition(b"\n")[0])
            time, session = datetime.fromisoformat(value["at"]), str(value["session"])
        except (OSError, OutsideRepository, ValueError, KeyError, TypeError):
            continue
        if time.tzinfo is not None:
            notes.append((time, session))
    return sorted(notes)
