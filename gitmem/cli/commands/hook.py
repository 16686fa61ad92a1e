"""`git mem hook NAME`: run one Git hook, as the lines in Git's hook files do (`cli/git_hooks`)."""

from __future__ import annotations

import click

from gitmem.cli import git_hooks


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Run one Git hook."""
    return git_hooks.run(list(words))
