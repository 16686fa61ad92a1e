"""What a host remembers by itself, beside our memory: where it keeps that of a project, and what is in it.

Such files are written by the host's model without a gate, and nothing is forgotten in them. Reads only, and names and
sizes only: what is in them goes through `git mem import notes`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.hosts.host import Host, Setup
from gitmem.hosts.json_editing import edited
from gitmem.messages import Message

INDEX = "MEMORY.md"  # of such a folder; some hosts make it before there is anything to remember
ITEM = re.compile(rb"^\s*(?:[-*+]|\d+[.)])\s+\S", re.M)
MAX_FILE_BYTES = 1 << 20  # bytes of a file that is looked at
MOST_FILES = 2_000  # files of a folder that are counted
LONGEST_SLUG = 200  # characters of a folder's name that Claude Code makes of a path; a longer one it cuts


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a host has remembered of a project by itself: the folder, and how many files of it say something."""

    host: str
    folder: Path
    files: int


def remembered(host: Host, home: Path, root: Path) -> Remembered | None:
    """What a host has remembered of the project at `root`; None where that is nothing."""
    folder = None
    if host.own_memory is not None:
        folder = host.own_memory.where(home, root.resolve())
    if folder is None or folder.is_symlink() or not folder.is_dir():
        return None
    count = 0
    for number, path in enumerate(sorted(folder.rglob("*.md"))):
        if number >= MOST_FILES:
            break
        count += _says_something(folder, path.relative_to(folder).as_posix())
    if not count:
        return None
    return Remembered(host.name, folder, count)


def bringing(found: Remembered) -> str:
    """The command that brings it into our memory, through the gate."""
    return f"git mem import notes {quote(str(found.folder))} --into {found.host}"


def _says_something(folder: Path, name: str) -> bool:
    try:
        data = read_bytes(folder, name, MAX_FILE_BYTES)
    except (OSError, OutsideRepository):
        return False
    if name == INDEX:
        return bool(ITEM.search(data))
    return bool(data.strip())


def folder_here(host: Host, root: Path) -> Path:
    """Where a host's own memory is part of ours."""
    return root / "memory" / host.name


def is_kept_here(host: Host, root: Path) -> bool:
    """Whether the person has told the host to keep its own memory there."""
    own = host.own_memory
    if own is None or not own.setting:
        return False
    try:
        value = json.loads(read_bytes(root, own.settings, MAX_FILE_BYTES))
    except (OSError, OutsideRepository, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get(own.setting) == str(folder_here(host, root))


def kept_here(host: Host, path: str, text: str, setup: Setup) -> str:
    """The host's settings by which it keeps its own memory in ours, or without that: a RegistrationFile's `rewrite`.

    Another folder that a person chose stays. Raises GitMemError for a file that is no plain JSON object.
    """
    own = host.own_memory
    assert own is not None and own.setting
    try:
        value: Any = {}
        if text.strip():
            value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise GitMemError(
            Message("'{}' is not plain JSON and is left as it is", path), Message("set '{}' in it by hand", own.setting)
        )
    ours = str(folder_here(host, Path(setup.root)))
    present = value.get(own.setting)
    if setup.remove:
        if present != ours:
            return text
        del value[own.setting]
    elif present not in (None, ours):
        raise GitMemError(
            Message("'{}' has another folder in '{}'", path, own.setting), "remove it, or leave it as it is"
        )
    else:
        value[own.setting] = ours
    if not value:
        return ""
    if text.strip():
        return edited(text, value)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def slug(root: Path) -> str:
    """A path as Claude Code and Qwen Code make the name of a folder of it."""
    return re.sub(r"[^a-zA-Z0-9]", "-", str(root))


def claude(home: Path, root: Path) -> Path | None:
    """~/.claude/projects/SLUG/memory, of the repository's root (2.1)."""
    projects, name = home / ".claude/projects", slug(root)
    if len(name) <= LONGEST_SLUG:
        return projects / name / "memory"
    return next(iter(sorted(projects.glob(f"{name[:LONGEST_SLUG]}-*/memory"))), None)


def qwen(home: Path, root: Path) -> Path | None:
    """~/.qwen/projects/SLUG/memory, of the repository's root (0.24)."""
    return home / ".qwen/projects" / slug(root) / "memory"


def gemini(home: Path, root: Path) -> Path | None:
    """~/.gemini/tmp/NAME/memory, whose NAME stands for the folder the host was started in, in a file of its (0.61)."""
    try:
        projects = json.loads(read_bytes(home / ".gemini", "projects.json", MAX_FILE_BYTES))["projects"]
        name: str = projects[str(root)]
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError, RecursionError):
        return None
    plain = isinstance(name, str) and re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", name)
    if not plain:
        return None
    return home / ".gemini/tmp" / name / "memory"
