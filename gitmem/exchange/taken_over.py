"""Finds branches whose files were taken over without some of their lines (`branch_lines`); they need no merge.

The commit of a takeover names the branch and its tip in a trailer (`trailers.TAKEN_OVER`). It counts no more once the
branch has moved or the commit was reverted. This module only reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from gitmem.git.repository import Repository
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine
from gitmem.provenance.ledger import REVERTS

_REVERTED = re.compile(rf"{REVERTS} ([0-9a-f]{{40,64}})\b")


@dataclass(frozen=True, slots=True)
class Takeover:
    """A commit that took over the files of a branch. `commit`: its oid. `when`: its author date, with time zone."""

    commit: str
    when: datetime


def takeovers(repo: Repository, tips: Collection[str]) -> dict[str, Takeover]:
    """Tip of a branch -> the newest commit of the current branch that took its files over and was not reverted, for
    those of `tips` that have one.

    A commit of an agent does not count.
    """
    head = repo.head()
    if head is None or not tips:
        return {}
    takeover_of_tip: dict[str, Takeover] = {}
    reverted: set[str] = set()
    for commit in repo.log([head], grep=(f"{trailers.TAKEN_OVER}: ", f"{REVERTS} ")):
        if commit.oid in reverted:
            continue
        reverted.update(_REVERTED.findall(commit.message))
        if by_machine(commit):
            continue
        for value in trailers.values(trailers.parse(commit.message), trailers.TAKEN_OVER):
            tip = value.rpartition("@")[2]
            if tip in tips:
                takeover_of_tip.setdefault(tip, Takeover(commit.oid, commit.author_date))
    return takeover_of_tip
