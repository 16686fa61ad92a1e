"""Makes the baseline of a repository that adopts the gate: a list of the findings that its HEAD has already.

The baseline is a part of `.gitmem-allow.toml` (`gate/exceptions.py`). Each row names a finding by path, rule and
fingerprint. The baseline accepts nothing that a later change adds (`gate/existing_findings.py`). This module makes the
rows; it writes no file.
"""

from __future__ import annotations

from dataclasses import replace

from gitmem.gate import exceptions
from gitmem.gate.commit_files import files_of_commit
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.existing_findings import baseline_rows
from gitmem.gate.file_names import scan_file_names
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan
from gitmem.git.repository import Repository


def baseline_of_head(repo: Repository, policy: Policy, salt: str, *, workers: int = 2) -> list[BaselineRow]:
    """The baseline rows for HEAD: one for each blocking finding in its files that no exception covers, sorted.

    `salt`: the salt of the fingerprints. `workers`: processes to scan in. [] for a repository without a commit.
    """
    head = repo.head()
    if not head:
        return []
    salted = replace(policy, allow=replace(policy.allow, salt=salt, baseline=frozenset()))
    report = scan(files_of_commit(repo, head, salted), salted, workers=workers)
    blocking = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    return sorted({BaselineRow(f.path, f.rule, f.fingerprint) for f in blocking})


def outdated_rows(repo: Repository, policy: Policy) -> frozenset[BaselineRow]:
    """The rows of the policy's baseline that are outdated: HEAD has no such finding at their path any more.

    Only the files that the rows name are read. A row has the secrets of a file's name masked: for a path that HEAD does
    not have, the names of all its files are scanned. Without a HEAD all rows count as outdated.
    """
    baseline, head = policy.allow.baseline, repo.head()
    if not baseline or not head:
        return baseline
    paths = {row.path for row in baseline}
    blobs = repo.blobs(head, sorted(paths))
    if unknown := paths - blobs.keys():
        masked = scan_file_names({entry.path: "" for entry in repo.entries(head)}, policy).masked
        blobs |= repo.blobs(head, [path for path, shown in masked.items() if shown in unknown])
    texts = dict(repo.read_many(dict.fromkeys(blobs.values())))
    rows: set[BaselineRow] = set()
    for path, oid in blobs.items():
        data = texts.get(oid)
        if data is not None:
            rows |= baseline_rows(path, [data], policy)
    return baseline - rows


def with_baseline_of_head(repo: Repository, policy: Policy, text: str, salt: str) -> tuple[str, list[BaselineRow]]:
    """Make HEAD's blocking findings without an exception the whole baseline: return (new text of `.gitmem-allow.toml`,
    its rows). Writes nothing.

    `text`: the text now, "" for no file; the new text is "" if the file would be empty. `salt`: the salt of a new file;
    an existing file keeps its own. Raises BadConfig when `text` cannot be read.
    """
    if text.strip():
        salt = exceptions.parse(text).salt
    rows = baseline_of_head(repo, policy, salt)
    return exceptions.with_baseline(text, rows, salt), rows
