"""Counts the gate's findings in the work tree for `git mem status`. Reads at most MAX_SCANNED_BYTES."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date

from gitmem.gate.adoption_baseline import outdated_rows
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, Source, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.scan import Read, Report, scan
from gitmem.gate.tree_policies import worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git.repository import Repository

MAX_SCANNED_BYTES = 2 << 20  # bytes that are scanned: about a second


@dataclass(frozen=True, slots=True)
class Counts:
    """The findings in the files that were read. `mode`: `standard` or `strict`. `whole`: whether all files were read.
    `accepted`: findings that the baseline covers. `gone`: rows of the baseline whose finding is gone from HEAD.

    JSON: `files`: how many files were read. `whole`: whether that was the whole work tree.
    """

    mode: str
    blocking: int
    warnings: int
    files: int
    whole: bool
    accepted: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """The part of the work tree that is scanned. `more`: findings about the files as a whole. `whole`: whether `blobs`
    are all files."""

    policy: Policy
    blobs: tuple[Blob, ...]
    more: tuple[Finding, ...]
    whole: bool

    @property
    def key(self) -> tuple[object, ...]:
        """A value that is equal for two `Contents` only if their scans give the same report: the policy, `more`, and a
        hash of each file. Callers use it as the key of a cache."""
        hashes = tuple((blob.path, blob.skipped, hashlib.sha256(blob.data).digest()) for blob in self.blobs)
        return self.policy, hashes, self.more

    def scanned(self, scan_one: Read = scan_blob) -> Report:
        """Scan these files and return the report. `scan_one`: scans one blob in place of `scan_blob`."""
        return scan(Source(self.blobs, self.more), self.policy, scan_one=scan_one)

    def counts(self, report: Report) -> Counts:
        """Count the findings of `report`, which `scanned` returned. `Counts.gone` stays 0."""
        blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
        mode = "standard"
        if self.policy.strict:
            mode = "strict"
        return Counts(mode, blocking, len(report.findings) - blocking, report.blobs, self.whole, len(report.accepted))


def contents(repo: Repository, today: date, most: int = MAX_SCANNED_BYTES) -> Contents:
    """The work tree's files that the gate scans, in their order, up to the first with which they have more than `most`
    bytes; that one is left out. Raises GitMemError in a bare repository, and as `worktree_policy`."""
    policy = worktree_policy(repo, today)
    source = work_tree_files(repo, [], policy)
    blobs: list[Blob] = []
    size = 0
    for blob in source.blobs:
        if not policy.scans(blob.path):
            continue
        size += len(blob.data)
        if size > most:
            break
        blobs.append(blob)
    return Contents(policy, tuple(blobs), tuple(source.findings), size <= most)


def counts(repo: Repository, today: date) -> Counts:
    """The findings in the work tree's first MAX_SCANNED_BYTES bytes. Raises GitMemError when the gate cannot read
    it."""
    files = contents(repo, today)
    return replace(files.counts(files.scanned()), gone=len(outdated_rows(repo, files.policy)))
