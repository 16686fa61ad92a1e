"""Laying out a memory repository: what `git mem init` does. Never overwrites, never commits."""

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
from gitmem.memory.templates import ATTRIBUTES, files
from gitmem.paths import INSTRUCTIONS, MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory repository is, or will be: the top of its work tree, and whether it has yet to be made."""

    root: Path
    new: bool


@dataclass(frozen=True, slots=True)
class NewRepository:
    """What was (or, with dry_run, would be) done."""

    root: Path
    initialised: bool
    written: tuple[str, ...]
    kept: tuple[str, ...]


def place_for(folder: Path, environ: Mapping[str, str]) -> Place:
    """The repository that holds `folder`, else `folder` itself, as one to be made. Writes nothing.

    Raises GitMemError for a bare repository, one that Git does not trust, and a name that no file system takes.
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


def lay_out(
    place: Place,
    environ: Mapping[str, str],
    language: str,
    *,
    settings: str = "",
    templates: bool = True,
    dry_run: bool = False,
) -> NewRepository:
    """Make `place` a memory repository: `git init` only where it is new, then the files that are not there yet.

    `settings` is the text .gitmem.toml shall have, "" for whatever it has; without `templates` no file for instructions
    is written. All files are written or none; raises
    Changed where somebody makes one of them meanwhile, GitMemError for what cannot be written.
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
            if path == ".gitattributes" and b"merge=gitmem" not in (old := read_bytes(root, path)):
                gap = b"\n"
                if old.endswith(b"\n") or not old:
                    gap = b""
                noted[path], contents[path] = old, old + gap + ATTRIBUTES.encode()
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


def lay_out_folder(
    place: Place, environ: Mapping[str, str], folder: str, settings: str, *, dry_run: bool = False
) -> NewRepository:
    """Make one folder of a repository its memory: .gitmem.toml with the text `settings`, a line of .gitattributes, and
    the folder. Raises as `lay_out` does."""
    root = place.root
    if place.new and not dry_run:
        init_repository(root, environ)
    noted: dict[str, bytes | None] = {TRACKED: settings_now(root)}
    contents: dict[str, bytes] = {TRACKED: settings.encode()}
    row = f"{folder}/** -text\n".encode()
    attributes = None
    if (root / ".gitattributes").exists():
        attributes = read_bytes(root, ".gitattributes")
    if row not in (attributes or b""):
        gap = b"\n"
        if not attributes or attributes.endswith(b"\n"):
            gap = b""
        noted[".gitattributes"], contents[".gitattributes"] = attributes, (attributes or b"") + gap + row
    if not (root / folder).is_dir():
        noted[f"{folder}/.gitkeep"], contents[f"{folder}/.gitkeep"] = None, b""
    contents = {path: data for path, data in contents.items() if noted[path] != data}
    if contents and not dry_run:
        _write(root, environ, {path: noted[path] for path in contents}, contents)
    return NewRepository(root, place.new, tuple(contents), ())


def settings_now(root: Path) -> bytes | None:
    """The .gitmem.toml of a work tree, None where there is none. Raises GitMemError for a link."""
    try:
        return read_bytes(root, TRACKED, MAX_MEMORY_FILE_BYTES)
    except FileNotFoundError:
        return None


def _write(root: Path, environ: Mapping[str, str], noted: Contents, contents: Contents) -> None:
    repo = open_repository(root, environ)
    try:
        write_over(repo, noted, contents)
    finally:
        repo.close()


def _possible(folder: Path) -> Path:
    """The folder, where its name can be one. Raises GitMemError for a name that no file system takes."""
    try:
        folder.exists()
    except OSError as error:
        raise GitMemError(f"cannot make '{folder}': {error.strerror}") from None
    return folder


def _parent(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder
