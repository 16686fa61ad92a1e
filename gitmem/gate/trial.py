"""A trial: which existing commits the gate would have refused. Pure: from a report to values and text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.text import finding_lines
from gitmem.gate.scan import Report
from gitmem.json_values import json_value
from gitmem.paths import file_group
from gitmem.plural import counted

MAX_LISTED_COMMITS = 20  # commits whose findings the text lists; JSON has all


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one commit. `findings`: those that no earlier commit of the trial had; an earlier one would have
    been masked or excepted. `repeats`: whether the commit also has findings of earlier commits."""

    commit: str
    findings: tuple[Finding, ...]
    repeats: bool

    @property
    def refused(self) -> bool:
        """Whether one of the findings blocks."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Trial:
    """The verdicts, oldest commit first. `blobs`, `bytes`: how much was scanned."""

    verdicts: tuple[Verdict, ...]
    blobs: int
    bytes: int

    @property
    def refused(self) -> list[Verdict]:
        """The verdicts with a blocking finding, oldest commit first."""
        return [verdict for verdict in self.verdicts if verdict.refused]

    @property
    def warned(self) -> list[Verdict]:
        """The verdicts with warnings only, oldest commit first."""
        return [verdict for verdict in self.verdicts if verdict.findings and not verdict.refused]


@dataclass(frozen=True, slots=True)
class Group:
    """The blocking findings of one rule or in one kind of file. `among`: the kinds of file of a rule, or the rules of
    a kind."""

    name: str
    commits: int
    findings: int
    among: tuple[str, ...]


def trial_of(report: Report, commits: Sequence[str], stood: Collection[BaselineRow] = ()) -> Trial:
    """Make the verdicts on commits from the report of their scan. `commits`: their oids, oldest first.

    `stood`: baseline rows of the findings that the files had before the first commit; they do not count, since adoption
    accepts them.
    """
    by_commit: dict[str, list[Finding]] = {oid: [] for oid in commits}
    for finding in report.findings:
        by_commit[finding.commit].append(finding)
    seen = {(row.rule, row.path, row.fingerprint) for row in stood}
    verdicts = []
    for oid, findings in by_commit.items():
        new = [finding for finding in findings if (finding.rule, finding.path, finding.fingerprint) not in seen]
        seen.update((finding.rule, finding.path, finding.fingerprint) for finding in new)
        verdicts.append(Verdict(oid, tuple(new), len(new) < len(findings)))
    return Trial(tuple(verdicts), report.blobs, report.bytes)


def groups(trial: Trial, by: Callable[[Finding], str], among: Callable[[Finding], str]) -> list[Group]:
    """Group the blocking findings of refused commits, the group with most commits first. `by`: returns the name of a
    finding's group. `among`: returns the value of a finding that `Group.among` lists."""
    grouped: dict[str, list[Finding]] = {}
    for verdict in trial.refused:
        for finding in verdict.findings:
            if finding.severity is Severity.BLOCK:
                grouped.setdefault(by(finding), []).append(finding)
    rows = [
        Group(name, len({f.commit for f in each}), len(each), tuple(sorted({among(f) for f in each})))
        for name, each in grouped.items()
    ]
    return sorted(rows, key=lambda row: (-row.commits, -row.findings, row.name))


def rule_of(finding: Finding) -> str:
    """The rule of a finding, to group by."""
    return finding.rule


def group_of(finding: Finding) -> str:
    """The kind of file of a finding, to group by; `commit message` for a message."""
    if finding.path == MESSAGE:
        return "commit message"
    return file_group(finding.path)


def as_value(trial: Trial) -> dict[str, Any]:
    """The JSON of docs/json.md, "scan --trial"."""
    return {
        "commits": len(trial.verdicts),
        "refused": len(trial.refused),
        "warned": len(trial.warned),
        "repeating": sum(verdict.repeats and not verdict.findings for verdict in trial.verdicts),
        "rules": [_group_value(row, "rule", "kinds") for row in groups(trial, rule_of, group_of)],
        "kinds": [_group_value(row, "kind", "rules") for row in groups(trial, group_of, rule_of)],
        "refusals": [{"commit": verdict.commit, "findings": json_value(verdict.findings)} for verdict in trial.refused],
        "scanned": {"blobs": trial.blobs, "bytes": trial.bytes},
    }


def _group_value(row: Group, name: str, among: str) -> dict[str, Any]:
    return {name: row.name, "commits": row.commits, "findings": row.findings, among: list(row.among)}


def as_text(trial: Trial, escape: Callable[[str], str]) -> str:
    """The counts, a table by rule and one by kind of file, and the newest MAX_LISTED_COMMITS refused commits."""
    number, refused = len(trial.verdicts), trial.refused
    share = ""
    if number:
        share = f" ({len(refused) / number:.1%})"
    lines = [
        f"refused: {len(refused)} of the last {counted(number, 'commit')}{share}; "
        f"{len(trial.warned)} more would have warned",
        f"read: {counted(trial.blobs, 'version')} of files, {counted(trial.bytes, 'byte')}; nothing was written",
    ]
    for title, by, among in (("rule", rule_of, group_of), ("kind of file", group_of, rule_of)):
        rows = groups(trial, by, among)
        if rows:
            lines += ["", f"{title:26} commits findings", *(_row(row) for row in rows)]
    for verdict in refused[: -MAX_LISTED_COMMITS - 1 : -1]:
        lines += ["", verdict.commit[:12]]
        blocking = [finding for finding in verdict.findings if finding.severity is Severity.BLOCK]
        lines += [f"  {line}" for finding in blocking for line in finding_lines(finding, escape)[:2]]
    if len(refused) > MAX_LISTED_COMMITS:
        lines += ["", f"and {counted(len(refused) - MAX_LISTED_COMMITS, 'commit')} more: --json has all of them"]
    return "\n".join(lines) + "\n"


def _row(row: Group) -> str:
    return f"{row.name:26} {row.commits:7} {row.findings:8}  {', '.join(row.among[:4])}"
