"""Plans the takeover of a branch: its files, without the lines that the gate blocks, as one commit of the person.

A merge would bring the commits of the branch, and with them a secret in any of them. A takeover brings only the files,
with the chosen lines removed or masked, to the current branch. The branch itself does not change. This module reads
and plans; it never writes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, Source, decode
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redaction
from gitmem.gate.scan import scan
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.memory.facts import split_lines
from gitmem.memory.percent_encoding import encode
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.finding_decisions import Decision, Plan, allow_found_plan

Changes = Mapping[str, tuple[bytes | None, bytes | None]]  # path -> its bytes before and after, None: no file


class Choice(StrEnum):
    """What to do with a line that has a finding: remove it, or mask the finding."""

    DROP = "drop"
    MASK = "mask"


@dataclass(frozen=True, slots=True)
class GateLine:
    """New lines with a finding of the gate, as one row to choose for.

    `first`, `last`: their numbers, 1-based, in the file after the change. `text`: the lines. `messages`: of the
    findings. `blocks`: a finding blocks a commit; otherwise all only warn. `masked`: the lines with the findings
    masked, "" if masking does not help. `allowable`: an exception can be made for every finding. `earlier`: how many
    rows of the file before this one have the same text.
    """

    path: str
    first: int
    last: int
    text: str
    messages: tuple[str, ...]
    blocks: bool
    masked: str
    allowable: bool = False
    earlier: int = 0

    @property
    def key(self) -> str:
        """The id of the row in a form: a hash of path, text and `earlier`.

        It has no line number, because a settled conflict above the row changes that.
        """
        value = f"{self.path}\0{self.earlier}\0{self.text}".encode("utf-8", "surrogateescape")
        return hashlib.sha256(value).hexdigest()[:24]


def gate_lines(repo: Repository, changed: Changes, today: date) -> list[GateLine]:
    """The new lines with a finding of the gate, by path and line. `changed`: path -> (bytes before, bytes after), None
    for no file. Removed and unchanged files, and findings on lines that the file had before, are left out."""
    policy = worktree_policy(repo, today)
    gate_rows: list[GateLine] = []
    for path, (old_data, new_data) in sorted(changed.items()):
        if new_data is None or old_data == new_data:
            continue
        old_lines = set(split_lines(old_data or b""))
        lines = split_lines(new_data)
        places: dict[tuple[int, int], list[Finding]] = {}
        for finding in scan(Source([Blob(path, new_data)]), policy).findings:
            first, last = _place(finding, lines)
            if any(line not in old_lines for line in lines[first - 1 : last]):
                places.setdefault((first, last), []).append(finding)
        equal_rows: Counter[str] = Counter()
        for place, findings in sorted(places.items()):
            row = _gate_line(path, place, lines, findings, policy)
            gate_rows.append(replace(row, earlier=equal_rows[row.text]))
            equal_rows[row.text] += 1
    return gate_rows


def _place(finding: Finding, lines: Sequence[str]) -> tuple[int, int]:
    """The first and last line of a finding, 1-based, within `lines`."""
    return max(1, finding.line), min(len(lines), max(finding.line, finding.end_line))


def allow_line_plan(repo: Repository, config: Config, new_data: bytes, row: GateLine, decision: Decision) -> Plan:
    """A plan of a commit on the current branch with exceptions of the gate for the findings of `row`.

    `new_data`: the bytes of the file after the change. Raises Changed when the findings are not there any more,
    UsageError for a past day, Refused when the gate refuses the reason; the plan raises GitMemError when the file of
    exceptions has uncommitted edits."""
    lines = split_lines(new_data)

    def findings_in_place(policy: Policy) -> list[Finding]:
        findings = scan(Source([Blob(row.path, new_data)]), policy).findings
        return [finding for finding in findings if _place(finding, lines) == (row.first, row.last)]

    return allow_found_plan(repo, config, findings_in_place, row.path, decision)


def _gate_line(
    path: str, place: tuple[int, int], lines: Sequence[str], findings: Sequence[Finding], policy: Policy
) -> GateLine:
    """The row of the lines `place` (first, last) with their findings."""
    first, last = place
    text = "".join(lines[first - 1 : last])
    redacted = redaction(decode(text.encode("utf-8", "surrogateescape"))[0], path, policy, only_secrets=True)
    masked = ""
    if {finding.rule for finding in findings} <= set(redacted.rules) and not redacted.whole:
        masked = redacted.text
    messages = tuple(dict.fromkeys(finding.message for finding in findings))
    blocks = any(finding.severity is Severity.BLOCK for finding in findings)
    allowable = all(finding.fingerprint for finding in findings)
    return GateLine(path, first, last, text, messages, blocks, masked, allowable)


def without(changed: Changes, rows: Sequence[GateLine], choices: Mapping[str, Choice]) -> dict[str, bytes | None]:
    """path -> bytes of each changed file after the change, without the lines that are to be removed and with the chosen
    ones masked; None: no file.

    `changed`: path -> (bytes before, bytes after). `rows`: the result of `gate_lines` for `changed`. `choices`: key of
    a row -> choice; a row without a choice stays. Raises UsageError if a line cannot be masked.
    """
    contents = {path: new_data for path, (old_data, new_data) in changed.items() if old_data != new_data}
    for path in {row.path for row in rows}:
        lines: list[str] = split_lines(contents[path] or b"")
        for row in sorted((row for row in rows if row.path == path), key=lambda row: -row.first):
            choice = choices.get(row.key)
            if choice is Choice.MASK and not row.masked:
                raise UsageError("no mask mends this line: take it out")
            if choice is Choice.MASK:
                lines[row.first - 1 : row.last] = [row.masked]
            elif choice is Choice.DROP:
                del lines[row.first - 1 : row.last]
        contents[path] = "".join(lines).encode("utf-8", "surrogateescape")
    return contents


def takeover_plan(
    name: str, tip: str, changed: Changes, rows: Sequence[GateLine], choices: Mapping[str, Choice]
) -> Callable[[Reading], CommitDraft[None]]:
    """A plan of one commit with the files of the branch `name` at `tip`, with the chosen lines removed or masked.
    `changed`, `rows`, `choices`: as for `without`.

    This function raises UsageError if a line cannot be masked. The plan raises GitMemError if a file has edits or is
    not as it was.
    """
    contents = without(changed, rows, choices)

    def plan(reading: Reading) -> CommitDraft[None]:
        for path in contents:
            old_data = changed[path][0]
            if old_data is None and reading.raw(path) is not None:
                raise GitMemError(Message("'{}' is here already and in no commit", path), "commit it, or move it away")
            if old_data is not None and reading.committed(path) != old_data:
                raise GitMemError(Message("'{}' is not what it was", path), "look at it as it is now")
        count = sum(row.key in choices for row in rows)
        lost = sum(len(set(split_lines(old or b"")) - set(split_lines(new or b""))) for old, new in changed.values())
        recorded = trailers.CommitRecord(
            reason=f"{counted(count, 'line')} taken out or masked, which the gate stops",
            taken_over=f"{encode(name, '@')}@{tip}",
        )
        if lost >= BULK_LINES:
            recorded = replace(recorded, rewrite=f"taken over from {encode(name)}")
        return CommitDraft(contents, None, trailers.with_record(f"memory: take over {encode(name)}", recorded))

    return plan
