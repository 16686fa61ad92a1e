"""Finds out whether a changed `.gitignore` keeps memory out of commits, and so out of review.

Git is asked, in an empty temporary repository with both versions of the .gitignore files, for a fixed list of example
paths (PROBES). Reads only.
"""

from __future__ import annotations

from collections.abc import Collection

from gitmem.git.objects import LINKS
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.git.write import init_repository
from gitmem.system import temporary_folder

NAME = ".gitignore"
FOLDER = "memory/"
PROBES = (
    "MEMORY.md", "SOUL.md", "AGENTS.md", "memory/2026-01-01.md", "memory/topic.md", "memory/folder/topic.md",
    "memory/sessions/session.md", "memory/skills/skill.md",
)  # fmt: skip
MAX_GITIGNORE_BYTES = 1 << 20  # bytes of a .gitignore


def newly_ignored(repo: Repository, base: str, head: str, changed: Collection[str]) -> list[str]:
    """The paths of PROBES that the .gitignore files of `head` ignore and those of `base` ("" for none) do not.

    `changed`: the paths that change between the two commits; without a .gitignore among them the result is [].
    """
    files = {path for path in changed if _may_ignore(path)}
    if not files:
        return []
    files |= {NAME, FOLDER + NAME}
    ignored = _ignored(repo, head, files)
    if base:
        ignored -= _ignored(repo, base, files)
    return [path for path in PROBES if path in ignored]


def _may_ignore(path: str) -> bool:
    """Whether a path is a .gitignore that can ignore memory: at the top level or below memory/."""
    folder, _, name = path.rpartition("/")
    return name == NAME and (not folder or f"{folder}/".startswith(FOLDER)) and ".." not in path.split("/")


def _ignored(repo: Repository, commit: str, files: Collection[str]) -> set[str]:
    """The PROBES that the .gitignore files of a commit ignore, found with Git in a temporary repository. Files that are
    links, too large or missing are left out."""
    entries = [entry for entry in repo.entries(commit, sorted(files)) if entry.mode not in LINKS]
    sizes = repo.sizes([entry.oid for entry in entries])
    environ = {name: value for name, value in repo.environ.items() if not name.startswith("GIT_")}
    with temporary_folder() as folder:
        init_repository(folder, environ)
        for entry in entries:
            if entry.path in files and sizes.get(entry.oid, MAX_GITIGNORE_BYTES + 1) <= MAX_GITIGNORE_BYTES:
                place = folder / entry.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(repo.read(entry.oid))
        empty = open_repository(folder, environ)
        try:
            return empty.ignored(PROBES)
        finally:
            empty.close()
