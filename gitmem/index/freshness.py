"""Whether the index is current, for those that ask it: opened as it is where nothing changed, and brought up to date
first where something did.

`ready` is what a search calls. Writes nothing itself: a search that finds all current never imports what does
(`indexer`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gitmem.config import Config
from gitmem.errors import IndexDamaged
from gitmem.git.repository import Repository
from gitmem.index.db.connection import open_index
from gitmem.index.index_file import Freshness, IndexKeeper, OpenIndex, cut_as_set, directory
from gitmem.memory.snapshot import left_out_memory, read_work_tree, tree_key, work_tree_key
from gitmem.plural import counted


def ready(
    repo: Repository,
    config: Config,
    commit: str = "",
    *,
    budget: float = 60.0,
    wait: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    kept: IndexKeeper | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> OpenIndex:
    """The index and the snapshot of `commit` ("": the work tree, HEAD in a bare repository), current if possible.

    Takes at most about `budget` seconds of work and `wait` for another writer; then it is stale and says so. Damage
    is met by rebuilding. Where a sparse checkout leaves all memory out, HEAD stands for the work tree.
    An index that is current stays open where it is `kept`. `say` is told how far indexing is.
    Raises `IndexUnusable` for what a person must mend (a newer version, a foreign owner).
    """
    if not commit and repo.root is None:
        commit = repo.head() or ""
        if not commit:
            return OpenIndex(None, None, Freshness(), "", ("there is no commit yet",))
    notes: tuple[str, ...] = ()
    began = time.time_ns()
    if commit:
        seen = None
    else:
        seen = read_work_tree(repo, config.memory_paths)
    if seen is not None and (outside := left_out_memory(repo, config.memory_paths)):
        if seen.files:
            head = ""
        else:
            head = repo.head() or ""
        notes = (words_on_sparse_checkout(len(outside), whole=bool(head)),)
        if head:
            commit, seen = head, None
    tree = ""
    if commit:
        tree = repo.tree(commit)
    if commit:
        key = tree_key(tree, config.memory_paths)
    else:
        key = work_tree_key(repo)
    try:
        if kept is not None:
            index = kept.open(directory(repo))
        else:
            index = open_index(directory(repo))
        if index is not None:
            scan = index.scan(key)
            opened = OpenIndex(index, None, Freshness(), commit, notes, kept=kept)
            if scan is not None and (seen is None or scan == seen.scan) and cut_as_set(repo, index, config):
                opened.snapshot = index.snapshot(key)
                return opened
            opened.close()
    except IndexDamaged:  # met again, and mended, by what brings it up to date
        if kept is not None:
            kept.close()
    from gitmem.index.indexer import WantedSnapshot, bring

    made = bring(repo, config, WantedSnapshot(key, commit, tree, seen, began), budget, wait, clock, say)
    made.notes = (*notes, *made.notes)
    return made


def words_on_sparse_checkout(files: int, *, whole: bool) -> str:
    """What a person should know where a sparse checkout leaves memory files out: all of them, or some."""
    if whole:
        return "memory is left out of this sparse checkout: it is read at HEAD"
    return f"left out of this sparse checkout, and not searched: {counted(files, 'memory file')}; --at HEAD has them"
