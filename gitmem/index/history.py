"""Opens the index of a repository's history: the message of each commit is a document, indexed once by its oid.

The history has a file of its own beside the index. A search that does not ask for history neither opens that file nor
imports this module (docs/adr/history-in-its-own-file.md). A snapshot holds the commits that one commit reaches; the
snapshot of the next commit is made from it. `history_indexer` updates an index that is not current.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gitmem.config import Config
from gitmem.errors import IndexDamaged, IndexOfAnotherUser
from gitmem.git.repository import Repository
from gitmem.index.db.connection import HISTORY, open_index
from gitmem.index.db.reader import Index
from gitmem.index.history_tips import Bounds, Tip, close, tips
from gitmem.index.index_file import cut_as_set, directory


class History:
    """The open index of the history. The caller closes it.

    `index`: None if there is none. `tips`: the commits whose history is searched. `norms`: a byte for each chunk id,
    above 0 for the chunks of all commits that the `tips` reach. `stale`: why it may miss commits, "" if it is current.
    `notes`: for the person.
    """

    def __init__(self, index: Index | None, own_tips: Sequence[Tip], stale: str, notes: Sequence[str]) -> None:
        self.index, self.tips, self.stale, self.notes = index, own_tips, stale, notes
        self.norms = b""
        if index is not None:
            self.norms = _joint_norms(index, own_tips)

    def close(self) -> None:
        """Close the index and the other clones."""
        if self.index is not None:
            self.index.close()
        close(self.tips)


def ready(repo: Repository, config: Config, commit: str, bounds: Bounds = Bounds()) -> History:  # noqa: B008 - a tuple
    """The open index of the history of `commit` ("" for HEAD) and of the other configured clones, updated within
    `bounds`.

    If the update is not finished, `stale` says why. Where another user owns the index, the history is indexed for this
    call alone, without a limit of commits. Raises IndexUnusable for a problem that a person must solve (a newer
    version; another owner, where nothing may be indexed now), Locked if another process writes a damaged index for
    longer than `bounds.wait`.
    """
    all_tips, notes = tips(repo, config, commit)
    try:
        try:
            history = _without_update(repo, config, all_tips, notes)
        except IndexOfAnotherUser:
            if bounds.max_commits or not config.auto_index:
                raise
            from gitmem.index.history_indexer import temporary

            index, reason, more_notes = temporary(repo, config, bounds, all_tips)
            return History(index, all_tips, reason, [*notes, *more_notes])
        except IndexDamaged:
            from gitmem.index.history_indexer import discard

            history = None
            discard(repo, bounds.wait)
        if history is not None:
            return history
        if not config.auto_index:
            reason = "mem.autoIndex is off; 'git mem index' builds the history's index"
            return History(opened(repo), all_tips, reason, notes)
        from gitmem.index import history_indexer

        reason, more_notes = history_indexer.index_tips(repo, config, bounds, all_tips)
        index = opened(repo)
        if index is None and reason.startswith(history_indexer.UNWRITABLE) and not bounds.max_commits:
            index, reason, more_notes = history_indexer.temporary(repo, config, bounds, all_tips)
        return History(index, all_tips, reason, [*notes, *more_notes])
    except BaseException:
        close(all_tips)
        raise


def _without_update(repo: Repository, config: Config, all_tips: Sequence[Tip], notes: Sequence[str]) -> History | None:
    """The history if it is current or must not be updated; None if it must be updated. Raises IndexDamaged if the index
    turns out to be damaged when it is read; it is closed then."""
    index = opened(repo)
    if index is None:
        return None
    try:
        if all(index.scan(tip.key) for tip in all_tips) and cut_as_set(repo, index, config):
            return History(index, all_tips, "", notes)
        if index.frozen or not config.auto_index:
            return History(index, all_tips, "the history's index is not brought up to date here", notes)
    except BaseException:
        index.close()
        raise
    index.close()
    return None


def opened(repo: Repository) -> Index | None:
    """The open index of the history; None if there is none or it is damaged, in which case an update rebuilds it.
    Raises IndexUnusable for an index of a newer version, of another user or behind a symbolic link."""
    with suppress(IndexDamaged):
        return open_index(directory(repo), HISTORY)
    return None


def _joint_norms(index: Index, all_tips: Sequence[Tip]) -> bytes:
    """The union of the norms of the tips' snapshots. A chunk has the same norm in every snapshot that has it."""
    snapshots = [index.snapshot(tip.key) for tip in all_tips]
    norms = [snapshot.norms for snapshot in snapshots if snapshot is not None]
    if not norms:
        return b""
    if len(norms) == 1:
        return norms[0]
    union = 0
    for snapshot_norms in norms:
        union |= int.from_bytes(snapshot_norms, "little")
    return union.to_bytes(max(map(len, norms)), "little")
