"""Writes a scan's report for GitLab: a code quality report and a SAST report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format and
https://gitlab.com/gitlab-org/security-products/security-report-schemas (15.2).
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.remedies import ROTATE, remedy
from gitmem.gate.reports.finding_words import commit_mark, description_of, escape_surrogates, file_of, order
from gitmem.gate.scan import Report

SCHEMA = "15.2.1"
_CODE_QUALITY = {Severity.BLOCK: "blocker", Severity.WARN: "minor"}  # GitLab's names of our severities
_SAST = {Severity.BLOCK: "Critical", Severity.WARN: "Low"}


def as_code_quality(report: Report) -> str:
    """The code quality report, which a merge request shows beside its changed lines."""
    rows = [
        {
            "check_name": finding.rule,
            "description": _words(finding),
            "fingerprint": _identity(finding),
            "severity": _CODE_QUALITY[finding.severity],
            "location": {
                "path": _path(finding),
                "lines": {"begin": finding.line, "end": finding.end_line},
            },
        }
        for finding in order(report.findings)
    ]
    return json.dumps(rows, ensure_ascii=True, indent=1) + "\n"


def as_sast(report: Report, version: str, started: datetime, ended: datetime) -> str:
    """The SAST report, which fills the vulnerability list. `version`: the version of git mem. `started`, `ended`: when
    the scan ran, in UTC."""
    tool = {"id": "git-mem", "name": "git mem", "version": version, "vendor": {"name": "git mem"}}
    scan = {
        "analyzer": tool, "scanner": tool, "type": "sast", "status": "success",
        "start_time": f"{started:%Y-%m-%dT%H:%M:%S}", "end_time": f"{ended:%Y-%m-%dT%H:%M:%S}",
    }  # fmt: skip
    rows = [_vulnerability(finding) for finding in order(report.findings)]
    value = {"version": SCHEMA, "scan": scan, "vulnerabilities": rows}
    return json.dumps(value, ensure_ascii=True, indent=1) + "\n"


def _vulnerability(finding: Finding) -> dict[str, Any]:
    """A finding as an entry of a GitLab SAST report."""
    solution = remedy(finding) or "git mem redact FILE masks it"
    if finding.secret and not remedy(finding):
        solution = f"{solution}; {ROTATE}"
    return {
        "id": _identity(finding),
        "name": finding.rule,
        "description": _words(finding),
        "severity": _SAST[finding.severity],
        "solution": solution,
        "location": {
            "file": _path(finding),
            "start_line": finding.line,
            "end_line": finding.end_line,
        },
        "identifiers": [{"type": "git_mem_rule", "name": f"git mem {finding.rule}", "value": finding.rule}],
    }


def _path(finding: Finding) -> str:
    """The path of a finding for GitLab; MESSAGE_FILE for one in a commit message."""
    return escape_surrogates(file_of(finding))


def _words(finding: Finding) -> str:
    """The description of a finding and its commit."""
    return escape_surrogates(description_of(finding) + commit_mark(finding))


def _identity(finding: Finding) -> str:
    """A hash by which GitLab recognises the same finding in another pipeline: of fingerprint, path, line and column."""
    words = "\0".join((finding.fingerprint, finding.path, str(finding.line), str(finding.column)))
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()
