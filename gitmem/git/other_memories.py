"""Local copies of other memories that a URL names: where a copy lies, and how it is refreshed.

The URL comes from the user's own settings, never from a clone. Credentials in it are never shown.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gitmem.errors import GitFailed
from gitmem.git.process import first_line
from gitmem.git.write import HOOK_VIEW
from gitmem.messages import Message


def mirror_of(place: str, cache: Path) -> Path:
    """The folder below `cache` for the copy of the memory at the URL `place`."""
    return cache / hashlib.sha256(place.encode()).hexdigest()[:24]


def is_url(place: str) -> bool:
    """Whether a configured place is a URL or `host:path`: it has `://`, or a colon and is no existing path (`~`
    expanded)."""
    return "://" in place or (":" in place and not os.path.exists(os.path.expanduser(place)))


def clean(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without the variables that name a repository, for git commands in another one."""
    return {key: value for key, value in environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}


def shown_url(url: str) -> str:
    """A URL without a user name, password or token before `@` in its host part. A text without `://`, such as
    `user@host:path`, is unchanged."""
    scheme, separator, address = url.partition("://")
    if not separator:
        return url
    host, slash, path = address.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


FAILED = "gitmem-tried"  # a file in the copy; its time is that of the last fetch that failed
RETRY_SECONDS = 600  # after a fetch that failed
FETCH_SECONDS = 3  # for the server, if there is a copy
CLONE_SECONDS = 60  # for the server, if there is no copy


def _failed_recently(folder: Path, now: datetime) -> bool:
    """Whether a fetch failed less than RETRY_SECONDS ago."""
    try:
        return 0 <= now.timestamp() - (folder / FAILED).stat().st_mtime < RETRY_SECONDS
    except FileNotFoundError:
        return False


def fetch_mirror(url: str, folder: Path, environ: Mapping[str, str], now: datetime, fresh_hours: float) -> float:
    """Make or refresh a bare clone of `url` in `folder`. Returns its age in hours; a refreshed one is 0 hours old.

    A copy younger than `fresh_hours` is not refreshed. If the server fails or takes longer than FETCH_SECONDS, the old
    copy stays, and the next RETRY_SECONDS the server is not asked. With `fresh_hours` 0 the server is always asked and
    may take CLONE_SECONDS. Raises GitFailed if there is no copy and none can be made. No program of the remote is run:
    a bare clone has no work tree, so no filters and no submodules.
    """
    stamp = folder / "gitmem-fetched"
    env = {name: value for name, value in environ.items() if name not in HOOK_VIEW}
    env.update(GIT_TERMINAL_PROMPT="0", LC_ALL="C.UTF-8")
    try:
        age = (now.timestamp() - stamp.stat().st_mtime) / 3600
    except FileNotFoundError:
        age = float("inf")
    has_copy = age != float("inf")
    if age < fresh_hours or (fresh_hours and has_copy and _failed_recently(folder, now)):
        return max(0.0, age)
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if (folder / "HEAD").exists():
        refs = "+refs/heads/*:refs/heads/*"
        command = ["git", "-C", str(folder), "fetch", "--quiet", "--prune", "--tags", "origin", refs]
    else:
        command = ["git", "clone", "--quiet", "--bare", "--", url, str(folder)]
    seconds = FETCH_SECONDS if has_copy and fresh_hours else CLONE_SECONDS
    problem = ""
    try:
        result = subprocess.run(
            command, capture_output=True, env=env, check=False, timeout=seconds, stdin=subprocess.DEVNULL
        )
        if result.returncode:
            problem = first_line(os.fsdecode(result.stderr))
    except subprocess.TimeoutExpired:
        problem = f"no answer within {seconds} seconds"
    if problem:
        if folder.is_dir():
            (folder / FAILED).touch()
            os.utime(folder / FAILED, (now.timestamp(), now.timestamp()))
        if not has_copy:
            raise GitFailed(
                Message("cannot fetch '{}': {}", shown_url(url), problem), "check the address, or work without it"
            )
        return age
    stamp.touch()
    os.utime(stamp, (now.timestamp(), now.timestamp()))
    return 0.0
