"""The figures of `git mem status`: what the index holds, and whether it is current. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from gitmem.config import Config
from gitmem.errors import GitMemError, IndexDamaged
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.opening import Repository
from gitmem.index import db
from gitmem.index.db import inspection, snapshots
from gitmem.index.db.connection import HISTORY
from gitmem.index.db.reader import Index
from gitmem.index.db.values import IGNORED, LARGE, UNREADABLE
from gitmem.index.index_file import directory
from gitmem.memory.document import decode
from gitmem.memory.snapshot import WorkTree, read_work_tree, sparse_memory_paths, tree_files, work_tree_key
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, is_memory
from gitmem.plural import counted
from gitmem.shell_word import shell_word

# Endings of Markdown that no memory file has (`paths.kind`). Below memory/ a file of other prose looks like memory too.
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx")
PROSE_ENDINGS = (*MARKDOWN_ENDINGS, ".txt", ".text", ".rst", ".org", ".adoc")


@dataclass(frozen=True, slots=True)
class Odd:
    """A file that is memory, or looks like it, and is not fully indexed. `hint`: what to do, "" for nothing."""

    path: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The figures of `git mem status`.

    `path`: of the index file. `files`: memory files; `indexed`: those of them in the index. `bytes`: on disk.
    `embedder`: of the vectors, "" if there are none; `wanted`: the configured one. `stale`, `reason`: whether files
    have changed since, in words. `branches`: (name, whether it is indexed). `odd`: files that are not fully indexed.
    `secret_lines`: lines that are not indexed. `ignored`: memory files that Git ignores. `commits`: in the index of the
    history.

    JSON: `stale`: whether files have changed since. `reason`: that in words. `embedder`: the embedder whose vectors
    are compared. `wanted`: the configured one. `branches`: each local branch, and whether all of it is indexed.
    `odd`: every memory file that is not indexed whole, and files that are no memory only because of their ending.
    `commits`: commits in the history's index.
    """

    path: str
    exists: bool
    files: int
    indexed: int
    chunks: int
    vectors: int
    bytes: int
    embedder: str
    wanted: str
    stale: bool
    reason: str
    branches: tuple[tuple[str, bool], ...]
    odd: tuple[Odd, ...]
    secret_lines: int
    ignored: int
    commits: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a search of the work tree cannot find. `lines`: with a secret. `files`: not searched or cut."""

    lines: int
    files: int

    def __str__(self) -> str:
        """In words; "" if nothing is left out."""
        parts = []
        if self.lines:
            parts.append(f"{counted(self.lines, 'line')} withheld as {'a secret' if self.lines == 1 else 'secrets'}")
        if self.files:
            parts.append(f"{counted(self.files, 'file')} not searched")
        return ", ".join(parts)


def left_out(repo: Repository) -> LeftOut:
    """What the index of the work tree leaves out; nothing if there is no index. The index is not updated.

    Raises IndexDamaged if the file is no index of this version, IndexUnusable for a newer version or another owner.
    """
    index = db.open_index(directory(repo))
    if index is None:
        return LeftOut(0, 0)
    with closing(index):
        rows = inspection.file_problems(index.database, work_tree_key(repo))
    files = [row for row in rows if row.skipped or row.corpus in (LARGE, UNREADABLE)]
    return LeftOut(sum(row.secrets for row in rows), len(files))


def status(repo: Repository, config: Config) -> Status:
    """The state of the index, which is not updated. Raises IndexDamaged if the file is no index of this version,
    IndexUnusable for a newer version or another owner."""
    index_file = directory(repo) / db.FILE
    index = db.open_index(directory(repo))
    commit = repo.head()
    work_tree = None
    total = 0
    odd_files: list[Odd] = []
    if repo.root is not None:
        work_tree = read_work_tree(repo, config.memory_paths)
        total = len(work_tree.files)
        odd_files += _other_endings(repo, work_tree)
        odd_files += [
            Odd(path, "is in conflict, and is read as HEAD has it", "git status") for path in work_tree.conflicts
        ]
    elif commit:
        total = len(tree_files(repo, repo.tree(commit), config.memory_paths)[0])
    odd_files += _outside_checkout(sparse_memory_paths(repo, config.memory_paths))
    if index is None:
        return Status(
            path=str(index_file), exists=False, files=total, indexed=0, chunks=0, vectors=0, bytes=0, embedder="",
            wanted=config.embedder, stale=total > 0, reason="there is no index yet" if total else "", branches=(),
            odd=tuple(odd_files), secret_lines=0, ignored=0, commits=_commits(repo),
        )  # fmt: skip
    with closing(index):
        key = work_tree_key(repo)
        counts = inspection.counts(index.database)
        covered = snapshots.covered(index.database)
        branches = tuple(
            (name.removeprefix("refs/heads/"), covered.get(name, "").split(":")[0] == repo.tree(oid))
            for name, oid in repo.refs("refs/heads/")
        )
        indexed = counts.blobs
        if repo.root is not None:
            indexed = inspection.indexed_files(index.database, key)
        reason = ""
        if work_tree is not None and (changed := changed_files(index, key, work_tree)):
            reason = Message("{} changed since", counted(len(changed), "file"))
        odd_indexed_files, secrets, ignored = _odd(repo, index, key)
        in_force = index.in_force()
        return Status(
            path=str(index_file),
            exists=True,
            files=total - ignored,
            indexed=indexed,
            chunks=counts.chunks,
            vectors=counts.vectors,
            bytes=inspection.bytes_on_disk(index_file),
            embedder=in_force.spec if in_force else "",
            wanted=config.embedder,
            stale=bool(reason),
            reason=reason,
            branches=branches,
            odd=(*odd_indexed_files, *odd_files),
            secret_lines=secrets,
            ignored=ignored,
            commits=_commits(repo),
        )


def _other_endings(repo: Repository, work_tree: WorkTree) -> list[Odd]:
    """Files that no command reads, and that would be memory if their names ended in `.md`: `memory/plan.markdown`.

    Files that Git ignores are left out, and files that a glob of `[memory] paths` makes memory.
    """
    tracked = {entry.path for entry in repo.staged() if entry.mode in (REGULAR, EXECUTABLE)}
    layout = work_tree.layout
    odd_files = []
    for path in sorted({*tracked, *repo.untracked()} - work_tree.files.keys()):
        stem, ending = os.path.splitext(path)
        endings = PROSE_ENDINGS if path.startswith("memory/") else MARKDOWN_ENDINGS
        if ending == ".md" or ending.lower() not in endings or is_memory(path, layout):
            continue
        if is_memory(f"{stem}.md", layout):
            move = "git mv" if path in tracked else "mv"
            hint = f"{move} -- {shell_word(path)} {shell_word(stem + '.md')}"
            odd_files.append(Odd(path, "is not read: the name of a memory file ends in .md", hint))
    return odd_files


def _outside_checkout(paths: Sequence[str]) -> list[Odd]:
    """One row for all memory files that a sparse checkout leaves out; empty if there are none."""
    if not paths:
        return []
    words = "is left out of this sparse checkout"
    if len(paths) > 1:
        words = Message("is left out of this sparse checkout, as {}", counted(len(paths) - 1, "other memory file"))
    return [Odd(paths[0], words, "git sparse-checkout add its folder")]


def _commits(repo: Repository) -> int:
    """The number of commits in the index of the history, reachable or not."""
    with suppress(IndexDamaged):
        index = db.open_index(directory(repo), HISTORY)
        if index is not None:
            with closing(index):
                return inspection.counts(index.database).blobs
    return 0


def changed_files(index: Index, key: str, listing: WorkTree) -> frozenset[str]:
    """The paths of the work tree's files that were added, removed or written after they were indexed, by size and
    times. All files if there is no snapshot `key`."""
    if listing.is_recorded_as(index.scan(key)):
        return frozenset()
    # "? " marks a file that may have changed again within the clock's last tick; it counts as unchanged here.
    recorded = snapshots.file_stats(index.database, key) or {}
    changed = {path for path, stat in listing.files.items() if recorded.get(path, ("",))[0].removeprefix("? ") != stat}
    return frozenset(changed | (recorded.keys() - listing.files.keys()))


def _odd(repo: Repository, index: Index, key: str) -> tuple[list[Odd], int, int]:
    """(files that are not fully indexed, number of lines with a secret, number of ignored files) of a snapshot."""
    odd, total, ignored = [], 0, 0
    for path, secrets, problems, skipped, corpus in inspection.file_problems(index.database, key):
        total += secrets
        if corpus == IGNORED:
            ignored += 1
        elif corpus == LARGE:
            odd.append(Odd(path, "larger than 1 MiB, skipped", "split it into smaller notes"))
        elif corpus == UNREADABLE:
            odd.append(Odd(path, "cannot be read, skipped", "check its permissions; links are not followed"))
        elif problems:
            for reason, hint in _problems(repo, path):
                if skipped:
                    reason = Message("{}, skipped", reason)
                odd.append(Odd(path, reason, hint))
        if secrets:
            words = "a line is not indexed: a secret"
            if secrets > 1:
                words = Message("{} lines are not indexed: a secret", secrets)
            odd.append(Odd(path, words, f"git mem scan --all -- {shell_word(path)}"))
    return odd, total, ignored


def _problems(repo: Repository, path: str) -> list[tuple[str, str]]:
    """(what is wrong, hint) of each problem of a file of the work tree; empty if it cannot be read."""
    from gitmem.git.unmerged import WorkTreeReader
    from gitmem.memory.document import parse

    if repo.root is None:
        return []
    try:
        data = WorkTreeReader(repo).read(path, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, GitMemError):
        return []
    problems = decode(data, path)[1] if b"\0" in data else parse(data, path).problems
    return [(Message("line {}: {}", p.line, p.message) if p.line else p.message, p.hint) for p in problems]
