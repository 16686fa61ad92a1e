"""Writes a scan's report as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import ROTATE, remedy
from gitmem.gate.reports.finding_words import IN_MESSAGE, commit_mark, has_committed_secret, one_line, order, summary
from gitmem.gate.scan import Report


def as_text(report: Report, escape: Callable[[str], str], *, accepted: bool = False) -> str:
    """A block of lines for each finding, then the advice to rotate committed secrets and a summary line. `escape`:
    returns a text with the characters escaped that a terminal would obey. `accepted`: whether findings of the baseline
    are listed too, first."""
    lines: list[str] = []
    if accepted:
        for finding in order(report.accepted):
            first, *other_lines = finding_lines(finding, escape)
            lines += [f"accepted: {first}", *other_lines]
    for finding in order(report.findings):
        lines += finding_lines(finding, escape)
        if remedy(finding):
            lines += [f"    mend: {remedy(finding)}"]
    return "\n".join([*lines, *rotation_advice(report), summary(report)]) + "\n"


def rotation_advice(report: Report) -> list[str]:
    """The advice to rotate secrets that a commit holds, since history keeps them; [] when no commit holds one."""
    if not has_committed_secret(report):
        return []
    return [f"what is committed stays in history: {ROTATE}"]


def finding_lines(finding: Finding, escape: Callable[[str], str]) -> list[str]:
    """`path:line:column: severity rule: message`, then the excerpt and the fingerprint if there are any; each escaped
    and on one line."""
    file = finding.path
    if file == MESSAGE:
        file = IN_MESSAGE
    place = f"{file}:{finding.line}:{finding.column}"
    head = f"{place}: {finding.severity.value} {finding.rule}: {finding.message}{commit_mark(finding)}"
    lines = [one_line(head, escape)]
    if finding.excerpt:
        lines.append("    " + one_line(finding.excerpt, escape))
    if finding.fingerprint:
        lines.append(f"    fingerprint {finding.fingerprint}")
    return lines
