"""`git mem receipts`: show what sessions were given of memory, and how many tokens and milliseconds it took."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitmem.cli.options import colour_option, day_option, json_option, open_here
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write_json
from gitmem.environment import now
from gitmem.sessions import receipts
from gitmem.text.named_times import first_day

COLUMNS = f"{'began':<16}  {'session':<24}  contexts  searches    tokens  median ms"
MAX_FACTS = 5  # facts shown of each list: given most often, never given
MAX_SESSIONS = 20  # sessions shown, the newest


@click.command()
@click.option("--session", default="", metavar="S", help="Of this session alone.")
@day_option("--since", "From this day on.")
@colour_option
@json_option
def command(session: str, since: str, colour: str, as_json: bool) -> None:
    """Show what sessions were given of memory.

    Says when, how much and how fast; which facts were given most often, and which never. A line of the file is a
    context of a host's hooks, of `context --transcript` or of the MCP server, or one of its searches. It holds no text.
    `mem.contextCeiling` bounds what one session is given.
    """
    repo, config = open_here()
    records = receipts.read(repo.common_dir, session, first_day(since, now()))
    if as_json:
        write_json(receipts.recall(repo, config, records))
        return
    total = receipts.totals(records)
    most, never = receipts.recalled_without_blocked(repo, config, total.counts)
    if not records:
        say(
            "no receipts yet: they are written where a host's hooks or the MCP server ask memory "
            "(git mem install --agent HOST)"
        )
        return
    in_colour = uses_colour(colour)
    rows = [paint(COLUMNS, "heading", in_colour), *(escape(row, "") for row in _sessions(records))]
    rows += ["", paint(f"Tokens by layer, {total.tokens_a_day} tokens a day", "heading", in_colour)]
    rows += [f"  {layer:<12} {count:>9,}" for layer, count in sorted(total.tokens.items(), key=lambda row: -row[1])]
    for title, facts in (("Given most often", most), ("Never given", never)):
        if facts:
            rows += ["", paint(title, "heading", in_colour)]
            for fact in facts[:MAX_FACTS]:
                times = f"{total.counts[fact.id]}x" if fact.id in total.counts else ""
                place = paint(f"MEMORY.md:{fact.line}", "path", in_colour)
                rows.append(f"  {place}  {times:<4} {escape(fact.text, '')}")
            if len(facts) > MAX_FACTS:
                rows += [f"  and {len(facts) - MAX_FACTS} more"]
    page("".join(f"{row}\n" for row in rows), wrap=True)


def _sessions(records: Sequence[receipts.Receipt]) -> list[str]:
    """The rows of the table, under COLUMNS, of the last MAX_SESSIONS sessions."""
    rows = []
    for name, of_session in list(receipts.by_session(records).items())[-MAX_SESSIONS:]:
        searches = sum(receipt.kind == "search" for receipt in of_session)
        middle = sorted(receipt.milliseconds for receipt in of_session)[len(of_session) // 2]
        tokens = sum(receipt.total for receipt in of_session)
        counts = f"{len(of_session) - searches:>8}  {searches:>8}  {tokens:>8,}  {middle:>9,}"
        rows.append(f"{of_session[0].at:%Y-%m-%d %H:%M}  {name[:24]:<24}  {counts}")
    return rows
