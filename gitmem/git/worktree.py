"""Reads and writes files of the work tree: never outside the repository, never through a link, never half of a file.

Every write goes in this order: the Markdown first (temporary file, fsync, rename), Git second, the search index last.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from gitmem import system
from gitmem.errors import GitMemError, Locked, OutsideRepository, StateOfAnotherUser
from gitmem.messages import Message
from gitmem.shell_word import shell_word

SCRATCH_PREFIX = ".gitmem-"  # of a file that is written and then renamed


def relative(root: Path, path: str, cwd: Path | None = None) -> str:
    """The path in `root` of a path that was typed in the folder `cwd` (default: `root`). Raises OutsideRepository if
    the path leads out of `root` or into .git."""
    return _as_spelled(root, _checked(os.path.relpath(os.path.join(cwd or root, path), root)))


def _as_spelled(root: Path, path: str) -> str:
    """The path with the names of existing files: a Mac stores a name in other code points than a keyboard types it."""
    if path.isascii() or os.path.lexists(root / path):
        return path
    folder, parts = root, []
    for part in path.split("/"):
        if not os.path.lexists(folder / part):
            names: list[str] = []
            with suppress(OSError):
                if not folder.is_symlink():
                    names = os.listdir(folder)
            typed = normalize("NFC", part)
            part = next((name for name in sorted(names) if normalize("NFC", name) == typed), part)
        parts.append(part)
        folder = folder / part
    return "/".join(parts)


def _checked(path: str) -> str:
    """The path without empty parts and `.`. Raises OutsideRepository for `..`, an absolute path or one below .git."""
    parts = PurePosixPath(path).parts
    if "\0" in path or os.path.isabs(path) or ".." in parts or (parts and parts[0].lower() == ".git"):
        raise OutsideRepository(Message("'{}' is not a file of this repository", path))
    return "/".join(parts)


def resolve(root: Path, path: str) -> Path:
    """The file of a path relative to `root`. Raises OutsideRepository if a part of it is a symbolic link or .git."""
    place = root
    for part in _checked(path).split("/"):
        place = place / part
        if part.lower() == ".git" or place.is_symlink():
            raise OutsideRepository(Message("'{}' goes through a symbolic link or .git and is not followed", path))
    return place


def read_bytes(root: Path, path: str, limit: int | None = None) -> bytes:
    """The bytes of a file of the work tree, at most `limit` (None: all).

    Raises FileNotFoundError if there is no such file, IsADirectoryError for a folder, another OSError if it cannot be
    read, OutsideRepository for a link, for a path through one and for anything but a regular file.
    """
    target = resolve(root, path)
    try:
        handle = os.open(target, os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK | system.RAW)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise OutsideRepository(Message("'{}' is a symbolic link and is not followed", path)) from None
        raise
    try:
        opened = os.fdopen(handle, "rb")
    except IsADirectoryError as error:  # raised from a handle, so it names no path
        os.close(handle)
        raise IsADirectoryError(error.errno, error.strerror, str(target)) from None
    with opened as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OutsideRepository(Message("'{}' is not a regular file", path))
        return file.read(limit)


def read_files(root: Path, paths: Iterable[str], limit: int) -> Iterator[tuple[str, bytes | Exception]]:
    """(path, the bytes that `read_bytes` returns or the error that it raises) for each path, in order. `limit`: bytes
    of each file at most; -1 is not allowed here.

    Each folder is opened once if its files follow each other in `paths`.
    """
    folder, handle = "", -1
    if not system.POSIX:  # a folder cannot be opened there
        for path in paths:
            try:
                yield path, read_bytes(root, path, limit)
            except (OSError, OutsideRepository) as error:
                yield path, error
        return
    try:
        for path in paths:
            above, _, name = path.rpartition("/")
            try:
                if handle < 0 or above != folder:
                    if handle >= 0:
                        os.close(handle)
                    handle = -1
                    folder, handle = above, _open_folder(root, above)
                if name in ("", ".", "..") or "\0" in name or name.lower() == ".git":
                    raise OutsideRepository(Message("'{}' is not a file of this repository", path))
                yield path, _read_at(handle, name, limit)
            except (OSError, OutsideRepository) as error:
                yield path, error
    finally:
        if handle >= 0:
            os.close(handle)


def _open_folder(root: Path, path: str) -> int:
    """The handle of a folder, opened part by part, so that no part is a symbolic link or becomes one meanwhile. Raises
    OutsideRepository for `.git`, OSError for a link and for a missing folder."""
    handle = os.open(root, os.O_RDONLY | system.DIRECTORY | system.RAW)
    for part in _checked(path).split("/") if path else ():
        try:
            if part.lower() == ".git":
                raise OutsideRepository(Message("'{}' goes through .git and is not followed", path))
            inner = os.open(part, os.O_RDONLY | system.DIRECTORY | system.NOFOLLOW | system.RAW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _read_at(folder: int, name: str, limit: int) -> bytes:
    handle = os.open(name, os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK | system.RAW, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OutsideRepository(Message("'{}' is not a regular file", name))
        data = os.read(handle, min(limit, status.st_size + 1))
        while len(data) > status.st_size and len(data) < limit:  # somebody is appending to the file
            chunk = os.read(handle, limit - len(data))
            if not chunk:
                break
            data += chunk
        return data
    finally:
        os.close(handle)


def content(root: Path, path: str) -> bytes | None:
    """The bytes of a file of the work tree; None if there is no file. Raises as `read_bytes` for anything else."""
    try:
        return read_bytes(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_atomic(root: Path, path: str, data: bytes, *, private: bool = False) -> None:
    """Replace or create a file by a temporary file next to it, fsync and rename. The file keeps its mode, a new one
    gets the mode of the umask; 0600 if `private`.

    Raises GitMemError if it cannot be written, OutsideRepository as `resolve`; an old file is unchanged then, unless
    only the folder could not be flushed to the disk.
    """
    target = resolve(root, path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        resolve(root, path)
        temporary = flushed_file(target.parent, target, data, private=private)
        try:
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise GitMemError(Message("cannot write '{}': {}", path, error.strerror)) from None


def flushed_file(folder: Path, target: Path, data: bytes, *, private: bool = False) -> Path:
    """A new file in `folder` with `data`, flushed to the disk, to be renamed to `target`.

    It has the mode of `target`, or that of the umask if there is no `target`; 0600 if `private`. Raises OSError if it
    cannot be written; no file is left then.
    """
    import tempfile  # 5 ms that a search need not pay

    handle, name = tempfile.mkstemp(dir=folder, prefix=SCRATCH_PREFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = 0o600
        if not private:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else default_mode()
        os.chmod(name, mode)
    except BaseException:  # an interrupted merge driver leaves nothing beside the file either
        os.unlink(name)
        raise
    return Path(name)


def drop_empty_parents(root: Path, path: str) -> None:
    """Remove the folders above the removed file `path` that are empty now; never `root`, and no symbolic link."""
    for folder in resolve(root, path).parents:
        if folder == root or not folder.is_relative_to(root):
            return
        try:
            folder.rmdir()
        except OSError:  # a file is in it
            return


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, so that a rename survives a crash. Does nothing on Windows. Raises
    OSError."""
    if not system.POSIX:  # a folder cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def default_mode() -> int:
    """The permission bits of a new file by the user's umask, such as 0o644."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def locked(common_dir: Path, name: str, wait: float = 5.0, make: bool = True) -> Iterator[None]:
    """Hold the lock file `NAME.lock` of the state folder against other processes, for the time of the block.

    Raises Locked after `wait` seconds, GitMemError if the file cannot be opened. `make`: make the state folder if it is
    missing; without it that is a GitMemError too.
    """
    folder = state_dir(common_dir, make)
    flags = os.O_RDWR | os.O_CREAT | system.NOFOLLOW | system.RAW
    try:
        handle = os.open(folder / f"{name}.lock", flags, 0o600)
    except OSError as error:
        raise GitMemError(Message("cannot lock in '{}': {}", folder, error.strerror), "check its permissions") from None
    try:
        if system.POSIX and stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
            os.chmod(folder / f"{name}.lock", 0o600)  # a restored copy may have lost its mode
        deadline = time.monotonic() + wait
        while True:
            try:
                system.lock(handle)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise Locked(
                        Message("another git mem is at work here ({})", name), "try again in a moment"
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def hint_for_another_owner(path: Path) -> str:
    """What to do about the state folder or a file in it (`path`) that another user owns: in a repository of that user
    nothing can be changed, in one's own a command of the administrator may have made it."""
    try:
        is_own_repository = system.is_ours(os.stat(path.parent if path.name == "gitmem" else path.parent.parent))
    except OSError:
        is_own_repository = False
    if is_own_repository:
        return f'sudo chown -R "$(id -un)" {shell_word(str(path))}'
    return "work as its owner, or in a clone of your own: git clone"


def state_dir(common_dir: Path, make: bool = True) -> Path:
    """The state folder, `gitmem/` in Git's common directory, mode 0700.

    Raises GitMemError if it is a symbolic link, belongs to another user or cannot be made. Without `make` a missing
    folder is a GitMemError too: a background process must not make it again while the user removes it.
    """
    folder = common_dir / "gitmem"
    try:
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except FileExistsError:
        raise GitMemError(Message("'{}' is no folder", folder), "remove it and try again") from None
    except OSError as error:
        words = f"cannot {'make' if make else 'find'} '{folder}': {error.strerror}"
        raise GitMemError(words, "check its permissions") from None
    if not stat.S_ISDIR(status.st_mode):
        raise GitMemError(Message("'{}' is a link or no folder", folder), "remove it and try again")
    if not system.is_ours(status):
        raise StateOfAnotherUser(Message("'{}' belongs to another user", folder), hint_for_another_owner(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        with suppress(OSError):  # a file system that cannot be written
            os.chmod(folder, 0o700)
    return folder
