"""The consolidations of a history: when the last one was, and which of their changes people reverted.

A change of a consolidation that `git revert` took back is not made again; one that `git mem undo` took back may be.
Reads messages of commits only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.provenance.ledger import UNDO, reverted_oids

SUBJECT = "memory: consolidate "  # beginning of the subject of a consolidation
_PAIR = re.compile(r"- \S+:\d+ (\S+) (?:says the same as|was replaced by) (\S+)")
_LOWERED = re.compile(r"- \S+:\d+ (\S+) importance \S+ -> \S+")


@dataclass(frozen=True, slots=True)
class Declined:
    """The changes of consolidations that people took back with `git revert`."""

    pairs: frozenset[frozenset[str]] = frozenset()  # ids of two facts that were merged, or of which one replaced one
    lowered: frozenset[str] = frozenset()  # ids of facts whose importance was lowered

    def has_pair(self, fact_id: str, other_id: str) -> bool:
        """Whether a reverted consolidation merged these two facts, or replaced one by the other."""
        return frozenset((fact_id, other_id)) in self.pairs


def consolidations(repo: Repository, revs: Sequence[str]) -> list[Commit]:
    """The commits of consolidations that `revs` reach, newest first. `revs`: commits, and `^COMMIT` for one whose
    history is left out."""
    if not revs:
        return []
    return [commit for commit in repo.log(revs, grep=[SUBJECT]) if commit.subject.startswith(SUBJECT)]


def last_consolidation(repo: Repository, tips: Sequence[str]) -> datetime | None:
    """The commit date of the newest consolidation that `tips` reach; None for none."""
    return max((commit.commit_date for commit in consolidations(repo, tips)), default=None)


def declined(repo: Repository, head: str) -> Declined:
    """The changes of consolidations in the history of `head` that were reverted, unless the revert was reverted."""
    commits = list(repo.log([head], grep=[SUBJECT]))  # the message of a revert quotes the subject
    oids = reverted(commits)
    pairs: set[frozenset[str]] = set()
    lowered: set[str] = set()
    for commit in commits:
        if not commit.subject.startswith(SUBJECT) or commit.oid not in oids:
            continue
        for row in commit.message.splitlines():
            if pair := _PAIR.fullmatch(row):
                pairs.add(frozenset(pair.groups()))
            if match := _LOWERED.fullmatch(row):
                lowered.add(match[1])
    return Declined(frozenset(pairs), frozenset(lowered))


def reverted(commits: Iterable[Commit]) -> set[str]:
    """The oids that `commits` (newest first) revert. Reverts that were reverted, and undos, do not count."""
    oids: set[str] = set()
    for commit in commits:
        if commit.oid not in oids and not commit.message.startswith(UNDO):
            oids.update(reverted_oids(commit.message))
    return oids
