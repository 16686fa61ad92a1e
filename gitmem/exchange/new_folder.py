"""Writes files to a new or empty folder: all of them, or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from gitmem.errors import GitMemError, UsageError


def ensure_free(folder: Path) -> Path:
    """The absolute path of a folder that does not exist or is empty. Raises UsageError for any other."""
    real = folder.absolute().parent.resolve() / folder.absolute().name
    if real.is_symlink() or (real.exists() and not real.is_dir()) or (real.is_dir() and any(real.iterdir())):
        raise UsageError(f"'{folder}' is there already and not empty", "name a new folder, or remove that one")
    return real


def write_new_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` to a new or empty folder: path below it, with `/`, -> bytes. The caller ensures that no path leads
    out.

    Raises UsageError if the folder is there and not empty, GitMemError if a file cannot be written; no file is left
    then.
    """
    real = ensure_free(folder)
    draft = real.with_name(f".{real.name}.git-mem-{os.getpid()}")
    try:
        draft.mkdir(parents=True)
        for place, data in files.items():
            target = draft / place
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
        if real.is_dir():
            real.rmdir()
        draft.rename(real)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise GitMemError(f"cannot write '{folder}': {error.strerror}") from None
        raise
