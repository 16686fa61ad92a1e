"""`git mem config`: the settings in force, each with where it came from."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from gitmem.cli import completions
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, page, say, write_json
from gitmem.config import Config
from gitmem.config.loading import load
from gitmem.config.settings import SETTINGS, git_name
from gitmem.errors import NotARepository, UntrustedRepository, UsageError
from gitmem.git.git_config import clones_settings, user_settings


@click.command()
@click.argument("key", required=False, shell_complete=completions.settings)
@click.option("--list", "list_all", is_flag=True, help="All settings (the default without KEY).")
@json_option
def command(key: str | None, list_all: bool, as_json: bool) -> None:
    """Show the settings in force and the origin of each value.

    KEY is one of `git mem config --list`, with or without `mem.`. Settings are made with `git config --global
    mem.KEY VALUE`, and tightened for everybody in .gitmem.toml; the repository's own .git/config is not read,
    because it may come with a clone. Outside a repository these are your own settings alone.
    """
    try:
        _, config = open_here()
    except UntrustedRepository as error:
        config = load(user_settings(os.environ))
        say(f"note: {error.message}: your own settings only")
        say(f"hint: {error.hint}")
    except NotARepository:
        config = load(user_settings(os.environ))
        say("note: not in a repository: your own settings only")
    rows = _rows(config)
    if key and not list_all:
        wanted_key = key.lower() if key.lower().startswith("mem.") else f"mem.{key.lower()}"
        rows = [row for row in rows if row["key"].lower() == wanted_key]
        if not rows:
            similar = get_close_matches(wanted_key, [git_name(name) for name in SETTINGS], 1)
            hint = f"did you mean {similar[0]}? " if similar else ""
            raise UsageError(f"there is no setting '{key}'", f"{hint}'git mem config --list' shows them all")
    names_by_key = {row["key"].lower(): row["key"] for row in rows}
    for name in clones_settings(Path.cwd(), os.environ):
        if name in names_by_key:
            say(f"note: {names_by_key[name]} of this repository's own configuration is not read; set it with --global")
    for warning in config.warnings:
        say(f"git mem: {warning}")
    if as_json:
        write_json({"settings": rows})
        return
    width = max(len(row["key"]) for row in rows)
    page("".join(escape(f"{row['key']:<{width}}  {_show(row['value'])}  ({row['origin']})") + "\n" for row in rows))


def _rows(config: Config) -> list[dict[str, Any]]:
    """An object for each setting: the items of `settings` of docs/json.md, "config"."""
    origins = dict(config.origins)
    rows: list[dict[str, Any]] = []
    for name, setting in SETTINGS.items():
        value = getattr(config, name)
        rows.append(
            {
                "key": git_name(name),
                "value": list(value) if isinstance(value, tuple) else value,
                "origin": origins.get(name, "default"),
                "tracked": setting.tracked or None,
                "doc": setting.doc,
            }
        )
    return rows


def _show(value: Any) -> str:
    """A value as text: "true" or "false", a list separated by spaces, '""' for an empty value."""
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    return (" ".join(value) if isinstance(value, list) else str(value)) or '""'
