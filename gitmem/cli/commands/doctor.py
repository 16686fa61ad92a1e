"""`git mem doctor`: compare the index with Git; say what is wrong and what to type."""

from __future__ import annotations

from dataclasses import asdict

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit


@click.command()
@click.option("--repair", is_flag=True, help="Put back what a killed run wrote; build an index that is wrong again.")
@json_option
def command(repair: bool, as_json: bool) -> int:
    """Compare the index with Git: tree, chunks, words and vectors; exit 1 where they differ.

    Every memory file is read and parsed again, and what is stored must be what comes out. Also whether the gate
    stands as it was put up: hooks, pinned revisions, modes, exceptions, settings; and what a run that was killed has
    left, Git's locks and a merge that has not ended.
    """
    from gitmem.cli.commands.install import hooks_folder
    from gitmem.gate import setup_checks
    from gitmem.git.transaction import writer
    from gitmem.index import doctor, index_file, indexer

    repo, config = open_here()
    if repair and repo.root is not None:
        with writer(repo) as undone:
            for path in undone:
                say(f"{path} is as it was before a run that was killed")
    checks = doctor.examine(repo, config)
    if repair and any(check.wrong for check in checks):
        say("deleting the index and building it again")
        index_file.discard(repo)
        indexer.refresh(repo, config)
        checks = doctor.examine(repo, config)
    checks += doctor.unfinished(repo)
    checks += setup_checks.examine(repo, config, hooks_folder(repo), now().date())
    wrong = [check for check in checks if check.wrong]
    if as_json:
        write_json({"ok": not wrong, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            detail = check.wrong or check.detail
            line = f"{'wrong' if check.wrong else 'ok':5}  {check.name}{': ' if detail else ''}{detail}"
            write(escape(line) + "\n")
            if check.wrong and check.hint:
                write(escape(f"       {check.hint}") + "\n")
    return Exit.FINDINGS if wrong else Exit.DONE
