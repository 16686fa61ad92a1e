"""The log of failures of hosts' hooks: `gitmem/session.log` in the Git directory, which `git mem doctor` shows.

If the Git directory cannot be written, the log is in a folder of the person's cache (`spare_folder`). The log never
contains text of memory or of a host. The module imports only `system` of this program, so that a broken installation
can write the log.
"""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitmem import system

FILE = "session.log"
MAX_LOG_BYTES = 200_000  # bytes from which on the log is started anew


class Failure(NamedTuple):
    """A hook that failed. `at`: when, with a time zone. `event`: the host's event. `words`: why, on one line."""

    at: datetime
    event: str
    words: str


def spare_folder(cache: Path, common_dir: Path) -> Path:
    """The folder for the log of a repository whose Git directory cannot be written: below `cache`, named by a hash of
    `common_dir`."""
    return cache / "hooks" / hashlib.sha256(os.fsencode(common_dir)).hexdigest()[:16]


def append_to_spare(cache: Path, common_dir: Path, failure: Failure) -> bool:
    """Add a line to the log in the person's cache; creates its folder. Returns False if the log cannot be written."""
    folder = spare_folder(cache, common_dir)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return append(folder, failure)


def append(folder: Path, failure: Failure) -> bool:
    """Add a line to the log in `folder`, in place of its lines if it has MAX_LOG_BYTES or more. Returns False if the
    folder is missing, is a symbolic link, belongs to another user, or cannot be written."""
    path = folder / FILE
    words = " ".join(failure.words.split())
    try:
        if folder.is_symlink() or not system.is_ours(folder.stat()):
            return False
        mode = "a" if not path.exists() or path.stat().st_size < MAX_LOG_BYTES else "w"
        with open(path, mode, encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{failure.at.isoformat(timespec='seconds')} {failure.event}: {words}\n")
        path.chmod(0o600)
    except OSError:
        return False
    return True


def failures(folder: Path, since: datetime) -> list[Failure]:
    """The failures that the log has since `since`, in order; [] if there is no log. Lines of another form are left
    out."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    recorded = []
    for line in text.splitlines():
        time_text, _, event_and_words = line.partition(" ")
        event, colon, words = event_and_words.partition(": ")
        try:
            moment = datetime.fromisoformat(time_text)
        except ValueError:
            continue
        if colon and moment.tzinfo is not None and moment >= since:
            recorded.append(Failure(moment, event, words))
    return recorded
