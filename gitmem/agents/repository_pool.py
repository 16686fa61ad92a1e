"""Keep a repository, its settings and its index open between the calls of a long-lived process.

Each call borrows an open repository for itself, so parallel calls share nothing. A repository is opened again only if
one of the files that its settings come from has changed since.
"""

from __future__ import annotations

import os
import stat
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

MAX_IDLE = 4  # repositories that are kept open for later calls
# The number of the call from which on repositories are opened with libgit2. Importing it costs 165 ms once; a call that
# reads Git's objects is then 17 ms faster (57.2 instead of 74.6 ms; a search at another commit, 400 notes).
LIBRARY_FROM_CALL = 10
# Of each file (inode, modification time in ns, bytes), None for a missing one; of a folder (inode, 0, 0).
FileStates = tuple[tuple[int, int, int] | None, ...]


class OpenRepository(NamedTuple):
    """An open repository with its settings and search index. `watched`: the files that the settings come from.
    `file_states`: the states of these files when the settings were read."""

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
    """Open repositories of one folder, for calls in several threads. At most MAX_IDLE stay open between calls.

    `values_session`: the session whose working values the calls read and write, "" for the values of the project.
    """

    def __init__(self, folder: Path, values_session: str = "") -> None:
        self.folder = folder
        self.values_session = values_session
        self.session = f"mcp-{os.getpid()}-{round(time.time())}"  # the session of this process in receipts
        self._lock = threading.Lock()
        self._idle: list[OpenRepository] = []
        self._calls = 0
        self._stores: dict[tuple[Path, str], Store] = {}

    @contextmanager
    def lend(self) -> Iterator[tuple[Repository, Config]]:
        """Lend the repository and its settings to one call, as a context manager. Raises as `lend_open`."""
        with self.lend_open() as opened:
            yield opened.repo, opened.config

    @contextmanager
    def lend_open(self) -> Iterator[OpenRepository]:
        """Lend the repository, its settings and its index to one call, as a context manager. After an error in the
        block the repository is closed, since the git process may be in the middle of an answer. At most MAX_IDLE stay
        open between calls.

        Raises NotARepository if the folder is in no repository, BadConfig if a setting is invalid.
        """
        opened = self._take_idle() or self._open()
        reusable = False
        try:
            yield opened
            reusable = True
        finally:  # after an error the git process may be in the middle of an answer
            with self._lock:
                reusable = reusable and len(self._idle) < MAX_IDLE
                if reusable:
                    self._idle.append(opened)
            if not reusable:
                opened.close()

    @contextmanager
    def values(self, repo: Repository, config: Config) -> Iterator[Store]:
        """Lend the store of working values, which caches its files, to one call at a time."""
        with self._lock:
            yield self._stores.setdefault((repo.common_dir, config.profile), Store(repo.common_dir, config.profile))

    def owner(self, config: Config) -> Owner:
        """The session and agent whose working values the calls read and write. Raises UsageError for an invalid
        name."""
        return owner_of(self.values_session, config.agent)

    def close(self) -> None:
        """Close the repositories that no call has borrowed."""
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.close()

    def _take_idle(self) -> OpenRepository | None:
        """An open repository whose files have not changed; None if a new one has to be opened. Call number
        LIBRARY_FROM_CALL closes all open ones first, since they use the git binary."""
        with self._lock:
            self._calls += 1
            first_with_library = self._calls == LIBRARY_FROM_CALL
        if first_with_library:
            self.close()
        while True:
            with self._lock:
                opened = self._idle.pop() if self._idle else None
            if opened is None or file_states(opened.watched) == opened.file_states:
                return opened
            opened.close()

    def _open(self) -> OpenRepository:
        """Open the repository and read its settings. Raises NotARepository and BadConfig as `lend_open`."""
        repo = self._repository()
        try:
            files = [repo.git_dir, repo.common_dir, *config_files(repo.root or repo.git_dir, os.environ)]
            if repo.root:
                files.append(repo.root / TRACKED)
            watched = tuple(files)
            states = file_states(watched)  # before the settings are read, so that no later change is missed
            repo.head()  # starts the git process that reads objects, which every call needs
            return OpenRepository(repo, settings(repo), KeptIndex(), watched, states)
        except BaseException:
            repo.close()
            raise

    def _repository(self) -> Repository:
        """Open the repository: with libgit2 from call number LIBRARY_FROM_CALL on, if libgit2 can read it; else with
        the git binary. Raises NotARepository if the folder is in no repository."""
        if self._calls >= LIBRARY_FROM_CALL:
            from gitmem.git.library import open_library  # imports pygit2

            try:
                return open_library(self.folder, os.environ)
            except (GitFailed, NotARepository):  # libgit2 cannot read SHA-256, reftable and partial clones
                pass
        return open_repository(self.folder, os.environ)


def file_states(paths: tuple[Path, ...]) -> FileStates:
    """(inode, modification time in ns, bytes) of each file, None for a missing one, (inode, 0, 0) for a folder; in
    order. A file whose state is equal later has not changed."""
    states: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            info = os.stat(path)
        except OSError:
            states.append(None)
        else:
            is_folder = stat.S_ISDIR(info.st_mode)
            states.append((info.st_ino, 0, 0) if is_folder else (info.st_ino, info.st_mtime_ns, info.st_size))
    return tuple(states)
