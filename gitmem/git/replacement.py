"""Replaces, creates or removes one file of the work tree; a save by an editor at the same moment is never lost.

The new text is written to a scratch file first. The two files then change places in one system call, and the file that
came out is compared with the bytes that the writer had read. The replaced file stays in the scratch folder until
`close`: undoing needs no disk space, and a later write into it, by a program that had it open, is noticed.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from gitmem import system
from gitmem.errors import Changed, GitMemError
from gitmem.git.worktree import default_mode, read_bytes, resolve, sync_folder
from gitmem.messages import Message

PREFIX = ".gitmem-"  # of a scratch file in the work tree, used where .git is on another file system
_SCRATCH_NAME = re.compile(r"\.gitmem-[a-z0-9_]{8}~?")
_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux (renameat2) and RENAME_SWAP of macOS (renamex_np)
_AT_FDCWD = -100  # paths are relative to the working directory


class Replacement:
    """The change of one file from the bytes `before` to the bytes `after`. None means no file; one of both is bytes.

    `path` is relative to `root`. `scratch` is a private folder for the scratch file. Call `apply` first, then `undo` if
    the change must not stay, and `close` at the end in any case.
    """

    def __init__(self, root: Path, path: str, before: bytes | None, after: bytes | None, scratch: Path) -> None:
        self.path, self.before, self.after = path, before, after
        self._root, self._scratch = root, scratch
        self._scratch_file: Path | None = None  # the new text; once applied, the replaced file
        self._applied = False

    def apply(self) -> None:
        """Write `after` in place of `before`.

        Raises Changed if the file does not hold `before`, and leaves it as it is. Raises GitMemError if the file cannot
        be written, OutsideRepository if the path leads through a symbolic link.
        """
        target = resolve(self._root, self.path)
        try:
            if self.after is None:
                self._scratch_file = _new_scratch_file(self._scratch, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                resolve(self._root, self.path)
                self._scratch_file = _written(self._scratch, target, self.after)
            # Compared before the exchange as well: an editor that reads our text in the moment until it is taken back
            # would save it over the text of somebody else.
            if self.before is not None and _content(self._root, self.path) != self.before:
                raise self._changed()
            self._exchange(self._scratch_file, target)
            self._applied = True
            sync_folder(target.parent)
            if self.before is not None and _read(self._scratch_file) != self.before:
                self._put_back(self._scratch_file, target)
                raise self._changed()
        except OSError as error:
            raise GitMemError(Message("cannot write '{}': {}", self.path, error.strerror)) from None

    def _exchange(self, scratch_file: Path, target: Path) -> None:
        try:
            if self.before is None:
                _link(scratch_file, target)
            elif self.after is None:
                os.replace(target, scratch_file)
            else:
                _swap(scratch_file, target)
        except (FileExistsError, FileNotFoundError):  # somebody created or removed the file since it was read
            raise self._changed() from None

    def undo(self) -> bool:
        """Put `before` back if the file still holds `after`. Returns whether the file holds `before` again.

        A file that somebody changed since is left alone. Raises OSError if the old file cannot be put back.
        """
        if not self._applied or self._scratch_file is None:
            return True
        target = resolve(self._root, self.path)
        current = _content(self._root, self.path)
        if current != self.after:
            return current == self.before
        self._put_back(self._scratch_file, target)
        return not self._applied

    def _put_back(self, scratch_file: Path, target: Path) -> None:
        """Undo the exchange. A file that somebody saves at this very moment stays, and the change counts as applied."""
        if self.before is None:
            target.unlink()
        elif self.after is None:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                _link(scratch_file, target)
            except FileExistsError:
                return
        else:
            _swap(scratch_file, target)
            if _read(scratch_file) != self.after:
                _swap(scratch_file, target)
                return
        self._applied = False
        sync_folder(target.parent)

    def late_write(self) -> tuple[bytes, bytes] | None:
        """What a program wrote to the file that was taken out, if it had that file open: the bytes before and after.

        Returns None if nobody wrote to it. The file taken out is the old one or, after `undo`, the new one. Raises
        OSError if it cannot be read.
        """
        taken_out = self.after
        if self._applied:
            taken_out = self.before
        if taken_out is None or self._scratch_file is None:
            return None
        data = _read(self._scratch_file)
        if data == taken_out:
            return None
        return taken_out, data

    def keep(self, place: Path) -> None:
        """Move the file that was taken out to `place`, mode 0600; `close` then removes nothing."""
        if self._scratch_file is not None:
            os.chmod(self._scratch_file, 0o600)
            os.replace(self._scratch_file, place)
            self._scratch_file = None

    def close(self) -> None:
        """Remove the scratch file."""
        if self._scratch_file is not None:
            with suppress(OSError):
                self._scratch_file.unlink(missing_ok=True)

    def _changed(self) -> Changed:
        return Changed(
            Message("'{}' was changed by somebody else at the same moment", self.path), "look at it, then try again"
        )


def with_added_lines(before: bytes, theirs: bytes, current: bytes) -> bytes:
    """`current` plus the lines that `theirs` added to `before`, each after the line that it follows in `theirs`.

    A line that `theirs` removed stays, because `theirs` may be half written. A line that `current` removed is not
    added again.
    """
    from difflib import SequenceMatcher

    old, new = before.splitlines(keepends=True), theirs.splitlines(keepends=True)
    result = current.splitlines(keepends=True)
    for tag, _, _, first, last in SequenceMatcher(None, old, new).get_opcodes():
        if tag not in ("insert", "replace"):
            continue
        at = len(result)
        if first and new[first - 1] in result:
            at = result.index(new[first - 1]) + 1
        if at and not result[at - 1].endswith(b"\n"):
            result[at - 1] += b"\n"
        result[at:at] = [line for line in new[first:last] if line not in result]
    return b"".join(result)


def sweep(scratch: Path) -> None:
    """Remove the files that killed runs left in the folder `scratch`. The caller holds the lock of all writers."""
    if not scratch.is_dir():
        return
    for file in scratch.iterdir():
        with suppress(OSError):
            file.unlink()


def sweep_beside(target: Path) -> None:
    """Remove the scratch files that killed runs left next to `target`. The caller holds the lock of all writers."""
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if _SCRATCH_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def _content(root: Path, path: str) -> bytes | None:
    try:
        return read_bytes(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read(place: Path) -> bytes:
    handle = os.open(place, os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK | system.RAW)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        return file.read()


def _new_scratch_file(scratch: Path, target: Path) -> Path:
    """A new empty file on the file system of `target`: in `scratch`, or next to `target` and ignored by Git."""
    if scratch.stat().st_dev == target.parent.stat().st_dev:
        handle, name = tempfile.mkstemp(dir=scratch)
    else:
        sweep_beside(target)
        _exclude(scratch)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=PREFIX)
    os.close(handle)
    return Path(name)


def _exclude(scratch: Path) -> None:
    """Have Git ignore scratch files in the work tree. `scratch` is two folders below the common Git directory."""
    info = scratch.parent.parent / "info"
    info.mkdir(exist_ok=True)
    place = info / "exclude"
    old = ""
    if place.exists():
        old = place.read_text(encoding="utf-8", errors="surrogateescape")
    if f"{PREFIX}*" in old.splitlines():
        return
    with open(place, "a", encoding="utf-8") as file:
        if old and not old.endswith("\n"):
            file.write("\n")
        file.write(f"{PREFIX}*\n")


def _written(scratch: Path, target: Path, data: bytes) -> Path:
    """A scratch file with `data`, flushed to the disk, with the mode that `target` has or a new file would get."""
    place = _new_scratch_file(scratch, target)
    try:
        with open(place, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = default_mode()
        if target.exists():
            mode = stat.S_IMODE(target.stat().st_mode)
        os.chmod(place, mode)
    except OSError:
        place.unlink(missing_ok=True)
        raise
    return place


def _link(file: Path, target: Path) -> None:
    """Give `file` the name `target` as well. Raises FileExistsError if there is a file of that name.

    On a file system without hard links the file is moved.
    """
    try:
        os.link(file, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED or target.exists():
            raise
        os.replace(file, target)


def _swap(scratch_file: Path, target: Path) -> None:
    """Let two files change places: in one step, or else so that `target` has either its old or its new text."""
    if _exchanged(scratch_file, target):
        return
    old = scratch_file.with_name(scratch_file.name + "~")
    try:
        os.link(target, old)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
        os.rename(target, old)
    os.replace(scratch_file, target)
    os.rename(old, scratch_file)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two files by the system call for it. Returns False if the system or the file system has none.

    Raises OSError if the call fails for another reason.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(libc, "renameat2"):
        code = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)
    elif hasattr(libc, "renamex_np"):
        code = libc.renamex_np(names[0], names[1], _EXCHANGE)
    else:
        return False
    if code == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other))
