"""The record of the installed hooks in the state folder, by which a hook that another program removed is noticed, and
the Git directory that the hooks of a shared folder name for this repository, by which a move of it is noticed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gitmem.git.hooks import HOOKS

_NAMED = b"only="  # the beginning of the line with the Git directory


def remember(common_dir: Path, names: Iterable[str], git_dir: str = "") -> None:
    """Record the names of the installed hooks; without names the record is removed. `git_dir`: as in
    `installation.install`. Raises OSError if there is no state folder, or the record cannot be written or
    removed."""
    record = _record(common_dir)
    text = "".join(f"{name}\n" for name in names).encode("ascii")
    if text and git_dir:
        text += _NAMED + os.fsencode(git_dir)
    if text:
        record.write_bytes(text)
        record.chmod(0o600)
    else:
        record.unlink(missing_ok=True)


def remembered(common_dir: Path) -> tuple[str, ...]:
    """The names of the hooks that were installed here; () if none, or if the record cannot be read.
    Names that are not in HOOKS are left out."""
    names, _, _ = _read(common_dir).partition(_NAMED)
    return tuple(word for word in names.decode("ascii", "replace").split() if word in HOOKS)


def former_name(common_dir: Path) -> str:
    """The Git directory that the hooks of a shared folder name for this repository, if it has moved away from there;
    else "". After a copy the old place still stands, and its hooks are those of the other repository."""
    named_dir = os.fsdecode(_read(common_dir).partition(_NAMED)[2])
    if not named_dir or named_dir == common_dir.as_posix() or os.path.lexists(named_dir):
        return ""
    return named_dir


def _read(common_dir: Path) -> bytes:
    """The bytes of the record; b"" if there is none."""
    try:
        return _record(common_dir).read_bytes()
    except OSError:
        return b""


def _record(common_dir: Path) -> Path:
    return common_dir / "gitmem" / "hooks"
