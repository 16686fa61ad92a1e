"""What is shown of a text from a history that was never scanned: all but the lines that the gate would block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.personal.pii import RULES as PERSONAL
from gitmem.gate.examine import examine
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.lazy_patterns import lazy

WITHHELD = "[a line the gate would block]"
WITHHELD_NAME = "[a name the gate would block]"
_PLAIN = lazy(r"[\w.'’-]{1,40}(?: [\w.'’-]{1,40})?(?: <[\w.+-]{1,60}@[\w.-]{1,80}>)?")
_NO_ORDER = frozenset(PERSONAL)  # a name is personal, and may be


@lru_cache(maxsize=4096)
def screened(text: str) -> str:
    """A short string by other hands (an author, a branch, a tag, a subject) on its way to a model: on one line, and
    withheld as a whole where it holds a secret, or anything that reads as an instruction."""
    line = " ".join(text.split())
    if _PLAIN.fullmatch(line):
        return line
    found = examine(line, MESSAGE, Policy())
    if any(finding.rule not in _NO_ORDER for finding in found):
        return WITHHELD_NAME
    return line


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
