"""What a merge drops of one of its parents: it has a path as another parent has it, which never changed it.

A merge takes the side that changed a path. One that takes the other (`git merge -s ours`, a tree made by hand) brings
back older files, and `git diff-tree -c` shows none of it: they are those of a parent. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem.git.protocol import Repository
from gitmem.git.ranges import PathChange, touched

NAMED = 200  # paths that are asked for by name; of more the whole tree is listed


def dropped(
    repo: Repository, merges: Mapping[str, Sequence[str]], base: str, counts: Callable[[str], bool]
) -> dict[str, list[PathChange]]:
    """For each merge of `merges` (its oid and its parents) what it drops at the paths that count, as changes against
    the parent that had them; nothing that the tree of `base` ("" for none) has alike."""
    against: dict[tuple[str, str], dict[str, PathChange]] = {}
    for number in range(max(map(len, merges.values()), default=0)):
        parent = {oid: parents[number] for oid, parents in merges.items() if len(parents) > number}
        for oid, changes in touched(repo, (f"{oid} {other}" for oid, other in parent.items())):
            against[oid, parent[oid]] = {change.path: change for change in changes if counts(change.path)}
    found: dict[str, list[PathChange]] = {}
    for oid, parents in merges.items():
        sides = {parent: against.get((oid, parent), {}) for parent in parents}
        rows = {row.path: row for other in sides for row in _of_a_side(repo, sides, other)}
        if rows:
            known = _versions(repo, base, rows) if base else {}
            found[oid] = [row for path, row in rows.items() if known.get(path) != (row.mode, row.new_oid)]
    return found


def _of_a_side(repo: Repository, sides: Mapping[str, Mapping[str, PathChange]], other: str) -> Iterator[PathChange]:
    """What a merge with these sides (parent, and where the merge differs from it) drops of one of them."""
    for kept, differing in sides.items():
        rows = {path: row for path, row in sides[other].items() if path not in differing}
        if kept != other and rows:
            before = _before(repo, kept, other, rows)
            yield from (row for path, row in rows.items() if before.get(path, (0, "")) == (row.mode, row.new_oid))


def _before(repo: Repository, one: str, other: str, paths: Mapping[str, object]) -> dict[str, tuple[int, str]]:
    base = repo.merge_base(one, other)
    return _versions(repo, base, paths) if base else {}


def _versions(repo: Repository, commit: str, paths: Mapping[str, object]) -> dict[str, tuple[int, str]]:
    """(mode, oid) of what a commit has at these paths, of those that are there."""
    entries = repo.entries(commit, list(paths) if len(paths) <= NAMED else ())
    return {entry.path: (entry.mode, entry.oid) for entry in entries}
