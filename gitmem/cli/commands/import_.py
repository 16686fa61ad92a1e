"""`git mem import`: import notes, bundles and skills as documents, and old sessions as episodes and daily logs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import click

from gitmem.cli.options import agent_option, json_option, keeping, open_here
from gitmem.cli.terminal import escape, progress, say, say_differs, say_masked, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.exchange.agent_skills import read_skills
from gitmem.exchange.claude_memories import read_memories
from gitmem.exchange.document_import import DocumentImport, LeftOut, bring, planned
from gitmem.exchange.okf_import import read_bundle
from gitmem.git import undo_record
from gitmem.json_values import json_object
from gitmem.memory import importing
from gitmem.memory.importing import EXPECTED, Plan, as_value, ensure_elsewhere, masked_places
from gitmem.memory.new_statements import memory_bytes, of_texts, since
from gitmem.memory.rivals import Rival
from gitmem.plural import counted
from gitmem.sessions.conversation_exports import SERVICES, list_conversations
from gitmem.sessions.past_sessions import (
    Listing,
    PastSession,
    files_below,
    files_of_host,
    importable_hosts,
    list_sessions,
)
from gitmem.sessions.session_import import ImportedSession, ImportOptions, ImportState, Totals, import_sessions

INTO = re.compile(r"[\w-]+")  # the name of a folder in memory/
DOCUMENTS = ("notes", "okf", "skills")  # sources of documents; all other sources have sessions
CLAUDE = "claude-export"  # a source whose archive has sessions, and notes of what the service remembered
SESSION_OPTIONS = ("project", "yes", "agent", "committing")  # options that an import of documents refuses
DOCUMENT_OPTIONS = ("name", "instructions", "keep", "no_history", "into")  # options that an import of sessions refuses
UNREADABLE = "cannot be read"  # the beginning of the reason why a file that cannot be read was left out


class ImportCommand(NamedTuple):
    """The arguments and options of one import, as `git mem import -h` has them."""

    source: str
    path: Path | None
    project: Path | None
    yes: bool
    agent: str
    committing: bool
    name: str
    instructions: bool
    no_history: bool
    into: str
    keep: str | None
    verbose: bool
    dry_run: bool
    as_json: bool


class NotesImport(NamedTuple):
    """The folder and options of an import of notes.

    `history`: import the commits of a Git repository too. `into`: the folder of memory/ for all notes, "" for none.
    """

    source: Path
    history: bool
    keep: str | None
    verbose: bool
    dry_run: bool
    as_json: bool
    into: str = ""


@click.command()
@click.argument("source", type=click.Choice([*DOCUMENTS, *importable_hosts(), *SERVICES]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--project", type=click.Path(path_type=Path), metavar="FOLDER", help="Only sessions that worked in it.")
@click.option("--yes", is_flag=True, help="Import all that is found, where no PATH is named.")
@agent_option("Whose daily log it goes to (mem.agent).")
@click.option("--commit", "committing", is_flag=True, help="Commit what is written, with the transcripts' hashes.")
@click.option("--name", default="", metavar="NAME", help="okf: the folder below memory/ for a bundle of others.")
@click.option("--instructions", is_flag=True, help="okf: also what tells agents what to do (SOUL.md, rules, skills).")
@click.option("--no-history", is_flag=True, help="notes: of a Git repository too, the files alone.")
@click.option("--into", default="", metavar="NAME", help="notes: all of it as notes below memory/NAME.")
@click.option("--keep", type=click.Choice(["pii"]), help="pii: import personal data of documents as it is.")
@click.option("-v", "--verbose", is_flag=True, help="Name each session, each document.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@json_option
def command(**given: Any) -> int:
    """Import notes, old sessions, bundles or skills of SOURCE.

    Of notes PATH is a folder of them, an OpenClaw workspace or a Claude memory folder. Links between the files hold,
    and pictures that they show come along; daily notes become daily logs by [memory] daily of .gitmem.toml. From the
    top of a Git repository the history comes along, in one commit.

    What old sessions decided goes into the daily logs of their days, with an episode for each session. PATH is a
    transcript or a folder of them. Without PATH, what the host keeps on this machine is listed and nothing is written;
    --yes imports it. Of chatgpt and claude-export PATH is the archive that the service sends people of their data: the
    zip, or the folder it was unpacked to; what Claude remembered (memories.json) becomes notes in memory/claude-export.

    Of okf PATH is a folder in the Open Knowledge Format: what 'git mem export okf' wrote goes back to where it stood,
    any other bundle below memory/NAME. Of skills it is a folder of them (.agents/skills), or one: memory/skills.

    Everything passes the gate: what does not, or is there already with another text, is left out and said; personal
    data is masked, and that is said. The same import again writes nothing new, and one that was interrupted goes on.
    Exits with 1 when a session or a document was left out.

    \b
    git mem import notes ~/notes --dry-run
    git mem import claude
    git mem import claude --project . --yes
    git mem import codex ~/.codex/sessions/2026 --dry-run
    git mem import chatgpt export.zip --dry-run
    """
    options = ImportCommand(**given)
    has_documents = options.source in DOCUMENTS
    for name in SESSION_OPTIONS if has_documents else DOCUMENT_OPTIONS:
        if getattr(options, name) and (name, options.source) != ("keep", CLAUDE):
            option = {"committing": "commit"}.get(name, name.replace("_", "-"))
            raise UsageError(f"--{option} says nothing about {options.source}", "leave it out")
    if has_documents:
        return _import_documents(options)
    remembered = _remembered(options)
    listing = _listing(options, may_be_empty=remembered is not None)
    if options.project is not None:
        listing = listing.of_project(options.project)
    if options.path is None and not options.yes:
        _show_listing(listing, options)
        return Exit.DONE
    return _import_sessions(listing, options, remembered)


def _import_documents(options: ImportCommand) -> int:
    """Import notes, a bundle or skills. Returns 1 if a file was left out for an unexpected reason, else 0. Raises
    UsageError for options that do not go together."""
    if options.path is None:
        raise UsageError("the folder to import is missing", f"git mem import {options.source} FOLDER --dry-run")
    if (options.name or options.instructions) and options.source != "okf":
        raise UsageError("--name and --instructions go with okf")
    if options.no_history and options.source != "notes":
        raise UsageError("--no-history goes with notes")
    if options.into and (options.source != "notes" or not INTO.fullmatch(options.into)):
        raise UsageError("--into goes with notes, and names one folder", "--into claude")
    if options.source == "notes":
        history = not (options.no_history or options.into)
        return _import_notes(
            NotesImport(
                options.path, history, options.keep, options.verbose, options.dry_run, options.as_json, options.into
            )
        )
    repo, config = open_here()
    config = keeping(config, options.keep)
    if options.source == "okf":
        if repo.root is not None:
            ensure_elsewhere(options.path, repo.root, options.source)
        bundle = read_bundle(options.path, options.name, config.memory_paths)
        plan = planned(repo, config, bundle.arrivals, bundle.left, bundle.notes, instructions=options.instructions)
    else:
        plan = planned(repo, config, *read_skills(options.path), instructions=True)
    before = memory_bytes(repo)
    if not options.dry_run:
        bring(repo, plan)
    differs = since(repo, before, now().date())
    if options.as_json:
        write_json(_value(plan, options) | {"differs": differs})
    else:
        _show_documents(plan, options)
        say_differs(differs)
    if any(reason not in EXPECTED for _, reason in plan.left):
        return Exit.FINDINGS
    return Exit.DONE


def _value(plan: DocumentImport, options: ImportCommand) -> dict[str, object]:
    """The JSON of an import of documents."""
    return {"source": options.source, **json_object(plan), "dry_run": options.dry_run}


def _show_documents(plan: DocumentImport, options: ImportCommand) -> None:
    """Print what was imported, or would be; what was left out or masked goes to standard error."""
    verb = "imported"
    if options.dry_run:
        verb = "would import"
    if options.verbose or options.dry_run:
        for file in plan.files:
            write(f"{verb} {_with_source(file.path, file.name)}\n")
    for name, reason in plan.left:
        say(f"git mem: {name} is left out: {reason}")
    hint = " (--keep pii)"
    if options.keep:
        hint = ""
    for name, masks in plan.masked:
        say(f"git mem: masked in {name}: {masked_places(masks)}{hint}")
    for note in plan.notes:
        say(f"git mem: {note}")
    write(f"{verb} {counted(len(plan.files), 'file')}, {len(plan.same)} there already, {len(plan.left)} left out\n")
    if plan.files and not options.dry_run:
        write("next: look at them (git status), then git add and git commit\n")


def _with_source(path: str, name: str) -> str:
    """A path in memory, and in parentheses the name of the imported file if that is another one."""
    if name != path:
        path += f" (from {name})"
    return escape(path, "")


def _import_notes(asked: NotesImport) -> int:
    """Import notes into the memory of this repository. Returns 1 if a file was left out for an unexpected reason, else
    0. Raises GitMemError in a bare repository, UsageError for a folder without Markdown."""
    repo, config = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository holds no memory files", "run it in a clone")
    config = keeping(config, asked.keep)
    plan = importing.plan_import(asked.source, config, os.environ, repo.root, asked.into)
    if not plan.files and not any(name.endswith(".md") for name, _ in plan.left):
        raise UsageError(f"there is no Markdown in '{plan.source}'", "name a folder of notes")
    plan = importing.without_ignored(repo, replace(plan, history=plan.history and asked.history))
    before = memory_bytes(repo)
    commit = ""
    if not asked.dry_run:
        commit = importing.import_files(repo, plan, now(), os.environ).commit
    return show_notes(plan, asked, repo.root, commit, (), since(repo, before, now().date()))


def show_notes(
    plan: Plan, asked: NotesImport, root: Path, commit: str, written: tuple[str, ...], differs: Sequence[Rival] = ()
) -> int:
    """Print the outcome of an import of notes. Returns 1 if a file was left out for an unexpected reason, else 0.

    `commit`: the commit with the notes' history, "" without one. `written`: files of a new memory that were written
    beside the notes. `differs`: facts that the notes repeat or contradict.
    """
    if asked.as_json:
        found = {"differs": differs}
        write_json(as_value(plan, root, commit, written, asked.dry_run) | found)
    else:
        _show_notes(plan, asked)
        say_differs(differs)
    if any(reason not in EXPECTED for _, reason in plan.left):
        return Exit.FINDINGS
    return Exit.DONE


def _show_notes(plan: Plan, asked: NotesImport) -> None:
    """Print what was imported, left out and masked. Files that were left out for an expected reason are counted; with
    `verbose` every file is named."""
    verb = "imported"
    if asked.dry_run:
        verb = "would import"
    if asked.verbose:
        for name, to, _ in plan.files:
            write(f"{'there already' if to in plan.same else verb} {_with_source(to, name)}\n")
    for name, reason in plan.left:
        if asked.verbose or reason not in EXPECTED:
            write(escape(f"left out {name}: {reason}", "") + "\n")
    for name, masks in plan.masked:
        write(escape(f"masked in {name}: {masked_places(masks)}", "") + "\n")
    if plan.masked and asked.dry_run:
        write("to keep personal data: import again with --keep pii\n")
    elif plan.masked:
        write("to keep personal data: remove what was masked and import again with --keep pii\n")
    if not asked.verbose:
        for reason, number in Counter(reason for _, reason in plan.left if reason in EXPECTED).items():
            write(f"left out {number}: {'each ' if number > 1 else ''}{reason}\n")
    setting = "[memory] daily in .gitmem.toml"
    if plan.settings is None:
        setting = "once [memory] daily names it"
    for pattern, number in plan.daily:
        write(escape(f"log: {counted(number, 'daily log')} by {pattern} ({setting})", "") + "\n")
    if plan.daily and plan.settings is None:
        say("note: .gitmem.toml has a [memory] table already: add these patterns to its daily by hand")
    new = [name for name, to, _ in plan.files if to not in plan.same]
    pictures = sum(not name.endswith(".md") for name in new)
    words = f"{verb} {counted(len(new), 'file')}"
    if pictures:
        words += f", {counted(pictures, 'picture')} that the gate cannot read among them,"
    if plan.history:
        words += " with their history,"
    else:
        words += " without history,"
    if plan.same:
        words += f" {len(plan.same)} there already,"
    words += f" {len(plan.left)} left out"
    if not asked.verbose:
        words += " (-v names all)"
    write(f"{words}\n")
    if new and not plan.history and not asked.dry_run:
        write("next: look at them (git status), then git add and git commit\n")


def _remembered(options: ImportCommand) -> DocumentImport | None:
    """The notes that the archive's service remembered; None if the archive has none."""
    if options.source != CLAUDE or options.path is None:
        return None
    arrivals, left = read_memories(options.path)
    if not arrivals and not left:
        return None
    repo, config = open_here()
    return planned(repo, keeping(config, options.keep), arrivals, left)


