"""`git mem forget`: remove one fact."""

from __future__ import annotations

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json

SHOWN = 10  # lines named that still say what was forgotten


@click.command()
@click.argument("place", metavar="PATH:LINE")
@click.option("--reason", required=True, metavar="WHY", help="Why it goes; goes into the commit.")
@json_option
def command(place: str, reason: str, as_json: bool) -> None:
    """Remove the fact at PATH:LINE and commit that alone; it is not promoted again.

    History still holds the text, as Git does: for a leaked secret see docs/leaked-secret.md.

    \b
    git mem forget MEMORY.md:17 --reason "she asked us to"
    """
    from gitmem.cli.places import place as parse_place
    from gitmem.provenance import corrections
    from gitmem.provenance.corrections import as_value
    from gitmem.provenance.remains import remaining_lines

    repo, config = open_here()
    path, line = parse_place(repo, place)
    done = corrections.forget(repo, config, path, line, reason)
    if as_json:
        write_json(as_value(done))
    else:
        write(f"{done.commit[:12]} {escape(path, '')}:{line}\n")
        say("forgotten; it will not be promoted again, and history and other clones still hold it")
        remaining = [place for item in done.taken for place in remaining_lines(repo, config, item)]
        if remaining:
            shown = ", ".join(f"{path}:{number}" for path, number in remaining[:SHOWN])
            more = f" and {len(remaining) - SHOWN} more" if len(remaining) > SHOWN else ""
            say(escape(f"search still finds it in {shown}{more}", ""))
            say("hint: take these lines out by hand; the commit of a daily log needs the trailer Memory-Rewrite: <why>")
