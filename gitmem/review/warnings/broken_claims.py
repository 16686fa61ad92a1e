"""The warning that a change makes lines false that memory or agents' instructions say of the code.

One cause is one row: the path, script or name that went, and the lines that still speak of it. A change that mends its
lines too is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from gitmem import fences
from gitmem.claims import documents
from gitmem.claims.finding import Finding, State, as_value
from gitmem.claims.mending import MendedLine, mended_lines
from gitmem.claims.transition import became_false, grouped
from gitmem.gate.report import code
from gitmem.plural import counted
from gitmem.review.forges.forge import Suggestion
from gitmem.review.markup import Links, flat, plain
from gitmem.review.page import Row
from gitmem.review.warnings.warning import Checked, Place, Range, Remark, ReviewWarning

MAX_CAUSES = 10  # causes of one review; the others are counted
MAX_LINES_PER_CAUSE = 5  # lines of one cause that are shown as they should be


@dataclass(frozen=True, slots=True)
class BrokenClaims(ReviewWarning):
    """What the change makes false; `looked_at` claims were compared, `mends` are lines that follow a rename."""

    key: ClassVar[str] = "claims"
    title: ClassVar[str] = "Lines that this change makes false"
    noun: ClassVar[str] = "cause"
    place: ClassVar[Place] = Place.FIRST
    findings: tuple[Finding, ...] = ()
    looked_at: int = 0
    mends: tuple[MendedLine, ...] = ()
    notes: tuple[str, ...] = ()
    fails: bool = False

    def points(self) -> int:
        return len({one.cause for one in self.findings})

    def checked(self) -> Iterator[Checked]:
        if self.looked_at:
            words = "none made false"
            if self.findings:
                words = f"{counted(len(self.findings), 'line')} of it false now"
            yield Checked(not self.findings, f"{counted(self.looked_at, 'claim')} about the code", words)

    def rows(self, links: Links) -> Iterator[Row]:
        causes, left = grouped(self.findings, MAX_CAUSES)
        for _, ones in causes:
            first = ones[0]
            if first.state is State.CHANGED:
                word = "please look"
            else:
                word = first.state.value
            lines = "; ".join(
                f"{links.file(one.path)} line {one.line} says {code(flat(one.claim))}" for one in ones[:MAX_CAUSES]
            )
            more = ""
            if len(ones) > MAX_CAUSES:
                more = f" and {len(ones) - MAX_CAUSES} more"
            mend = ""
            if first.renamed_to:
                mend = f"; put {code(flat(first.renamed_to))} there"
            by = ""
            if first.commit:
                by = f" ({first.commit[:12]})"
            where = {(one.path, one.line) for one in ones[:MAX_CAUSES]}
            mended = [each for each in self.mends if (each.path, each.line) in where][:MAX_LINES_PER_CAUSE]
            text = f"**{word}**: {plain(first.evidence)}{by}. {lines}{more}{mend}"
            yield Row(text + "".join(map(_difference, mended)), short=text)
        if left:
            yield Row(f"{left} more causes: `git mem check --base` lists them")

    def remarks(self) -> Iterator[Remark]:
        for _, ones in grouped(self.findings, MAX_CAUSES)[0]:
            for one in ones:
                now = ""
                if one.renamed_to:
                    now = f"; it is {one.renamed_to} now"
                yield Remark(one.path, one.line, f"claim-{one.state.value}", f"{one.evidence}{now}")

    def suggestions(self) -> Iterator[Suggestion]:
        for one in self.mends:
            why = "A path that this line names has another name now. `git mem check --fix` would write the line so."
            yield Suggestion(one.path, one.line, one.text, why)

    def as_value(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = as_value(self.findings)["findings"]
        return rows


def _difference(one: MendedLine) -> str:
    """A line as it is and as it should be, for a reader: no forge takes a suggestion for a line outside the change."""
    old, new = flat(one.old), flat(one.text)
    fence = fences.around(old, new)
    return f"\n  {fence}diff\n  -{old}\n  +{new}\n  {fence}"


def check(commits: Range) -> BrokenClaims:
    """What is true at the base and false at the head."""
    if not commits.base:
        return BrokenClaims()
    read = documents.read(commits.repo, commits.head, commits.daily)
    findings, notes = became_false(commits.repo, commits.base, commits.head, read)
    gone = any(one.state is State.GONE for one in findings)
    fails = gone and commits.config.check_gone == "block"
    mends = mended_lines(commits.repo, commits.head, findings)
    return BrokenClaims(tuple(findings), len(read.claims), tuple(mends), tuple(notes), fails)
