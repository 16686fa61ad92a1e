"""The command line: finds the command and runs it; every way out is that of `exits`.

Imports nothing of a command until it runs: `git mem search` must start in a few milliseconds.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gitmem import __version__
from gitmem.cli.command_registry import COMMANDS, EVERYDAY, MEANT, SECTIONS
from gitmem.cli.exits import ending
from gitmem.cli.terminal import say
from gitmem.errors import Exit, GitMemError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

COMPLETE = "_GIT_MEM_COMPLETE"
ALL_COMMANDS = "gitmem.all_commands"  # key of click's `Context.meta`: the help lists every command
SUMMARY = 62  # characters that the help has for what a command does, where the terminal has 80 columns
CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(click.Group):
    """A group whose members are imported when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for name in COMMANDS if importlib.util.find_spec(COMMANDS[name]))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        module = COMMANDS.get(name)
        if module is None or importlib.util.find_spec(module) is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            import difflib

            there = self.list_commands(ctx)
            meant = MEANT.get(name.lower(), "")
            if meant in there:
                near = [meant]
            else:
                near = difflib.get_close_matches(name, there, n=1)
            hint = "'git mem -h' lists the commands."
            if near:
                hint = f"did you mean 'git mem {near[0]}'?"
            raise click.UsageError(f"there is no command '{name}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click's, with each summary whole: a shell cuts what it has no room for."""
        items = super().shell_complete(ctx, incomplete)
        for item in items:
            command = self.get_command(ctx, item.value)
            if command is not None:
                item.help = command.get_short_help_str(SUMMARY)
            else:
                item.help = item.help
        return items

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx is None and ctx.invoked_subcommand:  # an option without its value: whose, click does not say
                command = self.get_command(ctx, ctx.invoked_subcommand)
                assert command is not None
                error.ctx = click.Context(command, parent=ctx, info_name=ctx.invoked_subcommand)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The everyday commands; all of them, section by section, where `ctx.meta` holds ALL_COMMANDS."""
        if ctx.meta.get(ALL_COMMANDS):
            self._format_all_commands(ctx, formatter)
            return
        with formatter.section("Everyday commands"):
            formatter.write_dl(list(EVERYDAY.items()))
        with formatter.section("More"):
            formatter.write_dl([("git mem help --all", "lists every command"), ("git mem COMMAND -h", "explains one")])

    def _format_all_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        present = set(self.list_commands(ctx))
        width = max(map(len, present))
        for section, names in SECTIONS.items():
            rows = []
            for name in names:
                command = None
                if name in present:
                    command = self.get_command(ctx, name)
                if command is not None and not command.hidden:
                    rows.append((name.ljust(width), command.get_short_help_str(SUMMARY)))
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)


@click.group(cls=Commands, context_settings=CONTEXT, no_args_is_help=True)
@click.version_option(__version__, "--version", message="git-mem %(version)s")
@click.option("-C", "directory", metavar="DIR", default="", help="Run as if started in DIR.")
@click.option("--profile", metavar="NAME", default="", help="Run in the memory of a profile (git mem profile).")
def main_command(directory: str, profile: str) -> None:
    """Memory for AI agents, as plain Markdown in Git."""
    if directory:
        try:
            os.chdir(directory)
        except OSError as error:
            raise GitMemError(f"cannot enter '{directory}': {error.strerror}") from None
    if profile:
        from gitmem.environment import enter

        enter(profile)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run; every way out is an exit code of `gitmem.errors.Exit`."""
    sys.exit(run(argv))


def run(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. Never raises."""

    def parsed() -> int:
        try:
            code = main_command.main(args=argv, prog_name="git mem", complete_var=COMPLETE, standalone_mode=False)
        except click.exceptions.Exit as stop:
            return stop.exit_code
        except click.exceptions.Abort:
            return Exit.INTERRUPTED
        except click.UsageError as error:
            if error.ctx is not None and error.message == error.ctx.get_help():  # a group alone: its help
                say(error.message)
                return Exit.USAGE
            path = "git mem"
            if error.ctx:
                path = error.ctx.command_path
            say(f"git mem: {_in_one_line(error)}")
            say(f"hint: '{path} -h' shows its options.")
            return Exit.USAGE
        except click.ClickException as error:
            say(f"git mem: {_in_one_line(error)}")
            return Exit.CANNOT_RUN
        return int(code or 0)

    if argv is None:
        words = sys.argv[1:]
    else:
        words = argv
    return ending(parsed, f"git mem {words[0]}" if words and words[0] in COMMANDS else "git mem")


def _in_one_line(error: click.ClickException) -> str:
    """click's words for an error; the choices of an argument, which are its name too, stand there once. A choice
    that is mistyped is answered with the one that is meant."""
    parameter = None
    if isinstance(error, click.BadParameter):
        parameter = error.param
    if parameter is None or not isinstance(parameter.type, click.Choice):
        return " ".join(error.format_message().split())
    near = _nearest(error, parameter.type.choices)
    if not isinstance(parameter, click.Argument):
        return " ".join(error.format_message().split()) + near
    choices = ", ".join(map(str, parameter.type.choices))
    if isinstance(error, click.MissingParameter):
        return f"Missing argument, one of {choices}."
    return f"{error.message.partition(' is not one of')[0]} is not one of {choices}.{near}"


def _nearest(error: click.ClickException, choices: Iterable[object]) -> str:
    import difflib

    typed = error.message.partition("'")[2].partition("'")[0]
    near = difflib.get_close_matches(typed, [str(choice) for choice in choices], n=1)
    if not near:
        return ""
    return f" Did you mean '{near[0]}'?"
