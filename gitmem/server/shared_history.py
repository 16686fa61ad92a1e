"""The history index of a mirror: the index of commits that a search with `history` reads on the server.

The index is a file in the mirror, as in a clone, and is deleted with it; the database has no part of it. A search
indexes for at most `BOUNDS.budget` seconds and reports if commits are missing; the next search or fetch continues.
"""

from __future__ import annotations

from contextlib import suppress

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.db.connection import HISTORY
from gitmem.index.history_indexer import discard, refresh
from gitmem.index.history_tips import Bounds
from gitmem.index.index_file import directory

BOUNDS = Bounds(budget=5.0)  # for a search: clients wait 30 seconds
WORKERS = Bounds(wait=5.0)  # for a fetch


def follow(repo: Repository, config: Config, *, rewritten: bool) -> None:
    """After a fetch: update the history index if a search made one. After a `rewritten` history delete it, because it
    has words of commits that no branch has any more; raises GitMemError if that fails."""
    if rewritten:
        discard(repo)
    elif (directory(repo) / HISTORY).exists():
        with suppress(GitMemError, OSError):  # the next search reports missing commits
            refresh(repo, config, WORKERS)
