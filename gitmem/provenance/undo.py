"""Taking back the last thing that git mem wrote here: what was not committed goes out of the work tree, what was is
reverted by a commit of its own. Nothing is touched that somebody changed since, and what a person wrote in a file
before, without committing it, stays.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, NotKept
from gitmem.gate.changes.rules import BULK_LINES, lost_lines
from gitmem.git import undo_record
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Draft, Reading, commit, is_committed, unstage, write, writer
from gitmem.git.undo_record import Entry, digest
from gitmem.git.worktree import drop_empty_parents
from gitmem.memory.document import decode
from gitmem.messages import Message
from gitmem.paths import is_daily
from gitmem.provenance import trailers
from gitmem.provenance.ledger import UNDO
from gitmem.provenance.preview import diff


@dataclass(frozen=True, slots=True)
class FileChange:
    """What taking back does to a file: its bytes now and those it gets, None for no file."""

    path: str
    now: bytes | None
    then: bytes | None

    def lines(self) -> list[str]:
        """The lines that go ("- ") and that come back ("+ ")."""
        return [f"{line.sign} {line.text}" for line in diff(self.now, self.then) if line.sign in "-+"]


@dataclass(frozen=True, slots=True)
class Undo:
    """What is taken back: when it was written (ISO, UTC), its commits, the oldest first (none where it was not
    committed), the first one's subject, and its files. `held` are those of them that somebody committed by hand since,
    `held_in` the commits that did. `commit` is the one that took it back, "" before, and for a write that was not
    committed. `branch`: the branch that it stands on and that is not checked out here, "" for the current one.
    After the undo of a `merge` Git counts that branch as merged all the same."""

    at: str
    commits: tuple[str, ...]
    subject: str
    files: tuple[FileChange, ...]
    held: tuple[str, ...] = ()
    commit: str = ""
    merge: bool = False
    held_in: tuple[str, ...] = ()
    branch: str = ""


def last_write(repo: Repository) -> Undo:
    """What `undo` would take back. Reads only. Raises as `undo`."""
    entries = undo_record.last_write(repo)
    if not entries:
        raise GitMemError("there is nothing to undo here", "git mem log; git mem changes")
    branch = _elsewhere(repo, entries)
    if not branch:
        return _plan(repo, entries, Reading(repo).raw)
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    if not tip:
        raise NotKept(Message("the last write stood on the branch '{}', which is gone", branch), "git reflog")

    def raw(path: str) -> bytes | None:
        oid = repo.blobs(tip, [path]).get(path, "")
        if not oid:
            return None
        return repo.read(oid)

    return _plan(repo, entries, raw, tip, branch)


def _elsewhere(repo: Repository, entries: Sequence[Entry]) -> str:
    """The branch of the entries, if HEAD does not contain their last commit; "" if it does."""
    branch, head = entries[-1].branch, repo.head()
    if not branch or repo.branch() == branch:
        return ""
    oid = next((entry.commit for entry in reversed(entries) if entry.commit), "")
    if head is not None and oid and (oid == head or repo.is_ancestor(oid, head)):
        return ""
    return branch


def pass_over(repo: Repository) -> None:
    """Forget the last write, which cannot be taken back (NotKept): the one before it is the last then."""
    with writer(repo):
        entries = undo_record.last_write(repo)
        branches = {name for name, _ in repo.refs()}
        gone = entries and (branch := _elsewhere(repo, entries)) and f"refs/heads/{branch}" not in branches
        if gone or not all(entry.files for entry in entries):
            undo_record.drop(repo, entries)


def undo(repo: Repository, config: Config, expected: Undo) -> Undo:
    """Take back `expected`, the last write, and forget that it can be.

    Raises Changed where one of its files is not as it left it, where it is not the last write any more, or where its
    commit is not on this branch; GitMemError where nothing is remembered, NotKept for a write whose text is not kept
    (`pass_over`). Nothing is touched then.
    """

    entries: list[Entry] = []
    if expected.branch:
        return _undo_on_branch(repo, config, expected)

    def planned(reading: Reading) -> Undo:
        entries[:] = undo_record.last_write(repo)
        now = None
        if entries:
            now = _plan(repo, entries, reading.raw)
        if now != expected:
            raise Changed("something else was written meanwhile; nothing was taken back", "run it again")
        return now

    oid = ""
    if expected.commits:
        _, oid = commit(repo, lambda reading: _commit_draft(config, planned(reading)), undoable=False)
    else:
        write(repo, lambda reading: Draft(_contents(planned(reading)), None), undoable=False)
        for file in expected.files:
            unstage(repo, file.path, file.then, file.now)
    with writer(repo):
        for path in [file.path for file in expected.files if file.then is None]:
            assert repo.root is not None
            drop_empty_parents(repo.root, path)
        undo_record.drop(repo, entries)
    return replace(expected, commit=oid)


def _undo_on_branch(repo: Repository, config: Config, expected: Undo) -> Undo:
    """Take back what stands on another branch: in a commit on top of that branch; nothing here is touched."""
    entries = undo_record.last_write(repo)
    with branch_worktree(repo, expected.branch) as there:

        def planned(reading: Reading) -> Undo:
            now = None
            if entries:
                now = _plan(there, entries, reading.raw, there.head() or "", expected.branch)
            if now != expected:
                raise Changed("something else was written meanwhile; nothing was taken back", "run it again")
            return now

        _, oid = commit(there, lambda reading: _commit_draft(config, planned(reading)), undoable=False)
    with writer(repo):
        undo_record.drop(repo, entries)
    return replace(expected, commit=oid)


def _plan(
    repo: Repository, entries: Sequence[Entry], raw: Callable[[str], bytes | None], tip: str = "", branch: str = ""
) -> Undo:  # fmt: skip
    """What to take back of these entries. `raw`: the bytes of a file now, None for no file. `tip`: the commit that must
    hold what was committed, "" for HEAD."""
    if not all(entry.files for entry in entries):
        raise NotKept("the last write stays: it was too large to be remembered, or a redaction", "git status; git log")
    oids = tuple(entry.commit for entry in entries if entry.commit)
    after = _after(entries)
    for path, expected in after.items():
        if digest(raw(path)) != expected:
            raise Changed(
                Message("'{}' was changed since; nothing was taken back", path),
                f"git diff -- {shlex.quote(path)}; git log -- {shlex.quote(path)}",
            )
    if not oids:
        before = {path: file.text for entry in reversed(entries) for path, file in entry.files.items()}
        changes = _changes(raw, before)
        kept = tuple(file.path for file in changes if _is_held(repo, file))
        return Undo(entries[0].at, (), "", changes, kept, held_in=_commits_of(repo, kept))
    first = repo.commit(oids[0])
    head = tip or repo.head()
    if head is None or not (head == oids[-1] or repo.is_ancestor(oids[-1], head)):
        raise Changed(
            "what was written last is not on this branch",
            Message("git switch to the branch that holds {}", oids[-1][:12]),
        )
    merge = any(len(repo.commit(oid).parents) > 1 for oid in oids)
    parent = ""
    if first.parents:
        parent = first.parents[0]
    if parent:
        held = {entry.path: entry.oid for entry in repo.entries(parent, list(after))}
    else:
        held = {}
    found = {path: file for entry in reversed(entries) for path, file in entry.files.items()}
    before = {}
    for path, file in found.items():
        before[path] = file.text
        if file.text is None and file.before is not None and path in held:
            before[path] = repo.read(held[path])
    subject = first.message.partition("\n")[0]
    return Undo(entries[0].at, oids, subject, _changes(raw, before), merge=merge, branch=branch)


def _after(entries: Sequence[Entry]) -> dict[str, str | None]:
    """path -> digest of what the last of these writes left. Raises Changed where somebody wrote between two of them."""
    after: dict[str, str | None] = {}
    for entry in entries:
        for path, file in entry.files.items():
            if path in after and file.before != after[path]:
                raise Changed(
                    Message("'{}' was changed between two of these writes; nothing was taken back", path),
                    f"git log -- {shlex.quote(path)}",
                )
            after[path] = file.after
    return after


def _changes(
    raw: Callable[[str], bytes | None], before: Mapping[str, bytes | None]
) -> tuple[FileChange, ...]:  # fmt: skip
    return tuple(FileChange(path, raw(path), data) for path, data in sorted(before.items()))


def _is_held(repo: Repository, file: FileChange) -> bool:
    """Whether HEAD holds a file as it is now, or, where other lines of it differ, all lines that would go."""
    head = repo.head()
    if is_committed(repo, file.path, file.now):  # no file, and none in any commit: it was never there to be taken out
        return file.now is not None or (head is not None and any(repo.log([head], [file.path], limit=1)))
    gone = lost_lines([_text(file.now)], _text(file.then))
    oid = ""
    if head:
        oid = next((entry.oid for entry in repo.entries(head, [file.path]) if entry.path == file.path), "")
    return bool(gone and oid) and not lost_lines(["\n".join(gone)], _text(repo.read(oid)))


def _commits_of(repo: Repository, paths: Sequence[str]) -> tuple[str, ...]:
    """The newest commit of each path, each once."""
    head = repo.head()
    newest = (commit.oid for path in paths for commit in repo.log([head], [path], limit=1)) if head else ()
    return tuple(dict.fromkeys(newest))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _contents(plan: Undo) -> dict[str, bytes | None]:
    return {file.path: file.then for file in plan.files}


def _commit_draft(config: Config, plan: Undo) -> CommitDraft[None]:
    what = f'{UNDO}{plan.subject}"'
    lines = [what, "", *(f"This reverts commit {oid}." for oid in reversed(plan.commits))]
    rewrite = ""
    if any(_rewrites(file, config) for file in plan.files):
        rewrite = f"undo of {plan.commits[0][:12]}"
    recorded = trailers.Recorded(agent=config.agent, rewrite=rewrite)
    return CommitDraft(_contents(plan), None, trailers.with_record("\n".join(lines), recorded))


def _rewrites(file: FileChange, config: Config) -> bool:
    """Whether the gate asks why lines go: of a daily log any, of other files many."""
    old, new = (decode(data)[0] if data else "" for data in (file.now, file.then))
    lost = len(lost_lines([old], new))
    return lost >= (1 if is_daily(file.path, config.memory_daily) else BULK_LINES)


def as_value(done: Undo, dry_run: bool) -> dict[str, object]:
    """The JSON of docs/json.md, "undo"."""
    return {
        "at": done.at,
        "commits": list(done.commits),
        "commit": done.commit or None,
        "branch": done.branch or None,
        "files": [{"path": file.path, "lines": file.lines()} for file in done.files],
        "committed_since": list(done.held),
        "committed_in": list(done.held_in),
        "dry_run": dry_run,
    }
