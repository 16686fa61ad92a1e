"""The write step that every writer of memory uses: it writes files of the work tree and commits them.

A writer takes the lock of all writers and undoes what a killed run left. It then plans from the bytes that it reads,
compares HEAD, the branch and these bytes again, and writes. If anything fails, it puts back the files that still hold
its own text. A record in the Git directory holds the old bytes until then, for the run after a kill. Every write goes
in this order: the Markdown first, Git second, the search index last.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from gitmem.errors import Changed, GitMemError, Locked, OutsideRepository
from gitmem.git import undo_record
from gitmem.git.commit import commit_paths, ensure_can_commit
from gitmem.git.objects import Entry, is_encrypted, is_lfs_pointer
from gitmem.git.opening import Repository
from gitmem.git.replacement import Replacement, sweep
from gitmem.git.scratch_files import scratch_folder
from gitmem.git.sparse_checkout import left_out
from gitmem.git.undo_record import digest
from gitmem.git.worktree import content, locked, read_bytes, write_atomic
from gitmem.git.write import run_git, stage_entries, store_blob
from gitmem.messages import Message
from gitmem.system import blocked_signals

RECORD = "gitmem-attempt.json"  # in the Git directory of the work tree
MAX_RECORD_BYTES = 64 << 20  # memory files are small, and the record may be somebody else's
TRIES = 5  # of one write, if files change between the plan and the write
WRITE_WAIT = 60.0  # seconds to wait for the writers before this one
RETRY_SECONDS = 0.05  # before the next try: an editor that truncates a file has written it by then
GIT_WAIT_SECONDS = 5.0  # for the `git commit` of a killed run
RECOVERY_HINT = "the next git mem command that writes puts it back"

Contents = Mapping[str, bytes | None]  # path -> bytes of the file; None: there is no file
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Draft(Generic[Result]):
    """What a plan returns. `contents`: the files to write, empty for no write. `result`: what the caller gets then."""

    contents: Contents
    result: Result


@dataclass(frozen=True, slots=True)
class CommitDraft(Draft[Result]):
    """A draft of a commit of exactly these files. `message`: of the commit."""

    message: str


class Position(NamedTuple):
    """`head`: the commit of HEAD, None before the first commit. `branch`: its name, None if HEAD is detached."""

    head: str | None
    branch: str | None


def position(repo: Repository) -> Position:
    """The current commit and branch of `repo`."""
    return Position(repo.head(), repo.branch())


class Reading:
    """Reads files of the work tree for a plan. `noted`: path -> the bytes read, compared again before the write."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.noted: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes of a text file; None if there is no file.

        Raises GitMemError for text that is not UTF-8, for an encrypted file, for a pointer of Git LFS and for a file
        that a sparse checkout leaves out. Raises OutsideRepository if the path leads through a symbolic link.
        """
        data = self.raw(path)
        if data is not None:
            if is_encrypted(data):
                message = Message(
                    "'{}' is encrypted by git-crypt, this clone is locked, and the file is left as it is", path
                )
                raise GitMemError(message, "git-crypt unlock")
            ensure_utf8(data, path)
            if is_lfs_pointer(data):
                message = Message(
                    "'{}' is a pointer of Git LFS: its text is not here, and the pointer is left as it is", path
                )
                raise GitMemError(message, f"git lfs pull --include {shlex.quote(path)}")
        return data

    def raw(self, path: str) -> bytes | None:
        """The bytes of a file of any kind; None if there is no file. Raises GitMemError for a file that a sparse
        checkout leaves out."""
        assert self.repo.root is not None
        if path not in self.noted:
            self.noted[path] = content(self.repo.root, path)
            if self.noted[path] is None and path in left_out(self.repo):
                raise GitMemError(
                    Message("'{}' is tracked and left out of this sparse checkout", path),
                    "git sparse-checkout add its folder",
                )
        return self.noted[path]

    def committed(self, path: str) -> bytes:
        """The bytes of a file that equals the one in HEAD. Raises GitMemError if it is missing or has edits."""
        data = None
        with suppress(IsADirectoryError, NotADirectoryError):
            data = self.read(path)
        if data is None:
            raise GitMemError(Message("there is no file '{}' here", path), "git mem search finds lines")
        if not is_committed(self.repo, path, data):
            raise GitMemError(Message("'{}' has edits that are not committed", path), "commit or stash them first")
        return data


def ensure_utf8(data: bytes, path: str) -> None:
    """Raise GitMemError for text in UTF-16: a line appended in UTF-8 would make all of it unreadable."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise GitMemError(
            Message("'{}' is not UTF-8 text and is left as it is", path),
            Message("convert it: {}", "iconv -f UTF-16 -t UTF-8"),
        )


