"""The write step that every writer of memory uses: it writes files of the work tree and commits them.

A writer takes the lock of all writers and undoes what a killed run left. It then plans from the bytes that it reads,
compares HEAD, the branch and these bytes again, and writes. If anything fails, it puts back the files that still hold
its own text. A record in the Git directory holds the old bytes until then, for the run after a kill. Every write goes
in this order: the Markdown first, Git second, the search index last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from gitmem.errors import Changed, GitMemError
from gitmem.git import undo_record
from gitmem.git.commit import commit_paths, ensure_can_commit
from gitmem.git.git_index import StagedText, blob_oids, is_blob, is_committed, reset, stage_over
from gitmem.git.objects import EXECUTABLE, REGULAR, is_encrypted, is_lfs_pointer
from gitmem.git.opening import Repository
from gitmem.git.recovery import RECOVERY_HINT, drop_record, put_back, recover, write_record
from gitmem.git.replacement import Replacement, sweep
from gitmem.git.scratch_files import scratch_folder
from gitmem.git.sparse_checkout import left_out
from gitmem.git.unmerged import Ours, ensure_settled, our_versions
from gitmem.git.worktree import content, locked
from gitmem.git.write import run_git
from gitmem.messages import Message
from gitmem.shell_word import shell_word, shell_words
from gitmem.system import blocked_signals, interrupted_by_sigterm

TRIES = 5  # of one write, if files change between the plan and the write
WRITE_WAIT = 60.0  # seconds to wait for the writers before this one
RETRY_SECONDS = 0.05  # before the next try: an editor that truncates a file has written it by then

Contents = Mapping[str, bytes | None]  # path -> bytes of the file; None: there is no file
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Draft(Generic[Result]):
    """What the `plan` function of `write` or `commit` returns. `contents`: the files to write, empty for no write.
    `result`: what the caller gets then."""

    contents: Contents
    result: Result


@dataclass(frozen=True, slots=True)
class CommitDraft(Draft[Result]):
    """A draft of a commit of exactly these files. `message`: of the commit."""

    message: str


class Position(NamedTuple):
    """Where HEAD is. `head`: its commit (oid), None before the first commit. `branch`: the name of the current branch,
    None if HEAD is detached."""

    head: str | None
    branch: str | None


def position(repo: Repository) -> Position:
    """The current commit and branch of `repo`."""
    return Position(repo.head(), repo.branch())


class Reading:
    """Reads files of the work tree for the `plan` of `write` or `commit`. `noted`: path -> the bytes that were read
    (None: no file), which are compared again before the write."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.noted: dict[str, bytes | None] = {}
        self._ours: Ours | None = None  # the files in conflict, asked for with the first file

    def read(self, path: str) -> bytes | None:
        """The bytes of a text file; None if there is no file.

        Raises GitMemError for text in UTF-16 (`ensure_utf8`), for an encrypted file, for a pointer of Git LFS, and as
        `raw`. Raises OutsideRepository and OSError as `worktree.content`.
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
                raise GitMemError(message, f"git lfs pull --include {shell_word(path)}")
        return data

    def raw(self, path: str) -> bytes | None:
        """The bytes of a file of any kind; None if there is no file. They are read once and noted, so that a later call
        gives the same bytes. Raises GitMemError for a file in conflict (`ensure_settled`) and for one that a sparse
        checkout leaves out. Raises OutsideRepository and OSError as `worktree.content`."""
        assert self.repo.root is not None
        if path not in self.noted:
            if self._ours is None:
                self._ours = our_versions(self.repo)
            ensure_settled(self._ours, path)
            data = content(self.repo.root, path)
            if data is None and path in left_out(self.repo):
                raise GitMemError(
                    Message("'{}' is tracked and left out of this sparse checkout", path),
                    "git sparse-checkout add its folder",
                )
            self.noted[path] = data
        return self.noted[path]

    def committed(self, path: str) -> bytes:
        """The bytes of a file that equals the one in HEAD. Raises GitMemError if it is missing, a folder or differs
        from HEAD, and as `read`."""
        data = None
        with suppress(IsADirectoryError, NotADirectoryError):
            data = self.read(path)
        if data is None:
            raise GitMemError(Message("there is no file '{}' here", path), "git mem search finds lines")
        if not is_committed(self.repo, path, data):
            raise uncommitted_edits(path)
        return data

    def committed_or_new(self, path: str) -> bytes:
        """The bytes of a file that equals the one in HEAD; b"" if there is no file. Raises GitMemError as
        `committed`."""
        if self.raw(path) is None:
            return b""
        return self.committed(path)


def text_at(repo: Repository, commit: str, path: str) -> bytes:
    """The bytes of a text file at a commit, b"" for no file. Raises GitMemError for a link, and as `ensure_utf8`."""
    entry = next((e for e in repo.entries(commit, [path]) if e.path == path), None)
    if entry is None:
        return b""
    if entry.mode not in (REGULAR, EXECUTABLE):
        raise GitMemError(
            Message("'{}' is not a plain file", path),
            Message("{}, then write it as a file", f"git rm {shell_word(path)}"),
        )
    data = repo.read(entry.oid)
    ensure_utf8(data, path)
    return data


def uncommitted_edits(path: str) -> GitMemError:
    """The error for a file that must equal the one in HEAD and does not."""
    quoted = shell_word(path)
    return GitMemError(
        Message("'{}' has edits that are not committed", path),
        Message(
            "commit them first: {}; if git mem wrote them last, git mem undo takes them back",
            f"git add {quoted} && git commit -- {quoted}",
        ),
    )


def ensure_utf8(data: bytes, path: str) -> None:
    """Raise GitMemError for text that begins with a byte order mark of UTF-16 or holds a NUL: a line appended in UTF-8
    would make all of it unreadable. Other text that is not UTF-8 passes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise GitMemError(
            Message("'{}' is not UTF-8 text and is left as it is", path),
            Message("convert it: {}", "iconv -f UTF-16 -t UTF-8"),
        )


