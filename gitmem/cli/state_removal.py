"""The parts of git-mem's state that `git mem uninstall` asks about before it removes them.

They are the search index, other state in the Git directory, the person's own settings, and the record of `git mem
undo`, which is removed last. Memory files, sessions that are not written yet, and lines that were rescued from a
replaced file are never removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.cli.terminal import first_names
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.opening import Repository
from gitmem.git.process import first_line
from gitmem.git.replacement import LATE
from gitmem.git.undo_record import load
from gitmem.plural import counted
from gitmem.sessions.pending_session_names import ENDING

INDEX_PREFIX = "index."  # the beginning of the names of the search index's files
UNDO_PREFIX = "undo-"  # the beginning of the names of undo's records, one file a work tree
MAX_NAMED_KEYS = 6  # settings that a question names; the others are counted


@dataclass(frozen=True, slots=True)
class Part:
    """One part that `git mem uninstall` can remove.

    `name`: the part in JSON. `words`: the part for a person, in a question and in the report. `remove`: removes it;
    raises GitMemError. `default`: the answer to the question if the person types Enter. `all_projects`: other
    repositories use the part too, so --purge keeps it. `removed`: the words in the report once the part is gone; "" for
    the same.
    """

    name: str
    words: str
    remove: Callable[[], None] = field(repr=False)
    default: bool = False
    all_projects: bool = False
    removed: str = ""


def state_folder(repo: Repository) -> Path | None:
    """The folder `gitmem/` in the Git directory; None if there is none. Raises GitMemError if it is a symbolic link."""
    folder = repo.common_dir / "gitmem"
    if folder.is_symlink():
        raise GitMemError(f"'{folder}' is a link and is not followed", "remove it yourself")
    if not folder.is_dir():
        return None
    return folder


def kept_files(repo: Repository) -> list[Path]:
    """The files of our state with text that is nowhere else, sorted: notes of sessions that wait to be written, and
    text that a program wrote into a file while git-mem replaced the file. They are never removed. Raises GitMemError
    as `state_folder`."""
    folder = state_folder(repo)
    if folder is None:
        return []
    files = list(folder.glob(f"{LATE}-*"))
    sessions = folder / "sessions"
    if sessions.is_dir() and not sessions.is_symlink():
        files += sessions.glob(f"*{ENDING}")
    return sorted(files)


def state_parts(repo: Repository) -> Iterator[Part]:
    """The search index and the other state of this repository as parts to remove, each if there is any; without the
    record of `git mem undo`."""
    folder = state_folder(repo)
    if folder is None:
        return
    kept_paths = kept_files(repo)
    index = [path for path in folder.iterdir() if path.name.startswith(INDEX_PREFIX)]
    if index:
        size = sum(path.lstat().st_size for path in index)
        words = f"the search index ({size / (1 << 20):.1f} MB; it is built again from Git at any time)"
        yield Part("index", words, lambda: _remove(index), default=True)
    prefixes = (INDEX_PREFIX, UNDO_PREFIX)
    others = [path for path in folder.iterdir() if not path.name.startswith(prefixes) and path not in kept_paths]
    others = [path for path in others if not (path.is_dir() and _contains_only(path, kept_paths))]
    if others:
        words = "the state of sessions, receipts, logs and other records in .git/gitmem"
        yield Part("state", words, lambda: _remove(others, kept_paths))


def undo_part(repo: Repository) -> Part | None:
    """The record of `git mem undo` as a part to remove; None if there is none."""
    folder = state_folder(repo)
    if folder is None:
        return None
    files = sorted(folder.glob(f"{UNDO_PREFIX}*"))
    if not files:
        return None
    use = lost = "of other work trees"
    if entries := load(repo):
        writes = counted(len(entries), "write")
        use, lost = f"it can still take back {writes}", f"{writes} can no longer be taken back"
    record = "the record of git mem undo"
    return Part("undo", f"{record} ({use})", lambda: _remove(files), removed=f"{record} ({lost})")


def remove_folder(repo: Repository) -> bool:
    """Remove the folder of our state if it is empty. Returns whether there is no such folder any more; False if it has
    files or cannot be removed."""
    folder = state_folder(repo)
    if folder is None:
        return True
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def settings_part(environ: Mapping[str, str]) -> Part | None:
    """The person's own `mem.*` settings in Git's global configuration, as a part to remove; None if there are none."""
    keys = _global_keys(environ)
    if not keys:
        return None
    words = f"your own settings for all repositories ({first_names(keys, MAX_NAMED_KEYS)})"
    return Part("settings", words, lambda: _unset(keys, environ), all_projects=True)


def _global_keys(environ: Mapping[str, str]) -> list[str]:
    """The keys of the `mem.*` settings in Git's global configuration, each once; [] if git cannot read it."""
    command = ["git", "config", "--global", "--null", "--name-only", "--get-regexp", r"^mem\."]
    result = subprocess.run(command, capture_output=True, env=dict(environ), check=False)
    if result.returncode:  # 1: no such key, or no such file
        return []
    return list(dict.fromkeys(os.fsdecode(key) for key in result.stdout.split(b"\0") if key))


def _unset(keys: Sequence[str], environ: Mapping[str, str]) -> None:
    """Remove the settings `keys`, all their values, from Git's global configuration. Raises GitFailed at the first one
    that cannot be removed."""
    for key in keys:
        command = ["git", "config", "--global", "--unset-all", key]
        result = subprocess.run(command, capture_output=True, env=dict(environ), check=False)
        if result.returncode:
            raise GitFailed(first_line(os.fsdecode(result.stderr)) or f"git config cannot remove {key}")


def _contains_only(folder: Path, kept_paths: Sequence[Path]) -> bool:
    """Whether every file in a folder is one of `kept_paths`; False if `kept_paths` is empty, and for a symbolic
    link."""
    return not folder.is_symlink() and bool(kept_paths) and all(path in kept_paths for path in folder.iterdir())


def _remove(paths: Sequence[Path], kept_paths: Sequence[Path] = ()) -> None:
    """Remove files and folders, except the files `kept_paths` and the folders that contain them. Symbolic links are
    removed, not followed. Raises GitMemError if one cannot be removed; those before it are gone then."""
    for path in paths:
        try:
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
            elif any(kept.is_relative_to(path) for kept in kept_paths):
                _remove([inner for inner in path.iterdir() if inner not in kept_paths], kept_paths)
            else:
                shutil.rmtree(path)
        except OSError as error:
            raise GitMemError(f"cannot remove '{path}': {error.strerror}") from None
