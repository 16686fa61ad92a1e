"""What a merge drops of one of its parents: it has a path as another parent has it, and this one changed the path.

A merge takes the side that changed a path. One that takes the other (`git merge -s ours`, a tree made by hand) brings
back older files, and `git diff-tree -c` shows none of it: they are those of a parent. Where both sides changed a path
and one is taken whole (`-X ours`), what the other said is dropped as well. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem.git.objects import Change
from gitmem.git.ranges import PathChange, touched
from gitmem.git.repository import Repository

MAX_PATHS_BY_NAME = 200  # paths that are asked for by name; of more the whole tree is listed
Version = tuple[int, str]  # mode and oid of what is at a path; ABSENT where nothing is
ABSENT: Version = (0, "")


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
        rows = _of_sides(repo, sides)
        if rows:
            if base:
                known = _versions(repo, base, rows)
            else:
                known = {}
            found[oid] = [row for path, row in rows.items() if known.get(path) != (row.mode, row.new_oid)]
    return found


def dropped_staged(repo: Repository, parents: Sequence[str], counts: Callable[[str], bool]) -> list[Change]:
    """As `dropped`, of the merge of these commits that is about to be made of what is staged."""
    staged = {entry.path: (entry.mode, entry.oid) for entry in repo.staged() if counts(entry.path)}
    sides = {}
    for parent in parents:
        there = {entry.path: (entry.mode, entry.oid) for entry in repo.entries(parent) if counts(entry.path)}
        sides[parent] = dict(_differences(there, staged))
    rows = _of_sides(repo, sides).values()
    return [
        Change("M" if row.new_oid else "D", row.path, row.path, (*row.olds, "")[0], row.new_oid, 0, row.mode)
        for row in rows
    ]


def before_merge(repo: Repository, parents: Sequence[str], path: str) -> str | None:
    """The blob that stood at a path before the two parents of a merge went apart, "" where none did; None where that
    is not known (more parents, no common history)."""
    base = None
    if len(parents) == 2:
        base = repo.merge_base(*parents)
    if not base:
        return None
    return _versions(repo, base, {path: path}).get(path, ABSENT)[1]


def _differences(there: Mapping[str, Version], staged: Mapping[str, Version]) -> Iterator[tuple[str, PathChange]]:
    for path in {**there, **staged}:
        old, (mode, oid) = there.get(path, ABSENT), staged.get(path, ABSENT)
        if old != (mode, oid):
            yield path, PathChange(path, mode, oid, (old[1],) if old[1] else ())


def _of_sides(repo: Repository, sides: Mapping[str, Mapping[str, PathChange]]) -> dict[str, PathChange]:
    """What a merge with these sides (parent, and where the merge differs from it) drops, by path."""
    found: dict[str, PathChange] = {}
    for other, differing in sides.items():
        for kept, differs in sides.items():
            rows = {path: row for path, row in differing.items() if path not in differs}
            if kept != other and rows:
                before, then = _before(repo, kept, other, rows), _versions(repo, other, rows)
                changed = (path for path in rows if before.get(path, ABSENT) != then.get(path, ABSENT))
                found.update((path, rows[path]) for path in changed)
    return found


def _before(repo: Repository, one: str, other: str, paths: Mapping[str, object]) -> dict[str, Version]:
    base = repo.merge_base(one, other)
    if not base:
        return {}
    return _versions(repo, base, paths)


def _versions(repo: Repository, commit: str, paths: Mapping[str, object]) -> dict[str, Version]:
    """(mode, oid) of what a commit has at these paths, of those that are there."""
    entries = repo.entries(commit, list(paths) if len(paths) <= MAX_PATHS_BY_NAME else ())
    return {entry.path: (entry.mode, entry.oid) for entry in entries if entry.path in paths}
