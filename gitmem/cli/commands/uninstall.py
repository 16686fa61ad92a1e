"""`git mem uninstall`: remove hooks, the merge driver and hosts' registrations, and ask about everything else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import click

from gitmem.cli import host_registration, state_removal
from gitmem.cli.commands.install import HookChanges, show_changes
from gitmem.cli.options import open_here
from gitmem.cli.state_removal import Part
from gitmem.cli.terminal import can_ask, escape, say, write, write_json
from gitmem.errors import Exit, GitMemError
from gitmem.exchange.sync_timer import timer_files
from gitmem.git import merge_driver
from gitmem.git.hooks import installation
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.hooks.record import former_name, remember
from gitmem.git.opening import Repository

REMOVED, WOULD_REMOVE, KEPT = "removed", "would be removed", "kept"  # states of a part in JSON
# Part -> the option that removes it without a question.
OPTIONS = {"registrations": "--user", "index": "--purge", "state": "--purge", "undo": "--purge", "settings": "--yes"}


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Answer every question with yes; without a terminal nothing is asked.")
@click.option("--purge", is_flag=True, help="Remove the search index and all other state of ours as well.")
@click.option(
    "--agent", "agents", type=click.Choice(host_registration.AGENTS), multiple=True, is_flag=False,
    flag_value=host_registration.FOUND,
    help="Leave an agent's host instead. Repeatable; without a name, all that are registered here.",
)  # fmt: skip
@click.option("--user", is_flag=True, help="With --agent: in your own settings. Alone: there as well.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
def command(dry_run: bool, yes: bool, purge: bool, agents: Sequence[str], user: bool, as_json: bool) -> int:
    """Leave git mem: take out its hooks and registrations.

    Hooks are restored byte for byte, the merge driver goes, and every host loses its MCP server, its hooks and the
    block of AGENTS.md in this project. Then it asks about the rest, one part at a time: registrations in your home and
    your own settings (both for all repositories), the search index, other state, and last the record of `git mem undo`.
    Without a terminal it asks nothing and the rest stays, but for what --user, --purge or --yes name. Memory files and
    history stay as they are; so do sessions that are not written yet. Exit 3 when something could not be removed.

    \b
    git mem uninstall --dry-run
    git mem uninstall --yes
    """
    if user and agents:
        return host_registration.register_for_user(
            host_registration.require_agents(agents), dry_run=dry_run, as_json=as_json, remove=True
        )
    repo, _ = open_here()
    if agents:
        return host_registration.register(repo, agents, dry_run=dry_run, as_json=as_json, remove=True)
    state_removal.state_folder(repo)  # a link is refused before anything is changed
    folder = hooks_folder(repo)
    steps = _remove_hooks(repo, dry_run)
    problems: list[str] = []
    merging = False
    try:
        merging = merge_driver.take_out(repo, dry=dry_run)
    except GitMemError as error:  # the hooks are gone, and the report says so
        _note(error, problems, as_json)
    hosts = host_registration.unregister_project(repo, dry_run=dry_run)
    if not as_json:
        nothing = "there are no hooks of ours"
        if "elsewhere" in installation.installed(folder, repo.common_dir.as_posix()).values():
            nothing = "our lines there are for other repositories, and none for this one:"
        changes = HookChanges(folder, steps, changed_merge_driver=merging, dry_run=dry_run)
        show_changes(changes, without_steps=nothing, driver_change="removed")
        for host in hosts:
            host_registration.show_unregistered(host, dry_run)
    problems += [f"{host.host}: {host.problem}" for host in hosts if host.problem]

    def is_wanted(part: Part) -> bool:
        return yes or (purge and not part.all_projects) or (user and part.name == "registrations")

    asks = not (dry_run or yes or as_json) and can_ask()
    states = _remove_parts(repo, is_wanted, problems, asks=asks, dry_run=dry_run, as_json=as_json)
    waiting = state_removal.kept_files(repo)
    folder_removed = not dry_run and state_removal.remove_folder(repo)
    if as_json:
        write_json({
            "folder": str(folder), "dry_run": dry_run,
            "hooks": [{"hook": step.path.name, "what": step.what} for step in steps], "merge_driver": merging,
            "agents": hosts, "rest": states,
            "kept": [str(path) for path in waiting], "problems": problems,
        })  # fmt: skip
    else:
        for line in (*_kept(repo, states, waiting, folder_removed), *_timers(repo)):
            say(escape(line))
    if problems:
        return Exit.CANNOT_RUN
    return Exit.DONE


def _remove_hooks(repo: Repository, dry_run: bool) -> list[installation.Step]:
    """Remove our lines from the hook files in Git's folder of hooks, and in the repository's own, which was used before
    core.hooksPath was set. Returns what was done to each file."""
    git_dir, former = repo.common_dir.as_posix(), former_name(repo.common_dir)
    folders = {folder.resolve(): folder for folder in (repo.common_dir / "hooks", hooks_folder(repo))}
    steps = []
    for folder in folders.values():
        steps += installation.uninstall(folder, git_dir=git_dir, former=former, dry=dry_run)
    if not dry_run:
        remember(repo.common_dir, ())
    return steps


def _note(error: GitMemError, problems: list[str], as_json: bool) -> None:
    """Add what could not be removed to `problems`, and print it unless the answer is JSON, which lists them."""
    problems.append(error.message)
    if not as_json:
        say(f"git mem: {error.message}")


def _remove_parts(
    repo: Repository,
    is_wanted: Callable[[Part], bool],
    problems: list[str],
    *,
    asks: bool,
    dry_run: bool,
    as_json: bool,
) -> dict[str, str]:
    """Remove the parts that are wanted, or that the person wants removed. Returns part -> its state, and adds to
    `problems` why a part could not be removed."""
    states: dict[str, str] = {}
    for part in _parts(repo):
        try:
            states[part.name] = _remove(
                part, wanted=is_wanted(part), asks=asks, dry_run=dry_run, as_json=as_json, problems=problems
            )
        except GitMemError as error:
            states[part.name] = KEPT
            _note(error, problems, as_json)
    return states


def _parts(repo: Repository) -> Iterator[Part]:
    """The parts to ask about, in order; the record of `git mem undo` is the last."""
    at_home = host_registration.unregister_home(dry_run=True)
    if at_home:
        files = ", ".join(dict.fromkeys(change.path for host in at_home for change in host.changes))
        words = f"registrations in your home, for all projects ({files or at_home[0].problem})"
        yield Part("registrations", words, _leave_home, default=True, all_projects=True)
    settings = state_removal.settings_part(os.environ)
    if settings is not None:
        yield settings
    yield from state_removal.state_parts(repo)
    undo = state_removal.undo_part(repo)
    if undo is not None:
        yield undo


def _leave_home() -> None:
    """Remove the registrations in the person's home. Raises GitMemError if one cannot be removed."""
    problems = [host for host in host_registration.unregister_home(dry_run=False) if host.problem]
    if problems:
        raise GitMemError(f"{problems[0].host}: {problems[0].problem}", problems[0].hint)


