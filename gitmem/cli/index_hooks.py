"""Git hooks that bring the search index up to date. The hook returns at once; a child process does the work.

Only one such process works at a time. A hook that runs meanwhile leaves a mark file, and the process then starts over,
so that the index includes the last of many commits. Every error becomes a line in `gitmem/hooks.log`; the next search
repairs the index. Imports are inside functions because Git waits for the import of this module.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NoReturn

from gitmem import system

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitmem.config import Config
    from gitmem.git.opening import Repository

FOREGROUND = "GITMEM_FOREGROUND"  # if set, the hook does the work itself; for tests and measurements
HOOK_SECONDS = 3.0  # limit of the work in the hook itself, for which Git waits
HOOK_WAIT_SECONDS = 0.2  # for which the hook itself waits for another process that writes the index
DETACHED_SECONDS = 600.0  # limit of the work in a child process
DETACHED_WAIT_SECONDS = 30.0  # for which the child process waits for another process that writes the index
AGAIN = "refresh.again"  # file in the state folder: a hook ran while the index was brought up to date


def main(argv: list[str]) -> NoReturn:
    """Run `python -m gitmem hook post-NAME [WORD...]`. Always ends the process with 0."""
    run(argv[0], argv[1:])
    sys.exit(0)


def run(name: str, words: Sequence[str]) -> None:
    """Bring the index up to date, and start the promotion that `--promote=MODE` of a post-commit hook requests."""
    start_refresh(name)
    mode = next((word.removeprefix("--promote=") for word in words if word.startswith("--promote=")), "")
    if name == "post-commit" and mode:
        with errors_logged(name):
            from gitmem.cli import promotion_hook

            promotion_hook.start(mode)


def start_refresh(name: str) -> None:
    """Bring the index up to date: in a child process, or in this one if `FOREGROUND` is set or there is no fork."""
    if FOREGROUND in os.environ or not hasattr(os, "fork"):
        refresh_in_process(name)
        return
    try:
        if os.fork():
            return
    except OSError:  # no process can be started; the next search brings the index up to date
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nothing, handle)
        os.environ.pop("GIT_INDEX_FILE", None)  # Git may delete that file now; the index does not need staged content
        _refresh_detached(name)
    finally:
        os._exit(0)


def refresh_in_process(name: str) -> None:
    """Bring the index up to date in this process, within HOOK_SECONDS; do nothing if mem.autoIndex is off. Never
    raises; errors are logged."""
    with errors_logged(name):
        repo, config = _opened()
        try:
            if config.auto_index:
                _refresh(repo, config, name, HOOK_SECONDS, HOOK_WAIT_SECONDS)
        finally:
            repo.close()


def _refresh_detached(name: str) -> None:
    """Bring the index up to date within DETACHED_SECONDS; if another process is doing it, leave the mark file that
    makes it start over.

    Never raises, and never creates the state folder: a repository that was removed meanwhile must stay removed, and one
    without a state folder is indexed by its first search.
    """
    with errors_logged(name):
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
        # The other process looks for the mark after it has released the lock, so it cannot miss this one.
        while mark.exists():
            with ExitStack() as turn:
                try:
                    turn.enter_context(locked(repo.common_dir, "refresh", 0, make=False))
                except Locked:
                    return
                mark.unlink(missing_ok=True)
                _refresh(repo, config, name, DETACHED_SECONDS, DETACHED_WAIT_SECONDS, make=False)


def _opened() -> tuple[Repository, Config]:
    """The repository of the current folder and its settings."""
    from gitmem.environment import open_environment

    return open_environment(stay=True)


def _refresh(repo: Repository, config: Config, name: str, budget: float, wait: float, make: bool = True) -> None:
    """Bring the index up to date within `budget` seconds and log what is unfinished. `wait`: seconds to wait for
    another process that writes the index. `make`: create the state folder if it is missing."""
    from gitmem.index import indexer
    from gitmem.index.update import Bounds

    work = indexer.refresh(repo, config, bounds=Bounds(budget, wait, make))
    for note in filter(None, (*work.notes, work.unfinished)):
        _append_to_log(repo, name, note)


@contextmanager
def errors_logged(name: str) -> Iterator[None]:
    """Log an error of the `with` block instead of raising it: a commit that exists must not look failed."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the error is logged, and Git's own command has worked
        log(name, error)


def log(name: str, error: BaseException) -> None:
    """Write one line about an error to `gitmem/hooks.log` in the Git directory; does nothing if that cannot be
    written."""
    from gitmem.errors import GitMemError

    line = type(error).__name__
    if isinstance(error, GitMemError):
        line = error.message
    try:
        repo, _ = _opened()
        _append_to_log(repo, name, line)
    except (OSError, GitMemError):
        return


def _append_to_log(repo: Repository, name: str, line: str) -> None:
    """Append one line with the time and the hook's name to `hooks.log` of the state folder, if that can be written."""
    from gitmem.environment import now
    from gitmem.errors import GitMemError
    from gitmem.git.worktree import state_dir
    from gitmem.regular_file import append_private

    row = f"{now().isoformat(timespec='seconds')} {name}: {line}\n"
    try:
        append_private(state_dir(repo.common_dir, make=False) / "hooks.log", row.encode("utf-8", "backslashreplace"))
    except (OSError, GitMemError):
        return
