"""What is shown of a text from a history that was never scanned: all but the lines that the gate would block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import examine
from gitmem.gate.policy import Policy

WITHHELD = "[a line the gate would block]"


def without_blocked(lines: Sequence[str], path: str) -> list[str]:
    """As many lines, those with something the gate would block at this path (`MESSAGE` for a commit) replaced."""
    found = examine("\n".join(lines), path, Policy())
    return withheld(lines, [finding for finding in found if finding.severity is Severity.BLOCK])


def withheld(lines: Sequence[str], findings: Iterable[Finding]) -> list[str]:
    """As many lines, those of a finding replaced; of one that has no place, all."""
    shown = list(lines)
    for finding in findings:
        whole = finding.start < 0  # of no place: the text as a whole
        for number in range(0 if whole else finding.line - 1, len(lines) if whole else finding.end_line):
            shown[number] = WITHHELD
    return shown
