"""`git mem edit`: correct one fact."""

from __future__ import annotations

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.provenance.corrections import as_value


@click.command()
@click.argument("place", metavar="PATH:LINE")
@click.argument("text", nargs=-1, required=True)
@click.option("--reason", required=True, metavar="WHY", help="Why it was wrong; goes into the commit.")
@json_option
def command(place: str, text: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Replace the text of the fact at PATH:LINE and commit that alone.

    Its comment, and so its source, stays. The old text is not promoted again.

    \b
    git mem edit MEMORY.md:17 "PoC phase 2 uses gRPC" --reason "decided on 12 March"
    """
    from gitmem.cli.places import place as parse_place
    from gitmem.provenance import corrections

    repo, config = open_here()
    path, line = parse_place(repo, place)
    done = corrections.edit(repo, config, path, line, " ".join(text), reason)
    if as_json:
        write_json(as_value(done))
    else:
        write(f"{done.commit[:12]} {escape(path, '')}:{line}\n")
        say("corrected; the old text will not be promoted again")
