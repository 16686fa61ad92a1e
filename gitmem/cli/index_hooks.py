"""Git's hooks that bring the search index up to date: Git has its answer at once, the work is done by a process apart.

One such process works at a time, and looks again when another hook came by meanwhile, so the last commit of many is
not missed. Whatever goes wrong is a line in `gitmem/hooks.log`; a search mends what is missing.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from gitmem import system

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.config import Config
    from gitmem.git.opening import Repository

FOREGROUND = "GITMEM_FOREGROUND"  # set: the hook ends when the work is done, as tests and measurements want it
SECONDS = 3.0  # what a Git command may wait for us at most where it does wait; the next search does the rest
APART_SECONDS = 600.0  # what a process apart may work
APART_WAIT = 30.0  # seconds it waits for another that writes the index
AGAIN = "refresh.again"  # in the state folder: a hook came by


def main(argv: list[str]) -> NoReturn:
    """`python -m gitmem hook post-NAME [WORD...]`: ends with 0, whatever happens."""
    run(argv[0], argv[1:])
    sys.exit(0)


def run(name: str, words: Sequence[str]) -> None:
    """What the hook does: the index, and after a commit the promotion that its `--promote=MODE` asks for."""
    start(name)
    promote = next((word.removeprefix("--promote=") for word in words if word.startswith("--promote=")), "")
    if name == "post-commit" and promote:
        promotion(name, promote)


def start(name: str) -> None:
    """Bring the index up to date, in a process apart unless `FOREGROUND` is set."""
    if FOREGROUND in os.environ or not hasattr(os, "fork"):
        refresh_in_process(name)
        return
    try:
        if os.fork():
            return
    except OSError:  # no more processes: the next search does it
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nothing, handle)
        os.environ.pop("GIT_INDEX_FILE", None)  # Git may delete it now; what is staged is no part of the index
        _refresh_detached(name)
    finally:
        os._exit(0)


def refresh_in_process(name: str) -> None:
    """Bring the index up to date in this process, in the time a Git command may wait."""
    repo = None
    try:
        repo, config = _opened()
        if config.auto_index:
            _refresh(repo, config, name, SECONDS, 0.2)
    except Exception as error:  # noqa: BLE001 - a commit that exists must not look failed
        log(name, error)
    finally:
        if repo is not None:
            repo.close()


def _refresh_detached(name: str) -> None:
    """As `refresh_in_process`, with time; leaves the work to another process that does it, which then does it again.

    It makes no folder: a repository that is removed meanwhile stays removed, and one that neither `install` nor a
    search has made the state folder of waits for its first search.
    """
    try:
        from contextlib import ExitStack

        from gitmem.errors import Locked
        from gitmem.git.worktree import locked, state_dir

        repo, config = _opened()
        if not config.auto_index:
            return
        folder = repo.common_dir / "gitmem"
        if not folder.exists():
            return
        mark = state_dir(repo.common_dir, make=False) / AGAIN
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | system.NOFOLLOW | system.RAW, 0o600))
        # The one at work looks for the mark after it has let go of the lock: it cannot miss this one.
        while mark.exists():
            with ExitStack() as turn:
                try:
                    turn.enter_context(locked(repo.common_dir, "refresh", 0, make=False))
                except Locked:
                    return
                mark.unlink(missing_ok=True)
                _refresh(repo, config, name, APART_SECONDS, APART_WAIT, make=False)
    except Exception as error:  # noqa: BLE001 - as above
        log(name, error)


def _opened() -> tuple[Repository, Config]:
    from gitmem.environment import opened

    return opened(stay=True)


def _refresh(repo: Repository, config: Config, name: str, budget: float, wait: float, make: bool = True) -> None:
    from gitmem.index import indexer

    work = indexer.refresh(repo, config, bounds=indexer.Bounds(budget, wait, make))
    for note in [*work.notes, *([work.unfinished] if work.unfinished else [])]:
        _write(repo, name, note)


def promotion(name: str, mode: str) -> None:
    """After a commit, start the promotion that `install --promote` asked for: apart as well."""
    try:
        from gitmem.cli.promotion_hook import start as begin

        begin(mode)
    except Exception as error:  # noqa: BLE001 - as above
        log(name, error)


def log(name: str, error: BaseException) -> None:
    """One line in `gitmem/hooks.log` of the Git directory; where that cannot be written, nothing."""
    from gitmem.errors import GitMemError

    if isinstance(error, GitMemError):
        words = error.message
    else:
        words = type(error).__name__
    try:
        _write(_opened()[0], name, words)
    except (OSError, GitMemError):
        return


def _write(repo: Repository, name: str, words: str) -> None:
    from gitmem.environment import now
    from gitmem.errors import GitMemError
    from gitmem.git.worktree import state_dir

    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.RAW
        handle = os.open(state_dir(repo.common_dir, make=False) / "hooks.log", flags, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{now().isoformat(timespec='seconds')} {name}: {words}\n")
    except (OSError, GitMemError):
        return