def _listing(options: ImportCommand, *, may_be_empty: bool) -> Listing:
    """The sessions in PATH, or those of the host on this machine. Raises UsageError if PATH has none; `may_be_empty`:
    an archive without sessions has something else to import."""
    if options.source in SERVICES:
        if options.path is None:
            hint = f"git mem import {options.source} ARCHIVE.zip --dry-run"
            raise UsageError("the archive that the service sent is missing", hint)
        try:
            return list_conversations(options.source, options.path)
        except UsageError:
            if not may_be_empty:
                raise
            return Listing(())
    if options.path:
        listing = list_sessions(files_below(options.path))
        if not listing.sessions and not any(reason.startswith(UNREADABLE) for _, reason in listing.left_out):
            here = f"'git mem import {options.source}' lists those on this machine"
            words = f"there is no session of a known host in '{options.path}'"
            raise UsageError(words, f"name a transcript, or a folder of them; {here}")
        return listing
    return list_sessions(files_of_host(options.source, Path(os.path.expanduser("~"))))


def _import_sessions(listing: Listing, options: ImportCommand, remembered: DocumentImport | None) -> int:
    """Import the sessions, and the notes that the service remembered. Returns 1 if something was left out, else 0."""
    if options.committing and options.dry_run:
        raise UsageError("a dry run commits nothing", "leave --commit or --dry-run away")
    repo, config = open_here()
    given = ImportOptions(options.source, options.agent, options.dry_run, options.committing)
    each = options.verbose or options.dry_run
    totals, values, lines = Totals(), [], list[tuple[str, str]]()
    before = memory_bytes(repo)
    outcomes = import_sessions(repo, config, listing.sessions, given, now())
    with undo_record.together():
        if remembered is not None and not options.dry_run:
            bring(repo, remembered)
        for outcome in outcomes if each else progress(outcomes, len(listing.sessions), "sessions"):
            totals.count(outcome)
            lines += [(line.path, line.text) for line in outcome.lines]
            if options.as_json:
                values.append(outcome)
            else:
                _show(outcome, options, each=each)
    differs = (*since(repo, before, now().date()), *of_texts(repo, lines, now().date()))
    unread = [(place, reason) for place, reason in listing.left_out if reason.startswith(UNREADABLE)]
    failed = bool(totals.sessions[ImportState.FAILED] or unread or (remembered is not None and remembered.left))
    if options.as_json:
        left = [LeftOut(*each) for each in listing.left_out]
        value: dict[str, object] = {"source": options.source, "sessions": values, "left": left}
        if remembered is not None:
            value["memories"] = _value(remembered, options)
        value |= {"totals": {**totals.sessions, **json_object(totals)}, "differs": differs, "dry_run": options.dry_run}
        write_json(value)
    else:
        for place, reason in unread:
            say(f"git mem: {place} is left out: {reason}")
        if remembered is not None:
            _show_documents(remembered, options)
        _show_totals(totals, listing, options, each=each)
        say_differs(differs)
    if failed:
        return Exit.FINDINGS
    return Exit.DONE


