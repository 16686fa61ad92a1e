"""Opens a repository for reading, by the adapter over the git binary; `git.library` opens one over libgit2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitmem.git.binary import BinaryRepository, RepositoryLookup, discover
from gitmem.git.repository import Repository

__all__ = ["Repository", "RepositoryLookup", "discover", "open_repository"]


def open_repository(start: Path, environ: Mapping[str, str]) -> Repository:
    """The repository that contains the folder `start`, or that GIT_DIR names. Raises NotARepository.

    The git binary opens every format (SHA-256, reftable, sparse index) and starts in 3 ms; importing pygit2 costs
    110 ms.
    """
    return BinaryRepository(discover(start, environ), environ)
