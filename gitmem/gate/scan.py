"""`scan`: the gate's main function, which takes blobs and a policy and returns a report. Hooks, commands, writers and
CI call it.

It fails closed: a detector that raises and a memory file that cannot be read become findings that block. This module
never opens a file or runs git (`gate/sources.py` does), and no finding holds a secret.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from gitmem.gate.detectors.finding import Finding, Severity, Skipped
from gitmem.gate.detectors.registry import is_secret
from gitmem.gate.detectors.text import Scope, Text
from gitmem.gate.examine import (
    MAX_MATCHES,
    RANDOM_RULES,
    Before,
    Blob,
    Source,
    examine,
    finding_of_blob,
    masked_excerpt,
    merge_spans,
    run,
    scan_blob,
    with_fingerprint,
)
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.messages import Message

IN_NAME = "in the file's name: "  # the message of a finding in a file's name begins with it
MIN_BLOBS_FOR_PROCESSES = 100  # with fewer blobs one process is faster than starting several
Read = Callable[[Blob, Policy], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Report:
    """What a scan found.

    `findings`: what no exception and no baseline covers. `skipped`: files that were not read, with the reason.
    `blobs`, `bytes`: how much was scanned, commit messages not counted as blobs. `allowed`: findings that an
    exception covers, each with the last day of the exception, "" for one without an end. `accepted`: findings that
    the baseline covers. `before`: findings that their file had before the change (`with_before`).
    """

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    blobs: int = 0
    bytes: int = 0
    allowed: tuple[tuple[Finding, str], ...] = ()
    accepted: tuple[Finding, ...] = ()
    before: tuple[Finding, ...] = ()

    @property
    def blocked(self) -> bool:
        return any(finding.severity is Severity.BLOCK for finding in self.findings)


def scan(
    blobs: Iterable[Blob],
    policy: Policy,
    more: Iterable[Finding] = (),
    *,
    before: Before | None = None,
    ids: Callable[[], frozenset[str]] | None = None,
    workers: int = 1,
    read: Read = scan_blob,
) -> Report:
    """Scan every blob once per path, and the names of all files.

    `more`: findings about the change as a whole (`gate/changes/rules.py`). `before`, `ids`: as in `Source`.
    `workers`: processes to scan in, used from MIN_BLOBS_FOR_PROCESSES blobs on. `read`: scans one blob in place of
    `scan_blob`; only with one worker.
    """
    assert workers < 2 or read is scan_blob
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    count = size = 0
    names: dict[str, str] = {}
    policy_with_ids = policy
    for blob, blob_findings in _scanned_blobs(blobs, policy, workers, read):
        if ids is not None and any(finding.rule in RANDOM_RULES for finding in blob_findings):
            if not policy_with_ids.ids:
                policy_with_ids = replace(policy, ids=ids())
            if policy_with_ids.ids:
                blob_findings = scan_blob(blob, policy_with_ids)
        size += len(blob.data)
        findings += blob_findings
        if blob.path != MESSAGE:
            count += 1
            names.setdefault(blob.path, blob.commit)
        if blob.skipped:
            skipped.append(Skipped(blob.path, blob.skipped))
    structural = list(more)
    for finding in structural:
        names.setdefault(finding.path, finding.commit)
    name_findings, masked_names = scan_names(names, policy)
    findings += name_findings
    findings += [with_fingerprint(f, f"{f.path}\0{f.message}", policy) for f in structural]
    findings = [replace(f, path=masked_names.get(f.path, f.path)) for f in findings]
    skipped = [replace(s, path=masked_names.get(s.path, s.path)) for s in skipped]
    accepted = _accepted(findings, policy, before)
    kept, allowed = apply_exceptions(dict.fromkeys(f for f in findings if f not in accepted), policy)
    return Report(tuple(kept), tuple(skipped), count, size, tuple(allowed), tuple(accepted))


def _accepted(findings: Iterable[Finding], policy: Policy, before: Before | None) -> dict[Finding, None]:
    """The findings that the baseline accepts and that were there before the change, in order.

    A finding in a file that the change moves is looked up at the old path. Without `before` the baseline alone decides.
    """
    baseline = policy.allow.baseline
    if not baseline:
        return {}
    moved = {(row.rule, row.fingerprint): row for row in baseline if before is not None and row.path in before.gone}
    rows = {}
    for finding in findings:
        row = BaselineRow(finding.path, finding.rule, finding.fingerprint)
        if row not in baseline:
            row = moved.get((finding.rule, finding.fingerprint), row)
        if row in baseline:
            rows[finding] = row
    if before is None:
        return dict.fromkeys(rows)
    paths = {row.path for row in rows.values()}
    rows_before = {path: rows_of_file(path, before.texts(path), policy) for path in paths}
    return {finding: None for finding, row in rows.items() if row in rows_before[row.path]}


def rows_of_file(path: str, texts: Iterable[bytes], policy: Policy) -> set[BaselineRow]:
    """The rows that a baseline would have for the findings in these versions of a file and in its name; empty when the
    versions have no finding."""
    found = [finding for data in texts for finding in scan_blob(Blob(path, data), policy)]
    if found:
        found += scan_names({path: ""}, policy)[0]
    return {BaselineRow(path, finding.rule, finding.fingerprint) for finding in found}


def findings_before(findings: Iterable[Finding], before: Before, policy: Policy) -> list[Finding]:
    """The findings that their file had before the change at least as often as now, in order.

    Findings in commit messages, in file names and about the change as a whole are never among them.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.path != MESSAGE and finding.start >= 0 and not finding.message.startswith(IN_NAME):
            groups[finding.path, finding.rule, finding.fingerprint].append(finding)
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for path in {path for path, _, _ in groups}:
        counts[path] = Counter()
        for data in before.texts(path):  # one text for each parent of a merge
            counts[path] |= Counter((one.rule, one.fingerprint) for one in scan_blob(Blob(path, data), policy))
    return [one for (path, *key), rows in groups.items() if len(rows) <= counts[path][key[0], key[1]] for one in rows]


