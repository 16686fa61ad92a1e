"""The renamed files of a change, so that a review compares each with its old version. Reads only.

A rename only counts when the file keeps its role: a note that becomes an instruction is a new file, whatever lines it
had before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.git.objects import EXECUTABLE, REGULAR, Change
from gitmem.git.repository import Repository
from gitmem.paths import Kind, holds_instructions, kind

FILE_MODES = (REGULAR, EXECUTABLE)


def renames(repo: Repository, base: str, head: str, files: Sequence[Change]) -> Mapping[str, str]:
    """Path at `head` -> path at `base` of each renamed file among `files`. `files`: the changes from `base` to `head`,
    in which a rename is a removal and an addition. Empty when `base` is ""."""
    removed = {change.path for change in files if change.status == "D" and change.old_mode in FILE_MODES}
    added = {change.path for change in files if change.status == "A" and change.new_mode in FILE_MODES}
    if not base or not removed or not added:
        return {}
    return {
        change.path: change.old_path
        for change in repo.changes(base, head, renames=True)
        if change.status == "R" and change.path in added and change.old_path in removed and _keeps_role(change)
    }


def _keeps_role(change: Change) -> bool:
    """Whether a renamed file is of the same kind as before, and holds instructions if and only if it did before.
    MEMORY.md may also become a note."""
    was, now = kind(change.old_path), kind(change.path)
    same_kind = was is now or (now is Kind.NOTE and was is Kind.MEMORY)
    return same_kind and holds_instructions(change.old_path) == holds_instructions(change.path)
