"""`git mem init`: lay out a memory repository."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitmem.cli.document_import import NotesImport, show_notes
from gitmem.cli.options import json_option, with_kept_data
from gitmem.cli.terminal import can_ask, escape, say, write, write_json
from gitmem.config import Config
from gitmem.environment import now, settings
from gitmem.errors import Exit, NotARepository, UsageError
from gitmem.gate import adoption_baseline, exceptions
from gitmem.gate.exceptions import FILE as ALLOWED
from gitmem.gate.new_exception import exceptions_text
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git import transaction
from gitmem.git.opening import discover, open_repository
from gitmem.git.write import init_repository
from gitmem.memory import adoption, new_repository
from gitmem.memory.importing import import_files, plan_import, without_ignored
from gitmem.memory.snapshot import hint_for_ignored, words_on_ignored
from gitmem.memory.templates import LANGUAGES
from gitmem.plural import counted
from gitmem.shell_word import shell_word


class InitOptions(NamedTuple):
    """The folder and options, as `git mem init -h` has them.

    `lang`: None for the locale's. `source`: the folder of notes of `--from`, None for none. `keep`: "pii", or None:
    personal data of these notes is masked. `adopt`: None: the person is asked on a terminal; elsewhere a folder of
    mostly notes is adopted. `templates`: None: the templates are written unless the repository is one of code.
    `inside`: `--in`, "" for none.
    """

    folder: Path
    lang: str | None
    source: Path | None
    no_history: bool
    keep: str | None
    adopt: bool | None
    templates: bool | None
    inside: str
    verbose: bool
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--lang", type=click.Choice(sorted(LANGUAGES)), help="Language of the templates (default: the locale's).")
@click.option("--from", "source", type=click.Path(path_type=Path), hidden=True)  # of before `git mem import notes`
@click.option("--no-history", is_flag=True, hidden=True)
@click.option("--keep", type=click.Choice(["pii"]), hidden=True)
@click.option("--adopt/--only-new", default=None, help="Whether Markdown that is there stays memory (or it asks).")
@click.option(
    "--templates/--no-templates",
    default=None,
    help="Whether SOUL, USER, AGENTS and TOOLS.md are written (not into code).",
)
@click.option("--in", "inside", default="", metavar="SUBFOLDER", help="Memory is what lies there, and nothing else.")
@click.option("-v", "--verbose", is_flag=True, hidden=True)
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@json_option
def command(**arguments: Any) -> int:
    """Lay out a memory repository in FOLDER (here, or a new folder).

    Runs `git init` where there is no repository, writes MEMORY.md, memory/ and .gitattributes, and SOUL.md, USER.md,
    AGENTS.md and TOOLS.md: these four into a repository of code only with --templates. Overwrites no text (a
    .gitattributes gets the rows that it lacks), commits nothing, installs no hooks (`git mem install` does).

    Notes that are there stay searched and gated with --adopt, which names them in .gitmem.toml and lists what the gate
    finds in HEAD as accepted in .gitmem-allow.toml; with --only-new memory is what is written from now on. Without
    either it asks on a terminal; elsewhere a folder that holds more notes than other files is adopted.

    With --in memory is one folder of a repository of code (docs/memory), and nothing else is written but that folder,
    .gitmem.toml, which names it, .gitattributes and the accepted findings of HEAD. `git mem add` writes daily logs
    there, and no other Markdown is searched or gated.

    Notes that lie elsewhere come in with 'git mem import notes PATH'.
    """
    options = InitOptions(**arguments)
    if options.source is None:
        if options.keep or options.no_history or options.verbose:
            problem = "--keep, --no-history and --verbose are about what is imported"
            raise UsageError(problem, "git mem import notes PATH")
        _lay_out(options)
        return Exit.DONE
    if options.adopt is not None:
        raise UsageError("--adopt is about the files of FOLDER", "leave --from out, or --adopt")
    path = shell_word(str(options.source))
    say(f"hint: 'git mem init --from' will go: git mem init, then git mem import notes {path}")
    return _import_into_new(options, options.source)


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What was laid out. `written`: the written files, in words. `notes`: the notes in the folder, None if they were
    not looked for. `daily`: the patterns of daily logs among them that the settings have. `adopted`: the notes stay
    memory. `accepted`: the number of findings of HEAD that were accepted."""

    created: new_repository.NewRepository
    written: list[str]
    accepted: int
    notes: adoption.Folder | None = None
    daily: Sequence[str] = ()
    adopted: bool = False

    def as_value(self, *, dry_run: bool) -> dict[str, object]:
        """The JSON of docs/json.md, "init"."""
        notes, daily = (self.notes.notes, self.notes.daily) if self.notes else ((), ())
        return {
            "root": str(self.created.root), "initialised": self.created.initialised, "written": self.written,
            "kept": list(self.created.kept), "notes": list(notes), "adopted": self.adopted,
            "daily": [{"pattern": pattern, "notes": number} for pattern, number in daily],
            "accepted": self.accepted, "dry_run": dry_run,
        }  # fmt: skip


