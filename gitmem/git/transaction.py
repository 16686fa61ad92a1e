"""The one write step of every writer of memory: files of the work tree, and the commit of them.

Under the lock of all writers: repair what a killed run left, plan from bytes that are noted, compare HEAD, branch and
bytes again, write. On any failure only what is still ours goes back, and the record of what stood there, beside
Git's own state, goes last. The order of every write: the Markdown first, Git second, the search index last.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from gitmem.errors import Changed, GitMemError, Locked, OutsideRepository
from gitmem.git import undo_record
from gitmem.git.objects import Entry, is_encrypted, is_lfs_pointer
from gitmem.git.opening import Repository
from gitmem.git.replacement import Replacement, sweep, sweep_beside, with_added_lines
from gitmem.git.undo_record import digest
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.git.write import commit_paths, ensure_can_commit, run_git, scratch_folder, stage_entries, store_blob
from gitmem.messages import Message
from gitmem.system import signals_held_back

RECORD = "gitmem-attempt.json"  # in the Git directory of the work tree
RECORD_LIMIT = 64 << 20  # bytes of it that are read: memory files are small, and somebody else may have put it there
TRIES = 5  # times a plan is made when files change under it
WRITE_WAIT = 60.0  # seconds that a writer waits for those before it
PAUSE = 0.05  # seconds before the next try: an editor that truncates a file has written it by then
GIT_PATIENCE = 5.0  # seconds a commit that a killed run began may still take
LATE = "late"  # how names of files begin, beside the locks, that hold what could not be written into its own file

log = logging.getLogger(__name__)
Contents = Mapping[str, bytes | None]  # path -> bytes of the file; None is no file
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Draft(Generic[Result]):
    """What a writer wants to stand in which files, and what it answers when it does. No contents: nothing to write."""

    contents: Contents
    result: Result


@dataclass(frozen=True, slots=True)
class CommitDraft(Draft[Result]):
    """The same, with the message of the commit of exactly these files."""

    message: str


class Position(NamedTuple):
    """Where a repository stands: HEAD's commit (None before the first) and the branch (None when detached)."""

    head: str | None
    branch: str | None


def position(repo: Repository) -> Position:
    """Where `repo` stands now."""
    return Position(repo.head(), repo.branch())


class Reading:
    """The files of the work tree as a plan sees them; what was read is noted, to be compared before the write."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.noted: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes of a text file, None where there is none.

        Raises GitMemError for UTF-16 and other text that is no UTF-8, for a pointer of Git LFS, and for a file that a
        sparse checkout leaves out; OutsideRepository for a path through a link.
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
        """As `read`, whatever the bytes are."""
        if path not in self.noted:
            self.noted[path] = _present(self.repo, path)
            if self.noted[path] is None and _outside_sparse_checkout(self.repo, path):
                raise GitMemError(
                    Message("'{}' is tracked and left out of this sparse checkout", path),
                    "git sparse-checkout add its folder",
                )
        return self.noted[path]

    def committed(self, path: str) -> bytes:
        """The bytes of a file that is as HEAD has it. Raises GitMemError where it is missing or has edits."""
        try:
            data = self.read(path)
        except (IsADirectoryError, NotADirectoryError):
            data = None
        if data is None:
            raise GitMemError(Message("there is no file '{}' here", path), "git mem search finds lines")
        if not is_committed(self.repo, path, data):
            raise GitMemError(Message("'{}' has edits that are not committed", path), "commit or stash them first")
        return data


def _outside_sparse_checkout(repo: Repository, path: str) -> bool:
    """Whether Git's index has a file that the work tree leaves out: one written there is not committed."""
    return run_git(repo, ["ls-files", "-t", "-z", "--", path]).startswith("S ")


def ensure_utf8(data: bytes, path: str) -> None:
    """Raise GitMemError for text in UTF-16: what is appended in UTF-8 would make both unreadable."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise GitMemError(
            Message("'{}' is not UTF-8 text and is left as it is", path),
            Message("convert it: {}", "iconv -f UTF-16 -t UTF-8"),
        )


# -- the write step ------------------------------------------------------------------------------------------


@contextmanager
def writer(repo: Repository) -> Iterator[tuple[str, ...]]:
    """Be the only writer here, with what a killed one left repaired; the paths that were put back.

    Writers queue: a write takes a fraction of a second, and dozens may come at once. Raises Locked after WRITE_WAIT
    seconds, GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    with locked(repo.common_dir, "write", WRITE_WAIT):
        undone = recover(repo)
        sweep(scratch_folder(repo))
        yield tuple(undone)


