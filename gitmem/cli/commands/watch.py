"""`git mem watch`: bring the index up to date whenever memory files change."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click

from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, first_names, say, write
from gitmem.config import TRACKED, Config
from gitmem.environment import settings
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.index import freshness
from gitmem.paths import Layout, is_memory

MAX_PAUSES = 4  # pauses after which the index is refreshed though files still change
MAX_NAMED_PATHS = 5  # changed files that a line names; the others are counted


@click.command()
@click.option(
    "--debounce",
    type=click.FloatRange(0.01, 60),
    default=1.5,
    show_default=True,
    help="Seconds of quiet before a refresh.",
)
def command(debounce: float) -> None:
    """Refresh the index whenever memory files change.

    It runs until it is interrupted. For editors and long-running agents; nothing needs it: a search brings the index up
    to date itself. Needs the extra: pip install 'git-mem[watch]'.
    """
    if find_spec("watchfiles") is None:
        raise GitMemError("watching needs the package 'watchfiles'", "pip install 'git-mem[watch]'")
    repo, config = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository has no files to watch", "run it in a clone")
    _refresh(repo, config)
    write(escape(f"watching {repo.root}\n"))
    for paths in _changes(repo.root, debounce):
        try:
            _refresh(repo, settings(repo))
        except GitMemError as error:  # locked, or a setting half written: the next change tries again
            say(f"git mem: {error.message}")
            continue
        write(escape(f"indexed {first_names(paths, MAX_NAMED_PATHS)}\n"))


def _changes(root: Path, debounce: float) -> Iterator[list[str]]:
    """Yield the sorted paths of changed memory files, each time nothing has changed for `debounce` seconds, or after
    MAX_PAUSES such pauses though files still change. It never ends."""
    from watchfiles import watch  # a package of the extra `watch`

    layout = Layout(notes=True)  # every *.md; the refresh decides which of them are memory
    pause = int(debounce * 1000)
    for changes in watch(
        root, watch_filter=lambda _, path: _is_watched(root, path, layout), debounce=pause * MAX_PAUSES, step=pause
    ):
        yield sorted({Path(path).relative_to(root).as_posix() for _, path in changes})


def _is_watched(root: Path, path: str, layout: Layout) -> bool:
    """Whether a change of the file may change what is searched."""
    try:
        name = Path(path).relative_to(root)
    except ValueError:
        return False
    if ".git" in name.parts or name.name.startswith(".gitmem-"):
        return False
    return name.as_posix() == TRACKED or is_memory(name.as_posix(), layout)


def _refresh(repo: Repository, config: Config) -> None:
    """Bring the index up to date, as every search does first; print the reason if it cannot be current."""
    index = freshness.ready(repo, config)
    index.close()
    if index.stale:
        say(f"git mem: the index is not current: {index.stale}")
