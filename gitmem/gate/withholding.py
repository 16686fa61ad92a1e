"""Removes from a text that was never scanned the lines and names that the gate would block, before a model sees it."""

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
# What no detector finds: two words as names are written, and an address. No digits, so no token and no number.
_PLAIN = lazy(r"[A-Z][a-z]{0,14}(?: [A-Z][a-z]{0,14})?(?: <[a-z.-]{1,30}@[a-z.-]{1,40}>)?")
# Rules that do not withhold a name: an address and a telephone number are what a person put there to be seen. What
# identifies a person to a state or a bank blocks, and is withheld.
NAME_RULES = frozenset(rule for rule, (_, _, severity) in PERSONAL.items() if severity is Severity.WARN)


@lru_cache(maxsize=4096)
def name_for_model(text: str) -> str:
    """A short string that others wrote (an author, a branch, a tag, a subject), on one line, as a model may see it:
    WITHHELD_NAME in its place when it has a secret, a number that identifies a person to a state or a bank, or reads as
    an instruction. Other personal data (NAME_RULES) does not withhold it."""
    line = " ".join(text.split())
    if _PLAIN.fullmatch(line):
        return line
    findings = examine(line, MESSAGE, Policy())
    if any(finding.rule not in NAME_RULES for finding in findings):
        return WITHHELD_NAME
    return line


def without_blocked(lines: Sequence[str], path: str) -> list[str]:
    """The lines, judged together as one text, with each line that a blocking finding touches replaced by WITHHELD; all
    lines are replaced for a finding about the text as a whole.

    `lines`: without line ends; one that holds an LF all the same is replaced as a whole. `path`: the path of the text,
    `MESSAGE` for a commit message. Exceptions and settings of the repository do not count.
    """
    text = "\n".join(lines)
    findings = examine(text, path, Policy())
    rows = withhold_lines(text.split("\n"), [finding for finding in findings if finding.severity is Severity.BLOCK])
    shown: list[str] = []
    row = 0
    for line in lines:
        next_row = row + line.count("\n") + 1
        shown.append(WITHHELD if WITHHELD in rows[row:next_row] else line)
        row = next_row
    return shown


def withhold_lines(lines: Sequence[str], findings: Iterable[Finding]) -> list[str]:
    """The lines with each line that a finding touches replaced by WITHHELD; all lines are replaced for a finding about
    the text as a whole."""
    shown = list(lines)
    for finding in findings:
        numbers = range(finding.line - 1, finding.end_line)
        if finding.start < 0:
            numbers = range(len(lines))
        for number in numbers:
            shown[number] = WITHHELD
    return shown
