"""Finds the changes of one parent that a merge drops: paths that this parent changed, and that the merge has as another
parent has them.

A merge normally takes the side that changed a path. One that takes the other side (`git merge -s ours`, a tree made by
hand) restores older files, and `git diff-tree -c` does not show it, since the files equal those of a parent. When both
sides changed a path and one version is taken whole (`-X ours`), the text of the other is dropped as well. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem.git.objects import Change
from gitmem.git.ranges import PathChange, touched
from gitmem.git.repository import Repository

MAX_PATHS_BY_NAME = 200  # paths that Git is asked for by name; for more, the whole tree is listed
Version = tuple[int, str]  # mode and oid of a path in a tree; ABSENT when the tree lacks it
ABSENT: Version = (0, "")


def dropped_paths(
    repo: Repository, merges: Mapping[str, Sequence[str]], base: str, counts: Callable[[str], bool]
) -> dict[str, list[PathChange]]:
    """For each merge that drops something: oid of the merge -> its dropped paths, as changes against the parent that
    had them. A list is empty when `base` has the merge's version of all these paths.

    `merges`: oid -> parents. `base`: a path that has the same version in this commit and in the merge is not a loss; ""
    for none. `counts`: whether a path matters.
    """
    against: dict[tuple[str, str], dict[str, PathChange]] = {}
    for number in range(max(map(len, merges.values()), default=0)):
        parent = {oid: parents[number] for oid, parents in merges.items() if len(parents) > number}
        for oid, changes in touched(repo, (f"{oid} {other}" for oid, other in parent.items())):
            against[oid, parent[oid]] = {change.path: change for change in changes if counts(change.path)}
    dropped: dict[str, list[PathChange]] = {}
    for oid, parents in merges.items():
        sides = {parent: against.get((oid, parent), {}) for parent in parents}
        rows = _of_sides(repo, sides)
        if rows:
            in_base: dict[str, Version] = {}
            if base:
                in_base = _versions(repo, base, rows)
            dropped[oid] = [row for path, row in rows.items() if in_base.get(path) != (row.mode, row.new_oid)]
    return dropped


def dropped_staged_paths(repo: Repository, parents: Sequence[str], counts: Callable[[str], bool]) -> list[Change]:
    """The paths that the merge which is about to be committed drops, as changes. `parents`: its parents. `counts`:
    whether a path matters."""
    staged = {entry.path: (entry.mode, entry.oid) for entry in repo.staged() if counts(entry.path)}
    sides = {}
    for parent in parents:
        in_parent = {entry.path: (entry.mode, entry.oid) for entry in repo.entries(parent) if counts(entry.path)}
        sides[parent] = dict(_differences(in_parent, staged))
    changes: list[Change] = []
    for row in _of_sides(repo, sides).values():
        status = "M"
        if not row.new_oid:
            status = "D"
        changes.append(Change(status, row.path, row.path, (*row.olds, "")[0], row.new_oid, 0, row.mode))
    return changes


def oid_in_merge_base(repo: Repository, parents: Sequence[str], path: str) -> str | None:
    """The oid of a path in the merge base of two parents, "" when the base lacks the path. None when there is no merge
    base, or not exactly two parents."""
    base = None
    if len(parents) == 2:
        base = repo.merge_base(*parents)
    if not base:
        return None
    return _versions(repo, base, {path: path}).get(path, ABSENT)[1]


def _differences(in_parent: Mapping[str, Version], staged: Mapping[str, Version]) -> Iterator[tuple[str, PathChange]]:
    for path in {**in_parent, **staged}:
        parent_version, (mode, oid) = in_parent.get(path, ABSENT), staged.get(path, ABSENT)
        if parent_version != (mode, oid):
            yield path, PathChange(path, mode, oid, tuple(filter(None, parent_version[1:])))


def _of_sides(repo: Repository, sides: Mapping[str, Mapping[str, PathChange]]) -> dict[str, PathChange]:
    """The dropped paths of one merge: path -> change. `sides`: parent -> the changes that lead from that parent to the
    merge."""
    dropped: dict[str, PathChange] = {}
    for dropping, differing in sides.items():
        for keeping, differs in sides.items():
            rows = {path: row for path, row in differing.items() if path not in differs}
            if keeping != dropping and rows:
                in_base, in_side = _before(repo, keeping, dropping, rows), _versions(repo, dropping, rows)
                changed = (path for path in rows if in_base.get(path, ABSENT) != in_side.get(path, ABSENT))
                dropped.update((path, rows[path]) for path in changed)
    return dropped


def _before(repo: Repository, commit: str, other_commit: str, paths: Mapping[str, object]) -> dict[str, Version]:
    """The versions of the paths at the merge base of two commits; {} without a merge base."""
    base = repo.merge_base(commit, other_commit)
    if not base:
        return {}
    return _versions(repo, base, paths)


def _versions(repo: Repository, commit: str, paths: Mapping[str, object]) -> dict[str, Version]:
    """Path -> version in a commit, without the paths that the commit lacks."""
    by_name: list[str] = []
    if len(paths) <= MAX_PATHS_BY_NAME:
        by_name = list(paths)
    entries = repo.entries(commit, by_name)
    return {entry.path: (entry.mode, entry.oid) for entry in entries if entry.path in paths}
