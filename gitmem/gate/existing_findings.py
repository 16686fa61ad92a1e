"""Finds out which findings a file had before a change. The baseline accepts only such findings, and reports count them
apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, FilesBefore, scan_blob
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.file_names import scan_file_names
from gitmem.gate.policy import MESSAGE, Policy


def accepted_findings(
    findings: Iterable[Finding], masked: Mapping[str, str], policy: Policy, before: FilesBefore | None
) -> dict[Finding, None]:
    """The findings that have a row in the baseline and were there before the change, in order (a dict used as an
    ordered set).

    `masked`: file name -> the name as a row has it, only for names with a secret (`NameScan.masked`). A finding in a
    file that the change moves is looked up at the old path. Without `before` the baseline alone decides.
    """
    baseline = policy.allow.baseline
    if not baseline:
        return {}
    moved = {(row.rule, row.fingerprint): row for row in baseline if before is not None and row.path in before.removed}
    rows: dict[Finding, tuple[str, BaselineRow]] = {}  # finding -> (its path before the change, its row)
    for finding in findings:
        path, row = finding.path, _row_of(finding, masked)
        if row not in baseline:
            row = moved.get((finding.rule, finding.fingerprint), row)
            path = row.path
        if row in baseline:
            rows[finding] = (path, row)
    if before is None:
        return dict.fromkeys(rows)
    paths = {path for path, _ in rows.values()}
    rows_before = {path: baseline_rows(path, before.texts(path), policy) for path in paths}
    return {finding: None for finding, (path, row) in rows.items() if row in rows_before[path]}


def baseline_rows(path: str, versions: Iterable[bytes], policy: Policy) -> set[BaselineRow]:
    """The rows that a baseline would have for one file: a row for each finding in `versions` of its text, and in its
    name. Empty without versions: the file did not exist."""
    texts = list(versions)
    if not texts:
        return set()
    findings = [finding for data in texts for finding in scan_blob(Blob(path, data), policy)]
    name = scan_file_names({path: ""}, policy)
    return {_row_of(finding, name.masked) for finding in (*findings, *name.findings)}


def _row_of(finding: Finding, masked: Mapping[str, str]) -> BaselineRow:
    """The row of a finding. Secrets in the file's name are masked in it, as the reports mask them."""
    return BaselineRow(masked.get(finding.path, finding.path), finding.rule, finding.fingerprint)


def findings_before(findings: Iterable[Finding], before: FilesBefore, policy: Policy) -> list[Finding]:
    """The findings that their file had before the change at least as often as now; those of one path, rule and
    fingerprint stand together. If the file had several versions before (the parents of a merge), the one with the most
    such findings counts.

    Findings in commit messages, in file names, about a file as a whole and about the change as a whole are never among
    them.
    """
    groups: dict[BaselineRow, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.path != MESSAGE and finding.start >= 0 and not finding.in_file_name:
            groups[BaselineRow(finding.path, finding.rule, finding.fingerprint)].append(finding)
    counts: Counter[BaselineRow] = Counter()
    for path in {row.path for row in groups}:
        most: Counter[BaselineRow] = Counter()
        for data in before.texts(path):  # one text for each parent of a merge; the parent with most findings counts
            old_findings = scan_blob(Blob(path, data), policy)
            most |= Counter(BaselineRow(path, finding.rule, finding.fingerprint) for finding in old_findings)
        counts.update(most)
    return [finding for row, group in groups.items() if len(group) <= counts[row] for finding in group]
