"""`git mem help`: the help of a command, by the name people try first."""

from __future__ import annotations

import click

from gitmem.cli.terminal import page


@click.command()
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
def command(names: tuple[str, ...]) -> None:
    """Show the help of git mem or of one of its commands.

    \b
    git mem help search
    git mem help session end
    """
    context = click.get_current_context().find_root()
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"'{context.command_path}' has no command '{name}'", context)
        _, shown, _ = group.resolve_command(context, [name])
        assert shown is not None
        context = click.Context(shown, info_name=name, parent=context, **shown.context_settings)
    page(context.get_help() + "\n")
