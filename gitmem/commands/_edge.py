"""What every command shares at the edge: open the repository, read the settings and the clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from gitmem.config import TRACKED, Config, load
from gitmem.git import Repository, open_repository

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
colour_option = click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to colour."
)


def now() -> datetime:
    """The clock, local zone. GITMEM_NOW (ISO 8601) sets it, for reproducible runs."""
    fixed = os.environ.get("GITMEM_NOW")
    return datetime.fromisoformat(fixed).astimezone() if fixed else datetime.now().astimezone()


def open_here(overrides: Mapping[str, str] | None = None) -> tuple[Repository, Config]:
    """The repository of the current folder, closed at exit of the command, and the settings in force."""
    repo = open_repository(Path.cwd(), os.environ)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(repo.close)
    return repo, settings(repo, overrides)


def settings(repo: Repository, overrides: Mapping[str, str] | None = None) -> Config:
    """The settings in force, with the work tree's .gitmem.toml (HEAD's in a bare repository)."""
    return load(repo.user_config(), tracked_text(repo), overrides or {})


def tracked_text(repo: Repository) -> str:
    """The work tree's .gitmem.toml, "" where there is none; a link or an unreadable one counts as none."""
    if repo.root is None:
        return ""
    from gitmem.errors import OutsideRepository
    from gitmem.worktree import read_bytes

    try:
        return read_bytes(repo.root, TRACKED, 1 << 20).decode("utf-8", "replace")
    except (OSError, OutsideRepository):
        return ""


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
