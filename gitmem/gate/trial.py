"""A trial: which existing commits the gate would have refused. Pure: from a report to values and text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.text import finding_lines
from gitmem.gate.scan import Report
from gitmem.json_values import json_keys
from gitmem.paths import file_group
from gitmem.plural import counted

AnyGroup = TypeVar("AnyGroup", bound="Group")
MAX_LISTED_COMMITS = 20  # commits whose findings the text lists; JSON has all


@json_keys("commit findings")
@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one commit. `findings`: the blocking ones and the warnings that neither the files before the trial
    nor an earlier commit of it had (same rule, path and fingerprint): the gate would have had those masked or excepted
    then. `repeats`: whether such known findings were left out."""

    commit: str
    findings: tuple[Finding, ...]
    repeats: bool

    @property
    def refused(self) -> bool:
        """Whether one of the findings blocks."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Group:
    """Counts of the blocking findings of one rule or in one kind of file. `name`: the rule or the kind of file.
    `commits`: how many commits have such findings. `findings`: how many there are. `among`: the kinds of file in which
    the rule has findings, or the rules that have findings in the kind of file."""

    name: str
    commits: int
    findings: int
    among: tuple[str, ...]


@json_keys("rule=name commits findings kinds=among")
class RuleGroup(Group):
    """Counts of the blocking findings of one rule."""


@json_keys("kind=name commits findings rules=among")
class KindGroup(Group):
    """Counts of the blocking findings in one kind of file."""


@json_keys("commits refused=refused_commits warned=warned_commits repeating rules kinds refusals=refused scanned")
@dataclass(frozen=True, slots=True)
class Trial:
    """The verdicts, oldest commit first. `blobs`, `bytes`: how much was scanned.

    JSON: `commits`: how many commits were scanned. `refused`: how many of them would have been refused. `warned`: how
    many have warnings only. `repeating`: how many only repeat the findings of an earlier one. `rules`, `kinds`: counts
    of blocking findings. `refusals`: the refused commits, oldest first, with their findings as above, warnings too.
    `scanned`: how much was read.
    """

    verdicts: tuple[Verdict, ...]
    blobs: int
    bytes: int

    @property
    def refused(self) -> list[Verdict]:
        """The verdicts with a blocking finding, oldest commit first."""
        return [verdict for verdict in self.verdicts if verdict.refused]

    @property
    def commits(self) -> int:
        return len(self.verdicts)

    @property
    def refused_commits(self) -> int:
        return len(self.refused)

    @property
    def warned_commits(self) -> int:
        return sum(bool(verdict.findings) and not verdict.refused for verdict in self.verdicts)

    @property
    def repeating(self) -> int:
        return sum(verdict.repeats and not verdict.findings for verdict in self.verdicts)

    @property
    def rules(self) -> list[RuleGroup]:
        return _groups(self, lambda finding: finding.rule, _file_kind, RuleGroup)

    @property
    def kinds(self) -> list[KindGroup]:
        return _groups(self, _file_kind, lambda finding: finding.rule, KindGroup)

    @property
    def scanned(self) -> dict[str, int]:
        return {"blobs": self.blobs, "bytes": self.bytes}


def trial_of(report: Report, commits: Sequence[str], accepted: Collection[BaselineRow] = ()) -> Trial:
    """Make the verdicts on commits from the report of their scan. `commits`: their oids, oldest first; every finding of
    the report must be in one of them.

    `accepted`: baseline rows of the findings that the files had before the first commit; they do not count, since
    adoption accepts them.
    """
    by_commit: dict[str, list[Finding]] = {oid: [] for oid in commits}
    for finding in report.findings:
        by_commit[finding.commit].append(finding)
    seen = {(row.rule, row.path, row.fingerprint) for row in accepted}
    verdicts = []
    for oid, findings in by_commit.items():
        unseen = [finding for finding in findings if (finding.rule, finding.path, finding.fingerprint) not in seen]
        seen.update((finding.rule, finding.path, finding.fingerprint) for finding in unseen)
        verdicts.append(Verdict(oid, tuple(unseen), len(unseen) < len(findings)))
    return Trial(tuple(verdicts), report.blobs, report.bytes)


def _groups(
    trial: Trial, by: Callable[[Finding], str], among: Callable[[Finding], str], kind: type[AnyGroup]
) -> list[AnyGroup]:
    """Group the blocking findings of refused commits, the group with most commits first. `by`: returns the name of a
    finding's group. `among`: returns the value of a finding that `Group.among` lists. `kind`: the class of the
    groups."""
    grouped: dict[str, list[Finding]] = {}
    for verdict in trial.refused:
        for finding in verdict.findings:
            if finding.severity is Severity.BLOCK:
                grouped.setdefault(by(finding), []).append(finding)
    rows = [
        kind(name, len({f.commit for f in findings}), len(findings), tuple(sorted({among(f) for f in findings})))
        for name, findings in grouped.items()
    ]
    return sorted(rows, key=lambda row: (-row.commits, -row.findings, row.name))


def _file_kind(finding: Finding) -> str:
    """The kind of file of a finding; `commit message` for a message."""
    if finding.path == MESSAGE:
        return "commit message"
    return file_group(finding.path)


def as_text(trial: Trial, escape: Callable[[str], str]) -> str:
    """The counts, a table by rule and one by kind of file, and the blocking findings of the MAX_LISTED_COMMITS newest
    refused commits, newest first. `escape`: returns a text with the characters escaped that a terminal would obey."""
    number, refused = trial.commits, trial.refused
    share = ""
    if number:
        share = f" ({len(refused) / number:.1%})"
    lines = [
        f"refused: {len(refused)} of the last {counted(number, 'commit')}{share}; "
        f"{trial.warned_commits} more would have warned",
        f"read: {counted(trial.blobs, 'version')} of files, {counted(trial.bytes, 'byte')}; nothing was written",
    ]
    for title, rows in (("rule", trial.rules), ("kind of file", trial.kinds)):
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
