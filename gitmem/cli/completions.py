"""Shell completion of a command's words: memory files, revisions, types, tags, settings, agents.

Each function takes click's context and parameter and the beginning of a word, and returns the words that begin with it.
A completion never prints and never raises: it returns fewer words if a repository or a file cannot be read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING

from gitmem.daily_logs import agent_of
from gitmem.paths import day_in_path
from gitmem.text import english, korean

if TYPE_CHECKING:
    import click

    from gitmem.config import Config
    from gitmem.git.opening import Repository

# Names of days that are one word: "today", "yesterday" and the Korean ones.
DAYS = (english.NEAR_DAYS[0][0], english.NEAR_DAYS[-1][0], *korean.NEAR_DAYS[0], *korean.NEAR_DAYS[-1])
MAX_FILES_FOR_TAGS = 2000  # memory files that are read for tags
MAX_FILE_BYTES = 1 << 20  # bytes of a memory file; a larger one is not read for tags
_TAGS = re.compile(r"<!--[^>]*?\btags=([^\s>]+)")

Completer = Callable[["click.Context", "click.Parameter", str], list[str]]


def _completer(words: Callable[[Repository, Config, str], Iterable[str]]) -> Completer:
    """Decorate a function (repository, settings, beginning of the word) -> words as a completion for click: of its
    words those that begin so and are printable, each once; [] for any error."""

    @wraps(words)
    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        from gitmem.environment import open_environment  # every command imports this module, and few complete a word

        folder = ctx.find_root().params.get("directory")
        try:
            if folder:
                os.chdir(folder)
            repo, config = open_environment()
            try:
                offered = dict.fromkeys(words(repo, config, incomplete))
            finally:
                repo.close()
        except Exception:  # noqa: BLE001 - a traceback would land in the line that is being typed
            return []
        return [word for word in offered if word.startswith(incomplete) and word.isprintable()]

    return complete


@_completer
def paths(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """The paths of memory files, relative to the current folder; none in a bare repository."""
    if repo.root is None:
        return []
    return [os.path.relpath(repo.root / path) for path in _files(repo, config)]


@_completer
def revisions(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """HEAD, branches and tags, then names of days."""
    return [*_refs(repo), *DAYS]


@_completer
def days(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """Names of days, then the dates of daily logs, the newest first."""
    dates = {day_in_path(path) for path in _files(repo, config)}
    return [*DAYS, *sorted(filter(None, dates), reverse=True)]


@_completer
def ranges(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """Revisions that begin a range; after `..`, revisions that end it."""
    base, dots, _ = incomplete.rpartition("..")
    return [f"{base}{dots}{name}" if dots else f"{name}.." for name in _refs(repo)]


@_completer
def branches(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """The names of local branches."""
    return [name.removeprefix("refs/heads/") for name, _ in repo.refs()]


@_completer
def tags(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """Tags in the comments of the lines of the first MAX_FILES_FOR_TAGS memory files, sorted; none in a bare
    repository."""
    from gitmem.git.worktree import read_files

    if repo.root is None:
        return []
    tag_names: set[str] = set()
    for _, data in read_files(repo.root, _files(repo, config)[:MAX_FILES_FOR_TAGS], MAX_FILE_BYTES):
        if isinstance(data, bytes):
            for value in _TAGS.findall(data.decode("utf-8", "replace")):
                tag_names.update(value.split(","))
    return sorted(tag_names)


@_completer
def agents(repo: Repository, config: Config, incomplete: str) -> Iterable[str]:
    """The names of agents with a daily log, and of the configured agent; sorted."""
    return sorted(filter(None, {config.agent, *(agent_of(path) for path in _files(repo, config))}))


def types(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The types of facts."""
    from gitmem.memory.fact import TYPES

    return [name for name in TYPES if name.startswith(incomplete)]


def settings(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Keys of settings; the case of the typed word does not matter."""
    from gitmem.config.settings import SETTINGS, git_name

    names = [git_name(name) for name in SETTINGS]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _files(repo: Repository, config: Config) -> list[str]:
    """The paths of the memory files of the work tree, sorted; [] in a bare repository."""
    from gitmem.memory.snapshot import read_work_tree

    if repo.root is None:
        return []
    return sorted(read_work_tree(repo, config.memory_paths).files)


def _refs(repo: Repository) -> list[str]:
    """HEAD and the short names of branches, tags and remote branches."""
    names = [name for name, _ in repo.refs("refs/")]
    short = [
        re.sub(r"^refs/(?:heads|tags|remotes)/", "", name) for name in names if not name.startswith("refs/gitmem/")
    ]
    return ["HEAD", *short]
