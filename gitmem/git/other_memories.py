"""Copies of other memories behind a URL: where a copy lies, and bringing it up to date.

The URL comes from the person's own settings, never from a clone; credentials in it are never shown."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gitmem.errors import GitFailed
from gitmem.git.binary import first_line
from gitmem.git.write import HOOK_VIEW
from gitmem.messages import Message


def mirror_of(place: str, cache: Path) -> Path:
    """Where the copy of a memory behind a URL is kept."""
    return cache / hashlib.sha256(place.encode()).hexdigest()[:24]


def is_url(place: str) -> bool:
    """Whether a configured place is a URL (or `host:path`) rather than a folder."""
    return "://" in place or (":" in place and not os.path.exists(os.path.expanduser(place)))


def clean(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for another repository than the one Git's hook variables speak of."""
    return {key: value for key, value in environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}


def shown_url(url: str) -> str:
    """An address as it may be shown: without the name and password, or the token, that may stand in it."""
    scheme, there, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if there:
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return url


TRIED, AGAIN = "gitmem-tried", 600  # when a fetch failed last, and the seconds before the next try
PATIENCE = 3  # seconds for a server while a copy is there


def _failed_recently(folder: Path, now: datetime) -> bool:
    """Whether a fetch failed a short while ago."""
    try:
        return 0 <= now.timestamp() - (folder / TRIED).stat().st_mtime < AGAIN
    except FileNotFoundError:
        return False


def fetch_mirror(url: str, folder: Path, environ: Mapping[str, str], now: datetime, fresh_hours: float) -> float:
    """Make or refresh a bare clone of `url` in `folder`; its age in hours. A copy that is there is used offline.

    With a copy a server is waited for PATIENCE seconds, and left alone for a while when it fails (not where
    `fresh_hours` is 0).

    Raises GitFailed when there is no copy and none can be made. Nothing of a remote is run: no submodules, no filters
    (a bare clone has no work tree). `url` comes from the user's own configuration.
    """
    stamp = folder / "gitmem-fetched"
    env = {name: value for name, value in environ.items() if name not in HOOK_VIEW}
    env.update(GIT_TERMINAL_PROMPT="0", LC_ALL="C.UTF-8")
    try:
        age = (now.timestamp() - stamp.stat().st_mtime) / 3600
    except FileNotFoundError:
        age = float("inf")
    if age < fresh_hours or (fresh_hours and age != float("inf") and _failed_recently(folder, now)):
        return max(0.0, age)
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if (folder / "HEAD").exists():
        refs = "+refs/heads/*:refs/heads/*"
        command = ["git", "-C", str(folder), "fetch", "--quiet", "--prune", "--tags", "origin", refs]
    else:
        command = ["git", "clone", "--quiet", "--bare", "--", url, str(folder)]
    try:
        if age == float("inf") or not fresh_hours:
            wait = 60
        else:
            wait = PATIENCE
        done = subprocess.run(
            command, capture_output=True, env=env, check=False, timeout=wait, stdin=subprocess.DEVNULL
        )
        failed = ""
        if done.returncode:
            failed = first_line(os.fsdecode(done.stderr))
    except subprocess.TimeoutExpired:
        failed = f"no answer within {wait} seconds"
    if failed:
        if folder.is_dir():
            (folder / TRIED).touch()
            os.utime(folder / TRIED, (now.timestamp(), now.timestamp()))
        if age == float("inf"):
            raise GitFailed(
                Message("cannot fetch '{}': {}", shown_url(url), failed), "check the address, or work without it"
            )
        return age
    stamp.touch()
    os.utime(stamp, (now.timestamp(), now.timestamp()))
    return 0.0
