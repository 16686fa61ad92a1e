"""`scan`: the gate's main function, which scans a source under a policy and returns a report.

Hooks, commands and CI call it. `scan_text` is the same for one text, which a writer is about to write.

It fails closed: a detector that raises and a memory file that cannot be read become findings that block. This module
never opens a file or runs git: the modules that make a `Source` do (`staged_files`, `commit_files`, `work_tree_files`).
No finding has a secret in its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from gitmem.gate.detectors.finding import Finding, Severity, Skipped
from gitmem.gate.examine import RANDOM_RULES, Blob, Source, examine, scan_blob, with_fingerprint
from gitmem.gate.excepted_findings import ExceptedFinding, apply_exceptions
from gitmem.gate.existing_findings import accepted_findings
from gitmem.gate.file_names import scan_file_names
from gitmem.gate.policy import MESSAGE, Policy

MIN_BLOBS_FOR_PROCESSES = 100  # with fewer blobs one process is faster than starting several
Read = Callable[[Blob, Policy], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a scan.

    `findings`: those that neither an exception nor the baseline covers. `skipped`: files that were not read. `blobs`,
    `bytes`: how much was scanned; commit messages count as bytes, not as blobs. `excepted`: findings that an exception
    covers. `accepted`: findings that the baseline covers. `before`: findings that their file had before the change; ()
    until `with_before` sets them.
    """

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    blobs: int = 0
    bytes: int = 0
    excepted: tuple[ExceptedFinding, ...] = ()
    accepted: tuple[Finding, ...] = ()
    before: tuple[Finding, ...] = ()

    @property
    def blocked(self) -> bool:
        """Whether a finding blocks, so that the commit or push is refused."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)

    def with_before(self, findings: Iterable[Finding]) -> Report:
        """The report with `findings` (of `findings_before`) as its `before`. The warnings among them leave
        `self.findings`; those that block stay in both."""
        before = tuple(findings)
        warnings = {finding for finding in before if finding.severity is Severity.WARN}
        others = tuple(finding for finding in self.findings if finding not in warnings)
        return replace(self, findings=others, before=before)


def scan(source: Source, policy: Policy, *, workers: int = 1, scan_one: Read = scan_blob) -> Report:
    """Scan every blob of a source once per path, and the names of all its files.

    `workers`: processes to scan in, used from MIN_BLOBS_FOR_PROCESSES blobs on. `scan_one`: scans one blob in place of
    `scan_blob` (a cache, for instance); only with one worker. Raises BrokenProcessPool when a process dies, and what
    reading the blobs raises.
    """
    assert workers < 2 or scan_one is scan_blob
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    count = size = 0
    names: dict[str, str] = {}  # file name -> the first commit that has it
    policy_with_ids = policy
    for blob, blob_findings in _scanned_blobs(source.blobs, policy, workers, scan_one):
        if source.ids is not None and any(finding.rule in RANDOM_RULES for finding in blob_findings):
            if not policy_with_ids.ids:
                policy_with_ids = replace(policy, ids=source.ids())
            if policy_with_ids.ids:
                blob_findings = scan_blob(blob, policy_with_ids)
        size += len(blob.data)
        findings += blob_findings
        if blob.path != MESSAGE:
            count += 1
            names.setdefault(blob.path, blob.commit)
        if blob.skipped:
            skipped.append(Skipped(blob.path, blob.skipped))
    for finding in source.findings:
        names.setdefault(finding.path, finding.commit)
    names_result = scan_file_names(names, policy)
    findings += names_result.findings
    findings += [with_fingerprint(f, f"{f.path}\0{f.message}", policy) for f in source.findings]
    covered = accepted_findings(findings, names_result.masked, policy, source.before)
    accepted = dict.fromkeys(_with_masked_path(f, names_result.masked) for f in covered)
    counting = dict.fromkeys(_with_masked_path(f, names_result.masked) for f in findings if f not in covered)
    skipped = [replace(s, path=names_result.masked.get(s.path, s.path)) for s in skipped]
    result = apply_exceptions(counting, policy)
    return Report(tuple(result.counting), tuple(skipped), count, size, tuple(result.excepted), tuple(accepted))


def _with_masked_path(finding: Finding, masked: Mapping[str, str]) -> Finding:
    """The finding with the secrets in its file's name masked. `masked`: `NameScan.masked`."""
    return replace(finding, path=masked.get(finding.path, finding.path))


def without_repeats(report: Report) -> Report:
    """The report of a range in which each finding is kept only in the first commit whose version of the file has it.

    All its places in that version stay. Findings in messages and about a change as a whole are all kept.
    """
    first_commits: dict[tuple[str, Severity, str, str], str] = {}
    findings = []
    for finding in report.findings:
        key = (finding.rule, finding.severity, finding.path, finding.fingerprint)
        in_version = finding.path != MESSAGE and finding.start >= 0 and finding.commit != ""
        if not in_version or first_commits.setdefault(key, finding.commit) == finding.commit:
            findings.append(finding)
    return replace(report, findings=tuple(findings))


def scan_text(text: str, path: str, policy: Policy) -> list[Finding]:
    """The findings of one text, as the file at `path`, that no exception covers. Our own writers call it before they
    write."""
    return apply_exceptions(examine(text, path, policy), policy).counting


def _scanned_blobs(
    blobs: Iterable[Blob], policy: Policy, workers: int, scan_one: Read
) -> Iterator[tuple[Blob, Sequence[Finding]]]:
    """(blob, its findings) in order, every (oid, path) once. Lazy; uses processes if `workers` is over 1 and there are
    MIN_BLOBS_FOR_PROCESSES blobs. `scan_one`: as in `scan`."""
    distinct = _distinct_blobs(blobs)
    first_blobs: list[Blob] = []
    if workers > 1:
        first_blobs = list(islice(distinct, MIN_BLOBS_FOR_PROCESSES))
    if len(first_blobs) < MIN_BLOBS_FOR_PROCESSES:
        for blob in chain(first_blobs, distinct):
            yield blob, scan_one(blob, policy)
        return
    from gitmem.gate.process_pool import scan_in_processes

    yield from scan_in_processes(_first_then_rest(first_blobs, distinct), policy, workers)


def _first_then_rest(first_blobs: list[Blob], other_blobs: Iterator[Blob]) -> Iterator[Blob]:
    """The blobs of `first_blobs`, then of `other_blobs`. `first_blobs` is cleared before `other_blobs` is read, so that
    its bytes are freed."""
    yield from first_blobs
    first_blobs.clear()
    yield from other_blobs


def _distinct_blobs(blobs: Iterable[Blob]) -> Iterator[Blob]:
    """The blobs without repeats of the same oid at the same path. Messages, and blobs without an oid, are all kept."""
    yielded: set[tuple[str, str]] = set()
    for blob in blobs:
        if blob.oid and blob.path != MESSAGE:
            if (blob.oid, blob.path) in yielded:
                continue
            yielded.add((blob.oid, blob.path))
        yield blob
