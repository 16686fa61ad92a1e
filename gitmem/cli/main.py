"""The command line: finds the command, runs it, and ends with an exit code (`exits`).

A command's module is imported when the command runs, so that each command starts fast.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gitmem import __version__
from gitmem.cli.command_registry import COMMANDS, EVERYDAY, MEANT, SECTIONS, SUMMARIES
from gitmem.cli.exits import run_command
from gitmem.cli.terminal import say, say_lines
from gitmem.errors import Exit, GitMemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

COMPLETE = "_GIT_MEM_COMPLETE"  # the variable by which a shell asks for completions
ALL_COMMANDS = "gitmem.all_commands"  # key of click's `Context.meta`: the help lists every command
SUMMARY = 62  # characters of a command's summary that fit in one line of the help, in a terminal of 80 columns
CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class UnknownCommand(click.UsageError):
    """The word after `git mem` is no command."""


class Commands(click.Group):
    """The group of all commands. A command is imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for name in COMMANDS if importlib.util.find_spec(COMMANDS[name]))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, imported now; None if the name is unknown or its module is not installed."""
        module = COMMANDS.get(name)
        if module is None or importlib.util.find_spec(module) is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """click's, but the error for an unknown command suggests the one that was probably meant."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            commands = self.list_commands(ctx)
            intended = MEANT.get(name.lower(), "")
            suggestion = intended if intended in commands else _nearest(name, commands)
            words = f"there is no command '{name}'"
            if suggestion:
                words += f"; did you mean 'git mem {suggestion}'?"
            raise UnknownCommand(words, ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin with `incomplete`. As click's, without importing the commands, and with
        summaries of any length: a shell cuts what it has no room for."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if SUMMARIES[name] and name.startswith(incomplete)]
        commands = [CompletionItem(name, help=SUMMARIES[name]) for name in names]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """click's, but every usage error names its command."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx is None and ctx.invoked_subcommand:  # for an option without its value click names no command
                command = self.get_command(ctx, ctx.invoked_subcommand)
                assert command is not None
                error.ctx = click.Context(command, parent=ctx, info_name=ctx.invoked_subcommand)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of everyday commands, or of all commands where `ctx.meta` holds ALL_COMMANDS."""
        if ctx.meta.get(ALL_COMMANDS):
            self._format_all_commands(ctx, formatter)
            return
        with formatter.section("Everyday commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in EVERYDAY])
        with formatter.section("More"):
            formatter.write_dl([("git mem help --all", "lists every command"), ("git mem COMMAND -h", "explains one")])

    def _format_all_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every installed command that is not hidden, under its section."""
        present = set(self.list_commands(ctx))
        width = max(map(len, present))
        for section, summaries in SECTIONS.items():
            rows = [(name.ljust(width), text) for name, text in summaries.items() if text and name in present]
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
        from gitmem.environment import change_to_profile

        change_to_profile(profile)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run one command and end the process with its exit code (`gitmem.errors.Exit`). `argv`: None for `sys.argv`."""
    sys.exit(run(argv))


def run(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. `argv`: the words after the program's name, None for those of the
    process. Never raises."""
    words = sys.argv[1:] if argv is None else argv
    command = f"git mem {words[0]}" if words and words[0] in COMMANDS else "git mem"
    return run_command(lambda: _run_click(argv), command)


def _run_click(argv: list[str] | None) -> int:
    """Run one command and return its exit code; errors of click itself are printed here. Raises what the command
    raises."""
    try:
        code = main_command.main(args=argv, prog_name="git mem", complete_var=COMPLETE, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.Abort:
        return Exit.INTERRUPTED
    except click.UsageError as error:
        if error.ctx is not None and error.message == error.ctx.get_help():  # a group without a command: its help
            say_lines(error.message)
            return Exit.USAGE
        path = error.ctx.command_path if error.ctx else "git mem"
        what = "shows its options"
        if isinstance(error, UnknownCommand):
            what = "lists the commands"
        say(f"git mem: {_in_one_line(error)}")
        say(f"hint: {_missing_option(error)}'{path} -h' {what}.")
        return Exit.USAGE
    except click.ClickException as error:
        say(f"git mem: {_in_one_line(error)}")
        return Exit.CANNOT_RUN
    return int(code or 0)


def _missing_option(error: click.UsageError) -> str:
    """`add --reason WHY; ` for a required option that was not typed; "" for any other error."""
    parameter = getattr(error, "param", None)
    if not isinstance(error, click.MissingParameter) or not isinstance(parameter, click.Option):
        return ""
    return " ".join(["add", parameter.opts[0], *filter(None, [parameter.metavar])]) + "; "


def _in_one_line(error: click.ClickException) -> str:
    """click's message for an error, on one line. For a wrong choice it ends with the choice that is spelled most alike;
    for an argument it lists the choices once (click lists them twice)."""
    parameter = getattr(error, "param", None)
    if parameter is None or not isinstance(parameter.type, click.Choice):
        return " ".join(error.format_message().split())
    choices = [str(choice) for choice in parameter.type.choices]
    suggestion = _nearest(error.message.partition("'")[2].partition("'")[0], choices)
    if suggestion:
        suggestion = f" Did you mean '{suggestion}'?"
    if not isinstance(parameter, click.Argument):
        return " ".join(error.format_message().split()) + suggestion
    listed = ", ".join(choices)
    if isinstance(error, click.MissingParameter):
        return f"Missing argument, one of {listed}."
    return f"{error.message.partition(' is not one of')[0]} is not one of {listed}.{suggestion}"


def _nearest(word: str, choices: Sequence[str]) -> str:
    """The choice that is spelled most like `word`; "" where none is."""
    from difflib import get_close_matches  # needed after a mistyped word alone

    return next(iter(get_close_matches(word, choices, n=1)), "")
