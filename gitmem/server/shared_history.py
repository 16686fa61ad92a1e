"""How the index of the history of one repository is kept: what `--history` reads over the server.

The index of a history lies in the repository's copy, as in a clone, and goes with it; the database has nothing of it.
A search indexes for some seconds at most and says where it may miss something: the next one goes on, and each fetch.
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

BOUNDS = Bounds(budget=5.0)  # of a search: a client waits 30 seconds
WORKERS = Bounds(wait=5.0)


def follow(repo: Repository, config: Config, *, rewritten: bool) -> None:
    """After a fetch: bring the history's index up to date, if a search asked for one. Of a history that was
    `rewritten` it is deleted: it has words that no branch has any longer. Raises GitMemError where it cannot be."""
    if rewritten:
        discard(repo)
    elif (directory(repo) / HISTORY).exists():
        with suppress(GitMemError, OSError):  # the next search says what it misses
            refresh(repo, config, WORKERS)
