"""`git mem insight`: write one dated finding about an entity, as the last step of a pipeline."""

from __future__ import annotations

import click

from gitmem.claims.anchoring import citation_pairs
from gitmem.cli.options import agent_option, cites_option, json_option, keep_option, open_here, with_kept_data
from gitmem.cli.terminal import escape, say_masked, write, write_json
from gitmem.environment import now
from gitmem.memory import insights


@click.command()
@click.argument("text", nargs=-1, required=True)
@agent_option()
@cites_option()
@keep_option()
@click.option("--dry-run", is_flag=True, help="Say what would be written; write nothing.")
@json_option
def command(
    text: tuple[str, ...], agent: str, cites: tuple[str, ...], keep: str | None, dry_run: bool, as_json: bool
) -> None:
    """Put '[ENTITY] TEXT' first under "Insights" in MEMORY.md.

    An entity gets one insight a day: a second one is not written. The newest 50 stay, older ones go to
    memory/archive/YYYY.md. Data with holes (`?`, 0.00, unknown, N/A, {placeholder}, a field without a value) is
    refused, with what is missing. Nothing is committed. Personal data is masked unless --keep pii; what was masked is
    said.

    \b
    git mem insight '[ACME] margin fell to 3 % in Q2'
    """
    repo, config = open_here()
    config = with_kept_data(config, keep)
    recorded = insights.record(
        repo, config, " ".join(text), now(), agent=agent, extra_meta=citation_pairs(repo, cites), dry_run=dry_run
    )
    say_masked(recorded.masks)
    if as_json:
        write_json(recorded)
    elif recorded.reason:
        write(escape(f"nothing written: {recorded.reason}\n"))
    else:
        write(escape(f"{'would write ' if dry_run else ''}{insights.MEMORY}:{recorded.line}\n"))
