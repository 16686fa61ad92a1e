"""`git mem confirm`: a fact is still true of the code that it cites."""

from __future__ import annotations

import click

from gitmem.cli import completions
from gitmem.cli.options import agent_option, cites_option, json_option, open_here, say_if_detached
from gitmem.cli.places import parse_place
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.memory.fact import id_digits
from gitmem.provenance.confirmation import ConfirmationRequest, confirm
from gitmem.provenance.corrections import place_of_fact


@click.command()
@click.argument("place", metavar="ID|PATH:LINE", shell_complete=completions.paths)
@cites_option()
@click.option("--quote", default="", metavar="TEXT", help="The cited lines as they stand; an agent has to give them.")
@click.option("--reason", default="", metavar="WHY", help="Why; goes into the commit.")
@agent_option()
@json_option
def command(place: str, cites: tuple[str, ...], quote: str, reason: str, agent: str, as_json: bool) -> None:
    """Say that a fact still holds, and cite its code anew.

    Moves the citations of the fact to where their lines are now, in one commit. Lines that changed are named again with
    --cites.

    \b
    git mem confirm MEMORY.md:17
    git mem confirm MEMORY.md:17 --cites src/auth.py:12-30 --reason "read it again"
    """
    repo, config = open_here()
    if id_digits(place):
        path, line = place_of_fact(repo, place)
    else:
        path, line = parse_place(repo, place)
    result = confirm(repo, config, path, line, ConfirmationRequest(cites, quote, reason, agent or config.agent))
    if as_json:
        write_json(
            {"path": path, "line": line, "fact": result.fact.id, "cites": list(result.places), "commit": result.commit}
        )
        return
    write(f"{result.commit[:12]} {escape(path, '')}:{line}\n")
    for cited in result.places:
        say(escape(f"cites {cited}", ""))
    say_if_detached(repo, result.commit)
