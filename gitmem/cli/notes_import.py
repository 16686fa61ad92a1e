"""`git mem import notes`: a folder of notes, an OpenClaw workspace or a Claude memory folder becomes memory here.

`git mem init --from`, the spelling of before, lays a repository out around the same import.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, write, write_json
from gitmem.errors import Exit, GitMemError
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.memory.importing import Plan


class NotesImport(NamedTuple):
    """What is asked of an import of notes."""

    source: Path
    history: bool
    keep: str | None
    verbose: bool
    dry_run: bool
    as_json: bool


def bring_notes(asked: NotesImport) -> int:
    """Import into the memory here; 1 where the gate, or what is there already, left something out."""
    from gitmem.environment import now
    from gitmem.memory.importing import bring, look_at, without_ignored

    repo, config = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository holds no memory files", "run it in a clone")
    config = config._replace(on_personal="keep") if asked.keep else config
    plan = look_at(asked.source, config, os.environ, repo.root)
    plan = without_ignored(repo, replace(plan, history=plan.history and asked.history))
    commit = "" if asked.dry_run else bring(repo, plan, now(), os.environ).commit
    return _tell(plan, asked, repo.root, commit, ())


def bring_into_new(folder: Path, asked: NotesImport, lang: str) -> int:
    """Import into `folder`, which is made a repository where it is none, then lay out what is missing of a memory."""
    from gitmem.config import Config
    from gitmem.environment import now, settings
    from gitmem.errors import NotARepository
    from gitmem.git.opening import discover, open_repository
    from gitmem.git.write import init_repository
    from gitmem.memory.importing import bring, look_at, without_ignored
    from gitmem.memory.new_repository import lay_out, place_for

    folder = folder.absolute()
    try:
        inside = os.path.isdir(folder) and discover(folder, os.environ).root is not None
    except NotARepository:
        inside = False
    config = Config()
    root = folder
    if inside:
        opened = open_repository(folder, os.environ)
        config, root = settings(opened), opened.root or folder
        opened.close()
    config = config._replace(on_personal="keep") if asked.keep else config
    plan = look_at(asked.source, config, os.environ, root)
    plan = replace(plan, history=plan.history and asked.history)
    commit, laid = "", None
    if not inside and not asked.dry_run:
        init_repository(folder, os.environ)
    if inside or not asked.dry_run:
        repo = open_repository(folder, os.environ)
        click.get_current_context().call_on_close(repo.close)
        plan = without_ignored(repo, plan)
    if not asked.dry_run:
        commit = bring(repo, plan, now(), os.environ).commit
        laid = lay_out(place_for(folder, os.environ), os.environ, lang)
    return _tell(plan, asked, root, commit, laid.written if laid else ())


def _tell(plan: Plan, asked: NotesImport, root: Path, commit: str, written: tuple[str, ...]) -> int:
    from gitmem.memory.importing import EXPECTED, as_value

    if asked.as_json:
        write_json(as_value(plan, root, commit, written, asked.dry_run))
    else:
        _show(plan, asked)
    return Exit.FINDINGS if any(reason not in EXPECTED for _, reason in plan.left) else Exit.DONE


def _show(plan: Plan, asked: NotesImport) -> None:
    """What comes along, what does not and what was masked. Files that nobody need look into are named with `verbose`
    only."""
    from gitmem.memory.importing import EXPECTED, masked_places

    would = "would import" if asked.dry_run else "imported"
    for name, to, _ in plan.files if asked.verbose else ():
        write(escape(f"{would} {to}" + (f" (from {name})" if to != name else ""), "") + "\n")
    for name, reason in plan.left:
        if asked.verbose or reason not in EXPECTED:
            write(escape(f"left out {name}: {reason}", "") + "\n")
    for name, masks in plan.masked:
        write(escape(f"masked in {name}: {masked_places(masks)}", "") + "\n")
    if plan.masked:
        first = "" if asked.dry_run else "remove what was masked and "
        write(f"to keep personal data: {first}import again with --keep pii\n")
    if not asked.verbose:
        for reason, number in Counter(reason for _, reason in plan.left if reason in EXPECTED).items():
            write(f"left out {counted(number, 'file')}: {reason}\n")
    shown = f", {counted(plan.pictures, 'picture')} that the gate cannot read among them," if plan.pictures else ""
    history = "with their history" if plan.history else "without history"
    more = "" if asked.verbose else " (-v names all)"
    write(f"{would} {counted(len(plan.files), 'file')}{shown} {history}, {len(plan.left)} left out{more}\n")
    if plan.files and not plan.history and not asked.dry_run:
        write("next: look at them (git status), then git add and git commit\n")
