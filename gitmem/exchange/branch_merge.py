"""Open branches of memory, and merging one into the current branch fact by fact, in one commit.

The merge is made in a temporary work tree, with the hooks; the current branch then goes forward to it, where nothing
moved meanwhile. What two sides say differently is settled by a person, conflict by conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import Changed, GitFailed, GitMemError, UsageError
from gitmem.exchange.taken_over import Takeover, takeovers
from gitmem.git import undo_record
from gitmem.git.branch_worktree import detached_worktree
from gitmem.git.merge_file import merge_text
from gitmem.git.opening import Repository
from gitmem.git.revision import CommitRange
from gitmem.git.transaction import Reading, ensure_position, position, writer
from gitmem.git.worktree import write_atomic
from gitmem.git.write import ensure_can_commit, run_git
from gitmem.memory.fact import encode
from gitmem.memory.snapshot import layout_at
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, kind
from gitmem.provenance.present_facts import KINDS, LASTING
from gitmem.review.commit_diff import changed_files, fact_changes
from gitmem.review.fact_diff import FactChange
from gitmem.review.merge.fact_merge import merge
from gitmem.review.merge.line_merge import MARK, Labels
from gitmem.review.publish import through_the_gate

PREFIX = "refs/heads/"
LABELS = Labels(size=61)  # longer than any mark that a file may hold
BRANCHES = 20  # open branches that are listed
OURS, THEIRS, BOTH = "ours", "theirs", "both"


@dataclass(frozen=True, slots=True)
class OpenBranch:
    """A branch with memory that the current one lacks: `changes` of facts of MEMORY.md, the archive and what cites a
    source, and `lines` of logs, notes and sessions that it brings or changes; `taken_over`: the commit that took
    its files over without some of their lines, None where it waits."""

    name: str
    tip: str
    changes: int
    lines: int = 0
    taken_over: Takeover | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines of a file on which the two sides differ, each with its end; `number` counts from 0 over all files."""

    number: int
    path: str
    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A file that both sides changed: its lines, with conflicts among them."""

    path: str
    parts: tuple[str | Conflict, ...]


@dataclass(frozen=True, slots=True)
class BranchMerge:
    """What merging `tip` into `head` is: `files` are those that both sides changed, `brought` the files of memory that
    `tip` changed with their blobs there, "" for one it removed, `others` what it changes besides memory: it is not
    merged here then. `message` is the first line of the commit's."""

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
    """The local branches that change memory beyond the current one, BRANCHES at most, by name; those that were taken
    over stand last and count for nothing, BRANCHES at most of them too."""
    head = repo.head()
    if head is None:
        return []
    found: list[OpenBranch] = []
    layout = layout_at(repo, head, config)
    refs = sorted(repo.refs(PREFIX))
    done = takeovers(repo, {tip for _, tip in refs if tip != head})
    over = [OpenBranch(ref.removeprefix(PREFIX), tip, 0, taken_over=done[tip]) for ref, tip in refs if tip in done][
        :BRANCHES
    ]
    for ref, tip in refs:
        if len(found) == BRANCHES:
            break
        if tip in done:
            continue
        if repo.is_ancestor(tip, head):
            base = None
        else:
            base = repo.merge_base(head, tip)
        if base and changed_files(repo, base, tip, layout):
            rows = fact_changes(repo, base, tip, layout, today, authors=False)
            facts = sum(kind(row.path) in LASTING or (kind(row.path) in KINDS and bool(row.fact.meta)) for row in rows)
            found.append(OpenBranch(ref.removeprefix(PREFIX), tip, facts, len(rows) - facts))
    return found + over


