"""Import notes into memory, and print what an import of notes, bundles or skills wrote, left out and masked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gitmem.cli.options import open_here, with_kept_data
from gitmem.cli.terminal import escape, say, say_rivals, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.exchange.document_import import DocumentImport
from gitmem.memory import importing
from gitmem.memory.importing import EXPECTED, NO_MEMORY, Plan, as_value, masked_places
from gitmem.memory.new_statements import memory_bytes, rivals_since
from gitmem.memory.rivals import Rival
from gitmem.plural import counted
from gitmem.shell_word import shell_command

NEXT_STEP = "next: look at them (git status), then git add and git commit\n"


def exit_code(left_out: Iterable[tuple[str, str]]) -> int:
    """The exit code of an import: 1 if a file was left out for a reason that a person may not expect (none of
    `importing.EXPECTED`, such as "is not Markdown"), else 0. `left_out`: (name, reason) of each file."""
    return Exit.findings_if(any(reason not in EXPECTED for _, reason in left_out))


def verb_of(dry_run: bool) -> str:
    """The verb of a sentence about an import: "imported", or "would import" for a dry run."""
    return "would import" if dry_run else "imported"


class NotesImport(NamedTuple):
    """The folder and options of an import of notes.

    `history`: import the commits of a Git repository too. `keep`: "pii", or None: personal data is masked. `into`: the
    folder of memory/ for all notes, "" for none.
    """

    source: Path
    history: bool
    keep: str | None
    verbose: bool
    dry_run: bool
    as_json: bool
    into: str = ""


def import_notes(request: NotesImport) -> int:
    """Import notes into the memory of this repository. Returns the `exit_code`. Raises GitMemError in a bare
    repository, UsageError for a folder without Markdown."""
    repo, config = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository holds no memory files", "run it in a clone")
    config = with_kept_data(config, request.keep)
    plan = importing.plan_import(request.source, config, os.environ, repo.root, request.into, history=request.history)
    if not plan.files and not any(name.endswith(".md") for name, _ in plan.left):
        raise UsageError(f"there is no Markdown in '{plan.source}'", "name a folder of notes")
    plan = importing.without_ignored(repo, plan)
    before = memory_bytes(repo)
    commit = "" if request.dry_run else importing.import_files(repo, plan, now(), os.environ).commit
    return show_notes(plan, request, repo.root, commit, (), rivals_since(repo, before, now().date()))


def show_notes(
    plan: Plan, request: NotesImport, root: Path, commit: str, created: tuple[str, ...], differs: Sequence[Rival] = ()
) -> int:
    """Print the outcome of an import of notes. Returns the `exit_code`.

    `commit`: the commit with the notes' history, "" without one. `created`: files of a new memory that were
    written beside the notes. `differs`: facts that the notes repeat or contradict.
    """
    if request.as_json:
        rivals = {"differs": differs}
        write_json(as_value(plan, root, commit, created, request.dry_run) | rivals)
    else:
        _show_notes(plan, request)
        say_rivals(differs)
    return exit_code(plan.left)


def _show_notes(plan: Plan, request: NotesImport) -> None:
    """Print what was imported, left out and masked. Files that were left out for a reason in EXPECTED are counted; with
    `verbose` every file is named."""
    verb = verb_of(request.dry_run)
    if request.verbose:
        for name, target, _ in plan.files:
            write(f"{'there already' if target in plan.same else verb} {_with_source(target, name)}\n")
    for name, reason in plan.left:
        if request.verbose or reason not in EXPECTED:
            write(escape(f"left out {name}: {reason}", "") + "\n")
    for name, masks in plan.masked:
        write(escape(f"masked in {name}: {masked_places(masks)}", "") + "\n")
    if plan.masked and request.dry_run:
        write("to keep personal data: import again with --keep pii\n")
    elif plan.masked:
        write("to keep personal data: remove what was masked and import again with --keep pii\n")
    if not request.verbose:
        for reason, number in Counter(reason for _, reason in plan.left if reason in EXPECTED).items():
            write(f"left out {number}: {'each ' if number > 1 else ''}{reason}\n")
    if not request.into and any(reason == NO_MEMORY for _, reason in plan.left):
        command = shell_command(["git", "mem", "import", "notes", str(request.source), "--into", "notes"])
        write(f"to import every Markdown file of it as a note: {command}\n")
    setting = "once [memory] daily names it" if plan.settings is None else "[memory] daily in .gitmem.toml"
    for pattern, number in plan.daily:
        write(escape(f"log: {counted(number, 'daily log')} by {pattern} ({setting})", "") + "\n")
    if plan.daily and plan.settings is None:
        say("note: .gitmem.toml has a [memory] table already: add these patterns to its daily by hand")
    new_names = [name for name, target, _ in plan.files if target not in plan.same]
    write(f"{verb} {_counts(plan, new_names, request.verbose)}\n")
    if new_names and not plan.history and not request.dry_run:
        write(NEXT_STEP)


def _counts(plan: Plan, new_names: Sequence[str], verbose: bool) -> str:
    """The numbers of files that were imported (`new_names`), were there already, and were left out."""
    pictures = sum(not name.endswith(".md") for name in new_names)
    words = counted(len(new_names), "file")
    if pictures:
        words += f", {counted(pictures, 'picture')} that the gate cannot read among them,"
    if plan.history:
        words += " with their history,"
    else:
        words += " without history,"
    if plan.same:
        words += f" {len(plan.same)} there already,"
    words += f" {len(plan.left)} left out"
    if not verbose:
        words += " (-v names all)"
    return words


def show_documents(plan: DocumentImport, *, keep: str | None, verbose: bool, dry_run: bool) -> None:
    """Print what was imported, or would be: one line of counts, before it every file if the run is `verbose` or dry,
    and after a real import that wrote files NEXT_STEP. Files that were left out or masked, and notes, go to standard
    error. `keep`: as in `NotesImport`."""
    verb = verb_of(dry_run)
    if verbose or dry_run:
        for file in plan.files:
            write(f"{verb} {_with_source(file.path, file.name)}\n")
    for name, reason in plan.left:
        say(f"git mem: {name} is left out: {reason}")
    hint = "" if keep else " (--keep pii)"
    for name, masks in plan.masked:
        say(f"git mem: masked in {name}: {masked_places(masks)}{hint}")
    for note in plan.notes:
        say(f"git mem: {note}")
    write(f"{verb} {counted(len(plan.files), 'file')}, {len(plan.same)} there already, {len(plan.left)} left out\n")
    if plan.files and not dry_run:
        write(NEXT_STEP)


def _with_source(path: str, name: str) -> str:
    """A path in memory, and in parentheses the name of the imported file if that differs."""
    if name != path:
        path += f" (from {name})"
    return escape(path, "")
