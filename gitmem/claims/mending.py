"""Writing what a rename asks for: the old path of a line becomes the new one, all in one commit.

Only a claim that spells the whole path is rewritten; a bare name, a relative link or an entry of a drawing is a
person's to mend. A file with edits is refused, as every writer refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.claims.finding import Finding
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit

SUBJECT = "memory: follow {count} renamed in the code"


def mend(repo: Repository, findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """(the findings whose lines were rewritten, the commit; "" where there was nothing to write)."""
    wanted = [one for one in findings if one.sure and one.renamed_to and one.cause and one.cause in one.claim]
    if not wanted:
        return [], ""

    def plan(reading: Reading) -> CommitDraft[list[Finding]]:
        files: dict[str, bytes] = {}
        done: list[Finding] = []
        for one in wanted:
            data = files.get(one.path) or reading.committed(one.path)
            lines = data.split(b"\n")
            old = lines[one.line - 1]
            claim = one.claim.encode("utf-8", "surrogateescape")
            new = one.claim.replace(one.cause, one.renamed_to).encode("utf-8", "surrogateescape")
            if claim not in old:
                continue
            lines[one.line - 1] = old.replace(claim, new, 1)
            files[one.path] = b"\n".join(lines)
            done.append(one)
        count = f"{len(done)} path" + ("s" if len(done) != 1 else "")
        rows = "".join(f"- {one.path}:{one.line}\n" for one in done)
        return CommitDraft(files, done, f"{SUBJECT.format(count=count)}\n\n{rows}")

    return commit(repo, plan)