def with_before(report: Report, held: Iterable[Finding]) -> Report:
    """The report with `held` as its `before`; of these, the warnings leave `findings`, and what blocks stays there."""
    before = tuple(held)
    warnings = {one for one in before if one.severity is Severity.WARN}
    return replace(report, findings=tuple(one for one in report.findings if one not in warnings), before=before)


def scan_source(source: Source, policy: Policy, *, workers: int = 1) -> Report:
    """The report of a source: its blobs scanned, with its own findings about the change."""
    return scan(source.blobs, policy, source.findings, before=source.before, ids=source.ids, workers=workers)


def without_repeats(report: Report) -> Report:
    """The report with a finding that several versions of a file have kept for the first commit only.

    All its places in that version stay. Findings in messages and about a change as a whole are all kept.
    """
    first: dict[tuple[str, Severity, str, str], str] = {}
    kept = []
    for finding in report.findings:
        key = (finding.rule, finding.severity, finding.path, finding.fingerprint)
        in_version = finding.path != MESSAGE and finding.start >= 0 and finding.commit != ""
        if not in_version or first.setdefault(key, finding.commit) == finding.commit:
            kept.append(finding)
    return replace(report, findings=tuple(kept))


def scan_text(text: str, path: str, policy: Policy) -> list[Finding]:
    """The findings of one text that no exception covers. Our own writers call it before they write."""
    kept, _ = apply_exceptions(examine(text, path, policy), policy)
    return kept


def apply_exceptions(findings: Iterable[Finding], policy: Policy) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """(findings that count, (finding, last day of its exception, "" for no end) for each excepted one).

    An exception for a rule in a file turns later findings of the rule into warnings, and a strict policy turns warnings
    into blocks; the message of the finding says so.
    """
    kept, allowed = [], []
    for finding in findings:
        entry = policy.allow.covers(finding)
        if entry is None:
            kept.append(_softened(finding, policy))
        elif entry.expired(policy.today):
            kept.append(replace(finding, message=f"{finding.message} (the exception for it ended on {entry.until})"))
        else:
            until = ""
            if entry.until:
                until = entry.until.isoformat()
            allowed.append((finding, until))
    return [_hardened(finding, policy) for finding in kept], allowed


