"""A repository and its settings, kept open between the calls of a process that lives long.

A call borrows them alone, so calls at once share nothing. What git would be asked again for each call (where the
repository is, the user's settings) is asked anew only when one of the files that say so has changed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitmem.config import TRACKED, Config
from gitmem.environment import settings
from gitmem.errors import GitFailed, NotARepository
from gitmem.git.git_config import config_files
from gitmem.git.opening import Repository, open_repository
from gitmem.index.kept_index import KeptIndex
from gitmem.sessions.working_memory import Owner, Store, owner_of

IDLE = 4  # repositories that are kept open for the next call
# Calls from which on repositories are opened over libgit2: importing it costs 165 ms once, and a call that reads Git's
# objects is some 17 ms faster by it (74.6 against 57.2 ms, a search at another commit, 400 notes).
LIBRARY_FROM = 10
FileStates = tuple[tuple[int, int, int] | None, ...]


class OpenRepository(NamedTuple):
    """A repository with the settings in force, how the files looked that say so, and its index."""

    repo: Repository
    config: Config
    kept_index: KeptIndex
    watched: tuple[Path, ...]
    file_states: FileStates

    def close(self) -> None:
        """Close the repository and its index."""
        self.repo.close()
        self.kept_index.close()


class RepositoryPool:
    """The memory of the repository that holds a folder. `values_session`: the session whose working values are read and
    written, "" for the project's."""

    def __init__(self, folder: Path, values_session: str = "") -> None:
        self.folder = folder
        self.values_session = values_session
        self.session = f"mcp-{os.getpid()}-{round(time.time())}"  # what its receipts are kept under
        self._lock = threading.Lock()
        self._idle: list[OpenRepository] = []
        self._calls = 0
        self._stores: dict[tuple[Path, str], Store] = {}

    @contextmanager
    def lent(self) -> Iterator[tuple[Repository, Config]]:
        """The repository and the settings in force, for one call. Raises NotARepository, BadConfig."""
        with self.opened() as opened:
            yield opened.repo, opened.config

    @contextmanager
    def opened(self) -> Iterator[OpenRepository]:
        """The same with the index, for a call that searches."""
        opened = self._take() or self._open()
        good = False
        try:
            yield opened
            good = True
        finally:
            with self._lock:
                good = good and len(self._idle) < IDLE
                if good:
                    self._idle.append(opened)
            if not good:  # after an error the repository's process may be in the middle of an answer
                opened.close()

    @contextmanager
    def values(self, repo: Repository, config: Config) -> Iterator[Store]:
        """The working values of sessions, in memory before the files; one call at a time."""
        with self._lock:
            yield self._stores.setdefault((repo.common_dir, config.profile), Store(repo.common_dir, config.profile))

    def owner(self, config: Config) -> Owner:
        """Whose working values the calls read and write: the session's that was named, and the configured agent's."""
        return owner_of(self.values_session, config.agent)

    def close(self) -> None:
        """Close what is open and lent to nobody."""
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.close()

    def _take(self) -> OpenRepository | None:
        """A repository that is open and still as it was; None where one has to be opened."""
        with self._lock:
            self._calls += 1
            if self._calls == LIBRARY_FROM:
                stale = self._idle
            else:
                stale = []
            if stale:
                self._idle = []
            else:
                self._idle = self._idle
        for left in stale:
            left.close()
        while True:
            with self._lock:
                opened = None
                if self._idle:
                    opened = self._idle.pop()
            if opened is None or file_states(opened.watched) == opened.file_states:
                return opened
            opened.close()

    def _open(self) -> OpenRepository:
        repo = self._repository()
        try:
            files = [repo.git_dir, repo.common_dir, *config_files(repo.root or repo.git_dir, os.environ)]
            watched = tuple(files + ([repo.root / TRACKED] if repo.root else []))
            before = file_states(watched)  # a change from here on is seen by the next call
            repo.head()  # starts the process that reads objects: every call needs some
            return OpenRepository(repo, settings(repo), KeptIndex(), watched, before)
        except BaseException:
            repo.close()
            raise

    def _repository(self) -> Repository:
        """Over the git binary at first; over libgit2 for a process that goes on, where libgit2 can read it."""
        if self._calls >= LIBRARY_FROM:
            from gitmem.git.library import open_library

            try:
                return open_library(self.folder, os.environ)
            except (GitFailed, NotARepository):  # SHA-256, reftable, a partial clone: the git binary says what is
                pass
        return open_repository(self.folder, os.environ)


def file_states(paths: tuple[Path, ...]) -> FileStates:
    """What tells that files changed: inode, time and size; of folders the inode only."""
    states: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            seen = os.stat(path)
        except OSError:
            states.append(None)
            continue
        folder = path.is_dir()
        states.append((seen.st_ino, 0, 0) if folder else (seen.st_ino, seen.st_mtime_ns, seen.st_size))
    return tuple(states)
