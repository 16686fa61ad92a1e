"""Opens a repository for reading, by the adapter over the git binary; `git.library` opens one over libgit2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitmem.git.binary import BinaryRepository
from gitmem.git.git_config import USER_SETTINGS, users_own
from gitmem.git.place import REV_PARSE, discover, place_of
from gitmem.git.process import Git, failure, read_environment
from gitmem.git.repository import Repository

__all__ = ["Repository", "RepositoryLookup", "discover", "open_repository"]


def open_repository(start: Path, environ: Mapping[str, str]) -> Repository:
    """The repository that contains the folder `start`, or that GIT_DIR names. Raises NotARepository if there is none,
    UntrustedRepository if Git does not trust it, GitFailed if Git cannot open it, GitMemError if git is not
    installed.

    The git binary opens every format (SHA-256, reftable, sparse index) and starts in 3 ms; importing pygit2 costs 110
    ms.
    """
    return BinaryRepository(discover(start, environ), environ)


class RepositoryLookup:
    """Looks up the repository that contains `start` and the user's settings, in two processes at once.

    The caller may do something else until it calls `result`, once. Raises GitMemError if git is not installed.
    """

    def __init__(self, start: Path, environ: Mapping[str, str]) -> None:
        self._start, self._environ = start, environ
        git = Git(start, read_environment(environ))
        self._place = git.start(REV_PARSE)
        self._settings = git.start(["config", *USER_SETTINGS])

    def result(self) -> tuple[Repository, list[tuple[str, str, str]]]:
        """Wait for both processes. Returns the repository and (key, value, scope) of the user's `mem.*` settings, as
        `user_config` of the repository. Raises NotARepository if there is no repository,
        UntrustedRepository if Git does not trust it, GitFailed if Git cannot open it or cannot read its
        configuration."""
        place, (settings, problem) = self._place.communicate(), self._settings.communicate()
        repo = BinaryRepository(place_of(self._start, *place), self._environ)
        if self._settings.returncode not in (0, 1):
            raise failure("config", problem, self._settings.returncode)
        return repo, users_own(settings)