def _lay_out(options: InitOptions) -> None:
    """Write the files that a memory lacks, and print what was done."""
    place = new_repository.place_for(options.folder, os.environ)
    if options.inside:
        laid_out, show = _lay_out_inside(place, options), _show_inside
    else:
        laid_out, show = _lay_out_folder(place, options), _show_folder
    if options.as_json:
        write_json(laid_out.as_value(dry_run=options.dry_run))
    else:
        show(laid_out, options)


def _lay_out_folder(place: new_repository.Place, options: InitOptions) -> LaidOut:
    """Write the files that a memory lacks, and adopt the notes in the folder or not."""
    quiet = options.as_json or options.dry_run
    notes = _notes(place, options.adopt)
    adopted = notes is not None and bool(notes.notes) and _is_adopted(notes, options.adopt, quiet=quiet)
    daily: list[str] = []
    new_settings = ""
    if adopted and notes:
        daily = [pattern for pattern, _ in notes.daily]
        new_settings = adoption.settings_text(_settings_now(place), daily, notes.hosts)
    daily = _patterns_in_settings(new_settings, daily)
    templates = not _is_code(place) if options.templates is None else options.templates
    created = new_repository.create_memory_files(
        place,
        os.environ,
        options.lang or _locale(),
        settings=new_settings,
        templates=templates,
        dry_run=options.dry_run,
    )
    accepts = (adopted or options.adopt) and not place.new and not options.dry_run
    accepted = accept_head(created.root) if accepts else 0
    return LaidOut(created, [_in_words(file) for file in created.written], accepted, notes, daily, adopted)


def _show_folder(laid_out: LaidOut, options: InitOptions) -> None:
    """Print what `_lay_out_folder` did, or with --dry-run would do, and what to type next."""
    prefix = "would " if options.dry_run else ""
    if laid_out.created.initialised:
        write(escape(f"{prefix}git init {laid_out.created.root}\n"))
    for words in laid_out.written:
        write(escape(f"{prefix}write {words}\n"))
    for path in laid_out.created.kept:
        write(escape(f"keep  {path} (it is there already)\n"))
    if laid_out.notes:
        _show_notes(laid_out.notes, laid_out.adopted, laid_out.daily)
    _show_unread_folders(laid_out.created.root)
    _show_accepted(laid_out.accepted)
    if not options.dry_run:
        _say_ignored(laid_out.created)
        enter = "" if options.folder.resolve() == Path.cwd() else f"cd {shell_word(str(options.folder))}; "
        scan = "git mem scan; " if laid_out.adopted else ""
        write(escape(f'next: {enter}git mem install; {scan}git mem add "..."; git add -A; git commit\n'))


def _lay_out_inside(place: new_repository.Place, options: InitOptions) -> LaidOut:
    """Make one folder the memory of its repository. Raises UsageError for options that do not go with --in."""
    if options.adopt is not None or options.templates:
        raise UsageError("--in goes without --adopt and --templates", "memory is what lies in the folder")
    folder = adoption.folder_name(options.inside)
    new_settings = adoption.folder_settings_text(_settings_now(place), folder)
    created = new_repository.create_memory_folder(place, os.environ, folder, new_settings, dry_run=options.dry_run)
    accepted = 0 if place.new or options.dry_run else accept_head(created.root)
    return LaidOut(created, [file.path for file in created.written], accepted)


