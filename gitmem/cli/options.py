"""What every command shares: options, and the repository of the command that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from gitmem.cli.registry import SECTIONS
from gitmem.cli.terminal import say_warnings
from gitmem.config import Config
from gitmem.environment import cache_folder, enter, now, opened, settings, tracked_text
from gitmem.git.opening import Repository, RepositoryLookup
from gitmem.paths import agent_name

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
colour_option = click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to colour."
)


def agent_option(help: str = "Who writes (mem.agent).") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--agent NAME`, in the spelling of `paths.agent_name`: a name no log could have is a usage error."""
    return click.option("--agent", default="", callback=lambda ctx, option, name: agent_name(name), help=help)


# What a repository's own gate and set-up say is about the repository they stand in, whatever profile is in force.
HERE = frozenset((*SECTIONS["Gate"], *SECTIONS["Set up"], "init", "redact", "profile"))


def open_here(
    overrides: Mapping[str, str] | None = None, *, stay: bool = False, here: RepositoryLookup | None = None
) -> tuple[Repository, Config]:
    """What `environment.opened` gives, closed at the exit of the command; a profile that was named, the gate and the
    set-up stay where they are. `here` is what `environment.look_up` began to look for."""
    context = click.get_current_context(silent=True)
    root = context.find_root() if context else None
    stay = stay or bool(root and (root.params.get("profile") or root.invoked_subcommand in HERE))
    repo, config = opened(overrides, stay=stay, here=here)
    if context is not None:
        context.call_on_close(repo.close)
    if not (root and root.invoked_subcommand in SETTINGS_SHOWN):
        say_warnings(config.warnings)
    return repo, config


SETTINGS_SHOWN = frozenset(("config", "doctor"))  # they say it themselves
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

__all__ = [
    "HERE",
    "Decorator",
    "agent_option",
    "cache_folder",
    "colour_option",
    "enter",
    "json_option",
    "now",
    "open_here",
    "settings",
    "tracked_text",
]
