"""A scan's report as its JSON has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.gate.detectors.finding import Finding, Skipped
from gitmem.gate.reports.finding_words import order
from gitmem.gate.scan import Report


class Scanned(NamedTuple):
    """How much was scanned. `blobs`: files, or versions of files. `bytes`: of these, and of commit messages."""

    blobs: int
    bytes: int


class ScanResult(NamedTuple):
    """The result of a scan. `findings`: blocking ones first. `skipped`: files that were not read. `accepted`: the
    findings of the baseline."""

    findings: Sequence[Finding]
    scanned: Scanned
    skipped: Sequence[Skipped]
    accepted: Sequence[Finding]


def result_of(report: Report) -> ScanResult:
    """The value of a report that commands print as JSON."""
    scanned = Scanned(report.blobs, report.bytes)
    return ScanResult(order(report.findings), scanned, report.skipped, order(report.accepted))
