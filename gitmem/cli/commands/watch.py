"""`git mem watch`: refresh the index as memory files change."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click

from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, say, write
from gitmem.config import TRACKED, Config
from gitmem.environment import settings
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.index import freshness
from gitmem.paths import Layout, is_memory

MAX_PAUSES = 4  # times the pause, after which a stream of changes is not waited for any longer


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
        more = ""
        if len(paths) > 5:
            more = f" and {len(paths) - 5} more"
        write(escape(f"indexed {', '.join(paths[:5])}{more}\n"))


def _changes(root: Path, debounce: float) -> Iterator[list[str]]:
    """Paths of memory files that changed, each time it has been quiet for `debounce` seconds."""
    from watchfiles import watch

    layout = Layout(notes=True)  # every *.md: what of it is memory the refresh itself decides
    pause = int(debounce * 1000)
    for changes in watch(
        root, watch_filter=lambda _, path: _is_watched(root, path, layout), debounce=pause * MAX_PAUSES, step=pause
    ):
        yield sorted({Path(path).relative_to(root).as_posix() for _, path in changes})


def _is_watched(root: Path, path: str, layout: Layout) -> bool:
    try:
        name = Path(path).relative_to(root)
    except ValueError:
        return False
    if ".git" in name.parts or name.name.startswith(".gitmem-"):
        return False
    return name.as_posix() == TRACKED or is_memory(name.as_posix(), layout)


def _refresh(repo: Repository, config: Config) -> None:
    """What a search does first."""
    made = freshness.ready(repo, config)
    made.close()
    if made.freshness.stale:
        say(f"git mem: the index is not current: {made.freshness.reason}")
