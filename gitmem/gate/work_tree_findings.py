"""How much the gate finds in the work tree, as `git mem status` shows it. Reads only, at most
MAX_SCANNED_BYTES."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from gitmem.gate import sources
from gitmem.gate.adoption_baseline import gone_rows
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.scan import Read, Report, scan
from gitmem.git.repository import Repository

MAX_SCANNED_BYTES = 2 << 20  # bytes that are scanned: about a second


@dataclass(frozen=True, slots=True)
class Counts:
    """How many findings block and how many warn in the files that were read; `whole` says that those were all.
    `accepted` are those that the baseline has; `gone` counts its rows whose finding is gone from HEAD."""

    mode: str
    blocking: int
    warnings: int
    files: int
    whole: bool
    accepted: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """What of the work tree is to be scanned: its first bytes, and whether that is all; `more` is about the change as
    a whole."""

    policy: Policy
    blobs: tuple[Blob, ...]
    more: tuple[Finding, ...]
    whole: bool

    @property
    def key(self) -> tuple[object, ...]:
        """What the report of a scan depends on, without the bytes."""
        read = tuple((blob.path, blob.skipped, hashlib.sha256(blob.data).digest()) for blob in self.blobs)
        return self.policy, read, self.more

    def scanned(self, read: Read = scan_blob) -> Report:
        """The report of the gate on it; `read` finds in one blob (`scan`)."""
        return scan(iter(self.blobs), self.policy, self.more, read=read)

    def counts(self, report: Report) -> Counts:
        """What a report on it comes to."""
        blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
        mode = "standard"
        if self.policy.strict:
            mode = "strict"
        return Counts(mode, blocking, len(report.findings) - blocking, report.blobs, self.whole, len(report.accepted))


def contents(repo: Repository, today: date, most: int = MAX_SCANNED_BYTES) -> Contents:
    """The first `most` bytes of what a commit of the work tree would be held to.

    Raises GitMemError where the gate cannot look.
    """
    policy = sources.worktree_policy(repo, today)
    left = [most]
    source = sources.paths(repo, [], policy)
    blobs = tuple(_within_budget((blob for blob in source.blobs if policy.concerns(blob.path)), left))
    return Contents(policy, blobs, tuple(source.findings), left[0] >= 0)


def counts(repo: Repository, today: date) -> Counts:
    """The findings in the work tree's first MAX_SCANNED_BYTES bytes. Raises GitMemError where the gate cannot look."""
    read = contents(repo, today)
    return replace(read.counts(read.scanned()), gone=len(gone_rows(repo, read.policy)))


def _within_budget(blobs: Iterator[Blob], left: list[int]) -> Iterator[Blob]:
    """The blobs until `left[0]` bytes are used up; what is left is negative where they did not suffice."""
    for blob in blobs:
        left[0] -= len(blob.data)
        if left[0] < 0:
            return
        yield blob
