"""`git mem forget`: remove one fact, and with `--everywhere` all lines that say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gitmem.cli import completions
from gitmem.cli.options import json_option, open_here, say_if_detached
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.provenance.corrections import Correction
    from gitmem.provenance.erasure import Erasure

SHOWN = 10  # lines named that still say what was forgotten
HISTORY = "history, other branches and other clones still hold it"


@click.command()
@click.argument("place", metavar="PATH:LINE", shell_complete=completions.paths)
@click.option("--reason", required=True, metavar="WHY", help="Why it goes; goes into the commit.")
@click.option("--everywhere", is_flag=True, help="Also from logs, episodes, archives and notes that say it.")
@click.option("--dry-run", is_flag=True, help="Say what would go, change nothing.")
@json_option
def command(place: str, reason: str, everywhere: bool, dry_run: bool, as_json: bool) -> None:
    """Remove the fact at PATH:LINE, in one commit.

    It is not promoted again. With --everywhere the same commit removes each line of memory that says it word for word,
    and the log lines it was taken from; in a line that says more, only the text becomes [forgotten].

    History still holds the text, as Git does: for a leaked secret see docs/leaked-secret.md.

    \b
    git mem forget MEMORY.md:17 --reason "she asked us to"
    git mem forget MEMORY.md:17 --everywhere --dry-run --reason "she asked us to"
    """
    from gitmem.cli.places import place as parse_place
    from gitmem.provenance import corrections, erasure
    from gitmem.provenance.remaining_copies import remaining_lines

    repo, config = open_here()
    path, line = parse_place(repo, place)
    if everywhere:
        from gitmem.sessions.working_memory import drop_saying

        erased = erasure.forget_everywhere(repo, config, path, line, reason, dry_run=dry_run)
        texts = [item.fact.text for item in erased.correction.taken]
        values = [] if dry_run else drop_saying(repo.common_dir, texts)
        if as_json:
            write_json({**erasure.erasure_value(erased), "session_values": values})
        else:
            _tell_erasure(erased, dry_run)
            for key in values:
                say(f"the session value {escape(key, '')} said it, and is dropped")
        return
    done = corrections.forget(repo, config, path, line, reason, dry_run=dry_run)
    if as_json:
        write_json(corrections.as_value(done))
    elif dry_run:
        write("".join(f"{escape(item.path, '')}:{line}: - {escape(item.fact.text, '')}\n" for item in done.taken))
        say(f"1 fact would go{_below(done)}; nothing was changed")
    else:
        say_if_detached(repo, done.commit)
        _tell(done, path, line, [place for item in done.taken for place in remaining_lines(repo, config, item)])


def _tell(done: Correction, path: str, line: int, remaining: Sequence[tuple[str, int]]) -> None:
    write(f"{done.commit[:12]} {escape(path, '')}:{line}\n")
    say(f"forgotten{_below(done)}; it will not be promoted again, and history and other clones still hold it")
    if remaining:
        say(f"search still finds it in {_places(remaining)}")
        say("hint: take these lines out by hand (next time: --everywhere); the commit of a daily log needs the trailer")
        say("Memory-Rewrite: <why>")


def _below(done: Correction) -> str:
    """What went with the facts, in words."""
    below = [fact for item in done.taken for fact in item.below]
    lines = ", ".join(str(fact.line) for fact in below[:SHOWN]) + (", ..." if len(below) > SHOWN else "")
    return f", with the {counted(len(below), 'fact')} below it (line {lines})" if below else ""


def _tell_erasure(done: Erasure, dry_run: bool) -> None:
    oid = done.correction.commit[:12]
    for row in done.lines:
        place = f"{escape(row.path, '')}:{row.line}"
        write(f"{place}: {row.change} {escape(row.text, '')}\n" if dry_run else f"{oid} {place} {row.change}\n")
    count = counted(len(done.lines), "line")
    if dry_run:
        say(f"{count} would go or be masked; nothing was changed")
    else:
        say(f"forgotten in {count}; it will not be promoted again, and {HISTORY}")
    if done.left:
        say(f"left as they are: {_places([(row.path, row.line) for row in done.left])}")
        say("hint: these are other facts that say more, sources of other facts, or instruction files")


def _places(places: Sequence[tuple[str, int]]) -> str:
    shown = ", ".join(f"{path}:{number}" for path, number in places[:SHOWN])
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return escape(f"{shown}{more}", "")
