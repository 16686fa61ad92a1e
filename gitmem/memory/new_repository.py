"""Create the files of a memory repository, for `git mem init`. Never overwrites a file and never commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.config import TRACKED
from gitmem.errors import GitMemError, NotARepository
from gitmem.git.opening import discover, open_repository
from gitmem.git.transaction import Contents, write_over
from gitmem.git.worktree import read_bytes
from gitmem.git.write import init_repository
from gitmem.memory.templates import ATTRIBUTES, FOLDER_ROW, FORMER_ROW, files
from gitmem.paths import INSTRUCTIONS, MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a memory repository. `root`: the top of its work tree. `new`: whether `git init` must create it."""

    root: Path
    new: bool


@dataclass(frozen=True, slots=True)
class NewRepository:
    """The result of `create_memory_files`; with `dry_run`, the result that it would have.

    `initialised`: whether `git init` created the repository. `written`: the files that were written; a file that
    existed has the number of added lines after its path. `kept`: the files that existed and stay.
    """

    root: Path
    initialised: bool
    written: tuple[str, ...]
    kept: tuple[str, ...]


def place_for(folder: Path, environ: Mapping[str, str]) -> Place:
    """Choose the place of a memory repository: the repository that contains `folder`, or `folder` itself as a new one
    if no repository contains it or it does not exist yet. Writes nothing.

    Raises GitMemError for a bare repository, a repository that Git does not trust, and an impossible file name.
    """
    folder = _possible(folder.absolute())
    try:
        repository = discover(folder if folder.exists() else _parent(folder), environ)
    except NotARepository as error:
        if "trust" in error.message:
            raise
        return Place(folder, new=True)
    if not folder.exists() and repository.root != folder:
        return Place(folder, new=True)
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
    if place.new and not dry_run:
        init_repository(root, environ)
    noted: dict[str, bytes | None] = {}
    contents: dict[str, bytes] = {}
    kept: list[str] = []
    wanted = {path: text for path, text in files(language).items() if templates or path not in INSTRUCTIONS}
    for path, text in {**wanted, "memory/.gitkeep": ""}.items():
        if (root / path).exists() or (root / path).is_symlink():
            if path == ".gitattributes" and (rows := _rows_to_add(old := read_bytes(root, path))):
                noted[path], contents[path] = old, _line_ended(old) + rows
            else:
                kept.append(path)
        elif path != "memory/.gitkeep" or not (root / "memory").is_dir():
            noted[path], contents[path] = None, text.encode()
    if settings and settings.encode() != (before := settings_now(root)):
        noted[TRACKED], contents[TRACKED] = before, settings.encode()
    if contents and not dry_run:
        _write(root, environ, noted, contents)
    added = {path: text.count(b"\n") - (noted[path] or b"").count(b"\n") for path, text in contents.items()}
    written = tuple(
        path if noted[path] is None else f"{path} ({counted(added[path], 'line')} more)" for path in contents
    )
    return NewRepository(root, place.new, written, tuple(kept))


def create_memory_folder(
    place: Place, environ: Mapping[str, str], folder: str, settings: str, *, dry_run: bool = False
) -> NewRepository:
    """Make one folder of a repository its memory: write `settings` to .gitmem.toml, a line to .gitattributes, and
    create the folder. Raises as `create_memory_files` does."""
    root = place.root
    if place.new and not dry_run:
        init_repository(root, environ)
    noted: dict[str, bytes | None] = {TRACKED: settings_now(root)}
    contents: dict[str, bytes] = {TRACKED: settings.encode()}
    row = f"{folder}/** -text\n".encode()
    attributes = read_bytes(root, ".gitattributes") if (root / ".gitattributes").exists() else None
    if row not in (attributes or b""):
        noted[".gitattributes"], contents[".gitattributes"] = attributes, _line_ended(attributes or b"") + row
    if not (root / folder).is_dir():
        noted[f"{folder}/.gitkeep"], contents[f"{folder}/.gitkeep"] = None, b""
    contents = {path: data for path, data in contents.items() if noted[path] != data}
    if contents and not dry_run:
        _write(root, environ, {path: noted[path] for path in contents}, contents)
    return NewRepository(root, place.new, tuple(contents), ())


def settings_now(root: Path) -> bytes | None:
    """The bytes of .gitmem.toml in a work tree, None without one. Raises GitMemError if it is a link."""
    try:
        return read_bytes(root, TRACKED, MAX_MEMORY_FILE_BYTES)
    except FileNotFoundError:
        return None


def _rows_to_add(attributes: bytes) -> bytes:
    """The rows that a .gitattributes lacks; for one that an earlier version wrote, the row for folders below memory/.
    b"" for none."""
    if b"merge=gitmem" not in attributes:
        return ATTRIBUTES.encode()
    if FORMER_ROW.encode() in attributes and FOLDER_ROW.encode() not in attributes:
        return FOLDER_ROW.encode()
    return b""


def _line_ended(data: bytes) -> bytes:
    return data + b"\n" if data and not data.endswith(b"\n") else data


def _write(root: Path, environ: Mapping[str, str], noted: Contents, contents: Contents) -> None:
    """Write the contents into the work tree at `root`, where it still has the `noted` ones. Raises as `write_over`
    does."""
    repo = open_repository(root, environ)
    try:
        write_over(repo, noted, contents)
    finally:
        repo.close()


def _possible(folder: Path) -> Path:
    """`folder`, if the file system accepts its name. Raises GitMemError if not."""
    try:
        folder.exists()
    except OSError as error:
        raise GitMemError(f"cannot make '{folder}': {error.strerror}") from None
    return folder


def _parent(folder: Path) -> Path:
    """The nearest folder that exists: the folder itself or one above it."""
    while not folder.exists():
        folder = folder.parent
    return folder