def _show(outcome: ImportedSession, options: ImportCommand, *, each: bool) -> None:
    """Print a line for a session that was left out, and with `each` for one that was imported and its refused lines."""
    place = escape(outcome.session.place, "")
    if outcome.problem:
        say(f"git mem: {place} is left out: {outcome.problem}")
    elif each and outcome.episode and outcome.done == "imported":
        would = ""
        if options.dry_run:
            would = "would write "
        write(escape(f"{would}{outcome.episode}  {counted(len(outcome.lines), 'line')}  {place}\n"))
    if each:
        for text, reason in outcome.skipped:
            say(f"git mem: {place}: {text}: {reason}")


def _show_totals(totals: Totals, listing: Listing, options: ImportCommand, *, each: bool) -> None:
    """Print how many sessions and lines were imported, were there already, or were left out."""
    verb = "imported"
    if options.dry_run:
        verb = "would import"
    counts = totals.sessions
    write(f"{verb} {counted(counts['imported'], 'session')}, {counted(totals.lines, 'line')} of daily logs\n")
    for state in ("there already", "nothing was said", "left out"):
        if counts[state]:
            write(f"{counted(counts[state], 'session')}: {state}\n")
    say_masked(totals.masks)
    if totals.refused:
        hint = ""
        if not each:
            hint = ": -v says why"
        write(f"{counted(totals.refused, 'line')} refused by the gate{hint}\n")
    if listing.left_out and options.source in SERVICES:
        write(f"{counted(len(listing.left_out), 'conversation')} without a turn\n")
    elif listing.left_out:
        write(f"{counted(len(listing.left_out), 'file')} without a turn of a known host\n")
    if counts["imported"] and not options.dry_run and not options.committing:
        write('next: git add memory; git commit -m "memory: old sessions"\n')


