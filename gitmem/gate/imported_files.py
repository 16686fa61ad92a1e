"""Which files of a tree agents read only because another file leads there: `@path` in CLAUDE.md and its like, what
opencode.json names as instructions, and text beside a SKILL.md. Reads the files that lead, and no others.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from gitmem.agent_paths import IMPORTING
from gitmem.git.objects import LINKS, Entry
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.paths import LIMIT, TEXT_ENDINGS

DEPTH = 5  # imports in imports that are followed: as many as Claude Code follows
MAX_LEADING = 500  # files that are read for what they lead to
SKILL = "skill.md"
SETTINGS = ("opencode.json", "opencode.jsonc")
_IMPORT = lazy(r"(?:^|[\s(\[>*_\"'])@(?P<path>[^\s@`\"'<>)\]]+)", re.MULTILINE)
_LIST = lazy(r"\"instructions\"\s*:\s*(\[[^\]]*\])")
_LEADING = frozenset(name.casefold() for name in IMPORTING)


def imported_files(repo: Repository, entries: Sequence[Entry]) -> frozenset[str]:
    """The paths among `entries` that are read by way of another. What lies outside the tree is not followed."""
    files = {entry.path: entry.oid for entry in entries if entry.mode not in LINKS}
    names = {path: path.rpartition("/")[2].casefold() for path in files}
    found: set[str] = set()
    skills = {path.rpartition("/")[0] for path, name in names.items() if name == SKILL and "/" in path}
    if skills:
        found |= {path for path in files if path.endswith(TEXT_ENDINGS) and not skills.isdisjoint(_folders(path))}
    settings = [path for path, name in names.items() if name in SETTINGS]
    for path, text in _texts(repo, files, settings):
        found |= _named_by_settings(path, text, files)
    left = [path for path, name in names.items() if name in _LEADING] + sorted(found)
    seen = set(left)
    for _ in range(DEPTH):
        new = {there for path, text in _texts(repo, files, left) for there in _imports(path, text, files)} - seen
        seen |= new
        found |= new
        left = sorted(new)
        if not left:
            break
    return frozenset(found)


def _folders(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _texts(repo: Repository, files: Mapping[str, str], paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    wanted = [path for path in paths if path in files][:MAX_LEADING]
    sizes = repo.sizes([files[path] for path in wanted]) if wanted else {}
    wanted = [path for path in wanted if sizes.get(files[path], LIMIT + 1) <= LIMIT]
    for path, (_, data) in zip(wanted, repo.read_many([files[path] for path in wanted]), strict=True):
        yield path, (data or b"").decode("utf-8", "replace")


def _imports(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    """The files that the `@path` of a text name, from its own folder on; a mark behind the name is none of it."""
    folder = path.rpartition("/")[0]
    for match in _IMPORT.finditer(text):
        name = match["path"]
        for spelled in (name, name.rstrip(".,;:!?*_")):
            there = posixpath.normpath(posixpath.join(folder, spelled))
            if there in files:
                yield there
                break


def _named_by_settings(path: str, text: str, files: Mapping[str, str]) -> set[str]:
    """The files that the globs of `instructions` take, from the folder of the settings on."""
    match = _LIST.search(text)
    try:
        globs = json.loads(match[1]) if match else []
    except ValueError:
        globs = []
    folder = path.rpartition("/")[0]
    whole = [posixpath.normpath(posixpath.join(folder, glob)) for glob in globs if isinstance(glob, str)]
    return {file for file in files for glob in whole[:100] if fnmatchcase(file, glob.replace("**/", "*"))}
