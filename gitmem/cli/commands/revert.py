"""`git mem revert`: remove every fact that came from one source."""

from __future__ import annotations

from collections.abc import Mapping

import click

from gitmem.cli import completions
from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import colour_option, json_option, open_here
from gitmem.cli.places import parse_lines
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write, write_json
from gitmem.errors import UsageError
from gitmem.git.opening import Repository
from gitmem.plural import counted
from gitmem.provenance import corrections
from gitmem.provenance.facts_of_source import By, Selector


@click.command()
@click.option(
    "--source",
    metavar="PATH[:A-B]",
    shell_complete=completions.paths,
    help="Facts taken from that file, or from those lines of it.",
)
@click.option("--commit", "rev", metavar="REV", help="Facts the commit promoted or added, or took its log lines for.")
@click.option("--agent", metavar="NAME", help="Facts that agent wrote or promoted, or its logs gave.")
@click.option("--session", metavar="NAME", help="Facts taken from that session.")
@click.option("--origin", metavar="NAME", help="Facts whose origin is that: user, agent, tool or web.")
@click.option("--reason", default="", metavar="WHY", help="Why; goes into the commit.")
@click.option("--dry-run", is_flag=True, help="Say what would go, change nothing.")
@colour_option
@json_option
def command(
    source: str | None, rev: str | None, agent: str | None, session: str | None, origin: str | None, reason: str,
    dry_run: bool, colour: str, as_json: bool,
) -> None:  # fmt: skip
    """Remove all facts that derive from one source, in one commit.

    They are not promoted again. A fact that had superseded another one gives that one back. Give one of the options
    below.

    \b
    git mem revert --source memory/2026-02-05.md:12-14
    git mem revert --agent codex --dry-run
    """
    repo, config = open_here()
    values = {By.SOURCE: source, By.COMMIT: rev, By.AGENT: agent, By.SESSION: session, By.ORIGIN: origin}
    selector = _selector(repo, {kind: value for kind, value in values.items() if value})
    correction = without_secret_lines(corrections.revert(repo, config, selector, reason, dry_run=dry_run))
    if as_json:
        write_json(correction)
    else:
        _show(correction, selector, uses_colour(colour), dry_run)


def _selector(repo: Repository, chosen: Mapping[By, str]) -> Selector:
    """The source that the options `chosen` name: a file or lines of it, a commit, an agent, a session or an origin.
    Raises UsageError unless they name exactly one, UnknownRevision for an unknown commit, and what `places.parse_lines`
    raises for an invalid place."""
    if len(chosen) != 1:
        raise UsageError("name one of --source, --commit, --agent, --session, --origin", "git mem revert -h")
    ((kind, value),) = chosen.items()
    if kind is By.SOURCE:
        path, first, last = parse_lines(repo, value)
        return Selector(kind, path, (first, last))
    if kind is By.COMMIT:
        return Selector(kind, repo.resolve(value))
    return Selector(kind, value)


def _show(correction: corrections.Correction, selector: Selector, in_colour: bool, dry_run: bool) -> None:
    """Print each removed fact and the fact that was restored for it; on standard error how many were removed."""
    rows = []
    for item in correction.removals:
        place = f"{paint(escape(item.path, ''), 'path', in_colour)}:{paint(str(item.fact.line), 'line', in_colour)}"
        rows.append(f"{place}: {paint('-', 'bad', in_colour)} {escape(item.fact.text, '')}\n")
        if item.restored:
            rows.append(f"{place}: {paint('+', 'good', in_colour)} {escape(item.restored, '')}\n")
    if dry_run:
        page("".join(rows))
    else:
        write("".join(rows))
    facts = counted(len(correction.removals), "fact")
    if not correction.removals:
        say(f"no fact comes from {selector}")
    elif dry_run:
        say(f"{facts} would go; nothing was changed")
    else:
        they = "it" if len(correction.removals) == 1 else "they"
        say(f"{facts} taken back in {correction.commit[:12]}; {they} will not be promoted again")
