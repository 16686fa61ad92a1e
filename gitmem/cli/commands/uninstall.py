"""`git mem uninstall`: take our lines out of the Git hooks; with --purge, all state too."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import click

from gitmem.cli.commands.install import show
from gitmem.cli.host_registration import AGENTS, FOUND, agents_for_user, register, register_for_user
from gitmem.cli.options import open_here
from gitmem.cli.terminal import say
from gitmem.errors import Exit, GitMemError
from gitmem.git import hook_files as hooks
from gitmem.git import merge_driver


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--purge", is_flag=True, help="Remove the search index and all other state of ours as well.")
@click.option(
    "--agent", "agents", type=click.Choice(AGENTS), multiple=True, is_flag=False, flag_value=FOUND,
    help="Leave an agent's host instead. Repeatable; without a name, all that are registered here.",
)  # fmt: skip
@click.option("--user", is_flag=True, help="With --agent: in your own settings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
def command(dry_run: bool, purge: bool, agents: Sequence[str], user: bool, as_json: bool) -> int:
    """Restore the hooks byte for byte, take the merge driver out.

    Memory files and history stay as they are.
    """
    if user:
        return register_for_user(agents_for_user(agents), dry_run=dry_run, as_json=as_json, remove=True)
    repo, _ = open_here()
    if agents:
        return register(repo, agents, dry_run=dry_run, as_json=as_json, remove=True)
    folder = hooks.hooks_folder(repo)
    steps = hooks.uninstall(folder, only=hooks.git_directory(repo), dry=dry_run)
    if not dry_run:
        hooks.remember(repo.common_dir, ())
    state = repo.common_dir / "gitmem"
    if purge and not dry_run:
        if state.is_symlink():
            raise GitMemError(f"'{state}' is a link and is not followed", "remove it yourself")
        if state.exists():
            try:
                shutil.rmtree(state)
            except OSError as error:
                raise GitMemError(f"cannot remove '{state}': {error.strerror}") from None
            say(f"removed {state}")
    merging = merge_driver.take_out(repo, dry=dry_run)
    show(steps, folder, dry_run, as_json, "there are no hooks of ours", "removed" if merging else "")
    return Exit.DONE