# -- the write step ------------------------------------------------------------------------------------------


@contextmanager
def writer(repo: Repository) -> Iterator[tuple[str, ...]]:
    """Hold the lock of all writers in the block, after undoing what a killed run left. Yields the paths put back.

    Writers wait for each other: a write takes a fraction of a second, and dozens may come at once. Raises Locked after
    WRITE_WAIT, GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    with locked(repo.common_dir, "write", WRITE_WAIT):
        undone = recover(repo)
        sweep(scratch_folder(repo))
        yield tuple(undone)


def write(repo: Repository, plan: Callable[[Reading], Draft[Result]], *, undoable: bool = True) -> Result:
    """Write the files of a plan, all or none, in the order of the draft; commit nothing. Returns the draft's result.

    `plan` reads files through its argument. If one of the files changed before it was written, `plan` is called again,
    TRIES times in all; then Changed is raised. `undoable`: `git mem undo` can undo this write.
    """
    with writer(repo):
        for attempt in range(TRIES):
            reading = Reading(repo)
            draft = plan(reading)
            for path in draft.contents:
                reading.raw(path)
            try:
                with replaced(repo, draft.contents, reading.noted, recorded=len(draft.contents) > 1, undoable=undoable):
                    return draft.result
            except Changed:
                if attempt + 1 == TRIES:
                    raise
                time.sleep(RETRY_SECONDS)
    raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class StagedText:
    """New bytes for an entry of Git's index. `before`: the entry now; its path and mode stay. `data`: the new bytes."""

    before: Entry
    data: bytes


def write_over(
    repo: Repository,
    noted: Contents,
    contents: Contents,
    staged: Sequence[StagedText] = (),
    *,
    undoable: bool = True,
) -> None:
    """Write `contents` over the bytes `noted` and stage `staged`, all or none; commit nothing.

    Raises Changed, without a second try, if a file or a staged entry is not what it was. If the process is killed, the
    next run undoes it only if nothing was staged: nobody can tell later who staged an entry. `git mem undo` can undo
    the write only if nothing was staged.
    """
    recorded = len(contents) > 1 and not staged
    with writer(repo), replaced(repo, contents, noted, recorded=recorded, undoable=undoable and not staged):
        if staged:
            _stage_over(repo, staged)


def _stage_over(repo: Repository, staged: Sequence[StagedText]) -> None:
    after = [text.before._replace(oid=_stored(repo, text)) for text in staged]
    now = {entry.path: (entry.mode, entry.oid) for entry in repo.staged()}
    for text in staged:
        if now.get(text.before.path) != (text.before.mode, text.before.oid):
            raise Changed(
                Message("something else was staged of '{}' meanwhile; nothing was written", text.before.path),
                "run it again",
            )
    stage_entries(repo, after)


def _stored(repo: Repository, text: StagedText) -> str:
    """Store the new bytes, encrypted if the old blob is; the oid of the blob. Raises GitMemError if that fails."""
    (before,) = repo.stored([text.before.oid])
    if before is None or not is_encrypted(before):
        return store_blob(repo, text.data)
    git_crypt, encrypted = repo.git_crypt(), None
    if git_crypt and text.data:
        encrypted = git_crypt.encrypted_as(text.data, before)
    if encrypted is None:
        raise GitMemError(
            Message("'{}' is stored encrypted, and git-crypt did not encrypt its new text", text.before.path)
        )
    return store_blob(repo, encrypted)