def write(repo: Repository, plan: Callable[[Reading], Draft[Result]], *, undoable: bool = True) -> Result:
    """Write the files of a plan and commit nothing; what the plan answers. `undoable`: `git mem undo` knows of it.

    `plan` reads through its argument. It is called again, at most TRIES times, where one of these files changed
    before it was written; then Changed is raised. Several files are written in the order of the draft, all or none.
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
                time.sleep(PAUSE)
    raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class StagedText:
    """What is to be staged in the place of `before`, an entry of Git's index; the mode stays."""

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
    """Write `contents` over the bytes `noted` and stage `staged`, all or none, and commit nothing.

    Raises as `write`, at once, and Changed where something else is staged by now. A run that is killed is undone by the
    next one only where nothing is staged: what it staged cannot be told from what a person did. What was staged is not
    remembered for `git mem undo`.
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
    """The blob of what is to be staged, encrypted where the staged blob is. Raises GitMemError where that fails."""
    data = text.data
    (before,) = repo.stored([text.before.oid])
    if before is not None and is_encrypted(before):
        git_crypt = repo.git_crypt()
        encrypted = None
        if git_crypt and data:
            encrypted = git_crypt.encrypted_as(data, before)
        if encrypted is None:
            raise GitMemError(
                Message("'{}' is stored encrypted, and git-crypt did not encrypt its new text", text.before.path)
            )
        data = encrypted
    return store_blob(repo, data)


def commit(
    repo: Repository, plan: Callable[[Reading], CommitDraft[Result]], *, undoable: bool = True
) -> tuple[Result, str]:
    """Write the files of a plan and commit them alone: what the plan answers, and the commit ("" for no files).
    `undoable`: `git mem undo` knows of it.

    Raises Changed where HEAD, the branch or a file is not as it was when the plan was made, GitFailed where a hook
    refuses; the files are then as they were, but for what somebody else saved meanwhile.
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
    """Commit a message that changes no file, whatever is staged; the commit. Raises as `commit`."""
    ensure_can_commit(repo)
    with writer(repo):
        return commit_paths(repo, message, ())


def commit_files(
    repo: Repository, before: Position, noted: Contents, contents: Contents, message: str, *, undoable: bool = True
) -> str:
    """Write `contents` over the bytes `noted` and commit these files on top of `before`; the commit.

    The caller is the `writer`. Raises as `commit`.
    """
    ensure_position(repo, before)
    with replaced(repo, contents, noted, before=before, undoable=undoable):
        oid = commit_paths(repo, message, list(contents))
        _ensure_as_planned(repo, before, contents, oid)
    return oid


def ensure_position(repo: Repository, before: Position) -> None:
    """Raise Changed where HEAD or the branch is not what it was."""
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
    """Write `contents` over the bytes `noted`; the block stages or commits them. The caller is the `writer`.

    When the block raises, or a file holds something else (Changed), the files and what is staged of them are as they
    were: all but what somebody else saved meanwhile, and what HEAD holds where it moved on from `before` (None for a
    block that does not commit). With `recorded`, a run that is killed is undone by the next one, with `undoable` the
    write is remembered (`git.undo_record`). Lines that a program wrote into an old file, which it had open, are brought
    into the new one, and a warning is logged.
    """
    assert repo.root is not None
    scratch = scratch_folder(repo)
    wanted = {path: data for path, data in contents.items() if data != noted[path]}
    if recorded:
        _write_record(repo, wanted, noted)
    files = [Replacement(repo.root, path, noted[path], data, scratch) for path, data in wanted.items()]
    try:
        for file in files:
            with signals_held_back():
                file.apply()
        yield
    except BaseException as error:
        with signals_held_back():
            repo.close()  # an interrupt may have ended its helper process: a new one answers
            problem, mixed = _take_back(repo, files, committed=before is not None and repo.head() != before.head)
            if not problem and recorded:
                _drop_record(repo)
        if problem and isinstance(error, Exception):
            hints = ["the next git mem command that writes puts it back", getattr(error, "hint", "")]
            raise GitMemError(f"{error}; {problem}", "\n".join(filter(None, hints))) from error
        if mixed and isinstance(error, GitMemError):
            raise type(error)(*_with_mixed(error, mixed)) from error
        raise
    finally:
        with signals_held_back():
            for file in files:
                _bring_late_lines(repo, file)
                file.close()
    if recorded:
        _drop_record(repo)
    if undoable:
        head = None
        if before is not None:
            head = repo.head()
        undo_record.remember(repo, noted, wanted, head if head and before and head != before.head else "")


