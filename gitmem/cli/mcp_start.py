"""Start the MCP server of `git mem mcp` without click: a host waits for it at the start of every session."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from gitmem.agents.mcp_protocol import serve
from gitmem.agents.mcp_server import build, without_memory
from gitmem.cli.exits import run_command
from gitmem.cli.terminal import say_warnings
from gitmem.environment import open_environment, start_lookup

FLAGS = frozenset(("--read-only", "--user"))  # options that are read here; click reads all others


def run(words: Sequence[str]) -> int | None:
    """Serve until the client closes the connection, and return the exit code. None, with nothing done, if `words`
    contain a word that is not in FLAGS, which click has to read."""
    flags = frozenset(words)
    if not flags <= FLAGS:
        return None
    return run_command(lambda: serve_here(read_only="--read-only" in flags, user="--user" in flags), "git mem mcp")


def serve_here(*, read_only: bool, user: bool, session: str = "") -> None:
    """Serve the memory of this repository or of the active profile, until the client closes the connection.

    `read_only`: only tools that write nothing. `session`: the session whose working values the tools read and write, ""
    for the values of the project. `user`: serve no tools in a project without memory. Raises GitMemError, and
    BrokenPipeError if the client closed the connection early.
    """
    signal.signal(signal.SIGINT, _end_at_once)
    if user:
        from gitmem.agents.host_project import serves_memory  # a server of one project does not need the hosts

        if not serves_memory(os.environ):
            serve(without_memory())
            return
    serve(build(_folder(session), read_only=read_only, session=session))


def _folder(session: str) -> Path:
    """The root folder of the repository. Warnings about settings, and the error for an invalid session name, occur now
    and not at every call."""
    repo, config = open_environment(lookup=start_lookup())
    say_warnings(config.warnings)
    if session:
        from gitmem.sessions.working_memory import owner_of  # the start without a session does not pay for it

        owner_of(session, config.agent)
    folder = Path(repo.root or repo.git_dir)
    repo.close()
    return folder


def _end_at_once(number: int, _: FrameType | None) -> None:
    """End the process at once, since the thread that reads standard input cannot be interrupted. Nothing is lost: each
    write is one rename, or the next write undoes it by its record."""
    os._exit(128 + number)
