"""One file of the work tree replaced or removed, so that nothing an editor saves at the same moment is lost.

The new text is written in full beside the state of Git, then both files change places at once, and what came out is
compared with what the writer had read. The old file is kept until the end: putting it back needs no space on the disk,
and a save that went into it (an editor had it open) is seen.
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

PREFIX = ".gitmem-"  # of a new text that has to lie in the work tree, where that is another file system than .git
_LEFT_OVER = re.compile(r"\.gitmem-[a-z0-9_]{8}~?")
_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)
_SWAP = 2  # RENAME_EXCHANGE of Linux (renameat2) and RENAME_SWAP of macOS (renamex_np)
_HERE = -100  # AT_FDCWD


class Replacement:
    """`path` below `root`: from the bytes `before` to the bytes `after`; None is no file.

    `scratch` is a private folder for files in between. `apply` first, then `undo` or nothing, `close` last.
    """

    def __init__(self, root: Path, path: str, before: bytes | None, after: bytes | None, scratch: Path) -> None:
        self.path, self.before, self.after = path, before, after
        self._root, self._scratch = root, scratch
        self._other: Path | None = None  # first the new text, then the old file
        self._applied = False
        self._undone = False

    def apply(self) -> None:
        """Put `after` in the place of `before`.

        Raises Changed, and leaves the file as it is, where it holds something else than `before`; GitMemError where
        it cannot be written; OutsideRepository for a path through a link.
        """
        target = resolve(self._root, self.path)
        try:
            if self.after is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                resolve(self._root, self.path)
                self._other = _written(self._scratch, target, self.after)
            self._exchange(target)
            self._applied = True
            sync_folder(target.parent)
        except OSError as error:
            raise GitMemError(Message("cannot write '{}': {}", self.path, error.strerror)) from None
        if self.disturbed():
            self.undo()
            raise self._changed()

    def undo(self) -> bool:
        """Put `before` back where the file still holds `after`; whether the file is as it was.

        False where somebody changed it since: then it is left. Raises OSError where it cannot be put back.
        """
        if not self._applied:
            return True
        target = resolve(self._root, self.path)
        current = _content(self._root, self.path)
        if current != self.after:
            return current == self.before
        self._applied = not self._put_back(target)
        return not self._applied

    def _put_back(self, target: Path) -> bool:
        """Whether `before` stands at `target` again; False where somebody saved at this very moment."""
        if self.before is None:
            target.unlink()
        elif self.after is None or self._other is None:
            if self._other is None:
                self._other = _written(self._scratch, target, self.before)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._other, target)
        else:
            _swap(self._other, target)
            if _read(self._other) != self.after:  # saved in this very moment
                _swap(self._other, target)
                return False
            self._undone = True
        sync_folder(target.parent)
        return True

    def disturbed(self) -> bool:
        """Whether somebody wrote into the old file after it was replaced."""
        return self.before is not None and self._other is not None and _read(self._other) != self.before

    def late(self) -> tuple[bytes, bytes] | None:
        """The bytes of the replaced file at the replacement and now, if a process that had it open wrote to it since.

        Returns None when nobody wrote. The replaced file is the old one or, after `undo`, the new one.
        """
        if self._applied:
            expected = self.before
        else:
            expected = None
            if self._undone:
                expected = self.after
        if expected is None or self._other is None:
            return None
        data = _read(self._other)
        if data == expected:
            return None
        return (expected, data)

    def keep(self, place: Path) -> None:
        """Keep the old file as `place`: `close` does not take it away."""
        if self._other is not None:
            os.chmod(self._other, 0o600)
            os.replace(self._other, place)
            self._other = None

    def close(self) -> None:
        """Take the file in between away."""
        if self._other is not None:
            with suppress(OSError):
                self._other.unlink(missing_ok=True)

    def _exchange(self, target: Path) -> None:
        # Looked at again right before: an editor that read our text while it stands here would save it over another's.
        if self.before is not None and _content(self._root, self.path) != self.before:
            raise self._changed()
        if self.before is None:
            if self._other is not None:
                self._create(target)
            elif target.exists():
                raise self._changed()
        elif self.after is None:
            self._other = self._taken_away(target)
        else:
            assert self._other is not None
            try:
                _swap(self._other, target)
            except FileNotFoundError:
                self.close()
                raise self._changed() from None
        if self._other is not None and _read(self._other) != self.before:
            self._give_back(target)
            raise self._changed()

    def _create(self, target: Path) -> None:
        assert self._other is not None
        try:
            os.link(self._other, target, follow_symlinks=False)
        except FileExistsError:
            self.close()
            raise self._changed() from None
        except OSError as error:  # a file system without hard links
            if error.errno not in _NOT_SUPPORTED or target.exists():
                raise
            os.replace(self._other, target)
        self.close()
        self._other = None

    def _taken_away(self, target: Path) -> Path:
        place = _name_for(self._scratch, target)
        try:
            os.replace(target, place)
        except FileNotFoundError:
            place.unlink(missing_ok=True)
            raise self._changed() from None
        return place

    def _give_back(self, target: Path) -> None:
        """What came out was not what was read: it goes back, and with it whatever was saved since."""
        assert self._other is not None
        if self.after is None:
            try:
                os.link(self._other, target)
            except FileExistsError:
                pass  # there is a newer one already
        else:
            _swap(self._other, target)
            if _read(self._other) != self.after:
                _swap(self._other, target)
        self.close()

    def _changed(self) -> Changed:
        return Changed(
            Message("'{}' was changed by somebody else at the same moment", self.path), "look at it, then try again"
        )


def with_added_lines(before: bytes, theirs: bytes, current: bytes) -> bytes:
    """`current` with the lines that `theirs` has and `before` has not, each behind the line it follows in `theirs`.

    Lines that they took out stay: the file may be half written, and what `current` took out must not come back.
    """
    from difflib import SequenceMatcher

    old, new = before.splitlines(keepends=True), theirs.splitlines(keepends=True)
    result = current.splitlines(keepends=True)
    for tag, _, _, first, last in SequenceMatcher(None, old, new).get_opcodes():
        if tag not in ("insert", "replace"):
            continue
        above = None
        if first:
            above = new[first - 1]
        if above in result:
            at = result.index(above) + 1
        else:
            at = len(result)
        if at and not result[at - 1].endswith(b"\n"):
            result[at - 1] += b"\n"
        result[at:at] = [line for line in new[first:last] if line not in result]
    return b"".join(result)


def sweep(scratch: Path) -> None:
    """Take away what killed runs left in `scratch`. The caller holds the lock of all writers."""
    for file in scratch.iterdir() if scratch.is_dir() else ():
        with suppress(OSError):
            file.unlink()


def sweep_beside(target: Path) -> None:
    """Take away what killed runs left in the folder of a file. The caller holds the lock of all writers."""
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if _LEFT_OVER.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
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


def _name_for(scratch: Path, target: Path) -> Path:
    """A new empty file on the file system of `target`: in `scratch`, else beside it and kept from `git add`."""
    if scratch.stat().st_dev == target.parent.stat().st_dev:
        handle, name = tempfile.mkstemp(dir=scratch)
    else:
        sweep_beside(target)
        _exclude(scratch)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=PREFIX)
    os.close(handle)
    return Path(name)


def _exclude(scratch: Path) -> None:
    """Have Git ignore the files in between; `scratch` is two folders below the common Git directory."""
    info = scratch.parent.parent / "info"
    info.mkdir(exist_ok=True)
    place = info / "exclude"
    old = ""
    if place.exists():
        old = place.read_text(encoding="utf-8", errors="surrogateescape")
    if f"{PREFIX}*" not in old.splitlines():
        with open(place, "a", encoding="utf-8") as file:
            file.write(("" if not old or old.endswith("\n") else "\n") + f"{PREFIX}*\n")


def _written(scratch: Path, target: Path, data: bytes) -> Path:
    """A file with `data` on the disk, with the mode that `target` has or would get."""
    place = _name_for(scratch, target)
    try:
        with open(place, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(place, stat.S_IMODE(target.stat().st_mode) if target.exists() else default_mode())
    except OSError:
        place.unlink(missing_ok=True)
        raise
    return place


def _swap(a: Path, b: Path) -> None:
    """Let two files change places. Where the system cannot do that at once, `b` has a moment of its old file only."""
    if _swapped_at_once(a, b):
        return
    third = a.with_name(a.name + "~")
    try:
        os.link(b, third)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
        os.rename(b, third)
    os.replace(a, b)
    os.rename(third, a)


def _swapped_at_once(a: Path, b: Path) -> bool:
    """Whether the system's call for it did it. Raises OSError for a reason other than that it is not supported."""
    import ctypes

    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(a), os.fsencode(b)
    if hasattr(system, "renameat2"):
        code = system.renameat2(_HERE, names[0], _HERE, names[1], _SWAP)
    elif hasattr(system, "renamex_np"):
        code = system.renamex_np(names[0], names[1], _SWAP)
    else:
        return False
    if code == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(b))