def _take_back(repo: Repository, files: Sequence[Replacement], committed: bool) -> tuple[str, list[str]]:
    """Undo what HEAD does not hold (`committed`: it moved); what could not be undone, "" for nothing, and the paths
    that somebody else saved meanwhile, which stay as they are."""
    failed, mixed = [], []
    head = None
    if committed:
        head = _oids(repo, repo.head(), [file.path for file in files])
    for file in reversed(files):
        try:
            if head is not None and _is_blob(repo, head.get(file.path), file.after):
                _refresh_stage(repo, file.path, file.before)
            else:
                if not file.undo():
                    mixed.append(file.path)
                unstage(repo, file.path, file.before, file.after)
        except (OSError, GitMemError) as error:
            failed.append(Message("'{}' could not be put back ({})", file.path, error))
    return ", ".join(failed), mixed


def _with_mixed(error: GitMemError, paths: Sequence[str]) -> tuple[str, str]:
    """Message and hint of an error after which files hold another's text and, it may be, ours."""
    names = ", ".join(f"'{path}'" for path in paths)
    words = Message(
        "{}; {}: saved by somebody else meanwhile and left, with what it has of this change", error.message, names
    )
    files = shlex.join(paths)
    typed = Message("{} shows both; {} takes parts of it out", f"git diff -- {files}", f"git checkout -p -- {files}")
    return words, "\n".join(line for line in (error.hint, typed) if line)


def _bring_late_lines(repo: Repository, file: Replacement) -> None:
    """Bring what a program wrote into the file that was taken out, which it had open, into the one that stands there
    now."""
    try:
        late = file.late()
    except OSError:
        return  # there is no such file any more
    if late is None:
        return
    with suppress(OSError, GitMemError):  # no space, or the place is no file any more: kept beside Git's state then
        for _ in range(TRIES):
            if _added(repo, file, *late):
                return
    place = (
        state_dir(repo.common_dir) / f"{LATE}-{hashlib.sha256(file.path.encode()).hexdigest()[:12]}-{time.time_ns()}"
    )
    file.keep(place)
    log.warning("'%s' was written meanwhile by a program that had it open; all of its text is in %s", file.path, place)


def _added(repo: Repository, file: Replacement, before: bytes, theirs: bytes) -> bool:
    """Whether the lines that `theirs` has and `before` has not stand in the file now; False where somebody changes it
    at this very moment."""
    assert repo.root is not None
    current = _present(repo, file.path)
    new = with_added_lines(before, theirs, current or b"")
    if new == (current or b""):
        return True
    more = Replacement(repo.root, file.path, current, new, scratch_folder(repo))
    try:
        more.apply()
    except Changed:
        return False
    finally:
        more.close()
    log.warning(
        "'%s' was written meanwhile by a program that had it open: its lines are in the file, not committed; "
        "git diff -- %s shows them", file.path, shlex.quote(file.path),
    )  # fmt: skip
    return True


def _ensure_as_planned(repo: Repository, before: Position, contents: Contents, oid: str) -> None:
    """Take a commit back that is not what was planned, and raise Changed.

    Between the comparison and the moment in which Git takes its own lock somebody may have switched the branch,
    committed to the same files or saved one of them. What a hook makes of a file is the user's own wish.
    """
    made = repo.commit(oid)
    parent = None
    if made.parents:
        parent = made.parents[0]
    paths = list(contents)
    problem = ""
    if before.branch and not _branch_contains(repo, before.branch, oid):
        problem = "the branch changed meanwhile"
    elif parent != before.head and _oids(repo, parent, paths) != _oids(repo, before.head, paths):
        problem = "somebody committed to the same file meanwhile"
    else:
        staged, there = {entry.path: entry.oid for entry in repo.staged()}, _oids(repo, oid, paths)
        for path, data in contents.items():
            if staged.get(path) == there.get(path) and not _is_blob(repo, there.get(path), data):
                problem = f"'{path}' was saved by somebody else meanwhile"
    if not problem:
        return
    if parent:
        to = [parent]
    else:
        to = []
    run_git(repo, ["update-ref", "-m", "git mem: taken back", *([] if parent else ["-d"]), "HEAD", *to, oid])
    _reset(repo, paths)
    raise Changed(Message("{}; nothing was committed", problem), "run it again")


def _branch_contains(repo: Repository, branch: str, oid: str) -> bool:
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    return bool(tip) and (tip == oid or repo.is_ancestor(oid, tip))


# -- Git's index ---------------------------------------------------------------------------------------------


def is_committed(repo: Repository, path: str, data: bytes | None) -> bool:
    """Whether HEAD holds `data` as `path`, line ends aside; None is no file."""
    return _is_blob(repo, _oids(repo, repo.head(), [path]).get(path), data)


def _oids(repo: Repository, commit: str | None, paths: Sequence[str]) -> dict[str, str]:
    if commit is None:
        return {}
    return {entry.path: entry.oid for entry in repo.entries(commit, paths) if entry.path in paths}


