"""Brings the whole index, a projection of Git, up to date with the work tree, the branches and the history.

`git mem index` and the Git hooks call `refresh`. `search_update` brings up to date what one search needs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, IndexDamaged, TooManyFiles
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.index import db
from gitmem.index.blob_indexer import BlobIndexer, Say, Work
from gitmem.index.db import removal, snapshots
from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import Cut
from gitmem.index.embedder_change import change_embedder
from gitmem.index.index_file import directory, discard
from gitmem.index.tree_indexer import add_blobs_of_tree
from gitmem.index.update import Bounds, Update
from gitmem.index.worktree_record import Scan, record
from gitmem.memory.snapshot import read_work_tree, tree_key, work_tree_key, work_tree_of


def refresh(
    repo: Repository,
    config: Config,
    *,
    full: bool = False,
    revs: Sequence[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008 - a tuple
    say: Say = lambda text: None,
) -> Work:
    """Bring the index up to date with the work tree, HEAD, the local branches and `revs`.

    `full`: parse everything again; vectors of unchanged text are kept. If the budget is used up or the embedder does
    not answer, `unfinished` of the result says what is missing. Raises Locked if another process writes for longer than
    `bounds.wait`, IndexUnusable if the file cannot be written, UnknownRevision for one of `revs`, TooManyFiles for the
    tree of HEAD or of one of `revs`.
    """
    update = Update(repo, config, bounds, say=say)
    try:
        no_vectors = _refresh_files(update, full, revs)
    except IndexDamaged as error:
        update.work = Work()
        update.note_rebuild(error)
        discard(repo, bounds.wait)
        no_vectors = _refresh_files(update, full=False, revs=revs)
    work = update.work
    if not work.unfinished:
        _refresh_history(update, full, say)
    if no_vectors is not None:
        # Without an embedder the words are indexed all the same.
        note = f"no vectors: {no_vectors.message}"
        work.notes = [other for other in work.notes if other != note]
        if no_vectors.hint:
            note += f" ({no_vectors.hint})"
        work.unfinished = "; ".join(filter(None, (work.unfinished, note)))
    return work


def _refresh_files(update: Update, full: bool, revs: Sequence[str]) -> GitMemError | None:
    """Index the files of the work tree and the refs. `full`: forget all blobs first, and index them anew in one
    transaction. Returns why the configured embedder made no vectors, or None."""
    repo = update.repo
    scan = None
    if repo.root is not None:
        began = time.time_ns()
        scan = Scan(work_tree_key(repo), read_work_tree(repo, update.config.memory_paths), began)
    with locked(repo.common_dir, "index", update.bounds.wait, update.bounds.make), update.blob_indexer() as indexer:
        if full:
            # One transaction for all of it: searches keep the old index until the new one is whole.
            with indexer.writer.writing():
                indexer.whole = True
                removal.forget_blobs(indexer.writer.database)
                _index_files(indexer, scan, revs)
            indexer.whole = False
        else:
            _index_files(indexer, scan, revs)
        change_embedder(indexer)
        return indexer.unavailable


def _index_files(indexer: BlobIndexer, scan: Scan | None, revs: Sequence[str]) -> None:
    """Record the work tree, if there is a scan of it, then index the trees of HEAD, of every local branch and of `revs`
    that are not indexed yet, HEAD's first, until time is up."""
    if scan is not None:
        record(indexer, scan)
    database = indexer.writer.database
    covered = snapshots.covered(database)
    trees = _trees(indexer.repo, revs)
    mark = ":" + tree_key("", indexer.config.memory_paths)  # other memory paths, other memory files of the same tree
    covered_keys, left_out = set(covered.values()), set[str]()
    for name in sorted(trees, key=lambda name: name != "HEAD"):
        if trees[name] + mark in covered_keys:
            continue
        covered_tree = covered.get(name, covered.get("HEAD", "")).partition(":")[0]
        try:
            if not add_blobs_of_tree(indexer, trees[name], covered_tree):
                return
        except TooManyFiles as error:
            if name == "HEAD" or name in revs:
                raise
            indexer.work.notes.append(f"{name.removeprefix('refs/heads/')} is left out: {error.message}")
            left_out.add(name)
            continue
        covered_keys.add(trees[name] + mark)
    covered_now = {name: tree + mark for name, tree in trees.items() if name not in left_out}
    if covered_now != covered:
        with indexer.transaction():
            snapshots.cover(database, covered_now)
            _delete_removed_work_trees(database)


def _trees(repo: Repository, revs: Sequence[str]) -> Mapping[str, str]:
    """Name -> tree of every local branch, of HEAD if it has a commit, and of `revs`."""
    trees = {name: repo.tree(oid) for name, oid in repo.refs("refs/heads/")}
    head = repo.head()
    if head:
        trees["HEAD"] = repo.tree(head)
    for rev in revs:
        trees[rev] = repo.tree(repo.resolve(rev))
    return trees


def _delete_removed_work_trees(database: Database) -> None:
    """Delete the snapshots of work trees that are gone."""
    for key in snapshots.keys(database, "work:"):
        if not work_tree_of(key).is_dir():
            snapshots.delete(database, key)


def _refresh_history(update: Update, full: bool, say: Say) -> None:
    """Update the index of the history within the remaining budget."""
    from gitmem.index import history_indexer
    from gitmem.index.history_tips import Bounds as HistoryBounds

    work = update.work
    bounds = HistoryBounds(update.remaining(), update.bounds.wait, make=update.bounds.make)
    try:
        history = history_indexer.refresh(update.repo, update.config, bounds, full=full, say=say)
        work.commits, work.unfinished = history.blobs, history.unfinished
        work.notes += history.notes
    except GitFailed as error:  # such as a partial clone without the trees of old commits
        work.notes.append(f"no history: {error.message}")


def prune(repo: Repository, *, wait: float = 30.0) -> Work:
    """Delete blobs that no ref and no work tree reaches, vectors of replaced embedders, and the whole index of the
    history.

    Raises Locked if another process writes for longer than `wait` seconds, IndexUnusable if the index cannot be opened
    for writing, IndexDamaged if the file is no index of this version.
    """
    from gitmem.index import history_indexer

    work = Work()
    with locked(repo.common_dir, "index", wait), closing(db.open_writer(directory(repo))) as writer:
        keep = set(repo.reachable())
        with writer.writing():
            _delete_removed_work_trees(writer.database)
            for key in snapshots.keys(writer.database, "work:"):
                keep.update(row.oid for row in snapshots.entries(writer.database, key).values() if row.oid)
            work.removed_blobs, work.removed_chunks = removal.prune(writer.database, keep)
        removal.compact(writer.database)
    history_indexer.discard(repo, wait)
    return work


def cache_key(repo: Repository, config: Config) -> tuple[str, str]:
    """The two parts of the key under which CI caches an index: (version of the tables, size of chunks and embedder as
    one name; tree of HEAD, or `empty` without a commit)."""
    from gitmem.index.db.schema import VERSION

    head = repo.head()
    cut = Cut(config.chunk_size, config.chunk_overlap).id.replace("/", ".")
    embedder = re.sub(r"[\W_]", "-", config.embedder)
    tree = repo.tree(head) if head else "empty"
    return f"git-mem-{VERSION}-{cut}-{embedder}", tree
