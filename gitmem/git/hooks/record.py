"""The record of the installed hooks in the state folder, by which a hook that another program removed is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gitmem.git.hooks import HOOKS


def remember(common_dir: Path, names: Iterable[str]) -> None:
    """Record the names of the installed hooks; without names the record is removed. Raises OSError if there is no state
    folder, or if the record cannot be written or removed."""
    record = _record(common_dir)
    text = "".join(f"{name}\n" for name in names)
    if text:
        record.write_text(text, "ascii")
        record.chmod(0o600)
    else:
        record.unlink(missing_ok=True)


def remembered(common_dir: Path) -> tuple[str, ...]:
    """The names of the hooks that were installed here; () if none, or if the record cannot be read. Names that are not
    in HOOKS are left out."""
    try:
        words = _record(common_dir).read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(word for word in words if word in HOOKS)


def _record(common_dir: Path) -> Path:
    return common_dir / "gitmem" / "hooks"
