"""Writing what a rename asks for: the old path of a line becomes the new one, all in one commit.

Only a claim that spells the whole path is rewritten; a bare name, a relative link or an entry of a drawing is a
person's to mend. A file with edits is refused, as every writer refuses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims.finding import Finding
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit

SUBJECT = "memory: follow {count} renamed in the code"


class MendedLine(NamedTuple):
    """A line of a file that spells a renamed path, as it is (`old`) and as it should be (`text`)."""

    path: str
    line: int
    old: str
    text: str


def _mendable(one: Finding) -> bool:
    return bool(one.sure and one.renamed_to and one.cause and one.cause in one.claim)


def _renamed(line: bytes, one: Finding) -> bytes:
    """The line with the new path in the place of the old; the same line where it does not spell the claim."""
    claim = one.claim.encode("utf-8", "surrogateescape")
    return line.replace(claim, one.claim.replace(one.cause, one.renamed_to).encode("utf-8", "surrogateescape"), 1)


def mended_lines(repo: Repository, head: str, findings: Iterable[Finding]) -> list[MendedLine]:
    """The lines of a commit's files that follow renames, each with all of its renames. Nothing is written."""
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
    """(the findings whose lines were rewritten, the commit; "" where there was nothing to write)."""
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
        count = f"{len(done)} path" + ("s" if len(done) != 1 else "")
        rows = "".join(f"- {one.path}:{one.line}\n" for one in done)
        return CommitDraft(files, done, f"{SUBJECT.format(count=count)}\n\n{rows}")

    return commit(repo, plan)
