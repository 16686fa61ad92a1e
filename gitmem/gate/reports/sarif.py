"""Writes a scan's report as SARIF 2.1.0 (OASIS), within the limits of GitHub's code scanning."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from gitmem.gate.changes.rules import RULES
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import ROTATE, remedy
from gitmem.gate.reports.finding_words import IN_MESSAGE, description_of, escape_surrogates, file_of, order
from gitmem.gate.scan import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 25_000  # results in a file: GitHub refuses one with more, and shows the first 5,000
MAX_DESCRIPTION_CHARS = 1_024  # of a rule; GitHub's limit
_LEVELS = {Severity.BLOCK: "error", Severity.WARN: "warning"}  # SARIF's names of our severities


def as_sarif(report: Report, version: str) -> str:
    """The report as SARIF with stable fingerprints. `version`: the version of git mem.

    A finding in a commit message has MESSAGE_FILE as its place and names its commit. Above MAX_RESULTS findings the
    rest, warnings first, is left out and counted in a notification.
    """
    ranked = order(report.findings)
    first: dict[str, Finding] = {}
    for finding in ranked[:MAX_RESULTS]:
        first.setdefault(finding.rule, finding)
    notes = [f"skipped {escape_surrogates(s.path)}: {escape_surrogates(s.reason)}" for s in report.skipped]
    if len(ranked) > MAX_RESULTS:
        notes.append(f"{len(ranked) - MAX_RESULTS} more findings do not fit into this file: git mem scan lists them")
    numbers = {rule: number for number, rule in enumerate(first)}
    results = [_result(finding, numbers[finding.rule]) for finding in ranked[:MAX_RESULTS]]
    warnings = [{"level": "warning", "message": {"text": note}} for note in notes]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": warnings}
    return document(version, [_rule(finding) for finding in first.values()], results, invocations=[invocation])


def document(version: str, rules: list[dict[str, Any]], results: list[dict[str, Any]], **properties: Any) -> str:
    """A SARIF file of one run of git mem. `version`: of git mem. `properties`: further ones of the run."""
    driver = {"name": "git-mem", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results, **properties}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=1) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    """SARIF's description of the rule of a finding: what it looks for and what to do about it."""
    words = RULES.get(finding.rule) or finding.message.partition(" (")[0]
    mend = remedy(finding) or "git mem redact FILE masks it"
    help_text = f"Mend: {mend}. Let it pass: git mem allow FINGERPRINT --reason 'why', as a change of its own."
    if finding.secret:
        help_text += f" {ROTATE.capitalize()}."
    return {
        "id": finding.rule,
        "name": finding.rule,
        "shortDescription": {"text": finding.rule.replace("-", " ").capitalize()},
        "fullDescription": {"text": escape_surrogates(words)[:MAX_DESCRIPTION_CHARS]},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    """SARIF's result of a finding. `rule_index`: the number of its rule in the list of the driver, from 0."""
    uri = quote(file_of(finding), safe="/", errors="surrogateescape")
    region = {
        "startLine": finding.line, "startColumn": finding.column,
        "endLine": finding.end_line, "endColumn": max(finding.end_column, 1),
    }  # fmt: skip
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
    if finding.path == MESSAGE:
        place["logicalLocations"] = [{"name": IN_MESSAGE, "kind": "resource"}]
    value: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": escape_surrogates(description_of(finding))},
        "locations": [place],
        "partialFingerprints": {"gitMem/v1": finding.fingerprint},
    }
    if finding.commit:
        value["properties"] = {"commit": finding.commit}
    return value