def commit(
    repo: Repository, plan: Callable[[Reading], CommitDraft[Result]], *, undoable: bool = True
) -> tuple[Result, str]:
    """Write the files of a plan and commit these files only.

    Returns the result of the plan and the oid of the commit, "" if the plan has no files. `undoable`: `git mem undo`
    can undo this commit. Raises Changed if HEAD, the branch or a file is not what it was when the plan was made, and
    GitFailed if a hook refuses. The files are then as they were, except for what somebody else saved meanwhile.
    """
    ensure_can_commit(repo)
    with writer(repo):
        before = position(repo)
        reading = Reading(repo)
        draft = plan(reading)
        if not draft.contents:
            return draft.result, ""
        for path in draft.contents:
            reading.raw(path)
        oid = commit_files(repo, before, reading.noted, draft.contents, draft.message, undoable=undoable)
        return draft.result, oid


def commit_nothing(repo: Repository, message: str) -> str:
    """Make a commit that changes no file, whatever is staged; its oid. Raises as `commit`."""
    ensure_can_commit(repo)
    with writer(repo):
        return commit_paths(repo, message, ())


def commit_files(
    repo: Repository, before: Position, noted: Contents, contents: Contents, message: str, *, undoable: bool = True
) -> str:
    """Write `contents` over the bytes `noted` and commit these files on top of `before`; the oid of the commit.

    The caller holds the lock of `writer`. Raises as `commit`.
    """
    ensure_position(repo, before)
    with replaced(repo, contents, noted, before=before, undoable=undoable):
        oid = commit_paths(repo, message, list(contents))
        _ensure_commit_as_planned(repo, before, contents, oid)
    return oid


def ensure_position(repo: Repository, before: Position) -> None:
    """Raise Changed if HEAD or the branch is not what it was."""
    now = position(repo)
    if now.branch != before.branch:
        raise Changed(
            Message(
                "the branch changed from '{}' to '{}' meanwhile; nothing was written",
                before.branch or "a detached HEAD",
                now.branch or "a detached HEAD",
            ),
            "run it again on the branch you mean",
        )
    if now.head != before.head:
        raise Changed("somebody committed here meanwhile; nothing was written", "run it again")


@contextmanager
def replaced(
    repo: Repository,
    contents: Contents,
    noted: Contents,
    *,
    before: Position | None = None,
    recorded: bool = True,
    undoable: bool = True,
) -> Iterator[None]:
    """Write `contents` over the bytes `noted`, then run the block, which stages or commits the files.

    If a file holds other bytes (Changed) or the block raises, the files and their staged entries are put back; what
    somebody else saved meanwhile stays, and so does a file that HEAD holds since it moved on from `before`. `before` is
    None if the block does not commit. `recorded`: if the process is killed, the next run undoes the write. `undoable`:
    `git mem undo` can undo the write. Lines that a program wrote to a replaced file that it had open are added to the
    new file, and a warning is logged. The caller holds the lock of `writer`.
    """
    assert repo.root is not None
    scratch = scratch_folder(repo)
    wanted = {path: data for path, data in contents.items() if data != noted[path]}
    if recorded:
        _write_record(repo, before or position(repo), wanted, noted)
    files = [Replacement(repo.root, path, noted[path], data, scratch) for path, data in wanted.items()]
    try:
        for file in files:
            with blocked_signals():
                file.apply()
        yield
    except BaseException as error:
        with blocked_signals():
            repo.close()  # an interrupt may have ended its helper process; the next call starts a new one
            outcome = _put_back(repo, files, committed=before is not None and repo.head() != before.head)
            if not outcome.failed and recorded:
                _drop_record(repo)
        if outcome.failed and isinstance(error, Exception):
            hints = [RECOVERY_HINT, getattr(error, "hint", "")]
            raise GitMemError(f"{error}; {outcome.failed}", "\n".join(filter(None, hints))) from error
        if outcome.mixed and isinstance(error, GitMemError):
            raise type(error)(*_with_mixed(error, outcome.mixed)) from error
        raise
    finally:
        with blocked_signals():
            for file in files:
                file.close()
    if recorded:
        _drop_record(repo)
    if undoable:
        commit = ""
        if before is not None and repo.head() != before.head:
            commit = repo.head() or ""
        undo_record.remember(repo, noted, wanted, commit)


class Outcome(NamedTuple):
    """What became of files that were to be put back.

    `undone`: paths with their old text again. `mixed`: paths that somebody else saved meanwhile; they stay. `failed`: a
    sentence about the files that could not be put back, "" if there are none.
    """

    undone: list[str]
    mixed: list[str]
    failed: str


