"""Writes a scan's report as annotations of a GitHub workflow. No text of memory can act as a workflow command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.finding_words import commit_mark, description_of, one_line, order, summary
from gitmem.gate.reports.text import rotation_advice
from gitmem.gate.scan import Report

MAX_ANNOTATIONS = 10  # annotations of each kind that GitHub shows for a step


def as_annotations(report: Report, escape: Callable[[str], str]) -> str:
    """Workflow commands for MAX_ANNOTATIONS findings of each severity at most, then the advice to rotate committed
    secrets and the summary. `escape`: returns a text with the characters escaped that a terminal would obey."""
    lines: list[str] = []
    for severity, verb in ((Severity.BLOCK, "error"), (Severity.WARN, "warning")):
        ranked = [finding for finding in order(report.findings) if finding.severity is severity]
        lines += [_annotation(verb, finding, escape) for finding in ranked[:MAX_ANNOTATIONS]]
        if len(ranked) > MAX_ANNOTATIONS:
            lines.append(f"{len(ranked) - MAX_ANNOTATIONS} more {verb}s are in the report")
    return "\n".join([*lines, *rotation_advice(report), summary(report)]) + "\n"


def _annotation(verb: str, finding: Finding, escape: Callable[[str], str]) -> str:
    """The workflow command for a finding. A finding in a commit message names no file."""
    fields = {"title": finding.rule}
    if finding.path != MESSAGE:
        fields |= {"file": finding.path, "line": str(finding.line), "endLine": str(finding.end_line)}
        if finding.line == finding.end_line:
            fields |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    words = f"{description_of(finding)}{commit_mark(finding)} (fingerprint {finding.fingerprint})"
    return workflow_command(verb, fields, words, escape)


def workflow_command(verb: str, fields: Mapping[str, str], words: str, escape: Callable[[str], str]) -> str:
    """One command of a GitHub workflow, without a line end. `words` and the values of `fields` are escaped, so that
    they cannot contain a second command."""
    place = ",".join(f"{key}={_property(one_line(value, escape))}" for key, value in fields.items())
    return f"::{verb} {place}::{_data(one_line(words, escape))}"


def _data(text: str) -> str:
    """`text` encoded for the words of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """`text` encoded for a field of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
