"""What `git mem uninstall` asks about: what is left of git mem beside hooks and registrations, and how each part goes.

The parts are the search index, other state, hosts' registrations in the person's home, the person's own settings, and
the record of `git mem undo`, which goes last. Memory files, sessions that are not written yet, and lines that were
rescued from a file are never removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.binary import first_line
from gitmem.git.opening import Repository
from gitmem.git.transaction import LATE
from gitmem.git.undo_record import last_write, load
from gitmem.plural import counted
from gitmem.sessions.pending_names import ENDING

INDEX = "index."  # what the names of the search index's files begin with
UNDO = "undo-"  # the same of undo's record, one file for each work tree
KEYS_NAMED = 6  # settings that a question names; the others are counted


@dataclass(frozen=True, slots=True)
class Part:
    """One part that is left.

    `name`: its word in JSON. `words`: what it is, for a question and a report. `default`: the answer for Enter.
    `remove`: takes it out; raises GitMemError. `all_projects`: it serves other repositories too, so that --purge leaves
    it.
    """

    name: str
    words: str
    remove: Callable[[], None] = field(repr=False)
    default: bool = False
    all_projects: bool = False


def state_folder(repo: Repository) -> Path | None:
    """The folder of our state; None where there is none. Raises GitMemError where it is a link."""
    folder = repo.common_dir / "gitmem"
    if folder.is_symlink():
        raise GitMemError(f"'{folder}' is a link and is not followed", "remove it yourself")
    if not folder.is_dir():
        return None
    return folder


def kept_files(repo: Repository) -> list[Path]:
    """Files of our state that hold words nobody has elsewhere: notes of sessions that wait to be written, and text that
    a program wrote into a file while git mem replaced it."""
    folder = state_folder(repo)
    if folder is None:
        return []
    sessions = folder / "sessions"
    waiting = sessions.glob(f"*{ENDING}") if sessions.is_dir() and not sessions.is_symlink() else ()
    return sorted([*waiting, *folder.glob(f"{LATE}-*")])


def state_parts(repo: Repository) -> Iterator[Part]:
    """The index and the other state of this repository, without undo's record."""
    folder = state_folder(repo)
    if folder is None:
        return
    kept = kept_files(repo)
    index = [path for path in folder.iterdir() if path.name.startswith(INDEX)]
    if index:
        size = sum(path.lstat().st_size for path in index)
        words = f"the search index ({size / (1 << 20):.1f} MB; it is built again from Git at any time)"
        yield Part("index", words, lambda: _remove(index), default=True)
    others = [path for path in folder.iterdir() if not path.name.startswith((INDEX, UNDO)) and path not in kept]
    others = [path for path in others if not (path.is_dir() and _holds_only(path, kept))]
    if others:
        words = "the state of sessions, receipts, logs and other records in .git/gitmem"
        yield Part("state", words, lambda: _remove(others, kept))


def undo_part(repo: Repository) -> Part | None:
    """The record of `git mem undo`; None where there is none."""
    folder = state_folder(repo)
    if folder is not None:
        files = sorted(folder.glob(f"{UNDO}*"))
    else:
        files = []
    if not files:
        return None
    writes = len(load(repo))
    able = "of other work trees"
    if last_write(repo):
        able = f"it can still take back {counted(writes, 'write')}"
    return Part("undo", f"the record of git mem undo ({able})", lambda: _remove(files))


def remove_folder(repo: Repository) -> bool:
    """Remove the folder of our state where it is empty; whether it is gone."""
    folder = state_folder(repo)
    if folder is None:
        return True
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def settings_part(environ: Mapping[str, str]) -> Part | None:
    """The person's own `mem.*` settings in Git's global configuration; None where there are none."""
    keys = _global_keys(environ)
    if not keys:
        return None
    named = ", ".join(keys[:KEYS_NAMED])
    more = ""
    if len(keys) > KEYS_NAMED:
        more = f" and {len(keys) - KEYS_NAMED} more"
    words = f"your own settings for all repositories ({named}{more})"
    return Part("settings", words, lambda: _unset(keys, environ), all_projects=True)


def _global_keys(environ: Mapping[str, str]) -> list[str]:
    command = ["git", "config", "--global", "--null", "--name-only", "--get-regexp", r"^mem\."]
    done = subprocess.run(command, capture_output=True, env=dict(environ), check=False)
    if done.returncode:  # 1: no such key, or no such file
        return []
    return list(dict.fromkeys(os.fsdecode(key) for key in done.stdout.split(b"\0") if key))


def _unset(keys: Sequence[str], environ: Mapping[str, str]) -> None:
    for key in keys:
        command = ["git", "config", "--global", "--unset-all", key]
        done = subprocess.run(command, capture_output=True, env=dict(environ), check=False)
        if done.returncode:
            raise GitFailed(first_line(os.fsdecode(done.stderr)) or f"git config cannot remove {key}")


def _holds_only(folder: Path, kept: Sequence[Path]) -> bool:
    """Whether there is nothing in a folder but files that are kept."""
    return not folder.is_symlink() and bool(kept) and all(path in kept for path in folder.iterdir())


def _remove(paths: Sequence[Path], kept: Sequence[Path] = ()) -> None:
    """Remove files and folders; of a folder that holds something kept, the rest. Links are removed, not followed."""
    for path in paths:
        try:
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
            elif any(each.is_relative_to(path) for each in kept):
                _remove([each for each in path.iterdir() if each not in kept], kept)
            else:
                shutil.rmtree(path)
        except OSError as error:
            raise GitMemError(f"cannot remove '{path}': {error.strerror}") from None
