"""Opens the index for a search; updates it first if files have changed.

A search calls `ready`. This module writes nothing: `search_update` does, and only a search whose index is not current
imports it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import IndexDamaged, IndexOfAnotherUser
from gitmem.git.repository import Repository
from gitmem.index.db.connection import open_index
from gitmem.index.index_file import OpenIndex, cut_as_set, directory
from gitmem.memory import snapshot

if TYPE_CHECKING:
    from gitmem.index.kept_index import KeptIndex


def ready(
    repo: Repository,
    config: Config,
    commit: str = "",
    *,
    budget: float = 60.0,
    wait: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    keeper: KeptIndex | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> OpenIndex:
    """The index with the snapshot of `commit`, updated if it is not current.

    `commit`: "" for the work tree, or HEAD in a bare repository and if a sparse checkout leaves out all memory.
    `budget`: seconds of work. `wait`: seconds for another writer; after these limits the index is returned as stale.
    `keeper`: keeps a current index open. `say`: called with the progress of indexing. A damaged index is rebuilt.
    Where another user owns the index, it is as if nothing could be written. Raises `IndexUnusable` for a problem that a
    person must solve (a newer version, a symbolic link).
    """
    if not commit and repo.root is None:
        commit = repo.head() or ""
        if not commit:
            return OpenIndex(None, None, notes=("there is no commit yet",))
    notes: tuple[str, ...] = ()
    began = time.time_ns()
    listing = snapshot.read_work_tree(repo, config.memory_paths) if not commit else None
    if listing is not None and (outside := snapshot.sparse_memory_paths(repo, config.memory_paths)):
        head = "" if listing.files else repo.head() or ""
        notes = (snapshot.words_on_sparse_checkout(len(outside), whole=bool(head)),)
        if head:
            commit, listing = head, None
    if listing is not None and listing.conflicts:
        notes += (snapshot.words_on_conflicts(listing.conflicts),)
    tree, key = "", ""
    if commit:
        tree = repo.tree(commit)
        key = snapshot.tree_key(tree, config.memory_paths)
    else:
        key = snapshot.work_tree_key(repo)
    try:
        index = keeper.open(directory(repo)) if keeper else open_index(directory(repo))
        if index is not None:
            scan = index.scan(key)
            opened = OpenIndex(index, None, "", commit, notes, keeper)
            is_recorded = listing is None or listing.is_recorded_as(scan)
            if scan and is_recorded and cut_as_set(repo, index, config):
                opened.snapshot = index.snapshot(key)
                return opened
            opened.close()
    except IndexDamaged:  # `search_update` finds the damage again and rebuilds the index
        if keeper is not None:
            keeper.close()
    except IndexOfAnotherUser:
        pass  # `search_update` makes an index for this search alone
    from gitmem.index.search_update import SearchUpdate, WantedSnapshot
    from gitmem.index.update import Bounds, Update
    from gitmem.index.worktree_record import Scan

    scan_of_work_tree = Scan(key, listing, began) if listing is not None else None
    wanted = WantedSnapshot(key, commit, tree, scan_of_work_tree)
    opened = SearchUpdate(Update(repo, config, Bounds(budget, wait), clock, say), wanted).run()
    opened.notes = (*notes, *opened.notes)
    return opened
