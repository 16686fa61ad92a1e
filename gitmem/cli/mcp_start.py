"""`git mem mcp` without click: every session of every host waits for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

FLAGS = frozenset(("--read-only", "--user"))  # the words that are understood here; click reads any others


def run(words: Sequence[str]) -> int | None:
    """Serve until the client leaves, and give the exit code; None, with nothing done, where click must read the
    words."""
    given = frozenset(words)
    if not given <= FLAGS:
        return None
    from gitmem.cli.exits import ending

    return ending(lambda: serve_here(read_only="--read-only" in given, user="--user" in given), "git mem mcp")


def serve_here(*, read_only: bool = False, session: str = "", user: bool = False) -> None:
    """Serve the memory of this repository or of the profile in force. `session`: whose working values the tools keep,
    "" for the project's. `user`: without any tool where there is no memory.

    Raises GitMemError, and BrokenPipeError where the client left early.
    """
    from gitmem.agents.mcp_protocol import serve
    from gitmem.agents.mcp_server import build, without_memory

    signal.signal(signal.SIGINT, _leave)
    if user and not _has_memory():
        serve(without_memory())
        return
    serve(build(_folder(session), read_only=read_only, session=session))


def _has_memory() -> bool:
    from gitmem.agents.host_project import serves_memory

    return serves_memory(os.environ)


def _folder(session: str) -> Path:
    """The folder of the repository. What is wrong with the settings or with a session's name is said now, not with
    every call."""
    from gitmem.cli.terminal import say_warnings
    from gitmem.environment import look_up, opened

    repo, config = opened(here=look_up())
    say_warnings(config.warnings)
    if session:
        from gitmem.sessions.working_memory import owner_of

        owner_of(session, config.agent)
    folder = Path(repo.root or repo.git_dir)
    repo.close()
    return folder


def _leave(number: int, _: FrameType | None) -> None:
    """End at once. The thread that waits for the next line of standard input cannot be told to, and nothing is lost:
    each write is one rename, or has a record by which the next one undoes what it left."""
    os._exit(128 + number)
