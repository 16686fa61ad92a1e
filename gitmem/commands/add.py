"""`git mem add`: write one line of memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gitmem.commands._edge import json_option, now, open_here
from gitmem.comment import ORIGINS, TYPES
from gitmem.output import write, write_json

if TYPE_CHECKING:
    from gitmem.journal import Added


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--type", "kind", type=click.Choice(TYPES), metavar="TYPE", help=f"One of {', '.join(TYPES)}.")
@click.option("--to", default="auto", metavar="PLACE", help="auto (by type), daily, memory, or a path.")
@click.option("--agent", default="", help="Who writes: its own daily log (mem.agent).")
@click.option("--origin", type=click.Choice(ORIGINS), help="Whose words; tool and web are never promoted unseen.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--topic", default="", help="Heading of the log's section: `## HH:MM - TOPIC`.")
@json_option
def command(
    text: tuple[str, ...],
    kind: str | None,
    to: str,
    agent: str,
    origin: str | None,
    tags: tuple[str, ...],
    topic: str,
    as_json: bool,
) -> None:
    """Append TEXT to today's log, or to MEMORY.md when its type is lasting; print where it stands.

    A secret or an instruction aimed at the model is refused (exit 1); with `mem.onSecret=mask` secrets are masked
    instead, as personal data always is. Nothing is committed. TEXT `-` reads standard input.

    \b
    git mem add "deployed v2.3.0 to staging"
    git mem add --type decision "We use REST webhooks: easier to debug"
    """
    from gitmem import journal

    repo, config = open_here()
    words = " ".join(text)
    if words == "-":
        words = sys.stdin.buffer.read().decode("utf-8", "replace")
    added = journal.add(
        repo, config, words, now=now(), kind=kind or "", to=to, agent=agent, origin=origin or "", tags=tags, topic=topic
    )
    if as_json:
        write_json(as_value(added))
    else:
        write(f"{added.path}:{added.line}\n")


def as_value(added: Added) -> dict[str, object]:
    """The JSON of docs/json.md, "add"."""
    return {"path": added.path, "line": added.line, "text": added.text}
