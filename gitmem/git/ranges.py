"""Reads what each commit of a range changed, by one git process for the whole range."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple

from gitmem.git.objects import MAX_FILES
from gitmem.git.process import PIECE_BYTES, git_of, too_many_files
from gitmem.git.repository import Repository

MAX_COMMIT_IDS = 50_000  # of `commit_ids`


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path that a commit changes. `olds`: its blob in each parent that has it. `mode`: the new mode, as in Git; 0
    if deleted. `new_oid`: "" if deleted.

    A merge has only the paths that differ from every parent; any other change is in a commit of its own.
    """

    path: str
    mode: int
    new_oid: str
    olds: tuple[str, ...]

    @property
    def added(self) -> bool:
        return not self.olds and bool(self.new_oid)


def commits_touching(repo: Repository, revs: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The commits that `revs` (oids, `^oid`) reach and that change a file below `paths`, on all sides of merges.

    A commit comes after all its parents. Raises GitFailed if Git cannot list them.
    """
    order = ["--full-history", "--date-order", "--reverse"]
    return git_of(repo).run(["rev-list", *order, "--end-of-options", *revs, "--", *paths]).decode("ascii").split()


def ensure_listable(repo: Repository, tree: str) -> None:
    """Raise TooManyFiles if a tree (oid) has more than MAX_FILES files, counted without listing them: a few objects may
    stand for thousands of millions of files. Raises GitFailed if a tree is missing."""
    if repo.count_files(tree, MAX_FILES) > MAX_FILES:
        raise too_many_files()


def touched(
    repo: Repository, commits: Iterable[str], paths: Sequence[str] = ()
) -> Iterator[tuple[str, list[PathChange]]]:
    """(commit, its changes) for each oid of `commits` that has changes, in order; only changes below `paths` if given.

    A root commit is compared with the empty tree. An element `OID PARENT` is compared with that parent only. Raises
    GitFailed if Git fails, TooManyFiles if a commit changes more than MAX_FILES files or Git runs out of the memory
    that it gets.
    """
    command = [
        "diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--ignore-submodules=none", "--", *paths,
    ]  # fmt: skip
    with git_of(repo).output(command, commits) as output:
        yield from _parse(_fields(output))


class RefObject(NamedTuple):
    """A ref's object. `oid`: its own oid. `is_tag`: it is a tag object. `kind`, `peeled`: type and oid of the object
    that is left when all tags are followed; "" when it is missing."""

    ref: str
    oid: str
    is_tag: bool
    kind: str
    peeled: str


def ref_objects(repo: Repository, prefix: str) -> list[RefObject]:
    """The objects of the refs below a prefix, of those too that name no commit."""
    form = "--format=%(objectname) %(objecttype) %(refname)"
    lines = os.fsdecode(git_of(repo).run(["for-each-ref", form, prefix])).splitlines()
    rows = [line.split(" ", 2) for line in lines]
    names = "".join(f"{oid}^{{}}\n" for oid, _, _ in rows).encode("ascii")
    answers = git_of(repo).run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], stdin=names)
    objects = []
    for (oid, kind, ref), answer in zip(rows, answers.decode("ascii").splitlines(), strict=True):
        peeled, _, peeled_kind = answer.partition(" ")
        if peeled_kind not in ("commit", "tree", "blob"):  # `<asked> missing`
            peeled, peeled_kind = "", ""
        objects.append(RefObject(ref, oid, kind == "tag", peeled_kind, peeled))
    return objects


def tag_objects(repo: Repository, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(oid, the tag object's bytes: headers and message) of those of `oids` that are tag objects."""
    data = git_of(repo).run(["cat-file", "--batch"], stdin="".join(f"{oid}\n" for oid in oids).encode())
    while data:
        head, _, remaining = data.partition(b"\n")
        words = head.split()
        if len(words) != 3:  # `<oid> missing`
            data = remaining
            continue
        size = int(words[2])
        if words[1] == b"tag":
            yield words[0].decode("ascii"), remaining[:size]
        data = remaining[size + 1 :]


def commit_ids(repo: Repository) -> frozenset[str]:
    """The oids of the newest MAX_COMMIT_IDS commits of all refs: a detector does not take them for secrets."""
    return frozenset(git_of(repo).run(["rev-list", "--all", f"--max-count={MAX_COMMIT_IDS}"]).decode("ascii").split())


UNSHALLOW = "git fetch --unshallow; in a workflow, fetch-depth: 0 of actions/checkout"


def shallow(repo: Repository) -> frozenset[str]:
    """The commits at which the history of a shallow clone is cut; empty in a full clone."""
    try:
        text = (repo.common_dir / "shallow").read_text(encoding="ascii")
    except FileNotFoundError:
        return frozenset()
    return frozenset(text.split())


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """The NUL-ended fields of a stream."""
    unfinished = b""
    while chunk := stream.read(PIECE_BYTES):
        *complete, unfinished = (unfinished + chunk).split(b"\0")
        yield from complete


def _parse(fields: Iterator[bytes]) -> Iterator[tuple[str, list[PathChange]]]:
    """Parses `diff-tree --stdin -c --raw -z`: (commit, its changes)."""
    commit, changes = "", list[PathChange]()
    for field in fields:
        if not field.startswith(b":"):
            if commit:
                yield commit, changes
            commit, changes = field.decode().strip(), []
            continue
        sides = len(field) - len(field.lstrip(b":"))
        words = field[sides:].decode().split(" ")
        modes, oids = words[: sides + 1], words[sides + 1 : 2 * sides + 2]
        old_oids = tuple(oid for oid in oids[:-1] if oid.strip("0"))
        new_oid = oids[-1] if oids[-1].strip("0") else ""
        if len(changes) >= MAX_FILES:
            raise too_many_files()
        changes.append(PathChange(os.fsdecode(next(fields)), int(modes[-1], 8), new_oid, old_oids))
    if commit:
        yield commit, changes
