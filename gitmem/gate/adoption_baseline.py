"""Makes the baseline of a repository that adopts the gate: the findings of HEAD, by rule, path and fingerprint.

The baseline is a part of `.gitmem-allow.toml` (`gate/exceptions.py`) and accepts nothing that a change adds
(`gate/scan.py`). This module makes the rows; it writes no file.
"""

from __future__ import annotations

from dataclasses import replace

from gitmem.gate import exceptions, sources
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.exceptions import BaselineRow
from gitmem.gate.policy import Policy
from gitmem.gate.scan import rows_of_file, scan_source
from gitmem.git.repository import Repository


def rows_of_head(repo: Repository, policy: Policy, salt: str, *, workers: int = 2) -> list[BaselineRow]:
    """The blocking findings of HEAD's files that no exception covers, fingerprints under `salt`; [] without a HEAD."""
    head = repo.head()
    if not head:
        return []
    salted = replace(policy, allow=replace(policy.allow, salt=salt, baseline=frozenset()))
    report = scan_source(sources.files_of_commit(repo, head, salted), salted, workers=workers)
    blocking = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    return sorted({BaselineRow(f.path, f.rule, f.fingerprint) for f in blocking})


def gone_rows(repo: Repository, policy: Policy) -> frozenset[BaselineRow]:
    """The rows of the baseline whose finding is gone from the file of HEAD at their path; all rows without a HEAD.
    Reads only the files that the rows name."""
    baseline, head = policy.allow.baseline, repo.head()
    if not baseline or not head:
        return baseline
    blobs = repo.blobs(head, sorted({row.path for row in baseline}))
    texts = dict(repo.read_many(dict.fromkeys(blobs.values())))
    found = [rows_of_file(path, [data], policy) for path, oid in blobs.items() if (data := texts.get(oid)) is not None]
    return baseline.difference(*found)


def accepting_head(repo: Repository, policy: Policy, text: str, salt: str) -> tuple[str, list[BaselineRow]]:
    """(`text` with the findings of HEAD as its baseline, the rows of it); `text`: that of `.gitmem-allow.toml`, ""
    for no file. `salt`: for a new file; an existing one keeps its own."""
    if text.strip():
        salt = exceptions.parse(text).salt
    rows = rows_of_head(repo, policy, salt)
    return exceptions.with_baseline(text, rows, salt), rows
