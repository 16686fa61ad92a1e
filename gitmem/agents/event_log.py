"""Write an error of a host's hook to the log of its project."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from gitmem.agents import hook_log
from gitmem.agents.host_project import is_project
from gitmem.environment import cache_folder, now
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository, discover
from gitmem.git.worktree import state_dir
from gitmem.hosts.host import Host

LOG_START = datetime(2000, 1, 1, tzinfo=UTC)  # earlier than every line of the log


def log_error(repo: Repository | None, host: Host, event: str, error: BaseException, *, once: bool = False) -> None:
    """Write an error to the log: the message of a GitMemError, which never quotes memory, or the type of any other
    error.

    If the Git directory of a project cannot be written, the line goes to the log in the person's cache. In a repository
    that is no project the line is written only if our state folder is there. `repo`: None if it is not opened yet.
    `once`: write nothing if the log already has the same line, since each turn of a session reads the same transcript.
    Never raises.
    """
    words = error.message if isinstance(error, GitMemError) else type(error).__name__
    try:
        current = Path.cwd()
        common = repo.common_dir if repo is not None else discover(current, os.environ).common_dir
        is_ours = repo is not None or is_project(host, current, os.environ)
    except (OSError, GitMemError):
        return
    failure = hook_log.Failure(now(), event, words)
    try:
        folder = state_dir(common, make=is_ours)
        if once and any(earlier[1:] == failure[1:] for earlier in hook_log.failures(folder, LOG_START)):
            return
        is_written = hook_log.append(folder, failure)
    except GitMemError:  # the state folder cannot be created, for example in a read-only Git directory
        is_written = False
    if is_ours and not is_written:
        hook_log.append_to_spare(cache_folder(), common, failure)
