"""Writes a scan's report, or one finding, as a JSON value of docs/json.md."""

from __future__ import annotations

from typing import Any

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.reports.finding_words import order
from gitmem.gate.scan import Report
from gitmem.json_values import json_object, json_value


def as_value(report: Report) -> dict[str, Any]:
    """The JSON value of docs/json.md, "scan"."""
    return {
        "findings": [finding_value(finding) for finding in order(report.findings)],
        "scanned": {"blobs": report.blobs, "bytes": report.bytes},
        "skipped": json_value(report.skipped),
        "accepted": [finding_value(finding) for finding in order(report.accepted)],
    }


def finding_value(finding: Finding) -> dict[str, Any]:
    """The JSON value of one finding (docs/json.md, "scan")."""
    return json_object(finding, "rule severity path line column end_line end_column message excerpt commit fingerprint")
