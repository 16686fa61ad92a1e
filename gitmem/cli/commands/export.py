"""`git mem export`: write memory in formats that other programs read."""

from __future__ import annotations

from pathlib import Path

import click

from gitmem.cli.options import at_option, commit_at, json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.exchange import okf_export
from gitmem.exchange.new_folder import ensure_free, write_new_folder
from gitmem.git.repository import Repository
from gitmem.memory.snapshot import read_work_tree
from gitmem.paths import is_memory
from gitmem.plural import counted
from gitmem.shell_word import shell_word

# What cannot be exported because it is missing, and the hint, by form.
MISSING = {
    "okf": ("memory", "git add memory && git commit"),
    "skills": ("procedure in memory/skills", "a folder memory/skills/NAME with a SKILL.md, committed, is one"),
}


@click.command()
@click.argument("form", metavar="{okf|skills}", type=click.Choice(["okf", "skills"]))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--root", default="", metavar="PATH", help="okf: the folder of memory to export, as a bundle of its own.")
@at_option("Memory as it was committed there or then (default: HEAD).")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@json_option
def command(form: str, folder: Path, root: str, at: str, dry_run: bool, as_json: bool) -> int:
    """Write memory in a format that others read.

    What is committed goes into FOLDER, which is new or empty.

    okf is a bundle of the Open Knowledge Format 0.2: each file a concept, each fact of MEMORY.md a concept of its own
    with its sources, who made and who verified it, and when it is stale. skills are the procedures of memory/skills,
    a folder with SKILL.md each. 'git mem import' reads both back, without a loss.

    A line that the gate would block is replaced, a file that cannot be exported is left out, and both are said; then
    the exit code is 1.

    \b
    git mem export okf ~/bundle
    git mem export okf ~/acme --root memory/acme
    git mem export skills .agents/skills
    """
    if root and form != "okf":
        raise UsageError("--root goes with okf")
    real = ensure_free(folder)
    repo, config = open_here()
    if _would_be_memory(repo, config, real):
        raise UsageError(f"'{folder}' is memory itself", "name a folder beside it")
    moment = now()
    commit = commit_at(repo, at, moment) or repo.head()
    if commit is None:
        raise GitMemError("there is no commit to export", "git commit")
    if form == "okf":
        bundle = okf_export.bundle(repo, config, commit, moment.date(), root.rstrip("/"))
    else:
        bundle = okf_export.skill_bundle(repo, config, commit, moment.date())
    if not bundle.files:
        kind, hint = MISSING[form]
        raise GitMemError(f"there is no {kind} to export in that commit", hint)
    if not dry_run:
        write_new_folder(folder, bundle.files)
    if as_json:
        write_json(
            {"form": form, "folder": str(folder), "commit": commit, "files": list(bundle.files), "facts": bundle.facts,
             "left": [{"path": path, "reason": reason} for path, reason in bundle.left],
             "withheld": list(bundle.withheld), "dry_run": dry_run}
        )  # fmt: skip
    else:
        _show(bundle, folder, commit, dry_run=dry_run)
    return Exit.findings_if(bundle.withheld or bundle.left)


def _would_be_memory(repo: Repository, config: Config, real: Path) -> bool:
    """Whether Markdown in the folder `real` would be memory of this work tree."""
    if repo.root is None or not real.is_relative_to(root := repo.root.resolve()):
        return False
    inside = (real.relative_to(root) / "x.md").as_posix()
    return is_memory(inside, read_work_tree(repo, config.memory_paths).layout) and not repo.ignored([inside])


def _show(bundle: okf_export.Bundle, folder: Path, commit: str, *, dry_run: bool) -> None:
    """Print what was left out or withheld to standard error, then how many files and facts were written, or with
    `dry_run` would be."""
    for path, reason in bundle.left:
        say(f"git mem: {escape(path, '')} is left out: {reason}")
    for path in bundle.withheld:
        place = escape(path, "")
        say(f"git mem: {place}: lines that the gate would block are not exported (git mem scan {shell_word(path)})")
    facts = f" ({counted(bundle.facts, 'fact')} among them)" if bundle.facts else ""
    verb = "would write" if dry_run else "wrote"
    count = counted(len(bundle.files), "file")
    write(f"{verb} {count}{facts} of {commit[:12]} to {escape(str(folder), '')}\n")