def _show_inside(laid_out: LaidOut, options: InitOptions) -> None:
    """Print what `_lay_out_inside` did, or with --dry-run would do, and what to type next."""
    prefix = "would " if options.dry_run else ""
    for path in laid_out.written:
        write(escape(f"{prefix}write {path}\n"))
    _show_accepted(laid_out.accepted)
    if not options.dry_run:
        _say_ignored(laid_out.created)
        write('next: git mem install; git mem add "..."; git add -A; git commit\n')


def _in_words(file: new_repository.FileWrite) -> str:
    """The path of a written file, and how many lines one that existed has more."""
    if file.added_lines is None:
        return file.path
    return f"{file.path} ({counted(file.added_lines, 'line')} more)"


def _show_accepted(accepted: int) -> None:
    """Print the number of findings of HEAD that were accepted; nothing for 0."""
    if accepted:
        write(f"accepted: {counted(accepted, 'finding')} of what HEAD has, listed in {ALLOWED}: git mem scan --all\n")


def _say_ignored(created: new_repository.NewRepository) -> None:
    """Print on standard error which of the written files Git ignores: these come into no commit."""
    with closing(open_repository(created.root, os.environ)) as repo:
        ignored = sorted(repo.ignored([file.path for file in created.written]))
    if ignored:
        say(f"note: {words_on_ignored(ignored)}")
        say(f"hint: {hint_for_ignored(ignored)}")


def accept_head(root: Path) -> int:
    """Write the findings of HEAD to the gate's baseline. Returns their number; 0, with nothing written, if there is a
    baseline already or HEAD has no finding."""
    with closing(open_repository(root, os.environ)) as repo:
        policy = worktree_policy(repo, now().date())
        if policy.allow.baseline:
            return 0
        text = exceptions_text(transaction.Reading(repo))
        new_text, rows = adoption_baseline.with_baseline_of_head(repo, policy, text, secrets.token_hex(16))
        if rows:
            transaction.write(repo, lambda _: transaction.Draft({exceptions.FILE: new_text.encode()}, None))
        return len(rows)


def _notes(place: new_repository.Place, adopt: bool | None) -> adoption.Folder | None:
    """The notes of a folder; also for a folder without notes.

    None if the folder does not exist, or if it has a memory and neither --adopt nor --only-new was given (`adopt`
    None).
    """
    if not place.root.is_dir() or (adopt is None and _has_memory(place.root)):
        return None
    with adoption.open_place(place, os.environ) as repo:
        return adoption.inspect_folder(repo)


def _is_code(place: new_repository.Place) -> bool:
    """Whether the folder has more files that are not Markdown (hidden ones aside) than notes (`Folder.notes`: Markdown
    that is not memory yet). Such a folder gets no instruction files by default. False for a new or missing folder."""
    if place.new or not place.root.is_dir():
        return False
    with adoption.open_place(place, os.environ) as repo:
        return adoption.inspect_folder(repo).is_code


def _has_memory(root: Path) -> bool:
    """Whether the folder has MEMORY.md or memory/."""
    return any(os.path.lexists(root / name) for name in ("MEMORY.md", "memory"))


def _is_adopted(folder: adoption.Folder, adopt: bool | None, *, quiet: bool) -> bool:
    """Whether the notes of the folder stay searched: the choice of the option, else the person's answer on a terminal,
    else (or if `quiet`) whether it has more notes than files that are not Markdown. `adopt`: the option, None if it was
    not given."""
    if adopt is not None:
        return adopt
    if quiet or not can_ask():
        return folder.mostly_notes
    count = counted(len(folder.notes), "Markdown file")
    return click.confirm(f"{count} here: keep them searched and gated?", default=folder.mostly_notes, err=True)


