"""`git mem edit`: correct one fact, or set how long it holds."""

from __future__ import annotations

from typing import Any, NamedTuple

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
from gitmem.git.opening import Repository
from gitmem.provenance import corrections, lifetimes
from gitmem.provenance.corrections import Correction


class EditOptions(NamedTuple):
    """The fact and options, as `git mem edit -h` has them.

    `pin`: None leaves the pin as it is. `until`: a day as text or "never"; None leaves the fact's last day as it is.
    `keep`: "pii", or None: personal data is masked.
    """

    place: str
    text: tuple[str, ...]
    reason: str
    supersede: bool
    pin: bool | None
    until: str | None
    over: bool
    keep: str | None
    as_json: bool


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
def command(**arguments: Any) -> None:
    """Replace the text of the fact at PATH:LINE, in one commit.

    Its comment, and so its source, stays. The old text is not promoted again. Personal data is masked unless
    --keep pii; what was masked is said. With --supersede the new fact names the old one and is from today.

    Without TEXT, --pin, --until and --over say how long it stays.

    \b
    git mem edit MEMORY.md:17 "PoC phase 2 uses gRPC" --reason "decided on 12 March"
    git mem edit MEMORY.md:17 --over --reason "phase 1 ended"
    """
    options = EditOptions(**arguments)
    changes = [bool(options.text), options.pin is not None, options.until is not None, options.over]
    if sum(changes) != 1 or (options.supersede and not options.text):
        raise UsageError("what is to become of it?", "give its new TEXT, or one of --pin, --unpin, --until, --over")
    repo, config = open_here()
    path, line = parse_place(repo, options.place)
    if options.text:
        correction = _replace_text(repo, with_kept_data(config, options.keep), (path, line), options)
    else:
        correction = _change_lifetime(repo, config, (path, line), options)
    say_masked(correction.masks)
    if options.as_json:
        write_json(without_secret_lines(correction))
        return
    write(f"{correction.commit[:12]} {escape(path, '')}:{line}\n")
    say_if_detached(repo, correction.commit)
    if options.text:
        say("corrected; the old text will not be promoted again")
    say_rivals(correction.differs, each=False)


def _replace_text(repo: Repository, config: Config, place: tuple[str, int], options: EditOptions) -> Correction:
    """Replace the text of the fact at `place` (path, line), or with --supersede add a fact that supersedes it, and
    commit."""
    text = " ".join(options.text)
    if options.supersede:
        return corrections.supersede(repo, config, place, text, options.reason, now().date())
    return corrections.edit(repo, config, place, text, options.reason, now().date())


def _change_lifetime(repo: Repository, config: Config, place: tuple[str, int], options: EditOptions) -> Correction:
    """Pin or unpin the fact at `place` (path, line), set or remove its last day, or with --over make yesterday its last
    day, and commit."""
    if options.pin is not None:
        plan = lifetimes.pin_plan(config, *place, options.pin, options.reason)
    elif options.until is not None:
        last = parse_date(options.until) if options.until != "never" else None
        plan = lifetimes.until_plan(config, *place, last, options.reason)
    else:
        plan = lifetimes.end_plan(config, *place, now().date(), options.reason)
    return lifetimes.commit_change(repo, place[0], plan)
