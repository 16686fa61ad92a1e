"""`git mem sync`: make a branch of this clone and of a remote equal."""

from __future__ import annotations

import sys

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, first_names, say, say_rivals, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError
from gitmem.exchange import sync_timer
from gitmem.exchange.sync import Synced, remote_of, sync
from gitmem.plural import counted

MAX_NAMED_PATHS = 5  # paths in a sentence


@click.command()
@click.argument("remote", default="")
@click.option("--commit", is_flag=True, help="Commit the memory files that are not committed first, and nothing else.")
@click.option("--dry-run", is_flag=True, help="Fetch and say what would come and go; change nothing.")
@click.option("--quiet", is_flag=True, help="Say nothing where nothing came or went, and nothing is to be done.")
@click.option(
    "--timer", type=click.Choice(sync_timer.TIMERS), help="Print what to type to have it run by itself; run nothing."
)
@click.option(
    "--every",
    type=click.IntRange(1, 10_000),
    default=sync_timer.MINUTES,
    show_default=True,
    metavar="MINUTES",
    help="For --timer.",
)
@json_option
def command(remote: str, commit: bool, dry_run: bool, quiet: bool, timer: str | None, every: int, as_json: bool) -> int:
    """Make this branch and the one of its name at REMOTE equal.

    It fetches, merges fact by fact, scans and pushes. REMOTE is the branch's own, else origin. Nothing is ever forced,
    and no file with edits is overwritten. Where both sides changed the same text of memory, the remote's stands, and
    yours is on a branch memory/conflict-... that is pushed too; the command says so and ends with 1. Without a network
    it ends with 0 and says how many commits wait.

    \b
    git mem sync
    git mem sync --commit                 # what agents wrote meanwhile too
    git mem sync --timer systemd | sh     # every 15 minutes, by itself
    """
    repo, config = open_here()
    if timer:
        if repo.root is None:
            raise GitMemError("a bare repository has nothing to sync", "run it in a clone")
        name = remote_of(repo, remote, unattended=True).name if remote else ""
        write(sync_timer.timer(timer, repo.root, sys.executable, every, name))
        return Exit.DONE
    chosen = remote_of(repo, remote, unattended=not sys.stdin.isatty())
    synced = sync(repo, config, chosen, today=now().date(), python=sys.executable, commit=commit, dry_run=dry_run)
    if as_json:
        write_json(synced)
    else:
        _say(synced, quiet)
    return Exit.findings_if(synced.state in ("conflict", "uncommitted") or synced.kept)


def _say(synced: Synced, quiet: bool) -> None:
    """Print on standard error what was received and sent, or why nothing was. `quiet`: print nothing if nothing
    changed."""
    name = escape(f"{synced.remote}/{synced.branch}", "")
    if synced.state == "offline":
        say(f"offline: {counted(synced.waiting, 'commit')} for {name} will go next time")
        say(f"  {escape(synced.reason, '')}")
    elif synced.state == "conflict":
        say(f"nothing was merged: {_names(synced.paths)} changed here and at {name}, and is no memory")
        say(f"hint: git pull {escape(synced.remote, '')} {escape(synced.branch, '')}, settle it, then git mem sync")
    elif synced.state == "uncommitted":
        say(f"nothing was merged: {_names(synced.paths)} is edited or not committed here, and {name} has it too")
        if set(synced.paths) <= set(synced.uncommitted):
            say("hint: git mem sync --commit")
        else:
            say("hint: commit it, or move it away, then git mem sync")
    elif synced.received or synced.sent or not quiet:
        prefix = "would be " if synced.state == "would sync" else ""
        if synced.received or synced.sent:
            received, sent = counted(synced.received, "commit"), counted(synced.sent, "commit")
            say(f"{name}: {received} {prefix}received, {sent} {prefix}sent")
        else:
            say(f"{name}: nothing new on either side")
    files_note = f" of {_names(synced.paths)}" if synced.paths else ""
    for branch in synced.kept:
        say(f"both sides changed the same text{files_note}: theirs stands, yours is on {branch}")
        say(f"hint: git diff HEAD {branch}; git merge {branch} takes yours instead")
    say_rivals(synced.differs)
    if synced.uncommitted and synced.state in ("synced", "would sync", "offline"):
        say(f"{counted(len(synced.uncommitted), 'memory file')} not committed, and so not sent: git mem sync --commit")


def _names(paths: tuple[str, ...]) -> str:
    """At most MAX_NAMED_PATHS of the paths in quotation marks, and the number of the others."""
    return escape(first_names([f"'{path}'" for path in paths], MAX_NAMED_PATHS), "")
