"""`git mem import`: import notes, bundles and skills as documents, and old sessions as episodes and daily logs."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitmem.cli.document_import import NotesImport, exit_code, import_notes, show_documents, verb_of
from gitmem.cli.options import agent_option, json_option, open_here, with_kept_data
from gitmem.cli.terminal import escape, progress, say, say_masked, say_rivals, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, UsageError
from gitmem.exchange.agent_skills import read_skills
from gitmem.exchange.claude_memories import read_memories
from gitmem.exchange.document_import import DocumentImport, LeftOut, import_plan, write_import
from gitmem.exchange.okf_import import read_bundle
from gitmem.git import undo_record
from gitmem.json_values import json_object
from gitmem.memory.importing import ensure_elsewhere
from gitmem.memory.new_statements import memory_bytes, rivals_of_texts, rivals_since
from gitmem.plural import counted
from gitmem.sessions import past_sessions
from gitmem.sessions.conversation_exports import SERVICES, list_conversations
from gitmem.sessions.session_import import ImportedSession, ImportOptions, ImportState, Totals, import_sessions
from gitmem.shell_word import shell_word

INTO = re.compile(r"[\w-]+")  # the name of a folder in memory/
DOCUMENTS = ("notes", "okf", "skills")  # sources of documents; all other sources have sessions
CLAUDE = "claude-export"  # a source whose archive has sessions, and notes of what the service remembered
SESSION_OPTIONS = ("project", "yes", "agent", "committing")  # options that an import of documents refuses
DOCUMENT_OPTIONS = ("name", "instructions", "keep", "no_history", "into")  # options that an import of sessions refuses
UNREADABLE = "cannot be read"  # the beginning of the reason why a file that cannot be read was left out


class ImportCommand(NamedTuple):
    """The arguments and options of one import, as `git mem import -h` has them.

    `path`: None for what the host keeps on this machine. `project`: None for the sessions of every folder. `agent`: ""
    for `mem.agent`. `committing`: `--commit`. `name`, `into`: "" if not given. `keep`: "pii", or None: personal data is
    masked.
    """

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


@click.command()
@click.argument("source", type=click.Choice([*DOCUMENTS, *past_sessions.importable_hosts(), *SERVICES]))
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
def command(**arguments: Any) -> int:
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
    options = ImportCommand(**arguments)
    has_documents = options.source in DOCUMENTS
    for name in SESSION_OPTIONS if has_documents else DOCUMENT_OPTIONS:
        if getattr(options, name) and (name, options.source) != ("keep", CLAUDE):
            option = {"committing": "commit"}.get(name, name.replace("_", "-"))
            raise UsageError(f"--{option} says nothing about {options.source}", "leave it out")
    if has_documents:
        return _import_documents(options)
    remembered = _remembered_notes(options)
    listing = _listing(options, may_be_empty=remembered is not None)
    if options.project is not None:
        listing = listing.of_project(options.project)
    if options.path is None and not options.yes:
        _show_listing(listing, options)
        return Exit.DONE
    return _import_sessions(listing, options, remembered)


def _import_documents(options: ImportCommand) -> int:
    """Import notes, a bundle or skills. Returns the `exit_code` of the documents. Raises UsageError for options that do
    not go together."""
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
        request = NotesImport(
            options.path, history, options.keep, options.verbose, options.dry_run, options.as_json, options.into
        )
        return import_notes(request)
    repo, config = open_here()
    config = with_kept_data(config, options.keep)
    if options.source == "okf":
        if repo.root is not None:
            ensure_elsewhere(options.path, repo.root, options.source)
        bundle = read_bundle(options.path, options.name, config.memory_paths)
        plan = import_plan(repo, config, bundle.arrivals, bundle.left, bundle.notes, instructions=options.instructions)
    else:
        plan = import_plan(repo, config, *read_skills(options.path), instructions=True)
    before = memory_bytes(repo)
    if not options.dry_run:
        write_import(repo, plan)
    differs = rivals_since(repo, before, now().date())
    if options.as_json:
        write_json(_documents_value(plan, options) | {"differs": differs})
    else:
        show_documents(plan, keep=options.keep, verbose=options.verbose, dry_run=options.dry_run)
        say_rivals(differs)
    return exit_code(plan.left)


def _remembered_notes(options: ImportCommand) -> DocumentImport | None:
    """The import of the notes that the archive's service remembered about the person; None if the archive has none, for
    a source other than CLAUDE, and without PATH. Nothing is written yet."""
    if options.source != CLAUDE or options.path is None:
        return None
    arrivals, left_out = read_memories(options.path)
    if not arrivals and not left_out:
        return None
    repo, config = open_here()
    return import_plan(repo, with_kept_data(config, options.keep), arrivals, left_out)


def _listing(options: ImportCommand, *, may_be_empty: bool) -> past_sessions.Listing:
    """The sessions in PATH, or those of the host on this machine. Raises UsageError if PATH has none; `may_be_empty`:
    return an empty listing instead, since the archive has something else to import."""
    if options.source in SERVICES:
        if options.path is None:
            hint = f"git mem import {options.source} ARCHIVE.zip --dry-run"
            raise UsageError("the archive that the service sent is missing", hint)
        try:
            return list_conversations(options.source, options.path)
        except UsageError:
            if not may_be_empty:
                raise
            return past_sessions.Listing(())
    if options.path:
        listing = past_sessions.list_sessions(past_sessions.files_below(options.path))
        if not listing.sessions and not any(reason.startswith(UNREADABLE) for _, reason in listing.left_out):
            command_hint = f"'git mem import {options.source}' lists those on this machine"
            words = f"there is no session of a known host in '{options.path}'"
            raise UsageError(words, f"name a transcript, or a folder of them; {command_hint}")
        return listing
    return past_sessions.list_sessions(past_sessions.files_of_host(options.source, Path(os.path.expanduser("~"))))


def _import_sessions(listing: past_sessions.Listing, options: ImportCommand, remembered: DocumentImport | None) -> int:
    """Import the sessions, and the notes that the service remembered (None for none), and print the outcome. Returns 1
    if a session failed, a file could not be read or a note was left out, else 0. Raises UsageError for --commit with
    --dry-run."""
    if options.committing and options.dry_run:
        raise UsageError("a dry run commits nothing", "leave --commit or --dry-run away")
    repo, config = open_here()
    import_options = ImportOptions(options.source, options.agent, options.dry_run, options.committing)
    verbose = options.verbose or options.dry_run
    totals, values, lines = Totals(), [], list[tuple[str, str]]()
    before = memory_bytes(repo)
    outcomes = import_sessions(repo, config, listing.sessions, import_options, now())
    with undo_record.together():
        if remembered is not None and not options.dry_run:
            write_import(repo, remembered)
        for outcome in outcomes if verbose else progress(outcomes, len(listing.sessions), "sessions"):
            totals.count(outcome)
            lines += [(line.path, line.text) for line in outcome.lines]
            if options.as_json:
                values.append(outcome)
            else:
                _show_session(outcome, options, verbose=verbose)
    differs = (*rivals_since(repo, before, now().date()), *rivals_of_texts(repo, lines, now().date()))
    unread = [(place, reason) for place, reason in listing.left_out if reason.startswith(UNREADABLE)]
    failed = bool(totals.sessions[ImportState.FAILED] or unread or (remembered is not None and remembered.left))
    if options.as_json:
        left_out = [LeftOut(*row) for row in listing.left_out]
        value: dict[str, object] = {"source": options.source, "sessions": values, "left": left_out}
        if remembered is not None:
            value["memories"] = _documents_value(remembered, options)
        value |= {"totals": {**totals.sessions, **json_object(totals)}, "differs": differs, "dry_run": options.dry_run}
        write_json(value)
    else:
        for place, reason in unread:
            say(f"git mem: {place} is left out: {reason}")
        if remembered is not None:
            show_documents(remembered, keep=options.keep, verbose=options.verbose, dry_run=options.dry_run)
        _show_totals(totals, listing, options, verbose=verbose)
        say_rivals(differs)
    return Exit.findings_if(failed)


def _show_session(outcome: ImportedSession, options: ImportCommand, *, verbose: bool) -> None:
    """Print a line for a session that was left out, and with `verbose` for one that was imported and its refused
    lines."""
    place = escape(outcome.session.place, "")
    if outcome.problem:
        say(f"git mem: {place} is left out: {outcome.problem}")
    elif verbose and outcome.episode and outcome.done == "imported":
        prefix = "would write " if options.dry_run else ""
        write(escape(f"{prefix}{outcome.episode}  {counted(len(outcome.lines), 'line')}  {place}\n"))
    if verbose:
        for text, reason in outcome.skipped:
            say(f"git mem: {place}: {text}: {reason}")


def _show_totals(totals: Totals, listing: past_sessions.Listing, options: ImportCommand, *, verbose: bool) -> None:
    """Print how many sessions and lines were imported, were there already, or were left out."""
    verb = verb_of(options.dry_run)
    counts = totals.sessions
    write(f"{verb} {counted(counts['imported'], 'session')}, {counted(totals.lines, 'line')} of daily logs\n")
    for state in ("there already", "nothing was said", "left out"):
        if counts[state]:
            write(f"{counted(counts[state], 'session')}: {state}\n")
    say_masked(totals.masks)
    if totals.refused:
        hint = "" if verbose else ": -v says why"
        write(f"{counted(totals.refused, 'line')} refused by the gate{hint}\n")
    noun = "conversation" if options.source in SERVICES else "file"
    reasons = Counter(reason for _, reason in listing.left_out if not reason.startswith(UNREADABLE))
    for reason, count in reasons.most_common():  # the unreadable ones were named each
        write(f"{counted(count, noun)} left out: {reason}\n")
    if counts["imported"] and not options.dry_run and not options.committing:
        write('next: git add memory; git commit -m "memory: old sessions"\n')


def _show_listing(listing: past_sessions.Listing, options: ImportCommand) -> None:
    """Print the sessions on this machine, project by project. Nothing is imported."""
    by_project: dict[str, list[past_sessions.PastSession]] = {}
    for session in listing.sessions:
        by_project.setdefault(session.project, []).append(session)
    rows = sorted(by_project.items())
    if options.as_json:
        write_json(
            {"source": options.source, "projects": [
                {"project": project or None, "sessions": len(sessions), "first": _day(sessions[0]),
                 "last": _day(sessions[-1])} for project, sessions in rows],
             "left": [LeftOut(*row) for row in listing.left_out]}
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
        write(f"nothing is written yet: {typed} --project {shell_word(str(options.project))} --yes imports them\n")
    else:
        write(f"nothing is written yet: {typed} --yes imports them, --project FOLDER those of one project\n")


def _documents_value(plan: DocumentImport, options: ImportCommand) -> dict[str, object]:
    """The JSON of an import of documents."""
    return {"source": options.source, **json_object(plan), "dry_run": options.dry_run}


def _day(session: past_sessions.PastSession) -> str:
    """The day on which a session began, YYYY-MM-DD."""
    return session.start.date().isoformat()
