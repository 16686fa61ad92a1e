"""`git mem undo`: takes back the last thing that git mem wrote here.

An uncommitted write is removed from the work tree; a committed one is reverted by a new commit. The undo refuses when a
file was changed since. Uncommitted edits that a person made before the write stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gitmem.config import Config
from gitmem.daily_logs import is_daily
from gitmem.errors import Changed, GitMemError, NotKept
from gitmem.gate.changes.rules import BULK_LINES, lost_lines
from gitmem.gate.quoting import without_secrets
from gitmem.git import undo_record
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.git_index import is_committed, unstage
from gitmem.git.repository import Repository, file_at
from gitmem.git.transaction import CommitDraft, Draft, Reading, commit, write, writer
from gitmem.git.undo_record import Entry, digest
from gitmem.git.worktree import drop_empty_parents
from gitmem.json_values import json_keys
from gitmem.memory.document import decode
from gitmem.memory.forgotten import Forgotten
from gitmem.messages import Message
from gitmem.provenance import trailers
from gitmem.provenance.ledger import UNDO
from gitmem.provenance.preview import diff_lines
from gitmem.shell_word import shell_word

MAX_SEARCHED_COMMITS = 100  # of a file, for the one in which somebody committed what git mem wrote


@json_keys("path lines")
@dataclass(frozen=True, slots=True)
class FileChange:
    """The bytes of a file now and after the undo, None for no file.

    JSON: `lines`: begin with `- ` if they go, with `+ ` if they come back.
    """

    path: str
    now: bytes | None
    then: bytes | None

    @property
    def lines(self) -> list[str]:
        """The lines that the undo removes ("- ") and brings back ("+ "), to be shown: one with a secret is hidden."""
        changed = [line for line in diff_lines(self.now, self.then) if line.sign in "-+"]
        shown = without_secrets([line.text for line in changed])
        return [f"{line.sign} {text}" for line, text in zip(changed, shown, strict=True)]


@json_keys("at commits commit? branch? files committed_since committed_in")
@dataclass(frozen=True, slots=True)
class Undo:
    """A write that can be taken back, or was. `subject`: that of its first commit, "" for none. `merge`: it has a
    merge; after the undo Git still counts that branch as merged.

    JSON: `at`: when it was written. `commits`: the commits that were taken back, the oldest first; [] if the write was
    not committed. `commit`: the commit that took them back. `branch`: the branch that it is on, if the written text
    stands on another branch alone. `committed_since`: files of an uncommitted write that somebody committed by hand
    since, in the commits `committed_in`; they are taken back in the work tree.
    """

    at: str  # when it was written, ISO, UTC
    commits: tuple[str, ...]  # its commits, oldest first; () when it was not committed
    subject: str
    files: tuple[FileChange, ...]
    committed_since: tuple[str, ...] = ()  # paths of an uncommitted write that another commit contains by now
    commit: str = ""  # the commit that took it back; "" before the undo, and for an uncommitted write
    merge: bool = False
    committed_in: tuple[str, ...] = ()  # the commits that first had the lines of `committed_since`
    branch: str = ""  # the branch of its commits, when HEAD does not contain them; else ""


def without_forgotten(plan: Undo, forgotten: Forgotten) -> Undo:
    """The plan as it may be shown: a text that a person removed from memory is masked in its files and its subject. It
    is for display only; `undo` takes the plan itself."""

    def masked(data: bytes | None) -> bytes | None:
        if data is None:
            return None
        return forgotten.masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    files = tuple(replace(file, now=masked(file.now), then=masked(file.then)) for file in plan.files)
    return replace(plan, files=files, subject=forgotten.masked(plan.subject))


def last_write(repo: Repository) -> Undo:
    """What `undo` would take back. Writes nothing. Raises GitMemError when there is no record, NotKept when the record
    lacks the text or the branch of the write is gone, and Changed when one of its files was changed since or its commit
    is not on this branch."""
    entries = undo_record.last_write(repo)
    if not entries:
        raise GitMemError("there is nothing to undo here", "git mem log; git mem changes")
    branch = _branch_of_write(repo, entries)
    if not branch:
        return _plan_undo(repo, entries, Reading(repo).raw)
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    if not tip:
        raise NotKept(Message("the last write stood on the branch '{}', which is gone", branch), "git reflog")
    return _plan_undo(repo, entries, lambda path: file_at(repo, tip, path), tip, branch)


def _branch_of_write(repo: Repository, entries: Sequence[Entry]) -> str:
    """The branch on which the entries were written, when HEAD does not contain their last commit; else ""."""
    branch, head = entries[-1].branch, repo.head()
    if not branch or repo.branch() == branch:
        return ""
    oid = next((entry.commit for entry in reversed(entries) if entry.commit), "")
    if head is not None and oid and (oid == head or repo.is_ancestor(oid, head)):
        return ""
    return branch


def drop_last_record(repo: Repository) -> None:
    """Drop the record of the last write when it cannot be taken back (NotKept), so that the one before it can be."""
    with writer(repo):
        entries = undo_record.last_write(repo)
        branches = {name for name, _ in repo.refs()}
        branch = entries and _branch_of_write(repo, entries)
        if (branch and f"refs/heads/{branch}" not in branches) or not all(entry.files for entry in entries):
            undo_record.drop(repo, entries)


def undo(repo: Repository, config: Config, expected: Undo) -> Undo:
    """Take back the last write, which must still be `expected`, and drop its record. Returns `expected` with the commit
    of the undo, "" for an uncommitted write.

    Raises Changed when one of its files was changed since, when there is no record or that of another write, or when
    its commit is not on this branch; NotKept when the record lacks the text (`drop_last_record`). Nothing is changed
    then.
    """

    entries: list[Entry] = []
    if expected.branch:
        return _undo_on_branch(repo, config, expected)

    def planned(reading: Reading) -> Undo:
        entries[:] = undo_record.last_write(repo)
        return _ensure_same(expected, entries and _plan_undo(repo, entries, reading.raw))

    oid = ""
    if expected.commits:
        _, oid = commit(repo, lambda reading: _commit_draft(config, planned(reading)), undoable=False)
    else:
        write(repo, lambda reading: Draft(_contents(planned(reading)), None), undoable=False)
        for file in expected.files:
            unstage(repo, file.path, keep=file.then, drop=file.now)
    with writer(repo):
        for path in [file.path for file in expected.files if file.then is None]:
            assert repo.root is not None
            drop_empty_parents(repo.root, path)
        undo_record.drop(repo, entries)
    return replace(expected, commit=oid)


def _undo_on_branch(repo: Repository, config: Config, expected: Undo) -> Undo:
    """Take back a write on another branch, in a commit on top of that branch; this work tree is not changed."""
    entries = undo_record.last_write(repo)
    with branch_worktree(repo, expected.branch) as branch_repo:

        def planned(reading: Reading) -> Undo:
            plan = entries and _plan_undo(branch_repo, entries, reading.raw, branch_repo.head() or "", expected.branch)
            return _ensure_same(expected, plan)

        _, oid = commit(branch_repo, lambda reading: _commit_draft(config, planned(reading)), undoable=False)
    with writer(repo):
        undo_record.drop(repo, entries)
    return replace(expected, commit=oid)


def _ensure_same(expected: Undo, present_plan: object) -> Undo:
    """`expected`. Raises Changed when `present_plan` differs from it."""
    if present_plan != expected:
        raise Changed("something else was written meanwhile; nothing was taken back", "run it again")
    return expected


def _plan_undo(
    repo: Repository, entries: Sequence[Entry], raw: Callable[[str], bytes | None], tip: str = "", branch: str = ""
) -> Undo:
    """The plan of taking back the entries. `raw`: returns the bytes of a file now, None for no file. `tip`: the commit
    that must contain their commits, "" for HEAD. `branch`: see `Undo`. Raises NotKept and Changed as `undo` does."""
    if not all(entry.files for entry in entries):
        raise NotKept("the last write stays: it was too large to be remembered, or a redaction", "git status; git log")
    oids = tuple(entry.commit for entry in entries if entry.commit)
    digests_after = _digests_after(entries)
    for path, expected in digests_after.items():
        if digest(raw(path)) != expected:
            raise Changed(
                Message("'{}' was changed since; nothing was taken back", path),
                f"git diff -- {shell_word(path)}; git log -- {shell_word(path)}",
            )
    if not oids:
        texts_before = {path: file.text for entry in reversed(entries) for path, file in entry.files.items()}
        changes = _changes(raw, texts_before)
        committed = [file for file in changes if _is_committed_since(repo, file)]
        commits = dict.fromkeys(_commit_with(repo, file, entries[0].at) for file in committed)
        return Undo(entries[0].at, (), "", changes, tuple(file.path for file in committed), committed_in=tuple(commits))
    first_commit = repo.commit(oids[0])
    head = tip or repo.head()
    if head is None or not (head == oids[-1] or repo.is_ancestor(oids[-1], head)):
        raise Changed(
            "what was written last is not on this branch",
            Message("git switch to the branch that holds {}", oids[-1][:12]),
        )
    merge = any(len(repo.commit(oid).parents) > 1 for oid in oids)
    blobs: dict[str, str] = {}
    if first_commit.parents:
        blobs = {entry.path: entry.oid for entry in repo.entries(first_commit.parents[0], list(digests_after))}
    texts_before = {}
    for path, file in {path: file for entry in reversed(entries) for path, file in entry.files.items()}.items():
        texts_before[path] = file.text
        if file.text is None and file.before is not None and path in blobs:
            texts_before[path] = repo.read(blobs[path])
    subject = first_commit.message.partition("\n")[0]
    return Undo(entries[0].at, oids, subject, _changes(raw, texts_before), merge=merge, branch=branch)


def _digests_after(entries: Sequence[Entry]) -> dict[str, str | None]:
    """Path -> digest of the file after the last of these writes. Raises Changed when another process wrote between two
    of them."""
    digests: dict[str, str | None] = {}
    for entry in entries:
        for path, file in entry.files.items():
            if path in digests and file.before != digests[path]:
                raise Changed(
                    Message("'{}' was changed between two of these writes; nothing was taken back", path),
                    f"git log -- {shell_word(path)}",
                )
            digests[path] = file.after
    return digests


def _changes(
    raw: Callable[[str], bytes | None], texts_before: Mapping[str, bytes | None]
) -> tuple[FileChange, ...]:  # fmt: skip
    return tuple(FileChange(path, raw(path), data) for path, data in sorted(texts_before.items()))


def _is_committed_since(repo: Repository, file: FileChange) -> bool:
    """Whether HEAD contains the file as it is now, or all lines of it that the undo would remove."""
    head = repo.head()
    if is_committed(repo, file.path, file.now):
        # A file that exists neither here nor in HEAD counts when an earlier commit had it.
        return file.now is not None or (head is not None and any(repo.log([head], [file.path], limit=1)))
    removed = lost_lines([_text(file.now)], _text(file.then))
    committed = file_at(repo, head or "", file.path)
    return bool(removed) and committed is not None and not lost_lines(["\n".join(removed)], _text(committed))


def _commit_with(repo: Repository, file: FileChange, written: str) -> str:
    """The first commit since `written` (ISO) that has the lines that the undo would remove from a file; later commits
    of the file, such as other undos, have them too. For a file that was removed: its newest commit."""
    head = repo.head()
    assert head is not None
    newest, *earlier = repo.log([head], [file.path], limit=MAX_SEARCHED_COMMITS)
    if file.now is None:
        return newest.oid
    written_at = datetime.fromisoformat(written)
    removed = ["\n".join(lost_lines([_text(file.now)], _text(file.then)))]
    first_with_lines = newest.oid
    for older in earlier:
        if older.commit_date < written_at:
            break
        data = file_at(repo, older.oid, file.path)
        if data is not None and not lost_lines(removed, _text(data)):
            first_with_lines = older.oid
    return first_with_lines


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _contents(plan: Undo) -> dict[str, bytes | None]:
    return {file.path: file.then for file in plan.files}


def _commit_draft(config: Config, plan: Undo) -> CommitDraft[None]:
    """The commit of an undo; its message names the commits that it reverts."""
    title = f'{UNDO}{plan.subject}"'
    lines = [title, "", *(f"This reverts commit {oid}." for oid in reversed(plan.commits))]
    rewrite = ""
    if any(rewrites(file, config) for file in plan.files):
        rewrite = f"undo of {plan.commits[0][:12]}"
    recorded = trailers.CommitRecord(agent=config.agent, rewrite=rewrite)
    return CommitDraft(_contents(plan), None, trailers.with_record("\n".join(lines), recorded))


def rewrites(file: FileChange, config: Config) -> bool:
    """Whether the gate asks for a `Memory-Rewrite` trailer when the undo is committed: a daily log loses a line, or
    another file BULK_LINES lines."""
    old_text, new_text = (decode(data or b"")[0] for data in (file.now, file.then))
    lost = len(lost_lines([old_text], new_text))
    return lost >= (1 if is_daily(file.path, config.memory_daily) else BULK_LINES)
