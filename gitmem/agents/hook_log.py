"""The log of the hosts' hooks: `session.log` in `gitmem/` of the Git directory, which `git mem doctor` reads out.

Where the Git directory cannot be written, the log stands in a folder of the person's cache (`spare_folder`). It never
holds text of memory or of a host. Imports nothing of ours, so that an installation that is broken can write it.
"""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitmem import system

FILE = "session.log"
SIZE_LIMIT = 200_000  # bytes; then it starts again


class Failure(NamedTuple):
    """A hook that did not do its work: when, at which event, and why."""

    at: datetime
    event: str
    words: str


def spare_folder(cache: Path, common_dir: Path) -> Path:
    """Where the log of a repository stands that cannot be written: a folder below `cache`, named after the hash of the
    Git directory."""
    return cache / "hooks" / hashlib.sha256(os.fsencode(common_dir)).hexdigest()[:16]


def append_to_spare(cache: Path, common_dir: Path, failure: Failure) -> bool:
    """Add a line to the log in the person's cache; whether that could be done."""
    folder = spare_folder(cache, common_dir)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return append(folder, failure)


def append(folder: Path, failure: Failure) -> bool:
    """Add a line to the log in `folder`; whether that could be done: not where there is no such folder of ours, or it
    cannot be written."""
    path = folder / FILE
    words = " ".join(failure.words.split())
    try:
        if folder.is_symlink() or not system.is_ours(folder.stat()):
            return False
        mode = "w"
        if not path.exists() or path.stat().st_size < SIZE_LIMIT:
            mode = "a"
        with open(path, mode, encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{failure.at.isoformat(timespec='seconds')} {failure.event}: {words}\n")
        path.chmod(0o600)
    except OSError:
        return False
    return True


def failures(folder: Path, since: datetime) -> list[Failure]:
    """What the log says from `since` on, in order; lines that are none of ours are left out."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        when, _, rest = line.partition(" ")
        event, colon, words = rest.partition(": ")
        try:
            at = datetime.fromisoformat(when)
        except ValueError:
            continue
        if colon and at.tzinfo is not None and at >= since:
            found.append(Failure(at, event, words))
    return found
