"""Scratch files of writes: a folder of Git's directory, so that neither `git add` nor a search sees them."""

from __future__ import annotations

from pathlib import Path

from gitmem.git.repository import Repository
from gitmem.git.worktree import state_dir

SCRATCH = "writing"  # folder of scratch files in the state folder


def scratch_folder(repo: Repository) -> Path:
    """The folder for scratch files: in the Git directory, so that neither `git add` nor a search sees them.

    The folder is made if it is missing. The next writer removes the files of a killed run (`replacement.sweep`). Raises
    GitMemError as `worktree.state_dir`.
    """
    state_dir(repo.common_dir)
    folder = _scratch_path(repo)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def scratch_files(repo: Repository) -> list[Path]:
    """The files in `scratch_folder`, of a running writer or of a killed one, by name; [] if the folder is missing or
    cannot be read. Does not make the folder."""
    try:
        return sorted(_scratch_path(repo).iterdir())
    except OSError:
        return []


def _scratch_path(repo: Repository) -> Path:
    return repo.common_dir / "gitmem" / SCRATCH