def branch_merge(repo: Repository, config: Config, name: str, today: date) -> BranchMerge:
    """What merging the branch `name` would bring and what must be settled first. Reads only.

    Raises GitMemError for a branch that is not there, that is merged already, or whose conflict is of whole files.
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
    done: Callable[[str], bytes | None] = lambda _: None,
) -> BranchMerge:
    """What merging the second of two commits into the first would bring. `done` gives the bytes of a file that is
    settled already, by its path."""
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
            data = done(path)
            if data is None:
                oids = (ours[path], theirs.get(path, ""))
                files.append(_merged(repo, config, path, base, oids, count))
            else:
                files.append(MergedFile(path, (data.decode("utf-8", "surrogateescape"),)))
            count += sum(isinstance(part, Conflict) for part in files[-1].parts)
    changes = fact_changes(repo, base, tip, layout, today, authors=False)
    brought = tuple((path, oid if (oid := theirs.get(path, "")).strip("0") else "") for path in sorted(memory))
    return BranchMerge(
        name, head, tip, tuple(changes), tuple(files), brought, tuple(sorted(set(theirs) - memory)),
        f"Merge branch '{name}'",
    )  # fmt: skip


def _merged(repo: Repository, config: Config, path: str, base: str, oids: tuple[str, str], number: int) -> MergedFile:
    """A file that both sides changed, merged fact by fact."""
    held = repo.blobs(base, [path])
    if not all(oid.strip("0") for oid in oids):
        raise GitMemError(Message("one side removed '{}' and the other changed it", path), "settle that with git merge")
    before = b""
    if path in held:
        before = repo.read(held[path])
    ours, theirs = (repo.read(oid) for oid in oids)
    marks = [line.encode() for line in LABELS.block((), (), ())]
    if max(map(len, (before, ours, theirs))) > MAX_MEMORY_FILE_BYTES or any(
        mark in data for mark in marks for data in (ours, theirs)
    ):
        raise GitMemError(
            Message("'{}' is too large to merge here, or holds the marks of a conflict", path), "git merge"
        )
    merged = merge(
        before, ours, theirs, path, lambda b, o, t: merge_text(repo.environ, o, b, t, marker=MARK), LABELS,
        config.memory_daily,
    ).data  # fmt: skip
    return MergedFile(path, tuple(_parts(merged, path, number)))


def _parts(merged: bytes, path: str, number: int) -> list[str | Conflict]:
    parts: list[str | Conflict] = []
    marks = [line.rstrip("\n") for line in LABELS.block((), (), ())]
    sides: list[list[str]] = []
    for line in merged.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        mark = line.rstrip("\r\n")
        if mark == marks[0]:
            sides = [[]]
        elif sides and mark == marks[3]:
            ours, base, theirs = (tuple(side) for side in sides)
            parts.append(Conflict(number, path, ours, base, theirs))
            number, sides = number + 1, []
        elif sides and mark in marks:
            sides.append([])
        elif sides:
            sides[-1].append(line)
        else:
            parts.append(line)
    return parts


def settled(shown: BranchMerge, choices: Mapping[int, str | Sequence[str]]) -> dict[str, bytes]:
    """The files of a merge with each conflict settled: OURS, THEIRS, BOTH, or lines of its own.

    Raises UsageError where one is not.
    """
    contents: dict[str, bytes] = {}
    for file in shown.files:
        lines: list[str] = []
        for part in file.parts:
            lines += [part] if isinstance(part, str) else chosen(part, choices.get(part.number, ""))
        contents[file.path] = "".join(lines).encode("utf-8", "surrogateescape")
    return contents


def outcome(
    repo: Repository, shown: BranchMerge, contents: Mapping[str, bytes]
) -> dict[str, tuple[bytes | None, bytes | None]]:
    """The bytes of each merged file before and after the merge, by path; None where the file does not exist."""
    blobs = repo.blobs(shown.head, [path for path, _ in shown.brought])

    def after(path: str, oid: str) -> bytes | None:
        if path in contents:
            return contents[path]
        if not oid:
            return None
        return repo.read(oid)

    return {path: (repo.read(blobs[path]) if path in blobs else None, after(path, oid)) for path, oid in shown.brought}


def chosen(conflict: Conflict, choice: str | Sequence[str]) -> Sequence[str]:
    """The lines that a choice leaves of a conflict. Raises UsageError for none."""
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


def merge_branch(repo: Repository, shown: BranchMerge, contents: Mapping[str, bytes], today: date) -> str:
    """Merge what was `shown` with these contents of the files that both sides changed, in one commit; its oid.

    Raises Changed where a side moved meanwhile, GitFailed where a hook refuses, Refused where the gate finds something
    in what comes, GitMemError where it brings more than memory or local edits stand in the way; nothing is
    changed then.
    """
    ensure_can_commit(repo)
    before = position(repo)
    if (before.head, dict(repo.refs(PREFIX)).get(PREFIX + shown.name)) != (shown.head, shown.tip):
        raise Changed("one of the branches moved meanwhile; nothing was merged", "look at it as it is now")
    made = made_merge(repo, shown, contents, today)
    with writer(repo):
        ensure_position(repo, before)
        go_forward(repo, shown, made)
    return made


def made_merge(repo: Repository, shown: BranchMerge, contents: Mapping[str, bytes], today: date) -> str:
    """The commit of a merge, on no branch yet: made in a temporary work tree, with the hooks, and read by the gate.

    Raises GitFailed where a hook refuses, Refused where the gate finds something in what comes, GitMemError where it
    brings more than memory, or anything but what was shown.
    """
    if shown.others:
        raise GitMemError(Message("'{}' changes more than memory", shown.name), f"git merge {encode(shown.name)}")
    with detached_worktree(repo, shown.head) as there:
        try:
            run_git(there, ["merge", "--no-commit", "--no-ff", "--quiet", shown.tip])
        except GitFailed:
            if not (Path(there.git_dir) / "MERGE_HEAD").exists():
                raise
        assert there.root is not None
        for path, data in contents.items():
            write_atomic(there.root, path, data)
        run_git(there, ["add", "--", *contents]) if contents else None
        rows = [f"- {encode(row.path)}: conflict {row.number + 1} settled" for row in shown.conflicts]
        message = "\n".join([shown.message, "", *rows]) + "\n"
        run_git(there, ["commit", "--quiet", "--cleanup=whitespace", "--file=-"], input=message)
        made = there.head()
        assert made is not None
        told = outcome(repo, shown, contents)
        for change in repo.changes(shown.head, made):
            after = None
            if change.new_oid.strip("0"):
                after = repo.read(change.new_oid)
            if change.path not in told or told[change.path][1] != after:
                words = Message("git makes something else of '{}' than was shown; nothing was merged", change.path)
                raise GitMemError(words, f"git merge {encode(shown.name)}")
        through_the_gate(repo, CommitRange(shown.head, made, shown.head), today)
    return made


def go_forward(repo: Repository, shown: BranchMerge, made: str) -> None:
    """Move the current branch, which is at `shown.head`, to the merge, and remember that it can be taken back. The
    caller is the writer."""
    paths = [change.path for change in repo.changes(shown.head, made)]
    before = Reading(repo)
    noted = {path: before.raw(path) for path in paths}
    run_git(repo, ["merge", "--ff-only", "--quiet", made])
    after = Reading(repo)
    undo_record.remember(repo, noted, {path: after.raw(path) for path in paths}, made)
