"""The gate's one function: blobs and a policy in, a report out. Hooks, commands, our own writers and CI all call it.

It fails closed: a detector that raises and a memory blob that cannot be read are findings that block. It never
opens a file or runs git (`gate/sources.py` does), and no finding it makes holds a secret.
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
from gitmem.gate.exceptions import Standing
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.messages import Message

IN_NAME = "in the file's name: "  # how the message of a finding in a name begins
POOL_FROM = 100  # blobs from which two processes pay for their start
Read = Callable[[Blob, Policy], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Report:
    """What a scan found. `allowed` are finds that an exception covers, with the day it ends ("" for never); `accepted`
    are those of the baseline; `before` are finds that their file held before the change (`set_apart`)."""

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
    """Scan every blob once per path. `more` are findings about the change itself (`gate/changes/rules.py`); `before`
    and `ids` are those of `Source`.

    With `workers` above 1 and some hundred blobs the texts are scanned in as many processes; `read`, what finds in one
    blob as `scan_blob` does, is for one process alone.
    """
    assert workers < 2 or read is scan_blob
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    count = size = 0
    names: dict[str, str] = {}
    known = policy
    for blob, of_blob in _each(blobs, policy, workers, read):
        if ids is not None and any(finding.rule in RANDOM_RULES for finding in of_blob):
            if not known.ids:
                known = replace(policy, ids=ids())
            if known.ids:
                of_blob = scan_blob(blob, known)
        size += len(blob.data)
        findings += of_blob
        if blob.path != MESSAGE:
            count += 1
            names.setdefault(blob.path, blob.commit)
        if blob.skipped:
            skipped.append(Skipped(blob.path, blob.skipped))
    structural = list(more)
    for finding in structural:
        names.setdefault(finding.path, finding.commit)
    if names:
        in_names, shown = scan_names(names, policy)
    else:
        in_names, shown = ([], {})
    findings += in_names
    findings += [with_fingerprint(f, f"{f.path}\0{f.message}", policy) for f in structural]
    findings = [replace(f, path=shown.get(f.path, f.path)) for f in findings]
    skipped = [replace(s, path=shown.get(s.path, s.path)) for s in skipped]
    accepted = standing(findings, policy, before)
    kept, allowed = settled(dict.fromkeys(f for f in findings if f not in accepted), policy)
    return Report(tuple(kept), tuple(skipped), count, size, tuple(allowed), tuple(accepted))


def standing(findings: Iterable[Finding], policy: Policy, before: Before | None) -> dict[Finding, None]:
    """Those of some findings that the baseline has and that stood there before the change, in order.

    A finding of a file that the change moves counts where it was.
    """
    baseline = policy.allow.baseline
    if not baseline:
        return {}
    moved = {(row.rule, row.fingerprint): row for row in baseline if before is not None and row.path in before.gone}
    rows = {}
    for finding in findings:
        row = Standing(finding.path, finding.rule, finding.fingerprint)
        if row not in baseline:
            row = moved.get((finding.rule, finding.fingerprint), row)
        if row in baseline:
            rows[finding] = row
    if before is None:
        return dict.fromkeys(rows)
    paths = {row.path for row in rows.values()}
    stood = {path: rows_of_file(path, before.texts(path), policy) for path in paths}
    return {finding: None for finding, row in rows.items() if row in stood[row.path]}


def rows_of_file(path: str, texts: Iterable[bytes], policy: Policy) -> set[Standing]:
    """What the gate finds in the versions of a file and in its name, as the baseline has it; nothing without any."""
    found = [finding for data in texts for finding in scan_blob(Blob(path, data), policy)]
    if found:
        found += scan_names({path: ""}, policy)[0]
    return {Standing(path, finding.rule, finding.fingerprint) for finding in found}


def held_before(findings: Iterable[Finding], before: Before, policy: Policy) -> list[Finding]:
    """Those of some findings in texts that their file held before a change, as often as now; in order.

    Findings of messages, of names and about a change as a whole belong to the change, and are never among them.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.path != MESSAGE and finding.start >= 0 and not finding.message.startswith(IN_NAME):
            groups[finding.path, finding.rule, finding.fingerprint].append(finding)
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for path in {path for path, _, _ in groups}:
        counts[path] = Counter()
        for data in before.texts(path):  # of a merge each side has one
            of_side = Counter((one.rule, one.fingerprint) for one in scan_blob(Blob(path, data), policy))
            counts[path] |= of_side
    return [one for (path, *key), rows in groups.items() if len(rows) <= counts[path][key[0], key[1]] for one in rows]


def set_apart(report: Report, held: Iterable[Finding]) -> Report:
    """The report with `held` as what was there before the change; what blocks among it stays a finding too."""
    old = tuple(held)
    warnings = {one for one in old if one.severity is Severity.WARN}
    return replace(report, findings=tuple(one for one in report.findings if one not in warnings), before=old)


def scan_source(source: Source, policy: Policy, *, workers: int = 1) -> Report:
    """Scan a source: its blobs, with its findings about the change itself."""
    return scan(source.blobs, policy, source.findings, before=source.before, ids=source.ids, workers=workers)


