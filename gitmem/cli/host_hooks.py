"""Run `git mem session hook EVENT [--host HOST]` without click, since a host waits for it before every prompt.

The exit code is always 0. Every error, even of a broken installation, becomes a line of the log; so modules whose
import may fail are imported inside functions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.agents import hook_log

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git.opening import Repository

USER = "--user"  # equal to hosts.host.USER_OPTION, whose module takes long to import
EVENTS_WITH_CONTEXT = ("SessionStart", "UserPromptSubmit", "SubagentStart")  # events that are answered with memory


def run(words: Sequence[str]) -> bool:
    """Handle the event that the words name: `EVENT` or `EVENT --host HOST`, either with `--user`. Never raises.

    Returns False, with nothing done, for other words, which click has to read.
    """
    match [word for word in words if word != USER]:
        case [event]:
            host = "claude"
        case [event, "--host", host]:
            pass
        case _:
            return False
    if event.startswith("-"):
        return False
    try:
        handle_event(event, host, user=USER in words)
    except Exception as error:  # noqa: BLE001 - an error of ours must not stop the host's turn
        _log(event, error)
    return True


def handle_event(event: str, host: str, *, user: bool) -> None:
    """Handle the event; print a line on stderr if the host has no event of that name, because an error's exit code
    would stop the host's turn. `user`: the hook is in the person's own settings."""
    from gitmem.agents.host_events import EVENTS, handle
    from gitmem.hosts.registry import HOSTS, host_named

    if event in EVENTS and host in HOSTS and host_named(host).hooks is not None:
        handle(event, host, partial(_opened, event), user=user)
        return
    from gitmem.cli.terminal import escape, say

    problem = escape(f"there is no event '{event}' of a host '{host}'; nothing is done", keep="")
    say(f"git mem: {problem}")


def _opened(event: str) -> tuple[Repository, Config]:
    """The repository and settings. Imports what a context needs while git looks for the repository."""
    from gitmem.environment import open_environment, start_lookup

    lookup = start_lookup()
    if event in EVENTS_WITH_CONTEXT:
        import gitmem.context.request  # noqa: F401
    return open_environment(lookup=lookup)


def _log(event: str, error: Exception) -> None:
    """Write the error's type to the log of the project that the host names, else of the current folder. Writes only if
    the repository has our state folder, so that no such folder is created elsewhere."""
    folders = (path for name, path in os.environ.items() if name.endswith("_PROJECT_DIR") and os.path.isdir(path))
    command = ["git", "-C", next(folders, "."), "rev-parse", "--path-format=absolute", "--git-common-dir"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return
    folder = Path(os.fsdecode(result.stdout.rstrip(b"\n"))) / "gitmem"
    module = f" {error.name}" if isinstance(error, ImportError) and error.name else ""
    hook_log.append(folder, hook_log.Failure(datetime.now().astimezone(), event, f"{type(error).__name__}{module}"))


def main(words: Sequence[str]) -> None:
    """Run the event and end the process with 0; return if click has to read the words."""
    if run(words):
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(0)  # without the interpreter's own shutdown, which takes 10 ms
