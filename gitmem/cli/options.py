"""Options that several commands share, and `open_here`, which opens the repository of the command that runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import click

from gitmem.cli import completions
from gitmem.cli.command_registry import SECTIONS
from gitmem.cli.terminal import say, say_warnings
from gitmem.config import Config
from gitmem.environment import open_environment
from gitmem.git.opening import Repository, RepositoryLookup
from gitmem.git.repository import words_on_left_out
from gitmem.paths import agent_name

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
colour_option = click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to colour."
)


def agent_option(help: str = "Who writes (mem.agent).") -> Decorator:
    """Decorator for the option `--agent NAME`, "" without it. A name that cannot be part of a daily log's file name is
    a usage error (`paths.agent_name`)."""
    return click.option(
        "--agent", default="", callback=lambda ctx, option, name: agent_name(name), help=help,
        shell_complete=completions.agents,
    )  # fmt: skip


def at_option(help: str) -> Decorator:
    """Decorator for the option `--at REV|DATE`, "" without it; `commit_at` reads it."""
    return click.option("--at", default="", shell_complete=completions.revisions, metavar="REV|DATE", help=help)


def since_option(help: str) -> Decorator:
    """Decorator for the option `--since REV|DATE`, "" without it; `promotion.logs.since_commit` reads it."""
    return click.option("--since", metavar="REV|DATE", shell_complete=completions.revisions, default="", help=help)


def day_option(name: str, help: str) -> Decorator:
    """Decorator for an option `name` DATE ("--since" or "--until"), "" without it; `text.named_times` reads the
    date."""
    return click.option(name, default="", shell_complete=completions.days, metavar="DATE", help=help)


def range_option(help: str) -> Decorator:
    """Decorator for the option `--range A..B`, passed as the parameter `span`, "" without it;
    `commit_files.parse_range` reads it."""
    return click.option(
        "--range", "span", default="", shell_complete=completions.ranges, metavar="A..B", help=help
    )  # fmt: skip


def branch_option(
    help: str = "Commit on branch NAME, from a temporary work tree.", name: str = "--branch", metavar: str = "NAME"
) -> Decorator:
    """Decorator for an option that names a branch, "" without it. `name`: the option's own name; `metavar`: what the
    help prints for the branch. By default it is `--branch NAME`, which `git.branch_worktree` reads."""
    return click.option(name, default="", shell_complete=completions.branches, metavar=metavar, help=help)


def cites_option() -> Decorator:
    """Decorator for the option `--cites PATH:LINES|PATH#SYMBOL`, repeatable, () without it; `claims.anchoring` reads
    it."""
    return click.option(
        "--cites", multiple=True, metavar="PATH:LINES|PATH#SYMBOL", help="Code that it is true of; at most three.",
    )  # fmt: skip


def keep_option(help: str = "pii: write personal data as it is (mem.onPersonal).") -> Decorator:
    """Decorator for the option `--keep pii`, None without it; `with_kept_data` applies it to the settings."""
    return click.option("--keep", type=click.Choice(["pii"]), help=help)


def with_kept_data(config: Config, keep: str | None) -> Config:
    """The settings with the option `--keep` applied: with "pii" personal data is written without a mask; unchanged for
    None."""
    if keep:
        return config._replace(on_personal="keep")
    return config


# Commands that always work in the repository of the current folder, and never in that of the profile in force.
HERE = frozenset((*SECTIONS["Gate"], *SECTIONS["Set up"], "init", "redact", "profile"))
# Commands that write to memory: they name the profile's repository where it is not that of the current folder.
WRITERS = frozenset((*SECTIONS["Write"], *SECTIONS["Promote"], "import", "sync", "publish"))
# Commands that read what a partial clone has, and name what it left out; `search` does so by itself.
PARTIAL_READERS = frozenset(("context", "log", "show", "check", "index"))
SETTINGS_SHOWN = frozenset(("config", "doctor"))  # commands that print the warnings about settings themselves


def open_here(
    overrides: Mapping[str, str | None] | None = None, *, stay: bool = False, lookup: RepositoryLookup | None = None
) -> tuple[Repository, Config]:
    """The repository and settings for the command that runs: of the current folder, or of the profile in force. The
    repository is closed when the command ends. Raises as `environment.open_environment`.

    `overrides`: settings by name, in place of the configured ones; empty values are left out. `stay`: open the
    repository of the current folder even if a profile is active. The commands of HERE do the same, and so does every
    command with `--profile`, which has changed to the profile's folder already. `lookup`: a lookup that
    `environment.start_lookup` began. Warnings about settings are printed on standard error.
    """
    context = click.get_current_context(silent=True)
    profile, command = "", ""
    if context is not None:
        root = context.find_root()
        profile, command = root.params.get("profile") or "", root.invoked_subcommand or ""
    folder = _current_folder()
    given_overrides = {name: value for name, value in (overrides or {}).items() if value}
    repo, config = open_environment(given_overrides, stay=stay or bool(profile) or command in HERE, lookup=lookup)
    if context is not None:
        context.call_on_close(repo.close)
    if context is not None and command in PARTIAL_READERS:
        context.call_on_close(partial(_say_left_out, repo))
        context.with_resource(repo.skipping_left_out())
    if command not in SETTINGS_SHOWN:
        say_warnings(config.warnings)
    if command in WRITERS and config.profile and _current_folder() != folder:
        say(f"in the memory of profile '{config.profile}': {repo.root}")
    return repo, config


def _say_left_out(repo: Repository) -> None:
    """Print what was not read since this partial clone left it out."""
    if note := words_on_left_out(repo):
        say(f"note: {note}")


def default_span(repo: Repository) -> str:
    """The range for a command that was given none: the current branch's own commits, such as `origin/main..HEAD`
    (`git.upstream.default_range`). Prints it on standard error. Raises GitMemError as `default_range`."""
    from gitmem.git.upstream import default_range  # few commands take a range

    span = default_range(repo)
    say(f"git mem: {span}")
    return span


def commit_at(repo: Repository, typed: str, moment: datetime) -> str:
    """The oid that `--at REV|DATE` names at `moment`; "" without the option. Raises UnknownRevision and UsageError as
    `resolve_at`."""
    if not typed:
        return ""
    from gitmem.git.revision import resolve_at  # the fastest commands do not take --at

    return resolve_at(repo, typed, moment)


def say_if_detached(repo: Repository, commit: str) -> None:
    """Print a note that no branch contains the new commit, if no branch is checked out. `commit`: its oid, "" for
    none."""
    if commit and repo.branch() is None:
        say("note: no branch is checked out, so none holds this commit")
        say(f"hint: git branch NAME {commit[:12]}")


def _current_folder() -> str:
    """The path of the current folder, "" if it was removed. Changing to a profile's repository changes it."""
    try:
        return os.getcwd()
    except OSError:
        return ""