def once_each(report: Report) -> Report:
    """The report with what one rule found in many versions of one file once, for the commit that brought it.

    Several places in that version stay. Findings of messages and about a change as a whole are of their commit alone.
    """
    first: dict[tuple[str, Severity, str, str], str] = {}
    kept = []
    for finding in report.findings:
        what = (finding.rule, finding.severity, finding.path, finding.fingerprint)
        of_a_version = finding.path != MESSAGE and finding.start >= 0 and finding.commit != ""
        if not of_a_version or first.setdefault(what, finding.commit) == finding.commit:
            kept.append(finding)
    return replace(report, findings=tuple(kept))


def scan_text(text: str, path: str, policy: Policy) -> list[Finding]:
    """The findings of one text, exceptions taken off: what our own writers ask before they write."""
    kept, _ = settled(examine(text, path, policy), policy)
    return kept


def settled(findings: Iterable[Finding], policy: Policy) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """What counts of some findings, and what an exception covers with the day it ends ("" for never).

    What counts is as severe as the exceptions of its file and a strict policy make it, and says so.
    """
    kept, allowed = [], []
    for finding in findings:
        entry = policy.allow.covers(finding)
        if entry is None:
            kept.append(_softened(finding, policy))
        elif entry.expired(policy.today):
            kept.append(replace(finding, message=f"{finding.message} (the exception for it ended on {entry.until})"))
        else:
            allowed.append((finding, entry.until.isoformat() if entry.until else ""))
    return [_hardened(finding, policy) for finding in kept], allowed


def _hardened(finding: Finding, policy: Policy) -> Finding:
    """Under a strict policy what is only likely blocks, and says why."""
    if not policy.strict or finding.severity is Severity.BLOCK:
        return finding
    return replace(finding, severity=Severity.BLOCK, message=f"{finding.message} (a warning: the gate is strict)")


def _softened(finding: Finding, policy: Policy) -> Finding:
    """A finding that an exception for its rule in its file does not cover, because it came later: it warns."""
    if finding.message.startswith(IN_NAME) or not policy.allow.softens(finding, policy.today):
        return finding
    words = f"{finding.message} (not there when {finding.rule} was excepted in this file)"
    return replace(finding, severity=Severity.WARN, message=words)


# -- names ---------------------------------------------------------------------------------------------------


def scan_names(names: dict[str, str], policy: Policy) -> tuple[list[Finding], dict[str, str]]:
    """Findings in file names, and for each name that holds a secret how it may be shown.

    All names are looked at in one go; only what then stands out is looked at alone.
    """
    listed = list(names)
    starts = [0, *accumulate(len(name) + 2 for name in listed)]
    joined = "\n\n".join(name.replace("\n", " ") for name in listed)
    matches, failed, unread = run(Text(joined, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
    hit = {min(bisect_right(starts, match.start), len(listed)) - 1 for match in matches}
    findings: list[Finding] = []
    shown: dict[str, str] = {}
    for number in sorted(hit) if not (failed or unread) else range(len(listed)):
        name = listed[number]
        matches, broken, _ = run(Text(name, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
        strong = [m for m in matches if m.severity is Severity.BLOCK]
        secrets = merge_spans([(m.start, m.end) for m in matches if m.secret])
        if secrets:
            shown[name] = masked_excerpt(name, 0, len(name), secrets, nothing=False)
        for match in strong:
            whole = Finding(match.rule, match.severity, name, 1, 1, 1, 1, Message(IN_NAME + "{}", match.message))
            whole = replace(whole, secret=is_secret(match))
            findings.append(with_fingerprint(replace(whole, commit=names[name]), name[match.start : match.end], policy))
        for detector, error in broken:
            words = f"the detector '{detector}' failed ({error}) on the file's name, so nothing is let through"
            findings.append(finding_of_blob("scanner-failed", Blob(name, b"", commit=names[name]), words, policy))
    return findings, shown


# -- many blobs ----------------------------------------------------------------------------------------------


def _each(blobs: Iterable[Blob], policy: Policy, workers: int, read: Read) -> Iterator[tuple[Blob, Sequence[Finding]]]:
    """(blob, its findings) in order, every (oid, path) once."""
    distinct = _once(blobs)
    if workers < 2:
        for blob in distinct:
            yield blob, read(blob, policy)
        return
    first = []
    for blob in distinct:
        first.append(blob)
        if len(first) == POOL_FROM:
            break
    if len(first) < POOL_FROM:
        for blob in first:
            yield blob, scan_blob(blob, policy)
        return
    from gitmem.gate.process_pool import scan_in_processes

    yield from scan_in_processes(_chain(first, distinct), policy, workers)


def _chain(first: list[Blob], rest: Iterator[Blob]) -> Iterator[Blob]:
    yield from first
    first.clear()
    yield from rest


def _once(blobs: Iterable[Blob]) -> Iterator[Blob]:
    seen: set[tuple[str, str]] = set()
    for blob in blobs:
        if blob.oid and blob.path != MESSAGE:
            if (blob.oid, blob.path) in seen:
                continue
            seen.add((blob.oid, blob.path))
        yield blob
