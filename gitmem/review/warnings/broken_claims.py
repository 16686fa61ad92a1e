"""The warning that the change makes claims about the code false, in memory or in agents' instructions.

Each row is one cause (a removed path, script or name) with the lines that still claim it. A change that also mends
these lines causes no warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gitmem import fences
from gitmem.claims import documents
from gitmem.claims.finding import Finding, State
from gitmem.claims.mending import MendedLine, mended_lines
from gitmem.claims.transition import became_false, by_cause
from gitmem.gate.reports.markdown import code
from gitmem.plural import counted
from gitmem.review.forges.forge import Suggestion
from gitmem.review.markup import Links, escaped_message, printable
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning

MAX_CAUSES = 10  # causes of one review, and lines of one cause; the others are counted
MAX_MENDS_PER_CAUSE = 5  # mended lines shown for one cause


@dataclass(frozen=True, slots=True)
class BrokenClaims(ReviewWarning):
    """The claims that the change makes false. `looked_at`: how many claims were compared. `mends`: the lines that name
    a renamed path, with its new name."""

    key: ClassVar[str] = "claims"
    title: ClassVar[str] = "Lines that this change makes false"
    noun: ClassVar[str] = "cause"
    place: ClassVar[Place] = Place.FIRST
    found: tuple[Finding, ...] = ()
    looked_at: int = 0
    mends: tuple[MendedLine, ...] = ()
    notes: tuple[str, ...] = ()
    fails: bool = False

    def points(self) -> int:
        return len({finding.cause for finding in self.found})

    def checked(self) -> Iterator[CheckRow]:
        if self.looked_at:
            words = "none made false"
            if self.found:
                words = f"{counted(len(self.found), 'line')} of it false now"
            yield CheckRow(not self.found, f"{counted(self.looked_at, 'claim')} about the code", words)

    def rows(self, links: Links) -> Iterator[Row]:
        causes, unlisted = by_cause(self.found, MAX_CAUSES)
        for _, findings in causes:
            first, listed = findings[0], findings[:MAX_CAUSES]
            word = first.state.value
            if first.state is State.CHANGED:
                word = "please look"
            text = f"**{word}**: {escaped_message(first.evidence)}"
            if first.commit:
                text += f" ({first.commit[:12]})"
            lines = [f"{links.file(row.path)} line {row.line} says {code(printable(row.claim))}" for row in listed]
            text += f". {'; '.join(lines)}"
            if len(findings) > MAX_CAUSES:
                text += f" and {len(findings) - MAX_CAUSES} more"
            if first.renamed_to:
                text += f"; put {code(printable(first.renamed_to))} there"
            places = {(row.path, row.line) for row in listed}
            mends = [mend for mend in self.mends if (mend.path, mend.line) in places][:MAX_MENDS_PER_CAUSE]
            yield Row(text + "".join(map(_difference, mends)), short=text)
        if unlisted:
            yield Row(f"{unlisted} more causes: `git mem check --base` lists them")

    def remarks(self) -> Iterator[Remark]:
        for _, findings in by_cause(self.found, MAX_CAUSES)[0]:
            for finding in findings:
                words = finding.evidence
                if finding.renamed_to:
                    words += f"; it is {finding.renamed_to} now"
                fails = self.fails and finding.state is State.GONE
                yield Remark(finding.path, finding.line, f"claim-{finding.state.value}", words, fails)

    def suggestions(self) -> Iterator[Suggestion]:
        for mend in self.mends:
            reason = "A path that this line names has another name now. `git mem check --fix` would write the line so."
            yield Suggestion(mend.path, mend.line, mend.text, reason)


def _difference(mend: MendedLine) -> str:
    """A line and its mended form as a diff. Forges take suggestions only for changed lines; this is for all others."""
    old, new = printable(mend.old), printable(mend.text)
    fence = fences.fence_around(old, new)
    return f"\n  {fence}diff\n  -{old}\n  +{new}\n  {fence}"


def check(commits: Range) -> BrokenClaims:
    """The claims of the files at the head that were true at the base and are false at the head; none without a base.
    The warning fails when a claim names something that is gone and the setting `check_gone` is `block`."""
    if not commits.base:
        return BrokenClaims()
    documents_read = documents.read(commits.repo, commits.head, commits.daily)
    findings, notes = became_false(commits.repo, commits.base, commits.head, documents_read)
    has_gone = any(finding.state is State.GONE for finding in findings)
    fails = has_gone and commits.config.check_gone == "block"
    mends = mended_lines(commits.repo, commits.head, findings)
    return BrokenClaims(tuple(findings), len(documents_read.claims), tuple(mends), tuple(notes), fails)
