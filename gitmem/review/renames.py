"""Files that agents read and that have another name after a change, so that a review compares each with what it was.

A file is compared with its former self only where its role stayed: a note that becomes an instruction is new as one,
whatever lines it had before. Reads only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.git.objects import EXECUTABLE, REGULAR, Change
from gitmem.git.repository import Repository
from gitmem.paths import Kind, holds_instructions, kind

FILES = (REGULAR, EXECUTABLE)


def renames(repo: Repository, base: str, head: str, files: Sequence[Change]) -> Mapping[str, str]:
    """{path at `head`: path at `base`} as Git finds them among `files`, the changes of the range in which a rename is a
    removal and an addition."""
    gone = {change.path for change in files if change.status == "D" and change.old_mode in FILES}
    come = {change.path for change in files if change.status == "A" and change.new_mode in FILES}
    if not base or not gone or not come:
        return {}
    return {
        change.path: change.old_path
        for change in repo.changes(base, head, renames=True)
        if change.status == "R" and change.path in come and change.old_path in gone and _same_role(change)
    }


def _same_role(change: Change) -> bool:
    was, now = kind(change.old_path), kind(change.path)
    alike = was is now or (now is Kind.NOTE and was is Kind.MEMORY)
    return alike and holds_instructions(change.old_path) == holds_instructions(change.path)
