"""Laying out a memory repository: what `git mem init` does. Never overwrites, never commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitMemError, NotARepository
from gitmem.git.opening import discover, open_repository
from gitmem.git.transaction import Contents, write_over
from gitmem.git.worktree import read_bytes
from gitmem.git.write import init_repository
from gitmem.memory.templates import ATTRIBUTES, files


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What was (or, with dry_run, would be) done."""

    root: Path
    initialised: bool
    written: tuple[str, ...]
    kept: tuple[str, ...]


def lay_out(folder: Path, environ: Mapping[str, str], language: str, *, dry_run: bool = False) -> LaidOut:
    """Make FOLDER the memory repository it is not yet: `git init` only where no repository holds it.

    All files are written or none; raises Changed where somebody makes one of them meanwhile, GitMemError for a bare
    repository and what cannot be written.
    """
    folder = _possible(folder.absolute())
    try:
        place = discover(folder if folder.exists() else _parent(folder), environ)
        inside = folder.exists() or place.root == folder
    except NotARepository as error:
        if "trust" in error.message:
            raise
        place, inside = None, False
    initialised = not inside or place is None
    root = folder if initialised else place.root if place else folder
    if root is None:
        raise GitMemError("a bare repository holds no memory files", "make it in a clone")
    if initialised and not dry_run:
        init_repository(folder, environ)
    noted: dict[str, bytes | None] = {}
    contents: dict[str, bytes] = {}
    kept: list[str] = []
    for path, text in {**files(language), "memory/.gitkeep": ""}.items():
        if (root / path).exists() or (root / path).is_symlink():
            if path == ".gitattributes" and b"merge=gitmem" not in (old := read_bytes(root, path)):
                gap = b"" if old.endswith(b"\n") or not old else b"\n"
                noted[path], contents[path] = old, old + gap + ATTRIBUTES.encode()
            else:
                kept.append(path)
        elif path != "memory/.gitkeep" or not (root / "memory").is_dir():
            noted[path], contents[path] = None, text.encode()
    if contents and not dry_run:
        _write(root, environ, noted, contents)
    written = tuple(path if noted[path] is None else f"{path} (four lines more)" for path in contents)
    return LaidOut(root, initialised, written, tuple(kept))


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