def _is_blob(repo: Repository, oid: str | None, data: bytes | None) -> bool:
    """Whether a work-tree file's bytes are that blob, its line ends aside; None is no file."""
    if data is None or oid is None:
        return data is None and oid is None
    return oid in (repo.hash_blob(data), repo.hash_blob(data.replace(b"\r\n", b"\n")))


def unstage(repo: Repository, path: str, before: bytes | None, after: bytes | None) -> None:
    """Nothing of ours staged: neither the text, nor its removal, nor the intent to add it."""
    staged = {entry.path: entry.oid for entry in repo.staged() if entry.path == path}.get(path)
    intent = before is None and staged == repo.hash_blob(b"")
    if intent or (_is_blob(repo, staged, after) and not _is_blob(repo, staged, before)):
        _reset(repo, [path])


def _refresh_stage(repo: Repository, path: str, before: bytes | None) -> None:
    """Git was stopped between HEAD and its index: the next commit must not take the old text back."""
    staged = {entry.path: entry.oid for entry in repo.staged() if entry.path == path}.get(path)
    if _is_blob(repo, staged, before):
        _reset(repo, [path])


def _reset(repo: Repository, paths: Sequence[str]) -> None:
    if repo.head() is None:
        run_git(repo, ["rm", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *paths])
    else:
        run_git(repo, ["reset", "--quiet", "--", *paths])


# -- the record of a killed run ------------------------------------------------------------------------------


def _write_record(repo: Repository, contents: Contents, noted: Contents) -> None:
    rows = {path: {"before": _spelled(noted[path]), "after": digest(data)} for path, data in contents.items()}
    write_atomic(repo.git_dir, RECORD, json.dumps(rows).encode(), private=True)


def _spelled(data: bytes | None) -> str | None:
    if data is None:
        return None
    return base64.b64encode(data).decode()


def recover(repo: Repository) -> list[str]:
    """Undo what a killed run left: files that hold just what it wrote, where HEAD does not. The paths put back.

    A file that somebody changed since stays as it is, and so does what a record names that is no file of ours. Raises
    Locked while a commit that it began still runs, GitMemError where a file cannot be put back: the record stays then.
    The caller holds the lock of all writers.
    """
    try:
        record = json.loads(read_bytes(repo.git_dir, RECORD, RECORD_LIMIT))
        rows = [_row(path, row) for path, row in record.items()]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, OutsideRepository):
        rows = []  # killed while it was written: nothing else had begun; or no record of ours
    if rows:
        _await_git(repo)
    undone = []
    for path, before, after in rows:
        with signals_held_back():
            if _recovered(repo, path, before, after):
                undone.append(path)
    _drop_record(repo)
    return undone


def _row(path: str, row: Any) -> tuple[str, bytes | None, str | None]:
    before, after = row["before"], row["after"]
    if not isinstance(after, str | None):
        raise TypeError
    return path, None if before is None else base64.b64decode(before), after


def _recovered(repo: Repository, path: str, before: bytes | None, after: str | None) -> bool:
    """Put one file back where it still holds what the killed run wrote; whether it did."""
    assert repo.root is not None
    try:
        data = _present(repo, path)
        sweep_beside(repo.root / path)
    except (OSError, ValueError, OutsideRepository):
        return False  # nothing that a writer could have written
    if data == before or digest(data) != after:
        return False
    if _is_blob(repo, _oids(repo, repo.head(), [path]).get(path), data) and repo.head() is not None:
        _refresh_stage(repo, path, before)
        return False
    file = Replacement(repo.root, path, data, before, scratch_folder(repo))
    try:
        file.apply()
        unstage(repo, path, before, data)
    except Changed:
        return False
    finally:
        file.close()
    return True


def _await_git(repo: Repository) -> None:
    """A killed run's `git commit` goes on without it: what it commits must not be put back meanwhile."""
    lock = repo.git_dir / "index.lock"
    deadline = time.monotonic() + GIT_PATIENCE
    while lock.exists():
        if time.monotonic() >= deadline:
            raise Locked(
                "a commit that git mem began is still running here, or was killed",
                Message("wait for it; if no git runs any more: {}", f"rm {shlex.quote(str(lock))}"),
            )
        time.sleep(0.02)


def _drop_record(repo: Repository) -> None:
    """Take the record away. Raises GitMemError where that cannot be: the next run would meet it again."""
    try:
        (repo.git_dir / RECORD).unlink(missing_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot remove '{}': {}", repo.git_dir / RECORD, error.strerror)) from None


def _present(repo: Repository, path: str) -> bytes | None:
    assert repo.root is not None
    try:
        return read_bytes(repo.root, path)
    except FileNotFoundError:
        return None
