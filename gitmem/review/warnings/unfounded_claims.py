"""The warning that a trailer of a commit message records something that the commit did not do, such as the rejection of
no fact or a review by an agent.

Such a trailer has no effect. The review shows it, and fails when an agent wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.markdown import code
from gitmem.plural import counted
from gitmem.provenance.ledger import Claim, unfounded_claims
from gitmem.review.commit_diff import range_revisions
from gitmem.review.markup import Links
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning


@dataclass(frozen=True, slots=True)
class UnfoundedClaims(ReviewWarning):
    """The unfounded trailers in the messages of the range, newest first."""

    key: ClassVar[str] = "unfounded"
    title: ClassVar[str] = "Messages that record what was not done"
    noun: ClassVar[str] = "claim"
    place: ClassVar[Place] = Place.FIRST
    found: tuple[Claim, ...] = ()
    fails: bool = False

    def points(self) -> int:
        return len(self.found)

    def checked(self) -> Iterator[CheckRow]:
        if self.found:
            words = f"**{counted(len(self.found), 'claim')}** of messages without effect"
            yield CheckRow(False, "What messages record, against what their commits do", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for claim in self.found:
            yield Row(f"{code(claim.key)} of {code(claim.commit[:12])} has no effect: {claim.why}")

    def remarks(self) -> Iterator[Remark]:
        for claim in self.found:
            words = f"{claim.key} of {claim.commit[:12]} has no effect: {claim.why}"
            yield Remark(MESSAGE, 1, "claim", words, claim.forged)


def check(commits: Range) -> UnfoundedClaims:
    """Look for unfounded trailers in the messages of the range."""
    found = unfounded_claims(commits.repo, range_revisions(commits.base, commits.head))
    return UnfoundedClaims(found=found, fails=any(claim.forged for claim in found))
