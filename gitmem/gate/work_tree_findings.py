"""Scans the work tree and counts the gate's findings, for `git mem status` and the web pages. Scans at most
MAX_SCANNED_BYTES."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date

from gitmem.gate.adoption_baseline import outdated_rows
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, Source, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.scan import Read, Report, scan
from gitmem.gate.tree_policies import worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git.repository import Repository
from gitmem.json_values import json_keys

MAX_SCANNED_BYTES = 2 << 20  # bytes that are scanned: about a second


@json_keys("mode blocking warnings files whole accepted gone=outdated_rows")
@dataclass(frozen=True, slots=True)
class FindingCounts:
    """The findings in the files that were read. `mode`: `standard` or `strict`. `whole`: whether all files were read.
    `accepted`: findings that the baseline covers. `outdated_rows`: rows of the baseline whose finding is gone from
    HEAD.

    JSON: `files`: how many files were read. `whole`: whether that was the whole work tree. `gone`: rows of the baseline
    whose finding is gone from HEAD.
    """

    mode: str
    blocking: int
    warnings: int
    files: int
    whole: bool
    accepted: int
    outdated_rows: int


@dataclass(frozen=True, slots=True)
class FilesToScan:
    """The part of the work tree that is scanned. `tree_findings`: findings that reading the files made, about their
    names and links, not about their text. `whole`: whether `blobs` are all files."""

    policy: Policy
    blobs: tuple[Blob, ...]
    tree_findings: tuple[Finding, ...]
    whole: bool

    @property
    def key(self) -> tuple[object, ...]:
        """A value that is equal for two `FilesToScan` only if their scans give the same report: the policy,
        `tree_findings`, and a hash of each file. Callers use it as the key of a cache."""
        hashes = tuple((blob.path, blob.skipped, hashlib.sha256(blob.data).digest()) for blob in self.blobs)
        return self.policy, hashes, self.tree_findings

    def scan(self, scan_one: Read = scan_blob) -> Report:
        """Scan these files and return the report. `scan_one`: scans one blob in place of `scan_blob`."""
        return scan(Source(self.blobs, self.tree_findings), self.policy, scan_one=scan_one)

    def summary(self, report: Report, *, outdated_rows: int = 0) -> FindingCounts:
        """Count the findings of `report`, which `scan` returned. `outdated_rows`: as in FindingCounts; 0 when the
        caller does not show them."""
        blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
        mode = "standard"
        if self.policy.strict:
            mode = "strict"
        return FindingCounts(
            mode=mode,
            blocking=blocking,
            warnings=len(report.findings) - blocking,
            files=report.blobs,
            whole=self.whole,
            accepted=len(report.accepted),
            outdated_rows=outdated_rows,
        )


def read_files_to_scan(repo: Repository, today: date, *, max_bytes: int = MAX_SCANNED_BYTES) -> FilesToScan:
    """The work tree's files that the gate scans, in their order, up to the first with which they have more than
    `max_bytes` bytes; that one is left out. Raises GitMemError in a bare repository, and as `worktree_policy`."""
    policy = worktree_policy(repo, today)
    source = work_tree_files(repo, [], policy)
    blobs: list[Blob] = []
    size = 0
    for blob in source.blobs:
        if not policy.scans(blob.path):
            continue
        size += len(blob.data)
        if size > max_bytes:
            break
        blobs.append(blob)
    return FilesToScan(policy, tuple(blobs), tuple(source.findings), whole=size <= max_bytes)


def count_findings(repo: Repository, today: date) -> FindingCounts:
    """The findings in the work tree's first MAX_SCANNED_BYTES bytes, and the outdated rows of the baseline. Raises
    GitMemError when the gate cannot read the work tree."""
    files = read_files_to_scan(repo, today)
    return files.summary(files.scan(), outdated_rows=len(outdated_rows(repo, files.policy)))
