"""The parts that all formats of a scan's report share: the order, place and description of findings, and the
summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.scan import Report
from gitmem.plural import counted

IN_MESSAGE = "commit message"  # the place of a finding in a commit message
MESSAGE_FILE = ".git/COMMIT_EDITMSG"  # the same for a forge, which refuses findings without a file
SHORT_OID_CHARS = 12
MAX_BLOCKING = 3  # findings that `blocking_words` names


def order(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that block, then those that warn, each by path and place."""
    return sorted(findings, key=lambda f: (f.severity is Severity.WARN, f.path, f.line, f.column, f.rule))


def place_of(finding: Finding, before_commit: str, in_message: str = IN_MESSAGE) -> str:
    """`path:line`, or `in_message` for a finding in a commit message; then, for a finding in a commit, the word
    `before_commit` and the short oid."""
    place = f"{finding.path}:{finding.line}"
    if finding.path == MESSAGE:
        place = in_message
    if finding.commit:
        place += f" {before_commit} {finding.commit[:SHORT_OID_CHARS]}"
    return place


def file_of(finding: Finding) -> str:
    """The path of a finding for a forge; MESSAGE_FILE for one in a commit message."""
    if finding.path == MESSAGE:
        return MESSAGE_FILE
    return finding.path


def commit_mark(finding: Finding) -> str:
    """` [oid]` with the short oid of the commit; "" for a finding outside scans of commits."""
    if not finding.commit:
        return ""
    return f" [{finding.commit[:SHORT_OID_CHARS]}]"


def description_of(finding: Finding) -> str:
    """The message and the excerpt of a finding, for a format that shows the place elsewhere. Not escaped. A finding in
    a commit message has no place in a file, so its description begins with IN_MESSAGE."""
    description = str(finding.message)
    if finding.excerpt:
        description += f": {finding.excerpt}"
    if finding.path == MESSAGE:
        description = f"{IN_MESSAGE}: {description}"
    return description


def one_line(text: str, escape: Callable[[str], str]) -> str:
    r"""The escaped text on one line: line ends become `\n`, tabs become blanks. `escape`: returns a text with the
    characters escaped that a terminal would obey; it keeps line ends and tabs."""
    return escape(text).replace("\n", "\\n").replace("\t", " ")


def escape_surrogates(text: str) -> str:
    """`text` with lone surrogates, which JSON readers refuse, as `\\udcXX`."""
    return text.encode("utf-8", "backslashreplace").decode()


def has_committed_secret(report: Report) -> bool:
    """Whether a secret was found in a commit, where history keeps it."""
    return any(finding.commit and finding.secret for finding in report.findings)


def summary(report: Report) -> str:
    """One line: how many findings block and warn, how much was scanned, how much is excepted or accepted."""
    blocks = sum(finding.severity is Severity.BLOCK for finding in report.findings)
    warns = len(report.findings) - blocks
    counts = "clean"
    if report.findings:
        counts = f"{blocks} blocking, {warns} warning"
    excepted = ""
    if report.excepted:
        excepted = f", {len(report.excepted)} excepted"
    if report.accepted:
        excepted += f", {len(report.accepted)} accepted at adoption (--all shows them)"
    return f"{counts}: {counted(report.blobs, 'file')}, {counted(report.bytes, 'byte')} scanned{excepted}"


def blocking_words(report: Report) -> str:
    """One line about at most MAX_BLOCKING blocking findings: rule, place, commit and message of each, and the number of
    the others. Not escaped."""
    blocking = [finding for finding in order(report.findings) if finding.severity is Severity.BLOCK]
    listed = ", ".join(f"{f.rule} ({place_of(f, 'in', MESSAGE)}: {f.message})" for f in blocking[:MAX_BLOCKING])
    if len(blocking) > MAX_BLOCKING:
        return f"{listed} and {len(blocking) - MAX_BLOCKING} more"
    return listed
