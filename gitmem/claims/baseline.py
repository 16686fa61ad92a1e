"""The baseline of a project, `.gitmem/check-baseline`: known findings, which `git mem check` does not report.

One row is one finding: path, kind and claim with tabs between them, without the line number (`report.key_of`).
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.claims.finding import Finding
from gitmem.claims.report import key_of
from gitmem.git.repository import Repository
from gitmem.git.transaction import Draft, Reading
from gitmem.git.transaction import write as write_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES

PATH = ".gitmem/check-baseline"


def read(repo: Repository, commit: str) -> frozenset[str]:
    """The rows of the baseline at `commit` (`report.key_of` of each known finding), without comments (`#`) and empty
    lines. Empty if there is no baseline, or if it is larger than MAX_MEMORY_FILE_BYTES."""
    oid = repo.blobs(commit, [PATH]).get(PATH, "")
    if not oid or repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
        return frozenset()
    rows = repo.read(oid).decode("utf-8", "surrogateescape").splitlines()
    return frozenset(row for row in rows if row and not row.startswith("#"))


def write(repo: Repository, findings: Iterable[Finding]) -> None:
    """Replace the baseline in the work tree by these findings, sorted, so that its diff shows the added and the removed
    ones. Nothing is committed; a baseline that has these rows already is not written. Raises GitMemError if the file
    cannot be written (`transaction.write`)."""
    rows = sorted({key_of(finding) for finding in findings})
    data = "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")

    def plan(reading: Reading) -> Draft[None]:
        if reading.raw(PATH) == data:
            return Draft({}, None)
        return Draft({PATH: data}, None)

    write_files(repo, plan)
