"""Find the memory that a host keeps by itself for a project, outside the repository.

The host's model writes these files without a gate, and `git mem forget` does not reach them. This module reads file
names and sizes, and whether a file is empty; `git mem import notes` imports the contents through the gate.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.hosts.host import Host, Setup
from gitmem.hosts.json_editing import edited
from gitmem.json_values import parse_json, parse_json_object
from gitmem.messages import Message
from gitmem.shell_word import shell_word

INDEX = "MEMORY.md"  # some hosts create it before they remember anything
ITEM = re.compile(rb"^\s*(?:[-*+]|\d+[.)])\s+\S", re.M)
MAX_FILE_BYTES = 1 << 20
MAX_FILES = 2_000  # counted in a folder
MAX_SLUG_CHARS = 200  # Claude Code cuts a longer folder name


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A host's own memory of a project. `host`: name of the host. `folder`: absolute path. `files`: number of files
    with content."""

    host: str
    folder: Path
    files: int


def find_own_memory(host: Host, home: Path, root: Path) -> FoundMemory | None:
    """The host's own memory of the project at `root`; None if it is missing, a symbolic link, or without Markdown that
    has content. At most MAX_FILES files are looked at. `home`: the person's home folder."""
    folder = host.own_memory.where(home, root.resolve()) if host.own_memory is not None else None
    if folder is None or folder.is_symlink() or not folder.is_dir():
        return None
    count = 0
    for number, path in enumerate(sorted(folder.rglob("*.md"))):
        if number >= MAX_FILES:
            break
        count += _has_content(folder, path.relative_to(folder).as_posix())
    if not count:
        return None
    return FoundMemory(host.name, folder, count)


def import_command(memory: FoundMemory) -> str:
    """The command that imports a host's own memory through the gate."""
    return f"git mem import notes {shell_word(str(memory.folder))} --into {memory.host}"


def _has_content(folder: Path, name: str) -> bool:
    """Whether the file `name` has text; an INDEX file counts only if it has a list item, since some hosts create it
    empty."""
    try:
        data = read_bytes(folder, name, MAX_FILE_BYTES)
    except (OSError, OutsideRepository):
        return False
    if name == INDEX:
        return bool(ITEM.search(data))
    return bool(data.strip())


def folder_here(host: Host, root: Path) -> Path:
    """The folder of this repository in which a host can keep its own memory: memory/HOST. It need not exist."""
    return root / "memory" / host.name


def is_kept_here(host: Host, root: Path) -> bool:
    """Whether the host's settings name `folder_here` as the folder of its own memory."""
    own_memory = host.own_memory
    if own_memory is None or not own_memory.setting:
        return False
    try:
        value = parse_json_object(read_bytes(root, own_memory.settings, MAX_FILE_BYTES))
    except (OSError, OutsideRepository, ValueError):
        return False
    return value.get(own_memory.setting) == str(folder_here(host, root))


def write_folder_setting(host: Host, path: str, text: str, setup: Setup) -> str:
    """The text of the host's settings with `folder_here` as the folder of its own memory, or without that setting for
    `setup.remove`.

    The function is the `rewrite` of a RegistrationFile. The result is "" if nothing is left in the file. Raises
    GitMemError for a file that is not a JSON object. If the file names another folder, which a person chose, it is
    unchanged for `setup.remove`; else GitMemError is raised.
    """
    own_memory = host.own_memory
    assert own_memory is not None and own_memory.setting
    try:
        value = parse_json_object(text.strip() or "{}")
    except ValueError:
        raise GitMemError(
            Message("'{}' is not plain JSON and is left as it is", path),
            Message("set '{}' in it by hand", own_memory.setting),
        ) from None
    our_folder = str(folder_here(host, Path(setup.root)))
    present = value.get(own_memory.setting)
    if setup.remove:
        if present != our_folder:
            return text
        del value[own_memory.setting]
    elif present not in (None, our_folder):
        raise GitMemError(
            Message("'{}' has another folder in '{}'", path, own_memory.setting), "remove it, or leave it as it is"
        )
    else:
        value[own_memory.setting] = our_folder
    if not value:
        return ""
    if text.strip():
        return edited(text, value)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def slug(root: Path) -> str:
    """The folder name that Claude Code and Qwen Code make from a path: each character but ASCII letters and digits
    becomes `-`."""
    return re.sub(r"[^a-zA-Z0-9]", "-", str(root))


def claude(home: Path, root: Path) -> Path | None:
    """The folder in which Claude Code keeps its own memory of the project at `root`: ~/.claude/projects/SLUG/memory,
    whether or not it exists (Claude Code 2.1). For a SLUG over MAX_SLUG_CHARS, which Claude Code cuts, it is the first
    folder that exists, None if none does."""
    projects, name = home / ".claude/projects", slug(root)
    if len(name) <= MAX_SLUG_CHARS:
        return projects / name / "memory"
    return next(iter(sorted(projects.glob(f"{name[:MAX_SLUG_CHARS]}-*/memory"))), None)


def qwen(home: Path, root: Path) -> Path | None:
    """The folder in which Qwen Code keeps its own memory of the project at `root`: ~/.qwen/projects/SLUG/memory,
    whether or not it exists (Qwen Code 0.24)."""
    return home / ".qwen/projects" / slug(root) / "memory"


def gemini(home: Path, root: Path) -> Path | None:
    """The folder in which Gemini CLI keeps its own memory of the project at `root`: ~/.gemini/tmp/NAME/memory;
    ~/.gemini/projects.json maps the folder in which Gemini was started to NAME (0.61). None if that file has no plain
    NAME for `root`."""
    try:
        projects = parse_json(read_bytes(home / ".gemini", "projects.json", MAX_FILE_BYTES))["projects"]
        name: str = projects[str(root)]
    except (OSError, OutsideRepository, ValueError, KeyError, TypeError):
        return None
    plain = isinstance(name, str) and re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", name)
    if not plain:
        return None
    return home / ".gemini/tmp" / name / "memory"
