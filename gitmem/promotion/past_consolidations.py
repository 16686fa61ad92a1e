"""Consolidations that history holds: when the last one was, and which of their changes a person took back.

A commit of `git revert` that takes a consolidation back is an answer: what the consolidation did is not done again.
`git mem undo` is none, as for a promotion. Reads messages of commits only; never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.provenance.ledger import REVERTS, UNDO

SUBJECT = "memory: consolidate "  # how the subject of a consolidation begins
_PAIR = re.compile(r"- \S+:\d+ (\S+) (?:says the same as|was replaced by) (\S+)")
_LOWERED = re.compile(r"- \S+:\d+ (\S+) importance \S+ -> \S+")
_REVERTS = re.compile(re.escape(REVERTS) + r" ([0-9a-f]{40,64})\b")


@dataclass(frozen=True, slots=True)
class Declined:
    """What was taken back. `pairs`: ids of two facts that are not merged and do not replace each other; `lowered`: ids
    of facts whose importance stays."""

    pairs: frozenset[frozenset[str]] = frozenset()
    lowered: frozenset[str] = frozenset()

    def holds(self, one: str, other: str) -> bool:
        """Whether these two facts were one in a consolidation that was taken back."""
        return frozenset((one, other)) in self.pairs


def consolidations(repo: Repository, revs: Sequence[str]) -> list[Commit]:
    """The commits of consolidations that `revs` (as `Repository.log` takes them) reach, the newest first."""
    found = repo.log(revs, grep=[SUBJECT]) if revs else ()
    return [commit for commit in found if commit.subject.startswith(SUBJECT)]


def last_consolidation(repo: Repository, tips: Sequence[str]) -> datetime | None:
    """When the newest consolidation that these commits reach was committed; None where they reach none."""
    return max((commit.commit_date for commit in consolidations(repo, tips)), default=None)


def declined(repo: Repository, head: str) -> Declined:
    """What reverts that `head` reaches took back, and no later commit brought back."""
    found = list(repo.log([head], grep=[SUBJECT]))
    made = [commit for commit in found if commit.subject.startswith(SUBJECT)]
    gone = reverted(found)
    rows = [row for commit in made if commit.oid in gone for row in commit.message.splitlines()]
    pairs = (match.groups() for row in rows if (match := _PAIR.fullmatch(row)))
    lowered = (match[1] for row in rows if (match := _LOWERED.fullmatch(row)))
    return Declined(frozenset(map(frozenset, pairs)), frozenset(lowered))


def reverted(commits: Iterable[Commit]) -> set[str]:
    """The oids that these commits, the newest first, took back; a revert that was taken back counts for nothing."""
    gone: set[str] = set()
    for commit in commits:
        if commit.oid not in gone and not commit.message.startswith(UNDO):
            gone.update(_REVERTS.findall(commit.message))
    return gone
