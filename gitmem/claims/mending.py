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


def _mendable(one: Finding) -> bool:
    return bool(one.sure and one.renamed_to and one.cause and one.cause in one.claim)


def _renamed(line: bytes, one: Finding) -> bytes:
    """The line with the old path of a finding replaced by the new one; unchanged if it does not have the claim."""
    claim = one.claim.encode("utf-8", "surrogateescape")
    return line.replace(claim, one.claim.replace(one.cause, one.renamed_to).encode("utf-8", "surrogateescape"), 1)


def mended_lines(repo: Repository, head: str, findings: Iterable[Finding]) -> list[MendedLine]:
    """The lines of the files at `head` that `mend` would change, each with all of its renames. Writes nothing."""
    wanted: dict[tuple[str, int], list[Finding]] = {}
    for one in findings:
        if _mendable(one):
            wanted.setdefault((one.path, one.line), []).append(one)
    oids = repo.blobs(head, sorted({path for path, _ in wanted}))
    texts = {path: repo.read(oid).split(b"\n") for path, oid in oids.items()}
    found = []
    for (path, number), ones in sorted(wanted.items()):
        lines = texts.get(path, [])
        if not 1 <= number <= len(lines):
            continue
        old = new = lines[number - 1].rstrip(b"\r")
        for one in ones:
            new = _renamed(new, one)
        if new != old:
            found.append(MendedLine(path, number, old.decode("utf-8", "replace"), new.decode("utf-8", "replace")))
    return found


def mend(repo: Repository, findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """Replace renamed paths in the lines of `findings` by their new paths, and commit the changed files. Returns (those
    of `findings` that were corrected, the oid of the commit).

    A finding is corrected if it is sure, has a new path, and its claim spells the whole old path. The commit is "" if
    there was nothing to write. Raises GitMemError for a file with uncommitted edits and if the commit cannot be made
    (`transaction.commit`).
    """
    wanted = list(filter(_mendable, findings))
    if not wanted:
        return [], ""

    def plan(reading: Reading) -> CommitDraft[list[Finding]]:
        files: dict[str, bytes] = {}
        done: list[Finding] = []
        for one in wanted:
            data = files.get(one.path) or reading.committed(one.path)
            lines = data.split(b"\n")
            new = _renamed(lines[one.line - 1], one)
            if new == lines[one.line - 1]:
                continue
            lines[one.line - 1] = new
            files[one.path] = b"\n".join(lines)
            done.append(one)
        count = counted(len(done), "path")
        rows = "".join(f"- {one.path}:{one.line}\n" for one in done)
        return CommitDraft(files, done, f"{SUBJECT.format(count=count)}\n\n{rows}")

    return commit(repo, plan)
