"""Follows renames: replaces the old path in a line by the new one, for all lines in one commit.

Only a claim that spells the whole path is replaced; a person must correct a bare name, a relative link or an entry of a
diagram. A file with uncommitted edits is refused, as by every command that commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims.finding import Finding
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.plural import counted

SUBJECT = "memory: follow {count} renamed in the code"


class MendedLine(NamedTuple):
    """A line that names a renamed path. `line`: its number, from 1. `old`: its text now. `text`: its text with the new
    path."""

    path: str
    line: int
    old: str
    text: str


def _mendable(finding: Finding) -> bool:
    return bool(finding.sure and finding.renamed_to and finding.cause and finding.cause in finding.claim)


def _renamed(line: bytes, finding: Finding) -> bytes:
    """The line with the old path of a finding replaced by the new one; unchanged if it does not have the claim."""
    claim = finding.claim.encode("utf-8", "surrogateescape")
    renamed = finding.claim.replace(finding.cause, finding.renamed_to)
    return line.replace(claim, renamed.encode("utf-8", "surrogateescape"), 1)


def mended_lines(repo: Repository, head: str, findings: Iterable[Finding]) -> list[MendedLine]:
    """The lines of the files at `head` that `mend` would change, each with all of its renames. Writes nothing."""
    by_line: dict[tuple[str, int], list[Finding]] = {}
    for finding in findings:
        if _mendable(finding):
            by_line.setdefault((finding.path, finding.line), []).append(finding)
    oids = repo.blobs(head, sorted({path for path, _ in by_line}))
    texts = {path: repo.read(oid).split(b"\n") for path, oid in oids.items()}
    mended = []
    for (path, number), of_line in sorted(by_line.items()):
        lines = texts.get(path, [])
        if not 1 <= number <= len(lines):
            continue
        old_line = new_line = lines[number - 1].rstrip(b"\r")
        for finding in of_line:
            new_line = _renamed(new_line, finding)
        if new_line != old_line:
            old, new = old_line.decode("utf-8", "replace"), new_line.decode("utf-8", "replace")
            mended.append(MendedLine(path, number, old, new))
    return mended


def mend(repo: Repository, findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """Replace renamed paths in the lines of `findings` by their new paths, and commit the changed files. Returns (those
    of `findings` that were corrected, the oid of the commit).

    A finding is corrected if it is sure, has a new path, and its claim spells the whole old path. The commit is "" if
    there was nothing to write. Raises GitMemError for a file with uncommitted edits and if the commit cannot be made
    (`transaction.commit`).
    """
    mendable = list(filter(_mendable, findings))
    if not mendable:
        return [], ""

    def plan(reading: Reading) -> CommitDraft[list[Finding]]:
        files: dict[str, bytes] = {}
        mended: list[Finding] = []
        for finding in mendable:
            data = files.get(finding.path) or reading.committed(finding.path)
            lines = data.split(b"\n")
            new_line = _renamed(lines[finding.line - 1], finding)
            if new_line == lines[finding.line - 1]:
                continue
            lines[finding.line - 1] = new_line
            files[finding.path] = b"\n".join(lines)
            mended.append(finding)
        count = counted(len(mended), "path")
        rows = "".join(f"- {finding.path}:{finding.line}\n" for finding in mended)
        return CommitDraft(files, mended, f"{SUBJECT.format(count=count)}\n\n{rows}")

    return commit(repo, plan)
