"""`git mem edit`: correct one fact, or set how long it holds."""

from __future__ import annotations

import click

from gitmem.cli import completions
from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import json_option, keep_option, open_here, say_if_detached, with_kept_data
from gitmem.cli.places import parse_place
from gitmem.cli.terminal import escape, say, say_masked, say_rivals, write, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import UsageError
from gitmem.gate.exceptions import parse_date
from gitmem.provenance import corrections, lifetimes
from gitmem.provenance.lifetimes import Plan


@click.command()
@click.argument("place", metavar="PATH:LINE", shell_complete=completions.paths)
@click.argument("text", nargs=-1)
@click.option("--reason", required=True, metavar="WHY", help="Why; goes into the commit.")
@click.option("--supersede", is_flag=True, help="TEXT is true from today; what it replaces was true until now.")
@click.option("--pin/--unpin", default=None, help="Have no promotion archive it, or take that back.")
@click.option("--until", metavar="DAY", help="The last day on which it is true, YYYY-MM-DD; 'never' for none.")
@click.option("--over", is_flag=True, help="It is not true any more: yesterday was its last day.")
@keep_option()
@json_option
def command(
    place: str, text: tuple[str, ...], reason: str, supersede: bool, pin: bool | None, until: str | None, over: bool,
    keep: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Replace the text of the fact at PATH:LINE, in one commit.

    Its comment, and so its source, stays. The old text is not promoted again. Personal data is masked unless
    --keep pii; what was masked is said. With --supersede the new fact names the old one and is from today.

    Without TEXT, --pin, --until and --over say how long it stays.

    \b
    git mem edit MEMORY.md:17 "PoC phase 2 uses gRPC" --reason "decided on 12 March"
    git mem edit MEMORY.md:17 --over --reason "phase 1 ended"
    """
    changes = [bool(text), pin is not None, until is not None, over]
    if sum(changes) != 1 or (supersede and not text):
        raise UsageError("what is to become of it?", "give its new TEXT, or one of --pin, --unpin, --until, --over")
    repo, config = open_here()
    path, line = parse_place(repo, place)
    if text:
        change = corrections.supersede if supersede else corrections.edit
        kept = with_kept_data(config, keep)
        correction = change(repo, kept, (path, line), " ".join(text), reason, now().date())
    else:
        plan = _lifetime_plan(config, path, line, pin, until, reason)
        correction = lifetimes.commit_change(repo, path, plan)
    say_masked(correction.masks)
    if as_json:
        write_json(without_secret_lines(correction))
        return
    write(f"{correction.commit[:12]} {escape(path, '')}:{line}\n")
    say_if_detached(repo, correction.commit)
    if text:
        say("corrected; the old text will not be promoted again")
    say_rivals(correction.differs, each=False)


def _lifetime_plan(config: Config, path: str, line: int, pin: bool | None, until: str | None, reason: str) -> Plan:
    """The plan that pins or unpins a fact, sets or removes its last day ("never"), or makes yesterday its last day.
    `pin`, `until`: None if the option was not given; without both the fact is over."""
    if pin is not None:
        return lifetimes.pin_plan(config, path, line, pin, reason)
    if until is not None:
        last = parse_date(until) if until != "never" else None
        return lifetimes.until_plan(config, path, line, last, reason)
    return lifetimes.end_plan(config, path, line, now().date(), reason)
