"""What every command shares: options, and the repository of the command that runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from gitmem.cli import completions
from gitmem.cli.command_registry import SECTIONS
from gitmem.cli.terminal import say, say_warnings
from gitmem.config import Config
from gitmem.environment import cache_folder, enter, now, opened, settings, tracked_text
from gitmem.git.opening import Repository, RepositoryLookup
from gitmem.paths import agent_name

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
colour_option = click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to colour."
)


def agent_option(help: str = "Who writes (mem.agent).") -> Decorator:
    """`--agent NAME`, in the spelling of `paths.agent_name`: a name no log could have is a usage error."""
    return click.option(
        "--agent", default="", callback=lambda ctx, option, name: agent_name(name), help=help,
        shell_complete=completions.agents,
    )  # fmt: skip


def at_option(help: str) -> Decorator:
    """`--at REV|DATE`, "" where it is not given (`git/revision` reads it)."""
    return click.option("--at", default="", shell_complete=completions.revisions, metavar="REV|DATE", help=help)


def since_option(help: str) -> Decorator:
    """`--since REV|DATE`, "" where it is not given (`promotion/logs.since` reads it)."""
    return click.option("--since", metavar="REV|DATE", shell_complete=completions.revisions, default="", help=help)


def branch_option() -> Decorator:
    """`--branch NAME`, "" where it is not given (`git/branch_worktree`)."""
    return click.option(
        "--branch", metavar="NAME", shell_complete=completions.branches, default="",
        help="Commit on branch NAME, from a temporary work tree.",
    )  # fmt: skip


def cites_option() -> Decorator:
    """`--cites PATH:LINES`, repeatable (`claims/anchoring` reads it)."""
    return click.option(
        "--cites", multiple=True, metavar="PATH:LINES|PATH#SYMBOL", help="Code that it is true of; at most three.",
    )  # fmt: skip


def keep_option(help: str = "pii: write personal data as it is (mem.onPersonal).") -> Decorator:
    """`--keep pii`; `keeping` puts it in force."""
    return click.option("--keep", type=click.Choice(["pii"]), help=help)


def keeping(config: Config, keep: str | None) -> Config:
    """The settings with `--keep` in force."""
    if keep:
        return config._replace(on_personal="keep")
    return config


# What a repository's own gate and set-up say is about the repository they stand in, whatever profile is in force.
HERE = frozenset((*SECTIONS["Gate"], *SECTIONS["Set up"], "init", "redact", "profile"))


def open_here(
    overrides: Mapping[str, str] | None = None, *, stay: bool = False, here: RepositoryLookup | None = None
) -> tuple[Repository, Config]:
    """What `environment.opened` gives, closed at the exit of the command; a profile that was named, the gate and the
    set-up stay where they are. `here` is what `environment.look_up` began to look for."""
    context = click.get_current_context(silent=True)
    root = None
    if context:
        root = context.find_root()
    stay = stay or bool(root and (root.params.get("profile") or root.invoked_subcommand in HERE))
    stood = _stood()
    repo, config = opened(overrides, stay=stay, here=here)
    if context is not None:
        context.call_on_close(repo.close)
    if not (root and root.invoked_subcommand in SETTINGS_SHOWN):
        say_warnings(config.warnings)
    if root and root.invoked_subcommand in WRITERS and config.profile and _stood() != stood:
        say(f"in the memory of profile '{config.profile}': {repo.root}")
    return repo, config


def own_commits(repo: Repository) -> str:
    """The range of a command that was given none (`git.upstream.default_range`), said on standard error."""
    from gitmem.git.upstream import default_range

    span = default_range(repo)
    say(f"git mem: {span}")
    return span


def say_if_detached(repo: Repository, commit: str) -> None:
    """Say that no branch holds what was committed just now, where none is checked out."""
    if commit and repo.branch() is None:
        say("note: no branch is checked out, so none holds this commit")
        say(f"hint: git branch NAME {commit[:12]}")


def _stood() -> str:
    """The current folder, "" where it is gone: a profile in force changes it."""
    try:
        return os.getcwd()
    except OSError:
        return ""


WRITERS = frozenset((*SECTIONS["Write"], *SECTIONS["Promote"], "import", "sync", "publish"))
SETTINGS_SHOWN = frozenset(("config", "doctor"))  # they say it themselves

__all__ = [
    "HERE",
    "Decorator",
    "agent_option",
    "at_option",
    "cache_folder",
    "cites_option",
    "colour_option",
    "enter",
    "json_option",
    "keep_option",
    "keeping",
    "now",
    "open_here",
    "own_commits",
    "settings",
    "tracked_text",
]
