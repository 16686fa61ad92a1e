"""`git mem init`: lay out a memory repository."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gitmem.commands._edge import json_option
from gitmem.output import escape, write, write_json
from gitmem.templates import LANGUAGES


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--lang", type=click.Choice(sorted(LANGUAGES)), help="Language of the templates (default: the locale's).")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@json_option
def command(folder: Path, lang: str | None, dry_run: bool, as_json: bool) -> None:
    """Lay out a memory repository in FOLDER (here, or a new folder).

    Runs `git init` where there is no repository, writes MEMORY.md, SOUL.md, USER.md, AGENTS.md, TOOLS.md, memory/
    and .gitattributes. Never overwrites, never commits, installs no hooks (`git mem install` does).
    """
    from gitmem.layout import lay_out

    done = lay_out(folder, os.environ, lang or _locale(), dry_run=dry_run)
    if as_json:
        write_json(
            {"root": str(done.root), "initialised": done.initialised, "written": list(done.written),
             "kept": list(done.kept), "dry_run": dry_run}
        )  # fmt: skip
        return
    would = "would " if dry_run else ""
    if done.initialised:
        write(escape(f"{would}git init {done.root}\n"))
    for path in done.written:
        write(escape(f"{would}write {path}\n"))
    for path in done.kept:
        write(escape(f"keep  {path} (it is there already)\n"))
    if not dry_run:
        write('next: git mem install; git mem add "..."; git add -A; git commit\n')


def _locale() -> str:
    value = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "ko" if value.startswith("ko") else "en"
