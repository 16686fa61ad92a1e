"""`git mem index`: bring the search index up to date, build it again, or drop what nothing reaches."""

from __future__ import annotations

import click

from gitmem.cli import index_hooks
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import ProgressLine, say, write, write_json
from gitmem.errors import Exit, UsageError
from gitmem.plural import counted


@click.command()
@click.option("--full", is_flag=True, help="Parse everything again; vectors of unchanged text are kept.")
@click.option("--rev", "revs", multiple=True, metavar="REV", help="Index this commit's files too; repeatable.")
@click.option("--prune", is_flag=True, help="Drop what no ref and no work tree reaches.")
@click.option("--hook", is_flag=True, help="As from a Git hook: quiet, quick, exit 0, problems go to a log.")
@json_option
def command(full: bool, revs: tuple[str, ...], prune: bool, hook: bool, as_json: bool) -> int:
    """Bring the search index up to date.

    It then holds the work tree, HEAD and the local branches. Searches do this by themselves; hooks and this command
    only make their part smaller. The index is disposable: it lies in `gitmem/` of the Git directory and is built from
    Git at any time. Exit 3 when not all could be indexed.
    """
    if hook:
        index_hooks.refresh_in_process("index")
        return Exit.DONE
    from gitmem.index import indexer  # a hook with mem.autoIndex=false needs none

    if prune and (full or revs):
        raise UsageError("--prune stands alone", "git mem index --prune")
    repo, config = open_here()
    if prune:
        work = indexer.prune(repo)
    else:
        line = ProgressLine()
        try:
            work = indexer.refresh(repo, config, full=full, revs=revs, say=line.say)
        finally:
            line.clear()
    for note in work.notes:
        say(f"note: {note}")
    if as_json:
        write_json(work)
    elif prune:
        files = counted(work.removed_blobs, "version")
        write(f"dropped {files} of files and {counted(work.removed_chunks, 'chunk')}\n")
    elif work.blobs or work.embedded or work.commits:
        chunks = counted(work.chunks, "new chunk")
        write(f"indexed {counted(work.blobs, 'file')}: {chunks}, {work.embedded} embedded\n")
        if work.commits:
            write(f"indexed {counted(work.commits, 'commit')}\n")
    elif not work.unfinished:
        write("the index is current\n")
    if work.unfinished:
        say(f"git mem: not all is indexed: {work.unfinished}")
        return Exit.CANNOT_RUN
    return Exit.DONE
