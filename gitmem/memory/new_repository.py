"""Laying out a memory repository: what `git mem init` does. Never overwrites, never commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitMemError, NotARepository
from gitmem.git.opening import discover
from gitmem.git.worktree import read_bytes, write_atomic
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
    """Make FOLDER the memory repository it is not yet: `git init` only where no repository holds it."""
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
    written, kept = [], []
    for path, text in {**files(language), "memory/.gitkeep": ""}.items():
        if (root / path).exists() or (root / path).is_symlink():
            if path == ".gitattributes" and _lacks_driver(root):
                if not dry_run:
                    old = read_bytes(root, path)
                    gap = b"" if old.endswith(b"\n") or not old else b"\n"
                    write_atomic(root, path, old + gap + ATTRIBUTES.encode())
                written.append(f"{path} (four lines more)")
            else:
                kept.append(path)
            continue
        if path == "memory/.gitkeep" and (root / "memory").is_dir():
            continue
        if not dry_run:
            write_atomic(root, path, text.encode())
        written.append(path)
    return LaidOut(root, initialised, tuple(written), tuple(kept))


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


def _lacks_driver(root: Path) -> bool:
    return b"merge=gitmem" not in read_bytes(root, ".gitattributes")