def _remove(part: Part, *, wanted: bool, asks: bool, dry_run: bool, as_json: bool, problems: Sequence[str]) -> str:
    """Remove a part if an option asks for it (`wanted`), or the person says yes (`asks`). Returns its state.

    The record of `git mem undo` is kept if something else could not be removed (`problems`). Raises GitMemError as
    `part.remove`.
    """
    if part.name == "undo" and problems:
        wanted = asks = False
    if asks and not wanted:
        wanted = click.confirm(f"remove {escape(part.words, '')}?", default=part.default, err=True)
    if not wanted:
        if dry_run and not as_json:
            write(escape(f"would ask about {part.words}\n"))
        return KEPT
    if dry_run:
        if not as_json:
            write(escape(f"would remove {part.words}\n"))
        return WOULD_REMOVE
    part.remove()
    if not as_json:
        write(escape(f"removed {part.removed or part.words}\n"))
    return REMOVED


def _kept(repo: Repository, states: dict[str, str], waiting: Sequence[object], folder_removed: bool) -> Iterator[str]:
    """Sentences that name the parts and files (`waiting`) that were kept, and the command that removes them; or
    (`folder_removed`) that nothing is left."""
    kept_parts = [name for name, state in states.items() if state == KEPT]
    if kept_parts:
        options = list(dict.fromkeys(OPTIONS[name] for name in kept_parts))
        if "--yes" in options:
            options = ["--yes"]
        yield f"kept: {', '.join(kept_parts)}; git mem uninstall {' '.join(options)} removes them"
    if waiting:
        yield f"kept, for no memory file has it yet: {', '.join(str(path) for path in waiting)}"
        yield "hint: git mem session retry writes what sessions left; read the rest, then remove it yourself"
    if folder_removed:
        yield f"nothing of git mem is left in {repo.common_dir}; memory files and history are as they were"


def _timers(repo: Repository) -> Iterator[str]:
    """Notes about timers for `git mem sync`, which a person set up and has to remove."""
    if repo.root is None:
        return
    for path in timer_files(repo.root, os.environ):
        yield f"note: '{path}' runs git mem sync by itself; the last line of git mem sync --timer takes it out"
