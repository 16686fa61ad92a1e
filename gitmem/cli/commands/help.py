"""`git mem help`: print the help of git mem or of a command."""

from __future__ import annotations

import click

from gitmem.cli.main import ALL_COMMANDS
from gitmem.cli.terminal import page


@click.command()
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "all_commands", is_flag=True, help="List every command.")
def command(names: tuple[str, ...], all_commands: bool) -> None:
    """Show the help of git mem or of one of its commands.

    \b
    git mem help --all
    git mem help search
    git mem help session end
    """
    context = click.get_current_context().find_root()
    context.meta[ALL_COMMANDS] = all_commands
    if all_commands and names:
        raise click.UsageError("--all lists every command, and goes with no name of one")
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"'{context.command_path}' has no command '{name}'", context)
        _, shown, _ = group.resolve_command(context, [name])
        assert shown is not None
        context = click.Context(shown, info_name=name, parent=context, **shown.context_settings)
    page(context.get_help() + "\n")
