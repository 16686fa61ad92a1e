"""A repository's history as documents: the message of each commit, indexed once by the commit's oid.

The file lies beside the index and is made as that is, but a search that does not ask for history neither opens it nor
imports this (docs/adr/history-in-its-own-file.md). A snapshot is what a commit reaches; that of the next commit is made
from it. What is current is opened here; `history_indexer` brings up to date what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gitmem.config import Config
from gitmem.errors import IndexDamaged
from gitmem.git.repository import Repository
from gitmem.index.db.connection import HISTORY, open_index
from gitmem.index.db.reader import Index
from gitmem.index.history_tips import Bounds, Tip, close, tips
from gitmem.index.index_file import cut_as_set, directory


class History:
    """The index of the history, open; `norms` has the chunks of the commits that count, each commit's chunks being its
    own. `notes` and `stale` (why it may miss something) are for a person. Closed by the caller, with the clones."""

    def __init__(self, index: Index | None, tips: Sequence[Tip], stale: str, notes: Sequence[str]) -> None:
        self.index, self.tips, self.stale, self.notes = index, tips, stale, notes
        if index is not None:
            self.norms = _joint_norms(index, tips)
        else:
            self.norms = b""

    def close(self) -> None:
        """Close the index and the clones."""
        if self.index is not None:
            self.index.close()
        close(self.tips)


def ready(repo: Repository, config: Config, commit: str, bounds: Bounds = Bounds()) -> History:  # noqa: B008 - a tuple
    """The history that counts at `commit` ("" for HEAD), brought up to date within the bounds.

    What could not be done is `stale`. Raises IndexUnusable for what a person must mend.
    """
    all_tips, notes = tips(repo, config, commit)
    try:
        try:
            past = _as_it_is(repo, config, all_tips, notes)
        except IndexDamaged:
            from gitmem.index.history_indexer import discard

            past = None
            discard(repo, bounds.wait)
        if past is not None:
            return past
        if not config.auto_index:
            reason = "mem.autoIndex is off; 'git mem index' builds the history's index"
            return History(opened(repo), all_tips, reason, notes)
        from gitmem.index import history_indexer

        reason, said = history_indexer.bring(repo, config, bounds, all_tips)
        index = opened(repo)
        if index is None and reason.startswith(history_indexer.UNWRITABLE) and not bounds.most:
            index, reason = history_indexer.temporary(repo, config, bounds, all_tips)
        return History(index, all_tips, reason, [*notes, *said])
    except BaseException:
        close(all_tips)
        raise


def _as_it_is(repo: Repository, config: Config, all_tips: Sequence[Tip], notes: Sequence[str]) -> History | None:
    """The history where it is current, or cannot be brought up to date; None where it can. Raises IndexDamaged."""
    index = opened(repo)
    if index is None:
        return None
    try:
        current = _current(repo, index, all_tips, config)
        if current or index.frozen or not config.auto_index:
            stale = "the history's index is not brought up to date here"
            if current:
                stale = ""
            return History(index, all_tips, stale, notes)
    except BaseException:
        index.close()
        raise
    index.close()
    return None


def opened(repo: Repository) -> Index | None:
    """The index; None where there is none, or where it is damaged: then what brings it up to date makes it anew."""
    with suppress(IndexDamaged):
        return open_index(directory(repo), HISTORY)
    return None


def _current(repo: Repository, index: Index, all_tips: Sequence[Tip], config: Config) -> bool:
    return all(index.scan(tip.key) for tip in all_tips) and cut_as_set(repo, index, config)


def _joint_norms(index: Index, all_tips: Sequence[Tip]) -> bytes:
    """The norms of all snapshots: a chunk has the same in each that has it."""
    norms = [snapshot.norms for tip in all_tips if (snapshot := index.snapshot(tip.key)) is not None]
    if len(norms) < 2:
        if not norms:
            return b""
        return norms[0]
    union = 0
    for one in norms:
        union |= int.from_bytes(one, "little")
    return union.to_bytes(max(map(len, norms)), "little")