# -- the write step ------------------------------------------------------------------------------------------


@contextmanager
def writer(repo: Repository) -> Iterator[tuple[str, ...]]:
    """Hold the lock of all writers in the block, after undoing what a killed run left. Yields the paths put back.

    SIGTERM ends the process only after the block has put back what it wrote, as an interrupt does. Writers wait for
    each other: a write takes a fraction of a second, and dozens may come at once. Raises Locked after
    WRITE_WAIT seconds, GitMemError in a bare repository, and as `recover`.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    with locked(repo.common_dir, "write", WRITE_WAIT), interrupted_by_sigterm():
        undone = recover(repo)
        sweep(scratch_folder(repo))
        yield tuple(undone)


def write(repo: Repository, plan: Callable[[Reading], Draft[Result]], *, undoable: bool = True) -> Result:
    """Write the files of a plan, all or none, in the order of the draft; commit nothing. Returns the draft's result.

    `plan` reads files through its argument. If one of the files changed before it was written, `plan` is called again,
    TRIES times in all; then Changed is raised. `undoable`: `git mem undo` can undo this write. Raises the errors of
    `plan` and of `writer`.
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
    next run undoes it only if nothing was staged: nobody can tell later who staged an entry. `undoable`: `git mem undo`
    can undo the write; it never can if something was staged.
    """
    recorded = len(contents) > 1 and not staged
    with writer(repo), replaced(repo, contents, noted, recorded=recorded, undoable=undoable and not staged):
        if staged:
            stage_over(repo, staged)


def commit(
    repo: Repository, plan: Callable[[Reading], CommitDraft[Result]], *, undoable: bool = True
) -> tuple[Result, str]:
    """Write the files of a plan and commit these files only.

    Returns the result of the plan and the oid of the commit, "" if the plan has no files. `undoable`: `git mem undo`
    can undo this commit. Raises Changed if HEAD, the branch or a file is not what it was when the plan was made,
    GitMemError as `ensure_can_commit`, and GitFailed if a hook refuses. The files are then as they were, except for
    what somebody else saved meanwhile.
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
    """Make a commit that changes no file, whatever is staged. Returns its oid. Raises as `commit`."""
    ensure_can_commit(repo)
    with writer(repo):
        return commit_paths(repo, message, ())


