"""`git mem mcp`: serve memory to an agent over standard input and output."""

from __future__ import annotations

import click

from gitmem.cli.mcp_start import serve_here


@click.command()
@click.option("--read-only", is_flag=True, help="Without the tools that write.")
@click.option("--session", default="", metavar="S", help="Keep working values of this session, not of the project.")
@click.option("--user", is_flag=True, help="Without any tool where there is no memory: for a person's own settings.")
def command(read_only: bool, session: str, user: bool) -> None:
    """Serve memory as MCP tools over standard input and output.

    `git mem install --agent HOST` registers it with an agent's host; `git mem install -h` names them.
    """
    serve_here(read_only=read_only, session=session, user=user)
