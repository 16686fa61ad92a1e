"""`git mem log`: show the daily logs, day by day."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import at_option, colour_option, commit_at, day_option, json_option, open_here
from gitmem.cli.terminal import escape, first_names, page, paint, say, uses_colour, write_json
from gitmem.environment import now
from gitmem.memory import timeline
from gitmem.memory.fact import normalise
from gitmem.memory.snapshot import sparse_memory_paths, words_on_sparse_checkout
from gitmem.paths import agent_name
from gitmem.plural import counted
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.text.named_times import first_day, last_day

MAX_NAMED = 2  # files with a title that are named


@click.command()
@day_option("--since", "From that day on: 2026-02-05, last week, 3일 전.")
@day_option("--until", "Up to and with that day.")
@click.option("--agent", default="", metavar="NAME", help="That agent's logs only.")
@at_option("As committed there; default: the work tree.")
@click.option("-n", "--limit", "count", type=click.IntRange(1), metavar="DAYS", help="The newest DAYS days only.")
@colour_option
@json_option
def command(since: str, until: str, agent: str, at: str, count: int | None, colour: str, as_json: bool) -> None:
    """Show the daily logs, newest day first.

    Each day comes with the facts that were promoted from it. A line with a secret is hidden.

    \b
    git mem log -n 7
    git mem log --since 2026-02-01 --until 2026-02-28 --agent codex
    """
    repo, config = open_here()
    moment = now()
    commit = commit_at(repo, at, moment)
    days = timeline.timeline(
        repo,
        since=first_day(since, moment),
        until=last_day(until, moment),
        agent=agent_name(agent),
        rev=commit,
        daily=config.memory_daily,
        forgotten=forgotten_texts(repo),
    )[:count]
    days = without_secret_lines(days)
    outside = [] if commit else sparse_memory_paths(repo, config.memory_paths)
    if note := words_on_sparse_checkout(len(outside)):
        say(f"note: {note}")
    titled = timeline.titled_days(
        repo, since=first_day(since, moment), until=last_day(until, moment), rev=commit, daily=config.memory_daily
    )
    if titled and not agent:
        left_out = f"{counted(len(titled), 'episode is', 'episodes are')} left out: {first_names(titled, MAX_NAMED)}"
        say(escape(f"note: {left_out} (a log is named by its day alone; git mem search finds both)", ""))
    if as_json:
        write_json({"days": days})
        return
    page(render(days, uses_colour(colour)), wrap=True)
    if not days and (since or until or agent):
        say("no daily log here in that time")
    elif not days:
        say("no daily log here")


def render(days: Sequence[timeline.Day], in_colour: bool) -> str:
    """The logs of each day, section by section, then the facts that were promoted from them; a blank line between two
    days."""
    rows: list[str] = []
    for number, day in enumerate(days):
        rows += [""] * bool(number) + [paint(f"{day.day.isoformat()} {day.day:%A}", "heading", in_colour)]
        for log in day.logs:
            for section in log.sections:
                title = " ".join(filter(None, (section.time, section.topic)))
                agent_note = f" [{log.agent}]" if log.agent else ""
                place = paint(escape(f"{log.path}:{section.start_line}", ""), "dim", in_colour)
                rows.append(f"  {escape(title, '')}{escape(agent_note, '')}  {place}")
                rows += [f"    {escape(normalise(line), '')}" for line in section.lines]
        for path, fact in day.facts:
            arrow, place = paint("=>", "good", in_colour), paint(escape(f"{path}:{fact.line}", ""), "dim", in_colour)
            rows.append(f"  {arrow} {escape(fact.text, '')}  {place}")
    return "".join(f"{row}\n" for row in rows)