def _settings_now(place: new_repository.Place) -> str:
    """The text of .gitmem.toml, "" if there is none. Raises UsageError if it is not UTF-8."""
    try:
        if not place.root.is_dir():
            return ""
        return (new_repository.settings_now(place.root) or b"").decode()
    except UnicodeDecodeError:
        raise UsageError(".gitmem.toml is not UTF-8", "mend .gitmem.toml") from None


def _patterns_in_settings(text_of_settings: str, daily: Sequence[str]) -> list[str]:
    """Of the patterns of daily logs `daily`, those that the text of the settings has; a note names the others."""
    missing = adoption.lacking_patterns(text_of_settings, daily)
    if missing:
        text = json.dumps(missing, ensure_ascii=False)
        say(f"note: .gitmem.toml has a [memory] table already: add {text} to its daily by hand to have these logs read")
    return [pattern for pattern in daily if pattern not in missing]


def _show_unread_folders(root: Path) -> None:
    """Print the folders of memory (`packages/api/memory/`) that no setting includes, and the setting that does."""
    if not (root / ".git").exists():  # a dry run of a new folder
        return
    with closing(open_repository(root, os.environ)) as repo:
        globs = adoption.unread_folders(repo, settings(repo).memory_paths)
    if globs:
        listed = json.dumps(globs, ensure_ascii=False)
        write(escape(f"folders: memory of their own is read with [memory] paths = {listed} in .gitmem.toml\n"))


def _show_notes(folder: adoption.Folder, adopted: bool, daily: Sequence[str]) -> None:
    """Print which files are memory (`in:`), which are daily logs (`log:`), and which are neither (`out:`)."""
    count = counted(len(folder.notes), "note")
    left_out = [f"{number} {reason}" for reason, number in folder.others]
    if adopted:
        write(f"in:  {count}, searched and gated ([memory] paths in .gitmem.toml)\n")
    elif folder.notes:
        keeps = "git mem init --adopt keeps them searched and gated"
        left_out.insert(0, f"{count}, not searched any more once the first log is written ({keeps})")
    for pattern, number in [row for row in folder.daily if row[0] in daily]:
        write(escape(f"log: {counted(number, 'daily log')} by {pattern} ([memory] daily in .gitmem.toml)\n"))
    if left_out:
        write(escape(f"out: {', '.join(left_out)}\n"))


def _import_into_new(options: InitOptions, source: Path) -> int:
    """Import notes into the folder, then write the files that a memory lacks; makes a repository if there is none.
    Returns the exit code of `show_notes`."""
    history = not options.no_history
    request = NotesImport(source, history, options.keep, options.verbose, options.dry_run, options.as_json)
    folder = options.folder.absolute()
    try:
        in_repository = os.path.isdir(folder) and discover(folder, os.environ).root is not None
    except NotARepository:
        in_repository = False
    config = Config()
    root = folder
    if in_repository:
        opened = open_repository(folder, os.environ)
        config, root = settings(opened), opened.root or folder
        opened.close()
    config = with_kept_data(config, request.keep)
    plan = plan_import(request.source, config, os.environ, root, history=request.history)
    commit = ""
    written_files: tuple[str, ...] = ()
    if not in_repository and not request.dry_run:
        init_repository(folder, os.environ)
    if in_repository or not request.dry_run:
        repo = open_repository(folder, os.environ)
        click.get_current_context().call_on_close(repo.close)
        plan = without_ignored(repo, plan)
    if not request.dry_run:
        commit = import_files(repo, plan, now(), os.environ).commit
        created = new_repository.create_memory_files(
            new_repository.place_for(folder, os.environ), os.environ, options.lang or _locale()
        )
        written_files = tuple(_in_words(file) for file in created.written)
    return show_notes(plan, request, root, commit, written_files)


def _locale() -> str:
    """The language of the templates by the person's locale (LC_ALL, LC_MESSAGES or LANG): "ko" if that begins with
    `ko`, else "en"."""
    value = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "ko" if value.startswith("ko") else "en"