def commit_files(
    repo: Repository, before: Position, noted: Contents, contents: Contents, message: str, *, undoable: bool = True
) -> str:
    """Write `contents` over the bytes `noted` and commit these files on top of `before`. Returns the oid of the commit.

    The caller must hold the lock of `writer`. `undoable`: as for `commit`. Raises as `commit`.
    """
    ensure_position(repo, before)
    with replaced(repo, contents, noted, before=before, undoable=undoable):
        oid = commit_paths(repo, message, list(contents))
        _ensure_commit_as_planned(repo, before, contents, oid)
    return oid


def ensure_position(repo: Repository, before: Position) -> None:
    """Raise Changed if HEAD or the branch is not what `before` says."""
    current = position(repo)
    if current.branch != before.branch:
        raise Changed(
            Message(
                "the branch changed from '{}' to '{}' meanwhile; nothing was written",
                before.branch or "a detached HEAD",
                current.branch or "a detached HEAD",
            ),
            "run it again on the branch you mean",
        )
    if current.head != before.head:
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
    new file, and a warning is logged. The caller must hold the lock of `writer`.
    """
    assert repo.root is not None
    scratch = scratch_folder(repo)
    changed = {path: data for path, data in contents.items() if data != noted[path]}
    if recorded:
        write_record(repo, (before or position(repo)).head, noted, changed)
    files = [Replacement(repo.root, path, noted[path], data, scratch) for path, data in changed.items()]
    try:
        for file in files:
            with blocked_signals():
                file.apply()
        yield
    except BaseException as error:
        with blocked_signals():
            repo.close()  # an interrupt may have ended its helper process; the next call starts a new one
            outcome = put_back(repo, files, committed=before is not None and repo.head() != before.head)
            if not outcome.failed and recorded:
                drop_record(repo)
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
        drop_record(repo)
    if undoable:
        new_head = ""
        if before is not None and repo.head() != before.head:
            new_head = repo.head() or ""
        undo_record.remember(repo, noted, changed, new_head)


def _with_mixed(error: GitMemError, paths: Sequence[str]) -> tuple[str, str]:
    """Message and hint of `error`, plus the files that hold a text of somebody else and perhaps also ours."""
    names = ", ".join(f"'{path}'" for path in paths)
    message = Message(
        "{}; {}: saved by somebody else meanwhile and left, with what it has of this change", error.message, names
    )
    files = shell_words(paths)
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
    elif parent != before.head and blob_oids(repo, parent, paths) != blob_oids(repo, before.head, paths):
        problem = "somebody committed to the same file meanwhile"
    else:
        staged, committed = {entry.path: entry.oid for entry in repo.staged()}, blob_oids(repo, oid, paths)
        for path, data in contents.items():
            if staged.get(path) == committed.get(path) and not is_blob(repo, committed.get(path), data):
                problem = f"'{path}' was saved by somebody else meanwhile"
    if not problem:
        return
    back_to = ["-d", "HEAD"]
    if parent:
        back_to = ["HEAD", parent]
    run_git(repo, ["update-ref", "-m", "git mem: taken back", *back_to, oid])
    reset(repo, paths)
    raise Changed(Message("{}; nothing was committed", problem), "run it again")


def _branch_contains(repo: Repository, branch: str, oid: str) -> bool:
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    return bool(tip) and (tip == oid or repo.is_ancestor(oid, tip))
