"""Writes findings as sentences, as SARIF 2.1.0, and as annotations of a GitHub workflow. Pure.

SARIF and annotations escape text from the repository; `words_of` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from gitmem.claims.finding import Finding, State
from gitmem.gate.reports import sarif
from gitmem.gate.reports.finding_words import one_line
from gitmem.gate.reports.github import workflow_command

MAX_RESULTS = 5_000  # results in one SARIF file
MAX_ANNOTATIONS = 10  # annotations of each level: GitHub shows no more for a step


def words_of(finding: Finding) -> str:
    """A finding as one sentence, not escaped: the claim, why it is false, and, unless the evidence has them, the new
    path and the first 12 characters of the commit. Path, line, kind and state are not part of it."""
    text = f"{finding.claim}: {finding.evidence}"
    if finding.renamed_to and finding.renamed_to not in finding.evidence:
        text += f"; it is {finding.renamed_to} now"
    if finding.commit and finding.commit[:12] not in finding.evidence:
        text += f" [{finding.commit[:12]}]"
    return text


def key_of(finding: Finding) -> str:
    """The row of a finding in the baseline: path, kind and claim, with tabs between them. It lacks the line number, so
    that the line may move."""
    return "\t".join(" ".join(part.split()) for part in (finding.path, finding.kind, finding.claim))


def as_sarif(findings: Sequence[Finding], version: str) -> str:
    """The findings as SARIF. Each result has a location, since GitHub refuses an upload with one that has none.

    `version`: of git-mem. Findings after the first MAX_RESULTS are left out.
    """
    rules = sorted({f"claim-{finding.state.value}" for finding in findings})
    described = [
        {"id": rule, "name": rule, "shortDescription": {"text": rule.replace("-", " ").capitalize()}} for rule in rules
    ]
    return sarif.document(version, described, [_result(finding, rules) for finding in findings[:MAX_RESULTS]])


def _level(finding: Finding) -> str:
    """The SARIF level of a finding: "error" if it is sure and its target is gone, otherwise "warning"."""
    return "error" if finding.sure and finding.state is State.GONE else "warning"


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    """The SARIF result of a finding. Raises ValueError if `rules` lacks the rule of its state."""
    rule = f"claim-{finding.state.value}"
    uri = quote(finding.path.encode("utf-8", "surrogateescape"))
    mark = sha256(key_of(finding).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    words = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in words_of(finding))
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": _level(finding),
        "message": {"text": words},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": finding.line}}},
        ],
        "partialFingerprints": {"gitmem/v1": mark},
    }


def as_annotations(findings: Sequence[Finding], escape: Callable[[str], str]) -> str:
    """The findings as workflow commands of GitHub: at most MAX_ANNOTATIONS errors and as many warnings, each group
    followed by the number of those left out. `escape`: makes text from the repository safe to print."""
    levels: dict[str, list[Finding]] = {"error": [], "warning": []}
    for finding in findings:
        levels[_level(finding)].append(finding)
    lines: list[str] = []
    for verb, of_level in levels.items():
        for finding in of_level[:MAX_ANNOTATIONS]:
            fields = {"title": f"claim-{finding.state.value}", "file": finding.path, "line": str(finding.line)}
            lines.append(workflow_command(verb, fields, one_line(words_of(finding), escape), escape))
        if len(of_level) > MAX_ANNOTATIONS:
            lines.append(f"{len(of_level) - MAX_ANNOTATIONS} more {verb}s: git mem check lists them")
    return "".join(f"{line}\n" for line in lines)
