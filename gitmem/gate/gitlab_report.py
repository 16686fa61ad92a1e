"""A scan's report as GitLab reads it: a code quality report and a SAST report. Pure: a report in, text out.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format and
https://gitlab.com/gitlab-org/security-products/security-report-schemas (15.2). Excerpts came masked and stay so.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.report import MESSAGE_FILE, ROTATE, order, remedy
from gitmem.gate.scan import Report

SCHEMA = "15.2.1"


def as_code_quality(report: Report) -> str:
    """The report that a merge request shows beside its changed lines."""
    rows = [
        {
            "check_name": finding.rule,
            "description": _words(finding),
            "fingerprint": _identity(finding),
            "severity": "blocker" if finding.severity is Severity.BLOCK else "minor",
            "location": {"path": _path(finding), "lines": {"begin": finding.line, "end": finding.end_line}},
        }
        for finding in order(report.findings)
    ]
    return json.dumps(rows, ensure_ascii=True, indent=1) + "\n"


def as_sast(report: Report, version: str, started: datetime, ended: datetime) -> str:
    """The report of the vulnerability list. Times are those of the scan, in UTC."""
    tool = {"id": "git-mem", "name": "git mem", "version": version, "vendor": {"name": "git mem"}}
    scan = {
        "analyzer": tool, "scanner": tool, "type": "sast", "status": "success",
        "start_time": f"{started:%Y-%m-%dT%H:%M:%S}", "end_time": f"{ended:%Y-%m-%dT%H:%M:%S}",
    }  # fmt: skip
    rows = [_vulnerability(finding) for finding in order(report.findings)]
    value = {"version": SCHEMA, "scan": scan, "vulnerabilities": rows}
    return json.dumps(value, ensure_ascii=True, indent=1) + "\n"


def _vulnerability(finding: Finding) -> dict[str, Any]:
    return {
        "id": _identity(finding),
        "name": finding.rule,
        "description": _words(finding),
        "severity": "Critical" if finding.severity is Severity.BLOCK else "Low",
        "solution": remedy(finding) or f"git mem redact FILE masks it{f'; {ROTATE}' if finding.secret else ''}",
        "location": {"file": _path(finding), "start_line": finding.line, "end_line": finding.end_line},
        "identifiers": [{"type": "git_mem_rule", "name": f"git mem {finding.rule}", "value": finding.rule}],
    }


def _path(finding: Finding) -> str:
    """Where GitLab shows it: a finding in a commit message has no file, and is placed where Git keeps a message."""
    if finding.path == MESSAGE:
        path = MESSAGE_FILE
    else:
        path = finding.path
    return path.encode("utf-8", "backslashreplace").decode()


def _words(finding: Finding) -> str:
    excerpt = ""
    if finding.excerpt:
        excerpt = f": {finding.excerpt}"
    commit = ""
    if finding.commit:
        commit = f" [{finding.commit[:12]}]"
    place = ""
    if finding.path == MESSAGE:
        place = "commit message: "
    return f"{place}{finding.message}{excerpt}{commit}".encode("utf-8", "backslashreplace").decode()


def _identity(finding: Finding) -> str:
    """The same finding in a later pipeline, and no other: GitLab compares reports by it."""
    words = "\0".join((finding.fingerprint, finding.path, str(finding.line), str(finding.column)))
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()
