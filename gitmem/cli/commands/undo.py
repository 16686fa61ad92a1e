"""`git mem undo`: take back the last write of git mem in this work tree."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitmem.cli.hidden_secrets import say_hidden
from gitmem.cli.options import json_option, open_here, say_if_detached
from gitmem.cli.terminal import can_ask, escape, say, write, write_json
from gitmem.errors import NotKept
from gitmem.gate.changes.rewrite_trailer import REWRITE_TRAILER
from gitmem.gate.quoting import HIDDEN
from gitmem.json_values import json_object
from gitmem.plural import counted
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.ledger import PROMOTES
from gitmem.provenance.undo import Undo, drop_last_record, last_write, rewrites, undo, without_forgotten
from gitmem.shell_word import shell_words

MAX_LINES = 20  # lines shown of a file
MAX_LINES_OF_NEW_FILE = 4  # lines shown of a new file, where the write made more than MANY_FILES
MANY_FILES = 3  # files
MAX_NAMED_PATHS = 3  # paths in the command that commits them


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be taken back, change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal nothing is asked.")
@json_option
def command(dry_run: bool, yes: bool, as_json: bool) -> int:
    """Take back the last thing that git mem wrote in this work tree.

    What was not committed goes out of the files again; what was committed is reverted by a commit of its own. On a
    terminal it shows what goes and asks first; elsewhere it acts at once, as every command does that changes memory.
    Again, it takes back the one before, twenty at most; what one command wrote goes together. What was written on
    another branch (`promote --branch`) is taken back on that branch. A file that was changed since is never touched. A
    `no` to the question ends with 1. What `redact` masked does not come back.

    \b
    git mem undo --dry-run
    git mem undo --yes
    """
    repo, config = open_here()
    try:
        plan = last_write(repo)
    except NotKept as error:
        if not dry_run:
            drop_last_record(repo)
        raise NotKept(error.message, "git mem undo once more takes back what was written before it") from None
    forgotten = forgotten_texts(repo)
    if not as_json:
        _show(without_forgotten(plan, forgotten))
    if any(line[2:] == HIDDEN for file in plan.files for line in file.lines):
        say_hidden()
    asks = not (dry_run or yes or as_json) and can_ask()
    if asks and not click.confirm("take this back?", err=True):
        say("nothing was changed")
        return 1
    undone = plan if dry_run else undo(repo, config, plan)
    if as_json:
        write_json({**json_object(without_forgotten(undone, forgotten)), "dry_run": dry_run})
    elif dry_run:
        say("nothing was changed")
    else:
        branch_note = f" on '{undone.branch}'" if undone.branch else ""
        place = f"commit {undone.commit[:12]}{branch_note}" if undone.commit else "the work tree"
        say(f"taken back in {place}")
        say_if_detached(repo, undone.commit if not undone.branch else "")
        if undone.committed_since:
            committed = [file for file in undone.files if file.path in undone.committed_since]
            rewrite = any(rewrites(file, config) for file in committed)
            commit_command = _commit_of(undone.committed_since, rewrite=rewrite)
            say(f"HEAD still has it: {commit_command} takes it out there")
        if undone.merge:
            say(f"the branch counts as merged: git revert {undone.commit[:12]} brings it back")
        if undone.subject.startswith(PROMOTES):
            say("git mem promote offers these facts again")
    return 0


def _since(plan: Undo) -> str:
    """A phrase that says whether a write that was not committed by git-mem was committed by hand later."""
    if not plan.committed_since:
        return "not committed"
    extent = "" if len(plan.committed_since) == len(plan.files) else " in part"
    return f"committed by hand since{extent}, in {', '.join(oid[:12] for oid in plan.committed_in)}"


def _commit_of(paths: Sequence[str], *, rewrite: bool) -> str:
    """The command that commits these files as they are now; for many files, one that commits all changed files.
    `rewrite`: the gate asks for a reason."""
    commit_command = "git commit"
    if rewrite:
        commit_command += f" --trailer '{REWRITE_TRAILER}: undone'"
    if len(paths) <= MAX_NAMED_PATHS:
        return f"{commit_command} -- {shell_words(paths)}"
    return f"{commit_command} -a"


def _show(plan: Undo) -> None:
    """Print the write and the lines that would be taken back."""
    description = _since(plan)
    if plan.commits:
        description = f'{plan.commits[0][:12]} "{plan.subject}"'
    if plan.branch:
        description += f" on '{plan.branch}'"
    write(escape(f"written {plan.at}, {description}\n"))
    for file in plan.files:
        lines, limit, is_new = file.lines, MAX_LINES, file.then is None
        if is_new and len(plan.files) > MANY_FILES:
            limit = MAX_LINES_OF_NEW_FILE
        write(escape(f"{file.path}{' (the file goes)' if is_new else ''}\n"))
        for line in lines[:limit]:
            write(f"  {escape(line, '')}\n")
        if len(lines) > limit:
            write(f"  and {counted(len(lines) - limit, 'line')} more\n")