def _hardened(finding: Finding, policy: Policy) -> Finding:
    """The finding with a warning turned into a block when the policy is strict."""
    if not policy.strict or finding.severity is Severity.BLOCK:
        return finding
    return replace(finding, severity=Severity.BLOCK, message=f"{finding.message} (a warning: the gate is strict)")


def _softened(finding: Finding, policy: Policy) -> Finding:
    """The finding as a warning when an exception for its rule in its file is in force but was made before the
    finding."""
    if finding.message.startswith(IN_NAME) or not policy.allow.softens(finding, policy.today):
        return finding
    words = f"{finding.message} (not there when {finding.rule} was excepted in this file)"
    return replace(finding, severity=Severity.WARN, message=words)


# -- names ---------------------------------------------------------------------------------------------------


def scan_names(names: dict[str, str], policy: Policy) -> tuple[list[Finding], dict[str, str]]:
    """(findings in file names, the masked form of each name that holds a secret); `names`: name -> commit, "" for none.

    All names are scanned as one text first; only the names with a match there are scanned one by one.
    """
    if not names:
        return [], {}
    listed = list(names)
    starts = [0, *accumulate(len(name) + 2 for name in listed)]
    joined = "\n\n".join(name.replace("\n", " ") for name in listed)
    matches, failed, unread = run(Text(joined, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
    numbers = sorted({min(bisect_right(starts, match.start), len(listed)) - 1 for match in matches})
    if failed or unread:
        numbers = list(range(len(listed)))
    findings: list[Finding] = []
    shown: dict[str, str] = {}
    for number in numbers:
        name = listed[number]
        matches, failed, _ = run(Text(name, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
        strong = [m for m in matches if m.severity is Severity.BLOCK]
        secrets = merge_spans([(m.start, m.end) for m in matches if m.secret])
        if secrets:
            shown[name] = masked_excerpt(name, 0, len(name), secrets, nothing=False)
        for match in strong:
            whole = Finding(match.rule, match.severity, name, 1, 1, 1, 1, Message(IN_NAME + "{}", match.message))
            whole = replace(whole, secret=is_secret(match))
            findings.append(with_fingerprint(replace(whole, commit=names[name]), name[match.start : match.end], policy))
        for detector, error in failed:
            words = f"the detector '{detector}' failed ({error}) on the file's name, so nothing is let through"
            findings.append(finding_of_blob("scanner-failed", Blob(name, b"", commit=names[name]), words, policy))
    return findings, shown


# -- many blobs ----------------------------------------------------------------------------------------------


def _scanned_blobs(
    blobs: Iterable[Blob], policy: Policy, workers: int, read: Read
) -> Iterator[tuple[Blob, Sequence[Finding]]]:
    """(blob, its findings) in order, every (oid, path) once."""
    distinct = _distinct_blobs(blobs)
    if workers < 2:
        for blob in distinct:
            yield blob, read(blob, policy)
        return
    first = []
    for blob in distinct:
        first.append(blob)
        if len(first) == MIN_BLOBS_FOR_PROCESSES:
            break
    if len(first) < MIN_BLOBS_FOR_PROCESSES:
        for blob in first:
            yield blob, scan_blob(blob, policy)
        return
    from gitmem.gate.process_pool import scan_in_processes

    yield from scan_in_processes(_first_then_rest(first, distinct), policy, workers)


def _first_then_rest(first: list[Blob], rest: Iterator[Blob]) -> Iterator[Blob]:
    """The blobs of `first`, then of `rest`. After its last blob was taken, `first` is cleared, so that its bytes are
    not kept while `rest` is read."""
    yield from first
    first.clear()
    yield from rest


def _distinct_blobs(blobs: Iterable[Blob]) -> Iterator[Blob]:
    seen: set[tuple[str, str]] = set()
    for blob in blobs:
        if blob.oid and blob.path != MESSAGE:
            if (blob.oid, blob.path) in seen:
                continue
            seen.add((blob.oid, blob.path))
        yield blob
