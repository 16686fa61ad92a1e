"""The baseline of an adopted repository: what stands in HEAD is accepted as it is, by rule, path and fingerprint.

It is a part of `.gitmem-allow.toml` (`gate/exceptions.py`), read wherever exceptions are read, and accepts nothing that
a change itself brings (`gate/scan.py`). This module makes the rows; it writes no file.
"""

from __future__ import annotations

from dataclasses import replace

from gitmem.gate import exceptions, sources
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.exceptions import Standing
from gitmem.gate.policy import Policy
from gitmem.gate.scan import rows_of_file, scan_source
from gitmem.git.repository import Repository


def rows_of_head(repo: Repository, policy: Policy, salt: str, *, workers: int = 2) -> list[Standing]:
    """What blocks in the files of HEAD and no exception covers, with fingerprints under `salt`; [] without a HEAD."""
    head = repo.head()
    if not head:
        return []
    salted = replace(policy, allow=replace(policy.allow, salt=salt, baseline=frozenset()))
    report = scan_source(sources.files_of_commit(repo, head, salted), salted, workers=workers)
    blocking = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    return sorted({Standing(f.path, f.rule, f.fingerprint) for f in blocking})


def gone_rows(repo: Repository, policy: Policy) -> frozenset[Standing]:
    """The rows of the baseline whose finding no file of HEAD has any more, at the path of the row; all of them without
    a HEAD. Reads the files that the rows name and no other."""
    baseline, head = policy.allow.baseline, repo.head()
    if not baseline or not head:
        return baseline
    blobs = repo.blobs(head, sorted({row.path for row in baseline}))
    texts = dict(repo.read_many(dict.fromkeys(blobs.values())))
    found = [rows_of_file(path, [data], policy) for path, oid in blobs.items() if (data := texts.get(oid)) is not None]
    return baseline.difference(*found)


def accepting_head(repo: Repository, policy: Policy, text: str, salt: str) -> tuple[str, list[Standing]]:
    """The text of `.gitmem-allow.toml` (from `text`, "" for no file) with what stands in HEAD as its baseline, and the
    rows; `salt` is for a new file."""
    known = exceptions.parse(text)
    if text.strip():
        salt = known.salt
    rows = rows_of_head(repo, policy, salt)
    return exceptions.with_baseline(text, rows, salt), rows
