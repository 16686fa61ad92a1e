"""`git mem session hook EVENT [--host HOST]` without click: a host waits for it before every prompt.

Whatever is wrong, in the installation too, the exit code is 0 and the reason a line of the log.
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

USER = "--user"  # hosts/host.py has it; that module is not loaded for this
ANSWERED = ("SessionStart", "UserPromptSubmit", "SubagentStart")  # events that memory has something to say to


def run(words: Sequence[str]) -> bool:
    """Carry out the event that the words name; False, with nothing done, where click must read them.

    Never raises.
    """
    event, host, plain = _read([word for word in words if word != USER])
    if not plain:
        return False
    try:
        carry_out(event, host, user=USER in words)
    except Exception as error:  # noqa: BLE001 - a host's turn must not break on our account
        _log(event, error)
    return True


def _read(words: Sequence[str]) -> tuple[str, str, bool]:
    """(event, host, whether they are spelled plainly): `EVENT` or `EVENT --host HOST`; `--user` may stand with them."""
    if len(words) not in (1, 3) or words[0].startswith("-") or (len(words) == 3 and words[1] != "--host"):
        return "", "", False
    return words[0], words[2] if len(words) == 3 else "claude", True


def carry_out(event: str, host: str, *, user: bool = False) -> None:
    """Handle the event, or say on standard error that there is none of that name: to a host, the exit code of a
    mistyped word would stop the turn. `user`: the hook stands in the person's own settings."""
    from gitmem.agents.host_events import EVENTS, handle
    from gitmem.hosts.registry import HOSTS, host_named

    if event in EVENTS and host in HOSTS and host_named(host).hooks is not None:
        handle(event, host, partial(_opened, event), user=user)
        return
    from gitmem.cli.terminal import escape, say

    said = escape(f"there is no event '{event}' of a host '{host}'; nothing is done", keep="")
    say(f"git mem: {said}")


def _opened(event: str) -> tuple[Repository, Config]:
    from gitmem.environment import look_up, opened

    here = look_up()
    if event in ANSWERED:
        import gitmem.context.request  # noqa: F401 - git is at work meanwhile
    return opened(here=here)


def _log(event: str, error: Exception) -> None:
    """The kind of the error, in the log of the project that the host names, else of the current folder: of a
    repository with a log or an index alone, so that nothing is made in another."""
    named = (path for name, path in os.environ.items() if name.endswith("_PROJECT_DIR") and os.path.isdir(path))
    command = ["git", "-C", next(named, "."), "rev-parse", "--path-format=absolute", "--git-common-dir"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return
    folder = Path(os.fsdecode(done.stdout.rstrip(b"\n"))) / "gitmem"
    module = ""
    if isinstance(error, ImportError) and error.name:
        module = f" {error.name}"
    hook_log.append(folder, hook_log.Failure(datetime.now().astimezone(), event, f"{type(error).__name__}{module}"))


def main(words: Sequence[str]) -> None:
    """Run and leave with 0, or return where click must read the words."""
    if run(words):
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(0)  # to take a whole interpreter apart takes 10 ms
