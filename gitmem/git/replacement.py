"""Replaces, creates or removes one file of the work tree; what others write to it at the same moment is never lost.

The new text is written to a scratch file. Then the scratch file and the file change places in one system call, and the
text that came out is compared with the text that the writer had read: an editor may have saved in between. The scratch
file, now with the old text, is kept until `close`, so that undoing needs no disk space and no line is lost that a
program adds to the old file because it still has it open. What a program writes there after `close` is lost.

tests/git/test_write_faults.py has the loops of kills and editors. The docstrings here name the loop that fails without
a step.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import time
from contextlib import closing, suppress
from pathlib import Path

from gitmem import system
from gitmem.errors import Changed, GitMemError, OutsideRepository
from gitmem.git.worktree import SCRATCH_PREFIX, content, flushed_file, read_bytes, resolve, sync_folder
from gitmem.messages import Message
from gitmem.shell_word import shell_word

LATE = "late"  # prefix of files in the state folder: replaced files whose new lines could not be added to the new file
_SCRATCH_NAME = re.compile(re.escape(SCRATCH_PREFIX) + "[a-z0-9_]{8}~?")

log = logging.getLogger(__name__)


class Replacement:
    """The change of one file from the bytes `before` to the bytes `after`. None means no file; at most one of both is
    None.

    `path` is relative to `root`. `scratch` is the folder for scratch files in the state folder. Call `apply` first,
    then `undo` if the change must not stay, and `close` at the end in any case.
    """

    def __init__(self, root: Path, path: str, before: bytes | None, after: bytes | None, scratch: Path) -> None:
        self.path, self.before, self.after = path, before, after
        self._root, self._scratch_folder = root, scratch
        self._scratch: Path | None = None  # the file that is not in place: the new one, or the old one once applied
        self._applied = False

    def apply(self) -> None:
        """Put `after` in the place of `before`.

        Raises Changed if the file does not hold `before`, and leaves it as somebody saved it. Raises GitMemError if the
        file cannot be written, OutsideRepository if the path leads through a symbolic link.
        """
        self._write_scratch_file(self.after)
        try:
            # `_switch` compares too, but an editor that loads our text in the moment until it is taken back, and saves
            # it later, would lose what somebody else saved. No loop can show that; the writer has to compare first.
            if self.before is not None and content(self._root, self.path) != self.before:
                raise self._changed()
            self._switch()
        except OSError as error:
            raise GitMemError(Message("cannot write '{}': {}", self.path, error.strerror)) from None

    def resume(self) -> None:
        """Take over a change that a killed process applied, so that it can be undone. Raises GitMemError and
        OutsideRepository as `apply`."""
        self._write_scratch_file(self.before)
        self._applied = True

    def undo(self) -> bool:
        """Put `before` back if the file still holds `after`. Returns whether the file holds `before` again.

        A file that somebody changed since is left alone; a change that was never applied needs no undoing (True).
        Raises OSError or OutsideRepository if the old file cannot be put back.
        """
        if not self._applied:
            return True
        current = content(self._root, self.path)
        if current == self.after:
            with suppress(Changed):
                self._switch()
                return True
        return current == self.before

    def close(self) -> None:
        """Remove the scratch file, after the lines that a program added to it are added to the file in its place.

        The loops of editors that hold the file open, or that empty it and write it later, need this: such a program
        writes to the file that was taken out. If the lines cannot be added (a full disk, a folder is there now,
        somebody saves at this moment), the file that was taken out is kept in the state folder, and a warning names it.
        """
        if self._scratch is None:
            return
        expected = self.before if self._applied else self.after
        try:
            while expected is not None and (current := _read(self._scratch)) != expected:
                self._add_lines(expected, current)
                expected = current
        except FileNotFoundError:
            return  # somebody removed it
        except (OSError, GitMemError):
            self._keep(self._scratch)
        with suppress(OSError):
            self._scratch.unlink(missing_ok=True)

    def _write_scratch_file(self, data: bytes | None) -> None:
        """Write the text that is to be put in place, or an empty file if the file is to be removed. Raises GitMemError
        if it cannot be written."""
        try:
            target = self._target()
            self._scratch = flushed_file(_folder_for_scratch(self._scratch_folder, target), target, data or b"")
        except OSError as error:
            raise GitMemError(Message("cannot write '{}': {}", self.path, error.strerror)) from None

    def _target(self) -> Path:
        """The place of the file; its folder is made. Raises OutsideRepository if a part of it is a symbolic link."""
        resolve(self._root, self.path).parent.mkdir(parents=True, exist_ok=True)
        return resolve(self._root, self.path)

    def _switch(self) -> None:
        """Apply the change, or take it back if it was applied.

        Raises Changed if somebody saved the file since it was read, and leaves it as it was saved. The loop of editors
        that take a line out needs the comparison.
        """
        assert self._scratch is not None
        scratch, taken_out, put_in = self._scratch, self.before, self.after
        if self._applied:
            taken_out, put_in = self.after, self.before
        self._change_places(scratch, taken_out, put_in)
        if taken_out is not None and not _holds(scratch, taken_out):
            self._change_places(scratch, put_in, taken_out)
            raise self._changed()

    def _change_places(self, scratch: Path, taken_out: bytes | None, put_in: bytes | None) -> None:
        """Let the scratch file and the file change places. Raises Changed if somebody created or removed the file."""
        target = self._target()
        try:
            if taken_out is None:
                _link(scratch, target)
                scratch.unlink(missing_ok=True)
            elif put_in is None:
                os.replace(target, scratch)
            else:
                _exchange(scratch, target)
        except (FileExistsError, FileNotFoundError):
            raise self._changed() from None
        self._applied = not self._applied
        sync_folder(target.parent)

    def _changed(self) -> Changed:
        return Changed(
            Message("'{}' was changed by somebody else at the same moment", self.path), "look at it, then try again"
        )

    def _add_lines(self, before: bytes, written: bytes) -> None:
        """Add the lines that `written` added to `before` to the file in place. Raises GitMemError if that fails."""
        current = content(self._root, self.path)
        merged = with_added_lines(before, written, current or b"")
        if merged == (current or b""):
            return
        with closing(Replacement(self._root, self.path, current, merged, self._scratch_folder)) as addition:
            addition.apply()
        log.warning(
            "'%s' was written meanwhile by a program that had it open: its lines are in the file, not committed; "
            "git diff -- %s shows them", self.path, shell_word(self.path),
        )  # fmt: skip

    def _keep(self, scratch: Path) -> None:
        """Move the scratch file to the state folder, which is private."""
        name = f"{LATE}-{hashlib.sha256(self.path.encode()).hexdigest()[:12]}-{time.time_ns()}"
        place = self._scratch_folder.parent / name
        shutil.move(scratch, place)
        log.warning(
            "'%s' was written meanwhile by a program that had it open; all of its text is in %s", self.path, place
        )


def with_added_lines(before: bytes, written: bytes, current: bytes) -> bytes:
    """`current` plus the lines that `written` added to `before`, each after the line that it follows in `written`, or
    at the end if `current` lacks that line.

    A line that `written` removed stays, because `written` may be half written. A line that `current` has already, or
    that it removed, is not added.
    """
    from difflib import SequenceMatcher

    before_lines, written_lines = before.splitlines(keepends=True), written.splitlines(keepends=True)
    result = current.splitlines(keepends=True)
    for tag, _, _, first, last in SequenceMatcher(None, before_lines, written_lines).get_opcodes():
        if tag not in ("insert", "replace"):
            continue
        index = len(result)
        if first and written_lines[first - 1] in result:
            index = result.index(written_lines[first - 1]) + 1
        if index and not result[index - 1].endswith(b"\n"):
            result[index - 1] += b"\n"
        result[index:index] = [line for line in written_lines[first:last] if line not in result]
    return b"".join(result)


def sweep(folder: Path) -> None:
    """Remove the scratch files that killed runs left in a folder. The caller must hold the lock of all writers."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _SCRATCH_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def _folder_for_scratch(scratch: Path, target: Path) -> Path:
    """The folder for the scratch file of `target`: `scratch`, or that of `target` if .git is on another file system."""
    if scratch.stat().st_dev == target.parent.stat().st_dev:
        return scratch
    sweep(target.parent)
    return target.parent


def _read(scratch: Path) -> bytes:
    """The bytes of a file that was taken out. Raises OSError, OutsideRepository if it is no regular file."""
    return read_bytes(scratch.parent, scratch.name)


def _holds(scratch: Path, data: bytes) -> bool:
    """Whether a file that was taken out is a regular file with these bytes."""
    with suppress(OSError, OutsideRepository):
        return _read(scratch) == data
    return False


def _link(file: Path, target: Path) -> None:
    """Give `file` the name `target` as well. Raises FileExistsError if there is a file of that name.

    On a file system without hard links the file is moved.
    """
    try:
        os.link(file, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in system.NOT_SUPPORTED or target.exists():
            raise
        os.replace(file, target)


def _exchange(scratch: Path, target: Path) -> None:
    """Let two files change places in one step; the loop of editors that rename fails with two.

    On a file system that cannot do that, `target` has its old or its new text at any moment, and is missing for a
    moment if there are no hard links either.
    """
    if system.exchange(scratch, target):
        return
    old_file = scratch.with_name(scratch.name + "~")
    _link(target, old_file)
    os.replace(scratch, target)
    os.rename(old_file, scratch)
