"""Create the files of a memory repository, for `git mem init`. Never overwrites a file and never commits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gitmem.config import TRACKED
from gitmem.errors import GitMemError, NotARepository
from gitmem.git.opening import discover, open_repository
from gitmem.git.transaction import write_over
from gitmem.git.worktree import read_bytes
from gitmem.git.write import init_repository
from gitmem.memory.templates import ATTRIBUTES, FOLDER_ROW, FORMER_ROW, files
from gitmem.paths import INSTRUCTIONS, MAX_MEMORY_FILE_BYTES

ATTRIBUTES_FILE = ".gitattributes"
KEEP_FILE = ".gitkeep"  # Git has no empty folders


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a memory repository. `root`: the top of its work tree. `new`: whether `git init` must create it."""

    root: Path
    new: bool


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A file to write. `before`: its bytes now, None if it does not exist. `after`: its new bytes."""

    path: str
    before: bytes | None
    after: bytes

    @property
    def added_lines(self) -> int | None:
        """The number of lines that the file gains; None for a new file."""
        if self.before is None:
            return None
        return self.after.count(b"\n") - self.before.count(b"\n")


@dataclass(frozen=True, slots=True)
class NewRepository:
    """The result of `create_memory_files`; with `dry_run`, the result that it would have.

    `initialised`: whether `git init` created the repository. `written`: the files that were written. `kept`: the paths
    of the files that existed and stay.
    """

    root: Path
    initialised: bool
    written: tuple[FileWrite, ...]
    kept: tuple[str, ...]


def place_for(folder: Path, environ: Mapping[str, str]) -> Place:
    """Choose the place of a memory repository: the repository that contains `folder`, or `folder` itself as a new one
    if no repository contains it or it does not exist yet. Writes nothing.

    Raises GitMemError for a bare repository, a repository that Git does not trust, and an impossible file name.
    """
    folder = folder.absolute()
    is_there = _exists(folder)
    try:
        repository = discover(folder if is_there else _existing_parent(folder), environ)
    except NotARepository:
        return Place(folder, new=True)
    if not is_there and repository.root != folder:
        return Place(folder, new=True)  # a new folder below another repository becomes a repository of its own
    if repository.root is None:
        raise GitMemError("a bare repository holds no memory files", "make it in a clone")
    return Place(repository.root, new=False)


def create_memory_files(
    place: Place,
    environ: Mapping[str, str],
    language: str,
    *,
    settings: str = "",
    templates: bool = True,
    dry_run: bool = False,
) -> NewRepository:
    """Make `place` a memory repository: run `git init` if it is new, then write the missing files, and the rows that a
    .gitattributes lacks, all or none.

    `language`: of the templates. `settings`: the new text of .gitmem.toml, "" to leave it. `templates`: False writes no
    instruction files. Raises Changed if another process creates one of the files meanwhile, and GitMemError if a file
    cannot be written.
    """
    root = place.root
    writes: list[FileWrite] = []
    kept: list[str] = []
    for path, text in files(language).items():
        if path in INSTRUCTIONS and not templates:
            continue
        if not os.path.lexists(root / path):
            writes.append(FileWrite(path, None, text.encode()))
        elif path == ATTRIBUTES_FILE and (update := _attributes_update(root)):
            writes.append(update)
        else:
            kept.append(path)
    if os.path.lexists(root / "memory" / KEEP_FILE):
        kept.append(f"memory/{KEEP_FILE}")
    elif not (root / "memory").is_dir():
        writes.append(FileWrite(f"memory/{KEEP_FILE}", None, b""))
    if settings:
        writes.append(FileWrite(TRACKED, settings_now(root), settings.encode()))
    return _written(place, environ, writes, kept, dry_run=dry_run)


def create_memory_folder(
    place: Place, environ: Mapping[str, str], folder: str, settings: str, *, dry_run: bool = False
) -> NewRepository:
    """Make one folder of a repository its memory: write `settings` to .gitmem.toml and a line to .gitattributes, and
    create the folder, all or none; `git init` runs first if `place` is new. Raises Changed if another process creates
    one of the files meanwhile, and GitMemError if a file cannot be written."""
    root = place.root
    writes = [FileWrite(TRACKED, settings_now(root), settings.encode())]
    attributes = _bytes_or_none(root, ATTRIBUTES_FILE)
    row = f"{folder}/** -text\n".encode()
    if not _has_row(attributes or b"", row):
        writes.append(FileWrite(ATTRIBUTES_FILE, attributes, _with_rows(attributes or b"", row)))
    if not (root / folder).is_dir():
        writes.append(FileWrite(f"{folder}/{KEEP_FILE}", None, b""))
    return _written(place, environ, writes, [], dry_run=dry_run)


def settings_now(root: Path) -> bytes | None:
    """The bytes of .gitmem.toml in a work tree, None without one. Raises GitMemError if it is a link."""
    return _bytes_or_none(root, TRACKED, MAX_MEMORY_FILE_BYTES)


def _bytes_or_none(root: Path, path: str, limit: int = -1) -> bytes | None:
    """The bytes of a file of the work tree, at most `limit` (-1: all); None if there is none. Raises GitMemError if it
    is a link."""
    try:
        return read_bytes(root, path, limit)
    except FileNotFoundError:
        return None


def _attributes_update(root: Path) -> FileWrite | None:
    """The write that gives a .gitattributes the rows that it lacks; None if it lacks none."""
    attributes = read_bytes(root, ATTRIBUTES_FILE)
    rows = _rows_to_add(attributes)
    return FileWrite(ATTRIBUTES_FILE, attributes, _with_rows(attributes, rows)) if rows else None


def _rows_to_add(attributes: bytes) -> bytes:
    """The rows that a .gitattributes lacks; for one that an earlier version wrote, the row for folders below memory/.
    b"" for none."""
    if b"merge=gitmem" not in attributes:
        return ATTRIBUTES.encode()
    if _has_row(attributes, FORMER_ROW.encode()) and not _has_row(attributes, FOLDER_ROW.encode()):
        return FOLDER_ROW.encode()
    return b""


def _has_row(attributes: bytes, row: bytes) -> bool:
    """Whether a .gitattributes has a row, which is more than to contain its bytes: `docs/memory/** -text` is no row for
    `memory/**`."""
    return row.strip() in map(bytes.strip, attributes.splitlines())


def _with_rows(attributes: bytes, rows: bytes) -> bytes:
    """The text of a .gitattributes with rows after it, on lines of their own."""
    if attributes and not attributes.endswith(b"\n"):
        attributes += b"\n"
    return attributes + rows


def _written(
    place: Place, environ: Mapping[str, str], writes: Sequence[FileWrite], kept: Sequence[str], *, dry_run: bool
) -> NewRepository:
    """Run `git init` in a new place and write the files that change, if not `dry_run`. Raises as `write_over` does."""
    changed = [file for file in writes if file.before != file.after]
    if place.new and not dry_run:
        init_repository(place.root, environ)
    if changed and not dry_run:
        with closing(open_repository(place.root, environ)) as repo:
            noted = {file.path: file.before for file in changed}
            contents = {file.path: file.after for file in changed}
            write_over(repo, noted, contents)
    return NewRepository(place.root, place.new, tuple(changed), tuple(kept))


def _exists(folder: Path) -> bool:
    """Whether a folder exists. Raises GitMemError if the file system does not accept its name."""
    try:
        return folder.exists()
    except OSError as error:
        raise GitMemError(f"cannot make '{folder}': {error.strerror}") from None


def _existing_parent(folder: Path) -> Path:
    """The nearest folder above `folder` that exists."""
    return next(parent for parent in folder.parents if parent.exists())
