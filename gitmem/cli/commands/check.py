"""`git mem check`: which lines of memory and of agents' instructions are not true of the code any more."""

from __future__ import annotations

import click

from gitmem.cli import completions
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import Exit
from gitmem.plural import counted


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--base",
    default="",
    shell_complete=completions.revisions,
    metavar="REV",
    help="Only what became false since the merge base with REV.",
)
@click.option("--suspect", is_flag=True, help="Also what never stood in history: a look is worth it.")
@json_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], base: str, suspect: bool, as_json: bool) -> None:
    """Say which lines the code has left behind.

    Reads what memory and agents' instructions say of paths, scripts, names and versions at HEAD. Exit 1 when something is gone.

    \b
    git mem check
    git mem check --base origin/main
    """
    from gitmem.claims import documents
    from gitmem.claims.check import check
    from gitmem.claims.finding import State, as_value
    from gitmem.claims.transition import became_false

    repo, config = open_here()
    head = repo.head()
    read = documents.read(repo, head, config.memory_daily, paths) if head else documents.Documents([], [], [])
    if base and head:
        from_commit = repo.merge_base(repo.resolve(base), head) or repo.resolve(base)
        findings, notes = became_false(repo, from_commit, head, read)
    elif head:
        checked = check(repo, head, read)
        findings, notes = [one for one in checked.findings if one.sure or suspect], checked.notes
    else:
        findings, notes = [], []
    for note in notes:
        say(f"note: {note}")
    if as_json:
        write_json(as_value(findings))
    else:
        for one in findings:
            mark = one.state.value if one.sure else "suspect"
            write(escape(f"{one.path}:{one.line}: {mark} {one.kind} {one.claim}: {one.evidence}", "") + "\n")
        say(
            f"{counted(len(read.said), 'claim')} in {counted(len(read.paths), 'file')}, {counted(len(findings), 'finding')}"
        )
    if any(one.sure and one.state is State.GONE for one in findings):
        ctx.exit(Exit.FINDINGS)
