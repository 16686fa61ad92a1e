"""`git mem revert`: take back every fact that came from a bad source."""

from __future__ import annotations

import click

from gitmem.cli.options import colour_option, json_option, open_here
from gitmem.cli.terminal import colour as coloured
from gitmem.cli.terminal import escape, paint, say, write, write_json
from gitmem.errors import UsageError
from gitmem.plural import counted


@click.command()
@click.option("--source", metavar="PATH[:A-B]", help="Facts taken from that file, or from those lines of it.")
@click.option("--commit", "rev", metavar="REV", help="Facts the commit promoted or added, or took its log lines for.")
@click.option("--agent", metavar="NAME", help="Facts that agent wrote or promoted, or its logs gave.")
@click.option("--session", metavar="NAME", help="Facts taken from that session.")
@click.option("--origin", metavar="NAME", help="Facts whose origin is that: user, agent, tool or web.")
@click.option("--reason", default="", metavar="WHY", help="Why; goes into the commit.")
@click.option("--dry-run", is_flag=True, help="Say what would go, change nothing.")
@colour_option
@json_option
def command(
    source: str | None,
    rev: str | None,
    agent: str | None,
    session: str | None,
    origin: str | None,
    reason: str,
    dry_run: bool,
    colour: str,
    as_json: bool,
) -> None:
    """Remove all facts that derive from one source, in one commit, and keep them from being promoted again.

    A fact that had superseded another one gives that one back. Give one of the options below.

    \b
    git mem revert --source memory/2026-02-05.md:12-14
    git mem revert --agent codex --dry-run
    """
    from gitmem.cli.places import lines as parse_lines
    from gitmem.provenance import corrections
    from gitmem.provenance.corrections import as_value

    repo, config = open_here()
    given = [
        (corrections.By(name), value)
        for name, value in [
            ("source", source), ("commit", rev), ("agent", agent), ("session", session), ("origin", origin),
        ]
        if value
    ]  # fmt: skip
    if len(given) != 1:
        raise UsageError("name one of --source, --commit, --agent, --session, --origin", "git mem revert -h")
    by, value = given[0]
    selector = corrections.Selector(by, value)
    if by is corrections.By.SOURCE:
        path, first, last = parse_lines(repo, value)
        selector = corrections.Selector(by, path, (first, last))
    elif by is corrections.By.COMMIT:
        selector = corrections.Selector(by, repo.resolve(value))
    done = corrections.revert(repo, config, selector, reason, dry_run=dry_run)
    if as_json:
        write_json(as_value(done))
        return
    on = coloured(colour)
    for item in done.taken:
        where = f"{paint(escape(item.path, ''), 'path', on)}:{paint(str(item.fact.line), 'line', on)}"
        write(f"{where}: {paint('-', 'bad', on)} {escape(item.fact.text, '')}\n")
        if item.restored:
            write(f"{where}: {paint('+', 'good', on)} {escape(item.restored, '')}\n")
    count = len(done.taken)
    facts = counted(count, "fact")
    if not count:
        say(f"no fact comes from {selector}")
    elif dry_run:
        say(f"{facts} would go; nothing was changed")
    else:
        say(f"{facts} taken back in {done.commit[:12]}; they will not be promoted again")
