"""`git mem hook NAME`: what the lines in Git's hooks call."""

from __future__ import annotations

import click

from gitmem.cli import git_hooks


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Run one Git hook."""
    return git_hooks.run(list(words))