def _put_back(repo: Repository, files: Sequence[Replacement], *, committed: bool) -> Outcome:
    """Put files and their staged entries back; with `committed`, because HEAD moved, not those that HEAD has now."""
    undone, mixed, failed = [], [], []
    oids = {}
    if committed:
        oids = _oids(repo, repo.head(), [file.path for file in files])
    for file in reversed(files):
        try:
            if committed and _is_blob(repo, oids.get(file.path), file.after):
                # A git that was killed after it moved HEAD left its index with the old text (the loop of kills of all
                # processes): the next commit would bring it back.
                unstage(repo, file.path, keep=file.after, drop=file.before)
            else:
                if file.undo():
                    undone.append(file.path)
                else:
                    mixed.append(file.path)
                unstage(repo, file.path, keep=file.before, drop=file.after)
        except (OSError, GitMemError) as error:
            failed.append(Message("'{}' could not be put back ({})", file.path, error))
    return Outcome(undone, mixed, ", ".join(failed))


def _with_mixed(error: GitMemError, paths: Sequence[str]) -> tuple[str, str]:
    """Message and hint of `error`, plus the files that hold a text of somebody else and perhaps also ours."""
    names = ", ".join(f"'{path}'" for path in paths)
    message = Message(
        "{}; {}: saved by somebody else meanwhile and left, with what it has of this change", error.message, names
    )
    files = shlex.join(paths)
    hint = Message("{} shows both; {} takes parts of it out", f"git diff -- {files}", f"git checkout -p -- {files}")
    return message, "\n".join(line for line in (error.hint, hint) if line)


def _ensure_commit_as_planned(repo: Repository, before: Position, contents: Contents, oid: str) -> None:
    """Raise Changed, and remove the commit `oid` from the branch, if it is not the commit that was planned.

    After the last comparison, and before Git takes its own lock, somebody may have switched the branch, committed to
    the same files or saved one of them (the loops of switches and of commits of a staged line need this). A file that a
    hook of the user changed is as planned.
    """
    parent = next(iter(repo.commit(oid).parents), None)
    paths = list(contents)
    problem = ""
    if before.branch and not _branch_contains(repo, before.branch, oid):
        problem = "the branch changed meanwhile"
    elif parent != before.head and _oids(repo, parent, paths) != _oids(repo, before.head, paths):
        problem = "somebody committed to the same file meanwhile"
    else:
        staged, committed = {entry.path: entry.oid for entry in repo.staged()}, _oids(repo, oid, paths)
        for path, data in contents.items():
            if staged.get(path) == committed.get(path) and not _is_blob(repo, committed.get(path), data):
                problem = f"'{path}' was saved by somebody else meanwhile"
    if not problem:
        return
    back_to = ["-d", "HEAD"]
    if parent:
        back_to = ["HEAD", parent]
    run_git(repo, ["update-ref", "-m", "git mem: taken back", *back_to, oid])
    _reset(repo, paths)
    raise Changed(Message("{}; nothing was committed", problem), "run it again")


def _branch_contains(repo: Repository, branch: str, oid: str) -> bool:
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    return bool(tip) and (tip == oid or repo.is_ancestor(oid, tip))


# -- Git's index ---------------------------------------------------------------------------------------------


def is_committed(repo: Repository, path: str, data: bytes | None) -> bool:
    """Whether HEAD has `path` with the bytes `data`, or no such file if `data` is None. CRLF counts as LF."""
    return _is_blob(repo, _oids(repo, repo.head(), [path]).get(path), data)


def _oids(repo: Repository, commit: str | None, paths: Sequence[str]) -> dict[str, str]:
    """path -> oid of the blob, for those of `paths` that `commit` has."""
    if commit is None:
        return {}
    return {entry.path: entry.oid for entry in repo.entries(commit, paths) if entry.path in paths}


def _is_blob(repo: Repository, oid: str | None, data: bytes | None) -> bool:
    """Whether `data`, the bytes of a file of the work tree, are the blob `oid`. None: no file. CRLF counts as LF."""
    if data is None or oid is None:
        return data is None and oid is None
    return oid in (repo.hash_blob(data), repo.hash_blob(data.replace(b"\r\n", b"\n")))


