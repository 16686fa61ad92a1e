"""Setting Git's merge driver `gitmem` up for one clone, and taking it out: what `install` and `uninstall` do for it.

Three keys of the clone's own configuration say how to run it. Which files it merges is said by `merge=gitmem` in the
tracked .gitattributes (`git mem init` writes it); where that is missing, and for the daily notes of other programs, by
a marked block in `info/attributes`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.git.write import run_git
from gitmem.paths import daily_glob

SECTION = "merge.gitmem"
BEGIN, END = "# >>> git mem >>>", "# <<< git mem <<<"
MEMORY = ("MEMORY.md merge=gitmem", "memory/**/*.md merge=gitmem")
BLOCK = re.compile(rb"^# >>> git mem >>>.*?^# <<< git mem <<<\n", re.MULTILINE | re.DOTALL)


def merge_driver_settings(python: str = "") -> tuple[tuple[str, str], ...]:
    """(key, value) of the clone's configuration. `python` runs it, else `git-mem` on PATH."""
    run = f"'{python.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}' -E -P -m gitmem" if python else "git-mem"
    return (
        (f"{SECTION}.name", "memory, fact by fact (git mem)"),
        (f"{SECTION}.driver", f"{run} merge-driver -- %O %A %B %L %P"),
        (f"{SECTION}.recursive", "text"),
    )


def set_up(repo: Repository, python: str = "", daily: Iterable[str] = (), *, dry: bool = False) -> bool:
    """Make Git merge memory by our driver, what the patterns of daily logs `daily` name too; whether anything was (with
    `dry`: would be) changed."""
    wanted = [(key, value) for key, value in merge_driver_settings(python) if _setting(repo, key) != value]
    for key, value in wanted if not dry else ():
        run_git(repo, ["config", "--local", key, value])
    old = _attributes(repo)
    new = BLOCK.sub(b"", old)
    rows = [] if _tracked(repo) else [*MEMORY]
    rows += [f"{_attribute_of(pattern)} merge=gitmem" for pattern in daily if pattern.isprintable()]
    if rows:
        block = "\n".join([BEGIN, *rows, END, ""])
        new += (b"" if not new or new.endswith(b"\n") else b"\n") + block.encode()
    return bool(wanted) | _write_attributes(repo, old, new, dry)


def take_out(repo: Repository, *, dry: bool = False) -> bool:
    """Undo `set_up`; whether there was anything of ours."""
    present = _setting(repo, f"{SECTION}.driver") is not None
    if present and not dry:
        run_git(repo, ["config", "--local", "--remove-section", SECTION])
    old = _attributes(repo)
    return present | _write_attributes(repo, old, BLOCK.sub(b"", old), dry)


def _attribute_of(pattern: str) -> str:
    """A pattern of daily logs as gitattributes(5) has it: from the top, in quotes."""
    literal = daily_glob(pattern).replace("\\", "\\\\")
    return '"/' + re.sub(r'(["\\])', r"\\\1", literal) + '"'


def _setting(repo: Repository, key: str) -> str | None:
    try:
        return run_git(repo, ["config", "--local", "--get", key]).removesuffix("\n")
    except GitFailed:
        return None


def _tracked(repo: Repository) -> bool:
    if repo.root is None:
        return False
    try:
        return b"merge=gitmem" in read_bytes(repo.root, ".gitattributes", 1 << 20)
    except (OSError, GitMemError):
        return False


def _attributes(repo: Repository) -> bytes:
    try:
        return read_bytes(repo.common_dir, "info/attributes", 1 << 20)
    except OSError:
        return b""


def _write_attributes(repo: Repository, old: bytes, new: bytes, dry: bool) -> bool:
    if new == old:
        return False
    if dry:
        return True
    if new:
        write_atomic(repo.common_dir, "info/attributes", new)
    else:
        os.unlink(repo.common_dir / "info" / "attributes")
    return True
