"""How much the gate finds in the work tree, as `git mem status` shows it. Reads only, and no more than MOST bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from gitmem.gate import sources
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.examine import Blob
from gitmem.gate.scan import scan
from gitmem.git.protocol import Repository

MOST = 2 << 20  # bytes that are scanned: about a second


@dataclass(frozen=True, slots=True)
class Counts:
    """How many findings block and how many warn in the files that were read; `whole` says that those were all."""

    mode: str
    blocking: int
    warnings: int
    files: int
    whole: bool


def counts(repo: Repository, today: date, most: int = MOST) -> Counts:
    """The findings in the first `most` bytes of what a commit of the work tree would be held to.

    Raises GitMemError where the gate cannot look.
    """
    policy = sources.worktree_policy(repo, today)
    left = [most]
    source = sources.paths(repo, [], policy)
    blobs = (blob for blob in source.blobs if policy.concerns(blob.path))
    report = scan(within(blobs, left), policy, source.findings)
    blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
    mode = "strict" if policy.strict else "standard"
    return Counts(mode, blocking, len(report.findings) - blocking, report.blobs, left[0] >= 0)


def within(blobs: Iterator[Blob], left: list[int]) -> Iterator[Blob]:
    """The blobs until `left[0]` bytes are used up; what is left is negative where they did not suffice."""
    for blob in blobs:
        left[0] -= len(blob.data)
        if left[0] < 0:
            return
        yield blob
