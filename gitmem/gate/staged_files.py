"""Makes the gate's source of a commit that is about to be made: the staged files, read from Git's index and objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from gitmem.gate.blob_reading import BlobPlace, files_before, read_blobs
from gitmem.gate.changes import rules
from gitmem.gate.changes.staging import change_findings, staged_change
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, Source
from gitmem.gate.imported_files import newly_imported
from gitmem.gate.policy import Policy
from gitmem.git.objects import LINKS, is_encrypted, is_git_crypt_filter
from gitmem.git.ranges import commit_ids
from gitmem.git.repository import Repository


def staged_files(repo: Repository, policy: Policy, names: Sequence[str] = (), *, merging: bool = False) -> Source:
    """The source of the staged memory files that a commit would change, from the index that Git names (GIT_INDEX_FILE).

    `names`: paths whose staged content is scanned although the commit does not change them. `merging`: whether the
    caller is the hook pre-merge-commit (`gate/changes/staging.py`). A file in conflict becomes a skipped blob.
    """
    staging = staged_change(repo, policy, merging=merging)
    open_conflicts = [change.path for change in staging.changes if change.status == "U"]
    places = [
        BlobPlace(change.path, change.new_oid)
        for change in (*staging.changes, *staging.dropped)
        if change.status not in "DU" and change.new_mode not in LINKS and policy.scans(change.path)
    ]
    if names:
        more = set(names) - {row.path for row in places}
        entries = [e for e in repo.staged() if e.path in more and e.mode not in LINKS and policy.scans(e.path)]
        places += [BlobPlace(entry.path, entry.oid) for entry in entries]
    if policy.imported:
        places += newly_imported(repo, staging.parents, repo.staged(), places)
    conflicts = (Blob(path, b"", skipped="it is in conflict; resolve it first") for path in open_conflicts)
    before = None
    if policy.allow.baseline and staging.parents:
        before = files_before(
            repo, staging.parents, (change.path for change in staging.changes if change.status == "D")
        )
    findings = (*change_findings(repo, staging, policy), *_stored_in_clear(repo, places))
    blobs = chain(conflicts, read_blobs(repo, places, policy))
    return Source(blobs, findings, before, partial(commit_ids, repo))


def _stored_in_clear(repo: Repository, places: Sequence[BlobPlace]) -> Iterator[Finding]:
    """A finding for each staged file that git-crypt should have encrypted and did not.

    A clone that was never unlocked has no such filter, and Git stores the file as it is.
    """
    filters = repo.staged_filters([row.path for row in places])
    rows = [row for row in places if is_git_crypt_filter(filters.get(row.path, ""))]
    for row, data in zip(rows, repo.stored([row.oid for row in rows]), strict=True):
        if data and not is_encrypted(data):  # git-crypt leaves an empty file as it is
            yield rules.change_finding("stored-in-clear", row.path, rules.RULES["stored-in-clear"])