def _show_listing(listing: Listing, options: ImportCommand) -> None:
    """Print the sessions on this machine, project by project. Nothing is imported."""
    by_project: dict[str, list[PastSession]] = {}
    for session in listing.sessions:
        by_project.setdefault(session.project, []).append(session)
    rows = sorted(by_project.items())
    if options.as_json:
        write_json(
            {"source": options.source, "projects": [
                {"project": project or None, "sessions": len(sessions), "first": _day(sessions[0]),
                 "last": _day(sessions[-1])} for project, sessions in rows],
             "left": [LeftOut(*each) for each in listing.left_out]}
        )  # fmt: skip
        return
    for project, sessions in rows:
        days = " to ".join(dict.fromkeys((_day(sessions[0]), _day(sessions[-1]))))
        write(escape(f"{counted(len(sessions), 'session'):>14}  {days}  {project or '(project unknown)'}\n"))
    if not rows:
        say(f"git mem: no session of {options.source} is on this machine; name a file or a folder of them")
        return
    typed = f"git mem import {options.source}"
    if options.project:
        write(f"nothing is written yet: {typed} --project {quote(str(options.project))} --yes imports them\n")
    else:
        write(f"nothing is written yet: {typed} --yes imports them, --project FOLDER those of one project\n")


def _day(session: PastSession) -> str:
    return session.start.date().isoformat()
