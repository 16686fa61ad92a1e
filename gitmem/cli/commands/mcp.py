"""`git mem mcp`: serve memory to an agent over stdio."""

from __future__ import annotations

import gc
import os
import signal
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import click

from gitmem.agents.host_project import serves_memory
from gitmem.cli.options import open_here
from gitmem.errors import GitMemError


@click.command()
@click.option("--read-only", is_flag=True, help="Without the tools that write.")
@click.option("--session", default="", metavar="S", help="Keep working values of this session, not of the project.")
@click.option("--user", is_flag=True, help="Without any tool where there is no memory: for a person's own settings.")
def command(read_only: bool, session: str, user: bool) -> None:
    """Serve memory as MCP tools over standard input and output.

    `git mem install --agent HOST` registers it with an agent's host; `git mem install -h` names them. Needs
    the extra: pip install 'git-mem[mcp]'.
    """
    if find_spec("mcp") is None:
        raise GitMemError("the MCP server needs the package 'mcp'", "pip install 'git-mem[mcp]'")
    has_memory = not user or serves_memory(os.environ)
    folder = None
    if has_memory:
        from gitmem.sessions.working_memory import owner_of

        repo, config = open_here()
        owner_of(session, config.agent)  # a name that is none is said now, not with every call
        folder = Path(repo.root or repo.git_dir)
    # The SDK makes half a million objects that stay: the collector need look at them neither while they are made nor
    # with every search.
    gc.disable()
    from gitmem.agents.mcp_server import build, without_memory

    server = build(folder, read_only=read_only, session=session) if folder is not None else without_memory()
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, _leave)
    try:
        server.run("stdio")
    except Exception as error:
        if _client_left(error):
            raise BrokenPipeError from None
        raise


def _client_left(error: BaseException) -> bool:
    """Whether nothing but the end of its reader stopped the server: the SDK raises groups of errors."""
    parts = getattr(error, "exceptions", None)
    return all(map(_client_left, parts)) if parts else isinstance(error, BrokenPipeError)


def _leave(number: int, _: FrameType | None) -> None:
    """End at once. The thread that waits for the next line of standard input cannot be told to, and nothing is lost:
    each write is one rename, or has a record by which the next one undoes what it left."""
    os._exit(128 + number)
