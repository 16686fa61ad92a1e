"""Lists the open branches of memory and merges one into the current branch, fact by fact, in one commit.

The merge is made in a temporary work tree, with the hooks. The current branch then moves forward to it, unless a branch
moved meanwhile. A person settles each conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.config import Config
from gitmem.errors import Changed, GitFailed, GitMemError, UsageError
from gitmem.exchange.taken_over import Takeover, takeovers
from gitmem.git import undo_record
from gitmem.git.branch_worktree import detached_worktree
from gitmem.git.commit import ensure_can_commit, merging
from gitmem.git.merge_file import merge_text
from gitmem.git.opening import Repository
from gitmem.git.repository import file_at
from gitmem.git.revision import CommitRange
from gitmem.git.signing import run_commit
from gitmem.git.transaction import Reading, ensure_position, position, writer
from gitmem.git.worktree import write_atomic
from gitmem.git.write import run_git
from gitmem.memory.percent_encoding import encode
from gitmem.memory.snapshot import layout_at
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, kind
from gitmem.provenance.present_facts import KINDS, LONG_TERM_KINDS
from gitmem.review.commit_diff import changed_files, fact_changes
from gitmem.review.fact_diff import FactChange
from gitmem.review.merge.fact_merge import merge_memory
from gitmem.review.merge.line_merge import MARK, Labels, split_at_marks
from gitmem.review.publish import ensure_gate_passes

PREFIX = "refs/heads/"
LABELS = Labels(size=61)  # longer than any conflict marker in a file
MAX_BRANCHES = 20  # open branches that are listed


@dataclass(frozen=True, slots=True)
class OpenBranch:
    """A branch with memory that the current branch does not have.

    `changes`: number of changed facts in MEMORY.md and the archive, and of others that cite a source. `lines`: number
    of other added or changed lines, in logs, notes and sessions. `taken_over`: the commit that took the branch's files
    over without some of their lines, None if the branch waits to be merged.
    """

    name: str
    tip: str
    changes: int
    lines: int = 0
    taken_over: Takeover | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines of a file on which the two sides differ, each with its line end; `base`: the lines before both. `number`:
    from 0, over all files."""

    number: int
    path: str
    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A file that both sides changed. `parts`: its lines, with conflicts in place of lines that differ."""

    path: str
    parts: tuple[str | Conflict, ...]


@dataclass(frozen=True, slots=True)
class BranchMerge:
    """The merge of `tip` into `head`, not made yet.

    `changes`: of facts. `files`: memory files that both sides changed. `brought`: (path, oid at `tip`, "" if removed)
    of the memory files that `tip` changed. `others`: other files that it changed; the merge is refused if there are
    any. `message`: the first line of the commit message.
    """

    name: str
    head: str
    tip: str
    changes: tuple[FactChange, ...]
    files: tuple[MergedFile, ...]
    brought: tuple[tuple[str, str], ...]
    others: tuple[str, ...]
    message: str

    @property
    def conflicts(self) -> list[Conflict]:
        return [part for file in self.files for part in file.parts if isinstance(part, Conflict)]


def open_branches(repo: Repository, config: Config, today: date) -> list[OpenBranch]:
    """The local branches with memory that the current branch does not have, by name, at most MAX_BRANCHES.

    Branches that were taken over come last, without counts, at most MAX_BRANCHES of them too.
    """
    head = repo.head()
    if head is None:
        return []
    branches: list[OpenBranch] = []
    layout = layout_at(repo, head, config)
    refs = sorted(repo.refs(PREFIX))
    done = takeovers(repo, {tip for _, tip in refs if tip != head})
    taken_over = [
        OpenBranch(ref.removeprefix(PREFIX), tip, 0, taken_over=done[tip]) for ref, tip in refs if tip in done
    ]
    for ref, tip in refs:
        if len(branches) == MAX_BRANCHES:
            break
        if tip in done or repo.is_ancestor(tip, head):
            continue
        base = repo.merge_base(head, tip)
        if base and changed_files(repo, base, tip, layout):
            rows = fact_changes(repo, base, tip, layout, today, authors=False)
            facts = sum(
                kind(row.path) in LONG_TERM_KINDS or (kind(row.path) in KINDS and bool(row.fact.meta)) for row in rows
            )
            branches.append(OpenBranch(ref.removeprefix(PREFIX), tip, facts, len(rows) - facts))
    return branches + taken_over[:MAX_BRANCHES]


def branch_merge(repo: Repository, config: Config, name: str, today: date) -> BranchMerge:
    """The merge of the branch `name` into the current branch, with the conflicts to settle first. Reads only.

    Raises UsageError if there is no such branch, GitMemError if it is merged already, has no common history, or has a
    file that cannot be merged here.
    """
    head, tip = repo.head(), dict(repo.refs(PREFIX)).get(PREFIX + name)
    if head is None or tip is None:
        raise UsageError(Message("there is no branch '{}'", name), "git branch lists them")
    return merge_of(repo, config, name, (head, tip), today)


def merge_of(
    repo: Repository,
    config: Config,
    name: str,
    sides: tuple[str, str],
    today: date,
    settled_bytes: Callable[[str], bytes | None] = lambda _: None,
) -> BranchMerge:
    """The merge of the second commit of `sides` into the first. Reads only. `name`: of the branch, for messages.

    `settled_bytes`: path -> bytes of a file that is settled already, None for any other. Raises GitMemError if the
    commits have no common history, if the second is merged already, if one side removed a file that the other changed,
    or if a file is too large or holds the marks of a conflict.
    """
    head, tip = sides
    base = repo.merge_base(head, tip)
    if base is None:
        raise GitMemError(Message("'{}' has another history", name), "git merge --allow-unrelated-histories")
    if repo.is_ancestor(tip, head):
        raise GitMemError(Message("'{}' is merged already", name))
    layout = layout_at(repo, head, config)
    ours = {change.path: change.new_oid for change in repo.changes(base, head)}
    theirs = {change.path: change.new_oid for change in repo.changes(base, tip)}
    memory = {change.path for change in changed_files(repo, base, tip, layout)}
    files: list[MergedFile] = []
    count = 0
    for path in sorted(memory & set(ours)):
        if ours[path] != theirs.get(path):
            data = settled_bytes(path)
            if data is None:
                oids = (ours[path], theirs.get(path, ""))
                files.append(_merged(repo, config, path, base, oids, count))
            else:
                files.append(MergedFile(path, (data.decode("utf-8", "surrogateescape"),)))
            count += sum(isinstance(part, Conflict) for part in files[-1].parts)
    changes = fact_changes(repo, base, tip, layout, today, authors=False)
    brought = tuple((path, theirs.get(path, "")) for path in sorted(memory))
    return BranchMerge(
        name, head, tip, tuple(changes), tuple(files), brought, tuple(sorted(set(theirs) - memory)),
        f"Merge branch '{name}'",
    )  # fmt: skip


def _merged(repo: Repository, config: Config, path: str, base: str, oids: tuple[str, str], number: int) -> MergedFile:
    """Merge a file that both sides changed, fact by fact.

    `base`: the merge base, a commit that may lack the file. `oids`: the blobs of ours and theirs, "" for a side that
    removed the file. `number`: of its first conflict. Raises GitMemError if one side removed the file, or if it is too
    large or holds marks of a conflict.
    """
    if not all(oids):
        raise GitMemError(Message("one side removed '{}' and the other changed it", path), "settle that with git merge")
    base_data = file_at(repo, base, path) or b""
    ours, theirs = (repo.read(oid) for oid in oids)
    marks = [line.encode() for line in LABELS.block((), (), ())]
    if max(map(len, (base_data, ours, theirs))) > MAX_MEMORY_FILE_BYTES or any(
        mark in data for mark in marks for data in (ours, theirs)
    ):
        raise GitMemError(
            Message("'{}' is too large to merge here, or holds the marks of a conflict", path), "git merge"
        )
    merged = merge_memory(
        base_data, ours, theirs, path, lambda b, o, t: merge_text(repo.environ, o, b, t, marker=MARK), LABELS,
        config.memory_daily,
    ).data  # fmt: skip
    return MergedFile(path, tuple(_parts(merged, path, number)))


def _parts(merged: bytes, path: str, number: int) -> list[str | Conflict]:
    """The lines and conflicts of a merged text with the conflict markers of LABELS, in order. `number`: of the first
    conflict."""
    parts: list[str | Conflict] = []
    lines = merged.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    for part in split_at_marks(lines, LABELS.block((), (), ())):
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append(Conflict(number, path, part.ours, part.base, part.theirs))
            number += 1
    return parts


def settled(merge: BranchMerge, choices: Mapping[int, str | Sequence[str]]) -> dict[str, bytes]:
    """path -> bytes of the files that both sides changed, with each conflict settled.

    `choices`: number of the conflict -> "ours", "theirs", "both" (ours, then what only theirs has), or the lines
    themselves. Raises UsageError if a conflict has no choice.
    """
    contents: dict[str, bytes] = {}
    for file in merge.files:
        lines: list[str] = []
        for part in file.parts:
            lines += [part] if isinstance(part, str) else chosen(part, choices.get(part.number, ""))
        contents[file.path] = "".join(lines).encode("utf-8", "surrogateescape")
    return contents


def outcome(
    repo: Repository, merge: BranchMerge, contents: Mapping[str, bytes]
) -> dict[str, tuple[bytes | None, bytes | None]]:
    """path -> (its bytes before the merge, its bytes after it), for the memory files that the branch changed; None if
    there is no file. `contents`: bytes of the files that both sides changed, from `settled`."""
    blobs = repo.blobs(merge.head, [path for path, _ in merge.brought])
    result: dict[str, tuple[bytes | None, bytes | None]] = {}
    for path, oid in merge.brought:
        old_data = new_data = None
        if path in blobs:
            old_data = repo.read(blobs[path])
        if path in contents:
            new_data = contents[path]
        elif oid:
            new_data = repo.read(oid)
        result[path] = old_data, new_data
    return result


def chosen(conflict: Conflict, choice: str | Sequence[str]) -> Sequence[str]:
    """The lines that a choice puts in place of a conflict. `choice`: "ours", "theirs", "both" (ours, then the lines of
    theirs that ours lacks), or the lines themselves. Raises UsageError for any other text, such as ""."""
    if not isinstance(choice, str):
        return choice
    match choice:
        case "ours":
            return conflict.ours
        case "theirs":
            return conflict.theirs
        case "both":
            return [*conflict.ours, *(line for line in conflict.theirs if line not in conflict.ours)]
    raise UsageError(
        Message("conflict {} is not settled", conflict.number + 1), "choose one side, both, or write the text"
    )


def merge_branch(repo: Repository, merge: BranchMerge, contents: Mapping[str, bytes], today: date) -> str:
    """Make `merge` in one commit and move the current branch to it. Returns the commit's oid.

    `contents`: bytes of the files that both sides changed, from `settled`. Raises Changed if a branch moved meanwhile,
    GitFailed if a hook refuses or local edits would be overwritten, Refused if the gate blocks, GitMemError if the
    branch changes more than memory or if another merge is in progress. Nothing is changed then.
    """
    ensure_can_commit(repo)
    old_position = position(repo)
    if (old_position.head, dict(repo.refs(PREFIX)).get(PREFIX + merge.name)) != (merge.head, merge.tip):
        raise Changed("one of the branches moved meanwhile; nothing was merged", "look at it as it is now")
    merge_commit = made_merge(repo, merge, contents, today)
    with writer(repo):
        ensure_position(repo, old_position)
        go_forward(repo, merge, merge_commit)
    return merge_commit


def made_merge(repo: Repository, merge: BranchMerge, contents: Mapping[str, bytes], today: date) -> str:
    """Make the commit of a merge in a temporary work tree, with hooks and gate. Returns its oid; no branch has it yet.

    Raises GitFailed if a hook refuses, Refused if the gate blocks, GitMemError if the branch changes more than memory
    or if Git merges a file to other bytes than shown.
    """
    if merge.others:
        raise GitMemError(Message("'{}' changes more than memory", merge.name), f"git merge {encode(merge.name)}")
    with detached_worktree(repo, merge.head) as temporary:
        try:
            run_git(temporary, ["merge", "--no-commit", "--no-ff", "--quiet", merge.tip])
        except GitFailed:
            if not merging(temporary):
                raise
        assert temporary.root is not None
        for path, data in contents.items():
            write_atomic(temporary.root, path, data)
        if contents:
            run_git(temporary, ["add", "--", *contents])
        rows = [f"- {encode(row.path)}: conflict {row.number + 1} settled" for row in merge.conflicts]
        message = "\n".join([merge.message, "", *rows]) + "\n"
        run_commit(temporary, ["commit", "--quiet", "--cleanup=whitespace", "--file=-"], stdin=message)
        merge_commit = temporary.head()
        assert merge_commit is not None
        expected = outcome(repo, merge, contents)
        for change in repo.changes(merge.head, merge_commit):
            new_data = repo.read(change.new_oid) if change.new_oid else None
            if change.path not in expected or expected[change.path][1] != new_data:
                words = Message("git makes something else of '{}' than was shown; nothing was merged", change.path)
                raise GitMemError(words, f"git merge {encode(merge.name)}")
        ensure_gate_passes(repo, CommitRange(merge.head, merge_commit, merge.head), today)
    return merge_commit


def go_forward(repo: Repository, merge: BranchMerge, merge_commit: str) -> None:
    """Move the current branch from `merge.head` to `merge_commit`, and record it for `git mem undo`.

    The caller holds the lock of all writers. Raises GitFailed if a file of the work tree would be overwritten or the
    branch moved.
    """
    paths = [change.path for change in repo.changes(merge.head, merge_commit)]
    reading_before = Reading(repo)
    noted = {path: reading_before.raw(path) for path in paths}
    run_git(repo, ["merge", "--ff-only", "--quiet", merge_commit])
    reading_after = Reading(repo)
    undo_record.remember(repo, noted, {path: reading_after.raw(path) for path in paths}, merge_commit)