def unstage(repo: Repository, path: str, *, keep: bytes | None, drop: bytes | None) -> None:
    """Reset the staged entry of `path` if it is the text `drop`, and not also `keep` by the line ends that Git counts.

    None: the removal of the file.
    """
    staged = {entry.path: entry.oid for entry in repo.staged() if entry.path == path}.get(path)
    if _is_blob(repo, staged, drop) and not _is_blob(repo, staged, keep):
        _reset(repo, [path])


def _reset(repo: Repository, paths: Sequence[str]) -> None:
    """Make the staged entries of `paths` what HEAD has."""
    if repo.head() is None:
        run_git(repo, ["rm", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *paths])
    else:
        run_git(repo, ["reset", "--quiet", "--", *paths])


# -- the record of a killed run ------------------------------------------------------------------------------


def _write_record(repo: Repository, before: Position, contents: Contents, noted: Contents) -> None:
    files = {path: {"before": _spelled(noted[path]), "after": digest(data)} for path, data in contents.items()}
    record = {"head": before.head, "files": files}
    write_atomic(repo.git_dir, RECORD, json.dumps(record).encode(), private=True)


def _spelled(data: bytes | None) -> str | None:
    if data is None:
        return None
    return base64.b64encode(data).decode()


class Row(NamedTuple):
    """A file of the record. `before`: its old bytes. `after`: `digest` of what the killed run wrote."""

    path: str
    before: bytes | None
    after: str | None


def _read_record(repo: Repository) -> tuple[str | None, list[Row]]:
    """(HEAD before the killed run, its files). No files if the record is not ours, or was not written to its end."""
    try:
        record = json.loads(read_bytes(repo.git_dir, RECORD, MAX_RECORD_BYTES))
        return record["head"], [_row(path, row) for path, row in record["files"].items()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, OutsideRepository):
        return None, []


def _row(path: str, row: Any) -> Row:
    before, after = row["before"], row["after"]
    if not isinstance(after, str | None):
        raise TypeError
    if before is not None:
        before = base64.b64decode(before)
    return Row(path, before, after)


def recover(repo: Repository) -> list[str]:
    """Put back the files that a killed run wrote and did not commit. Returns their paths.

    A file that somebody changed since stays as it is, and so does any path in the record that is not a plain file of
    this repository. Raises Locked while a commit that the killed run began is still running, GitMemError if a file
    cannot be put back; the record stays then. The caller holds the lock of all writers.
    """
    if not os.path.lexists(repo.git_dir / RECORD):
        return []
    head, rows = _read_record(repo)
    undone = []
    if rows:
        _await_git(repo)
        with blocked_signals():
            undone = _recovered(repo, head, rows)
    _drop_record(repo)
    return undone


def _recovered(repo: Repository, head: str | None, rows: Sequence[Row]) -> list[str]:
    assert repo.root is not None
    files = []
    try:
        for path, before, after in rows:
            with suppress(OSError, ValueError, OutsideRepository):  # not a file that a writer could have written
                data = content(repo.root, path)
                if data != before and digest(data) == after:
                    file = Replacement(repo.root, path, before, data, scratch_folder(repo))
                    file.resume()
                    files.append(file)
        outcome = _put_back(repo, files, committed=repo.head() != head)
    finally:
        for file in files:
            file.close()
    if outcome.failed:
        raise GitMemError(outcome.failed, RECOVERY_HINT)
    return outcome.undone


def _await_git(repo: Repository) -> None:
    """Wait until the `git commit` of a killed run ends: the files that it commits must not be put back meanwhile.

    The loop of kills, in which Git goes on, needs this. Raises Locked after GIT_WAIT_SECONDS.
    """
    lock = repo.git_dir / "index.lock"
    deadline = time.monotonic() + GIT_WAIT_SECONDS
    while lock.exists():
        if time.monotonic() >= deadline:
            raise Locked(
                "a commit that git mem began is still running here, or was killed",
                Message("wait for it; if no git runs any more: {}", f"rm {shlex.quote(str(lock))}"),
            )
        time.sleep(0.02)


def _drop_record(repo: Repository) -> None:
    """Remove the record. Raises GitMemError if it cannot be removed, because the next run would read it again."""
    try:
        (repo.git_dir / RECORD).unlink(missing_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot remove '{}': {}", repo.git_dir / RECORD, error.strerror)) from None
