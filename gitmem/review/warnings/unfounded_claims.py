"""The warning that a commit's message records what the commit did not do: a rejection of nothing, a review by an agent.

Such a line has no effect; a reviewer is told of it, since somebody wrote it for one. An agent's fails the review.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from gitmem.gate.policy import MESSAGE
from gitmem.gate.report import code
from gitmem.plural import counted
from gitmem.provenance.ledger import Claim, claims
from gitmem.review.markup import Links
from gitmem.review.page import Row
from gitmem.review.warnings.warning import Checked, Place, Range, Remark, ReviewWarning


@dataclass(frozen=True, slots=True)
class UnfoundedClaims(ReviewWarning):
    """The claims of the range's messages, the newest first."""

    key: ClassVar[str] = "unfounded"
    title: ClassVar[str] = "Messages that record what was not done"
    noun: ClassVar[str] = "claim"
    place: ClassVar[Place] = Place.FIRST
    claims: tuple[Claim, ...] = ()
    fails: bool = False

    def points(self) -> int:
        return len(self.claims)

    def checked(self) -> Iterator[Checked]:
        if self.claims:
            words = f"**{counted(len(self.claims), 'claim')}** of messages without effect"
            yield Checked(False, "What messages record, against what their commits do", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for claim in self.claims:
            yield Row(f"{code(claim.key)} of {code(claim.commit[:12])} has no effect: {claim.why}")

    def remarks(self) -> Iterator[Remark]:
        for claim in self.claims:
            yield Remark(MESSAGE, 1, "claim", f"{claim.key} of {claim.commit[:12]} has no effect: {claim.why}")

    def as_value(self) -> list[dict[str, Any]]:
        return [{"commit": claim.commit, "trailer": claim.key, "reason": claim.why} for claim in self.claims]


def check(commits: Range) -> UnfoundedClaims:
    """What the messages of the range claim in vain."""
    if commits.base:
        beyond = [f"^{commits.base}"]
    else:
        beyond = []
    found = claims(commits.repo, [commits.head, *beyond])
    return UnfoundedClaims(claims=found, fails=any(claim.forged for claim in found))
