"""Merges the remote's branch for `git mem sync`, in a temporary work tree.

If both sides changed the same text of a memory file, the merge has their text, and a second commit on top of it has
ours. Conflict markers never reach a commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.branch_worktree import detached_worktree
from gitmem.git.git_config import settings_as_variables
from gitmem.git.objects import Entry
from gitmem.git.opening import Repository
from gitmem.git.signing import run_commit
from gitmem.git.unmerged import unmerged_stages
from gitmem.git.worktree import read_bytes
from gitmem.git.write import run_git, stage_entries
from gitmem.paths import Layout, is_memory

PLAIN = ("--no-autostash", "--no-overwrite-ignore")  # a merge neither stashes nor overwrites files of the work tree
_MARK = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge, not checked out yet.

    `commit`: its oid. `paths`: memory files whose same text both sides changed. `ours`: the commit on top of it with
    our side of them, "" for none.
    """

    commit: str
    paths: tuple[str, ...] = ()
    ours: str = ""


class Conflict(Exception):
    """Both sides changed files that are not memory (`paths`)."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(paths)
        self.paths = tuple(paths)


def merge_in_worktree(repo: Repository, layout: Layout, branch: str, head: str, theirs: str) -> Merge:
    """Merge the commit `theirs` of the remote's branch into `head` in a temporary work tree, with the hooks of this
    repository. No branch moves. `layout`: which files of `head` are memory. `branch`: the name of the remote's branch
    in messages, as `origin/main`.

    If both sides changed the same text of a memory file, the merge has their text, and a second commit has ours. Raises
    Conflict if a file with such changes is not memory, GitFailed if Git fails otherwise (as when a hook refuses a
    commit), NotSigned if a commit cannot be signed.
    """
    hooks = run_git(repo, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).rstrip("\n")
    env = settings_as_variables({"rerere.enabled": "false", "core.hooksPath": hooks}, repo.environ)
    commit_command = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"]
    with detached_worktree(repo, head) as temporary:
        subject = f"memory: merge {branch}"
        try:
            run_commit(temporary, ["merge", "--quiet", "--no-edit", "--no-ff", *PLAIN, "-m", subject, theirs], env=env)
            return Merge(temporary.resolve("HEAD"))
        except GitFailed:
            stages = unmerged_stages(temporary)
            if not stages:
                raise
        foreign = [path for path in stages if not is_memory(path, layout)]
        if foreign:
            raise Conflict(foreign)
        settled = {path: _sides(temporary, path, entries) for path, entries in stages.items()}
        names = file_names(settled)
        _stage(temporary, {path: sides[1] for path, sides in settled.items()})
        message = f"{subject}\n\nIts text stands where both sides changed the same: {names}."
        run_commit(temporary, commit_command, stdin=message, env=env)
        commit = temporary.resolve("HEAD")
        _stage(temporary, {path: sides[0] for path, sides in settled.items()})
        message = f"memory: our side of what {branch} changed too\n\nIn {names}."
        ours = ""
        if temporary.staged_changes():
            run_commit(temporary, commit_command, stdin=message, env=env)
            ours = temporary.resolve("HEAD")
    return Merge(commit, tuple(settled), ours)


def file_names(paths: Iterable[str]) -> str:
    """File names in quotation marks, with commas between them, for a message. A name with a line break or another odd
    character is not written out."""
    return ", ".join(f"'{path}'" if path.isprintable() else "a file with an odd name" for path in paths)


def _sides(repo: Repository, path: str, stages: Mapping[int, Entry]) -> tuple[Entry | None, Entry | None]:
    """Our and their version of a file with conflicts, both with all parts that Git could merge; None: no file. Where
    the conflicts in the work tree cannot be split into two sides, both are the versions as committed."""
    ours, theirs = stages.get(2), stages.get(3)
    if ours is None or theirs is None or ours.mode != theirs.mode:
        return ours, theirs
    if any(data is None or _MARK.search(data) for _, data in repo.read_many([entry.oid for entry in stages.values()])):
        return ours, theirs
    try:
        assert repo.root is not None
        marked = read_bytes(repo.root, path)
    except (OSError, GitMemError):
        return ours, theirs
    split = split_conflicts(marked)
    if split is None:
        return ours, theirs
    our_blob, their_blob = (_cleaned_blob(repo, path, side) for side in split)
    return ours._replace(oid=our_blob), theirs._replace(oid=their_blob)


def _cleaned_blob(repo: Repository, path: str, data: bytes) -> str:
    """Store the bytes of a file as `git add` would (line ends, filters). Returns the oid of the blob."""
    text = data.decode("utf-8", "surrogateescape")
    return run_git(repo, ["hash-object", "-w", f"--path={path}", "--stdin"], stdin=text).strip()


def split_conflicts(marked: bytes) -> tuple[bytes, bytes] | None:
    """(our side, their side) of a text with Git's conflict markers (seven characters, with or without a base); both
    have all lines outside the conflicts.

    Returns None if there are no markers or they are not in order.
    """
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    next_marks = {b"": b"<", b"<": b"|=", b"|": b"=", b"=": b">"}
    sides_after = {b"": (0, 1), b"<": (0,), b"|": (), b"=": (1,)}
    state = b""  # the last marker, b"" outside a conflict
    has_conflict = False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", marked):
        mark = line[:1] if _MARK.match(line) else b""
        if mark and mark in next_marks[state]:
            state = mark.replace(b">", b"")
            has_conflict = True
        elif mark and state:
            return None
        else:
            for side in sides_after[state]:
                sides[side].append(line)
    if not has_conflict or state:
        return None
    return b"".join(sides[0]), b"".join(sides[1])


def _stage(repo: Repository, entries: Mapping[str, Entry | None]) -> None:
    """Stage these versions of files and write them to the work tree; None removes a file."""
    removed = [path for path, entry in entries.items() if entry is None]
    present = [entry for entry in entries.values() if entry is not None]
    if removed:
        run_git(repo, ["rm", "--quiet", "--force", "--ignore-unmatch", "--", *removed])
    if present:
        stage_entries(repo, present)
        run_git(repo, ["checkout-index", "--force", "-z", "--stdin"], stdin="".join(f"{e.path}\0" for e in present))
