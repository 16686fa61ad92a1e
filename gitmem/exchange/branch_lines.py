"""Taking over what a branch brings without the lines that the gate stops.

A merge brings the commits of a branch, so a secret in one of them comes along whatever the merge makes of the files.
Here the files come alone, as one commit of the person on the current branch, with the lines they chose taken out or
masked. The branch itself stays as it is. The module reads and plans; it never writes.
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
from gitmem.gate import sources
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, decode
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redaction
from gitmem.gate.scan import scan
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.memory.fact import encode
from gitmem.memory.facts import split_lines
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.finding_decisions import Plan, allow_found_plan

Changed = Mapping[str, tuple[bytes | None, bytes | None]]  # path -> its bytes before and after, None for no file


class Choice(StrEnum):
    """What becomes of a line that the gate finds something in: it goes, or what is found is masked."""

    DROP = "drop"
    MASK = "mask"


@dataclass(frozen=True, slots=True)
class GateLine:
    """New lines in which the gate finds something: `first` to `last` (1-based) of what a change makes of the file.
    `messages`: each find in words. `blocks`: it stops a commit; else it warns. `masked`: the lines with what is found
    masked, "" where no mask mends it. `allowable`: all that is found can be excepted. `earlier`: how many rows of the
    file before this one have the same text."""

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
        """What stands for the lines in a form: their file and their text, not their number, which a conflict that is
        settled above them moves."""
        value = f"{self.path}\0{self.earlier}\0{self.text}".encode("utf-8", "surrogateescape")
        return hashlib.sha256(value).hexdigest()[:24]


def gate_lines(repo: Repository, changed: Changed, today: date) -> list[GateLine]:
    """The lines that a change brings and in which the gate finds something, by path and line."""
    policy = sources.worktree_policy(repo, today)
    found: list[GateLine] = []
    for path, (before, after) in sorted(changed.items()):
        if after is None or before == after:
            continue
        there = set(split_lines(before or b""))
        lines = split_lines(after)
        places: dict[tuple[int, int], list[Finding]] = {}
        for finding in scan([Blob(path, after)], policy).findings:
            first, last = _place(finding, lines)
            if any(line not in there for line in lines[first - 1 : last]):
                places.setdefault((first, last), []).append(finding)
        seen: Counter[str] = Counter()
        for place, rows in sorted(places.items()):
            row = _line(path, place, lines, rows, policy)
            found.append(replace(row, earlier=seen[row.text]))
            seen[row.text] += 1
    return found


def _place(finding: Finding, lines: Sequence[str]) -> tuple[int, int]:
    return max(1, finding.line), min(len(lines), max(finding.line, finding.end_line))


def allow_line_plan(
    repo: Repository, config: Config, after: bytes, row: GateLine, decision: tuple[str, date, date, str]
) -> Plan:
    """The plan of excepting what is found in the lines `row` of a file that a change makes `after`: one commit on the
    current branch, which alone says what may come. `decision` as in `allow_found_plan`, which says what is raised."""
    lines = split_lines(after)

    def found(policy: Policy) -> list[Finding]:
        rows = scan([Blob(row.path, after)], policy).findings
        return [each for each in rows if _place(each, lines) == (row.first, row.last)]

    return allow_found_plan(repo, config, found, row.path, decision)


def _line(
    path: str, place: tuple[int, int], lines: Sequence[str], findings: Sequence[Finding], policy: Policy
) -> GateLine:
    first, last = place
    text = "".join(lines[first - 1 : last])
    done = redaction(decode(text.encode("utf-8", "surrogateescape"))[0], path, policy, only_secrets=True)
    mends = {finding.rule for finding in findings} <= set(done.rules) and not done.whole
    messages = tuple(dict.fromkeys(finding.message for finding in findings))
    blocks = any(finding.severity is Severity.BLOCK for finding in findings)
    allowable = all(finding.fingerprint for finding in findings)
    return GateLine(path, first, last, text, messages, blocks, done.text if mends else "", allowable)


def without(changed: Changed, found: Sequence[GateLine], choices: Mapping[str, Choice]) -> dict[str, bytes | None]:
    """The files after a change, with what was chosen done to the lines `found`. Raises UsageError for a mask where no
    mask mends the line."""
    contents = {path: after for path, (before, after) in changed.items() if before != after}
    for path in {row.path for row in found}:
        lines: list[str] = split_lines(contents[path] or b"")
        for row in sorted((row for row in found if row.path == path), key=lambda row: -row.first):
            choice = choices.get(row.key)
            if choice is Choice.MASK and not row.masked:
                raise UsageError("no mask mends this line: take it out")
            if choice is not None:
                if choice is Choice.MASK:
                    lines[row.first - 1 : row.last] = [row.masked]
                else:
                    lines[row.first - 1 : row.last] = []
        contents[path] = "".join(lines).encode("utf-8", "surrogateescape")
    return contents


def takeover_plan(
    name: str, tip: str, changed: Changed, found: Sequence[GateLine], choices: Mapping[str, Choice]
) -> Callable[[Reading], CommitDraft[None]]:
    """The plan of one commit that brings what a branch `name` at `tip` changes, without the lines chosen. A plan raises
    GitMemError where a file has edits or is not as it was."""
    contents = without(changed, found, choices)

    def plan(reading: Reading) -> CommitDraft[None]:
        for path in contents:
            before = changed[path][0]
            if before is None and reading.raw(path) is not None:
                raise GitMemError(Message("'{}' is here already and in no commit", path), "commit it, or move it away")
            if before is not None and reading.committed(path) != before:
                raise GitMemError(Message("'{}' is not what it was", path), "look at it as it is now")
        count = sum(row.key in choices for row in found)
        lost = sum(len(set(split_lines(old or b"")) - set(split_lines(new or b""))) for old, new in changed.values())
        recorded = trailers.Recorded(
            reason=f"{counted(count, 'line')} taken out or masked, which the gate stops",
            taken_over=f"{encode(name, '@')}@{tip}",
            rewrite=f"taken over from {encode(name)}" if lost >= BULK_LINES else "",
        )
        return CommitDraft(contents, None, trailers.with_record(f"memory: take over {encode(name)}", recorded))

    return plan
