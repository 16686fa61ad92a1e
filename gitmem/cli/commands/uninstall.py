"""`git mem uninstall`: leave git mem: hooks, merge driver and hosts' registrations at once; about the rest it asks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

import click

from gitmem.cli import state_removal
from gitmem.cli.commands.install import show
from gitmem.cli.host_registration import (
    AGENTS,
    FOUND,
    agents_for_user,
    leave_home,
    leave_project,
    register,
    register_for_user,
    show_left,
)
from gitmem.cli.options import open_here
from gitmem.cli.state_removal import Part
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import Exit, GitMemError
from gitmem.exchange.sync_timer import timer_files
from gitmem.git import hook_files as hooks
from gitmem.git import merge_driver
from gitmem.git.opening import Repository

# What each part became, as JSON has it; the words of a person's report.
REMOVED, WOULD_REMOVE, KEPT = "removed", "would be removed", "kept"
REMOVES = {"registrations": "--user", "index": "--purge", "state": "--purge", "undo": "--purge", "settings": "--yes"}


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Answer every question with yes; without a terminal nothing is asked.")
@click.option("--purge", is_flag=True, help="Remove the search index and all other state of ours as well.")
@click.option(
    "--agent", "agents", type=click.Choice(AGENTS), multiple=True, is_flag=False, flag_value=FOUND,
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
    history stay as they are; so do sessions that are not written yet.

    \b
    git mem uninstall --dry-run
    git mem uninstall --yes
    """
    if user and agents:
        return register_for_user(agents_for_user(agents), dry_run=dry_run, as_json=as_json, remove=True)
    repo, _ = open_here()
    if agents:
        return register(repo, agents, dry_run=dry_run, as_json=as_json, remove=True)
    state_removal.state_folder(repo)  # a link is refused before anything is changed
    folder = hooks.hooks_folder(repo)
    steps = _hooks_out(repo, dry_run)
    merging = merge_driver.take_out(repo, dry=dry_run)
    hosts = leave_project(repo, dry_run=dry_run)
    if not as_json:
        show(steps, folder, dry_run, False, "there are no hooks of ours", "removed" if merging else "")
        for host in hosts:
            show_left(host, dry_run)
    asks = not (dry_run or yes or as_json) and sys.stdin.isatty() and sys.stderr.isatty()
    rest: dict[str, str] = {}
    problems = [f"{host.host}: {host.problem}" for host in hosts if host.problem]
    for part in _parts(repo):
        wanted = yes or (purge and not part.all_projects) or (user and part.name == "registrations")
        try:
            rest[part.name] = _take(part, wanted=wanted, asks=asks, dry_run=dry_run, as_json=as_json, left=problems)
        except GitMemError as error:
            problems.append(error.message)
            rest[part.name] = KEPT
            if not as_json:
                say(escape(f"git mem: {error.message}"))
    waiting = state_removal.kept_files(repo)
    gone = not dry_run and state_removal.remove_folder(repo)
    if as_json:
        write_json({
            "folder": str(folder), "dry_run": dry_run,
            "hooks": [{"hook": step.path.name, "what": step.what} for step in steps], "merge_driver": merging,
            "agents": [host.as_value(dry_run) for host in hosts], "rest": rest,
            "kept": [str(path) for path in waiting], "problems": problems,
        })  # fmt: skip
    else:
        for line in _last_words(repo, rest, waiting, gone):
            say(escape(line))
        for line in _by_hand(repo):
            say(escape(line))
    if problems:
        return Exit.CANNOT_RUN
    return Exit.DONE


def _hooks_out(repo: Repository, dry_run: bool) -> list[hooks.Step]:
    """Our lines go out of the folder in which Git looks for hooks, and of the repository's own, where they were put
    before core.hooksPath named another."""
    only = hooks.git_directory(repo)
    folders = {folder.resolve(): folder for folder in (repo.common_dir / "hooks", hooks.hooks_folder(repo))}
    steps = [step for folder in folders.values() for step in hooks.uninstall(folder, only=only, dry=dry_run)]
    if not dry_run:
        hooks.remember(repo.common_dir, ())
    return steps


def _parts(repo: Repository) -> Iterator[Part]:
    """What is left, in the order in which it is asked about: undo's record is the last."""
    at_home = leave_home(dry_run=True)
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
    problems = [host for host in leave_home(dry_run=False) if host.problem]
    if problems:
        raise GitMemError(f"{problems[0].host}: {problems[0].problem}", problems[0].hint)


def _take(part: Part, *, wanted: bool, asks: bool, dry_run: bool, as_json: bool, left: Sequence[str]) -> str:
    """Remove a part where that is wanted or a person says so: REMOVED, WOULD_REMOVE or KEPT.

    Undo's record stays while something else could not be taken out.
    """
    if part.name == "undo" and left:
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
        write(escape(f"removed {part.words}\n"))
    return REMOVED


def _last_words(repo: Repository, rest: dict[str, str], waiting: Sequence[object], gone: bool) -> Iterator[str]:
    """What stays, and which command removes it."""
    left = [name for name, state in rest.items() if state == KEPT]
    if left:
        typed = list(dict.fromkeys(REMOVES[name] for name in left))
        if "--yes" in typed:
            words = "--yes"
        else:
            words = " ".join(typed)
        yield f"kept: {', '.join(left)}; git mem uninstall {words} removes them"
    if waiting:
        yield f"kept, for no memory file has it yet: {', '.join(str(path) for path in waiting)}"
        yield "hint: git mem session retry writes what sessions left; read the rest, then remove it yourself"
    if gone:
        yield f"nothing of git mem is left in {repo.common_dir}; memory files and history are as they were"


def _by_hand(repo: Repository) -> Iterator[str]:
    """What a person set up with a command that git mem printed, and takes out with one."""
    if repo.root is None:
        return
    for path in timer_files(repo.root, os.environ):
        yield f"note: '{path}' runs git mem sync by itself; the last line of git mem sync --timer takes it out"
