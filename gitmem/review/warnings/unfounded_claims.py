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
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.promotion.logs import PassedLines, passed_lines
from gitmem.provenance.ledger import Claim, unfounded_claims
from gitmem.review.commit_diff import range_revisions
from gitmem.review.markup import Links
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning


@dataclass(frozen=True, slots=True)
class UnfoundedClaims(ReviewWarning):
    """The trailers in the messages of the range that record what their commits did not do. `fails`: an agent wrote one
    of them."""

    key: ClassVar[str] = "unfounded"
    title: ClassVar[str] = "Messages that record what was not done"
    noun: ClassVar[str] = "claim"
    place: ClassVar[Place] = Place.FIRST
    found: tuple[Claim, ...] = ()
    fails: bool = False
    notes: tuple[str, ...] = ()

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
    """Look for unfounded trailers in the messages of the range. `notes` tell which promotions of an agent or a bot
    counted log lines as read that nothing promoted or refused."""
    revs = range_revisions(commits.base, commits.head)
    claims = unfounded_claims(commits.repo, revs)
    passed = passed_lines(commits.repo, revs, commits.head, commits.daily)
    return UnfoundedClaims(
        found=claims, fails=any(claim.forged for claim in claims), notes=tuple(map(_passed_note, passed))
    )


def _passed_note(passed: PassedLines) -> str:
    """The sentence for the reviewer: a run of promotion leaves lines aside, and so does an agent that wants them
    unheard."""
    lines = counted(passed.count, "log line")
    since = f" --since {passed.since[:12]}" if passed.since else ""
    return Message(
        "{} of an agent or a bot counts {} as read that nothing promoted or refused; {} offers them",
        passed.promotion[:12], lines, f"git mem promote{since} --dry-run",
    )  # fmt: skip
