"""Finds the folder of a repository for which a statement of memory holds. Pure; reads no folder.

The folder is the statement's own `scope`, else that of the list item above it, else that of its note, else the folder
whose `memory/` or `MEMORY.md` contains the statement. "" means the whole repository. A scope that cannot be a folder
(`..`, an absolute path, control characters) is ignored, and `faulty_scopes` reports it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gitmem.memory.fact import values_of
from gitmem.memory.front_matter import items_of
from gitmem.memory.statements import Statement
from gitmem.paths import is_hidden_or_foreign, nfc_name

KEY = "scope"  # key of a fact's comment and of a note's front matter
MAX_FOLDER_CHARS = 400
MEMORY_FOLDER, MEMORY_FILE = "memory", "MEMORY.md"


def folder_name(value: str) -> str | None:
    """The folder that a scope names, in NFC and without a final slash. "" for the whole repository (`.`), None for a
    value that cannot be a folder of a repository."""
    name = nfc_name(value)
    if name in (".", "./"):
        return ""
    name = name.removeprefix("./").removesuffix("/")
    parts = name.split("/")
    if not name or len(name) > MAX_FOLDER_CHARS or "\\" in name or ":" in parts[0]:
        return None
    if any(part in ("", ".", "..") or part != part.strip() or part.casefold() == ".git" for part in parts):
        return None
    if any(unicodedata.category(letter)[0] == "C" or letter in "\u2028\u2029" for letter in name):
        return None
    return name


def folder_of_path(path: str, whole: Collection[str] = ()) -> str:
    """The folder whose memory the file `path` is part of; "" for the memory of the whole repository.

    It is `packages/api` for `packages/api/memory/2026-02-05.md`, `packages/api/MEMORY.md` and
    `packages/api/.claude/MEMORY.md`. `whole`: memory folders that hold the memory of the whole repository (`git mem
    init --in`).
    """
    parts = path.split("/")
    index = next((index for index, part in enumerate(parts[:-1]) if part == MEMORY_FOLDER), None)
    if index is None:
        if parts[-1] != MEMORY_FILE:
            return ""
        index = len(parts) - 1
    if "/".join(parts[: index + 1]) in whole:
        return ""
    above = parts[:index]
    while above and above[-1].startswith("."):  # a folder of an agent's host
        above.pop()
    return nfc_name("/".join(above))


def globs_of_folders(paths: Iterable[str]) -> list[str]:
    """The globs for `[memory] paths` that cover the folder memory among these files, sorted.

    Examples: `packages/api/memory/*.md`, `packages/api/MEMORY.md`. Hidden folders, packages of others (`node_modules`)
    and the README of a code folder named `memory` are no memory.
    """
    globs = set()
    for path in paths:
        if is_hidden_or_foreign(path) or not path.endswith(".md") or not folder_of_path(path):
            continue
        above, between, _ = path.partition(f"/{MEMORY_FOLDER}/")
        if not between:
            globs.add(_as_glob(path))
        elif not path.lower().endswith("/readme.md"):
            globs.add(f"{_as_glob(above)}/{MEMORY_FOLDER}/*.md")
    return sorted(globs)


def _as_glob(path: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def folder_of_keys(meta: Mapping[str, Sequence[str]], path: str, whole: Collection[str] = ()) -> str:
    """The folder for which some lines hold, "" for the whole repository: the first valid `scope` in `meta`, else the
    folder whose memory the file `path` is part of. `meta`: key -> values, of the lines' comment and of the front
    matter. `whole`: memory folders that hold the memory of the whole repository."""
    names = (folder_name(value) for value in meta.get(KEY, ()))
    return next((name for name in names if name is not None), folder_of_path(path, whole))


def folders_of(
    statements: Sequence[Statement], path: str, front: Mapping[str, str | Sequence[str]], whole: Collection[str] = ()
) -> list[str]:
    """The folder for which each statement of the document `path` holds, in order; "" for the whole repository. `front`:
    its front matter. `whole`: memory folders that hold the memory of the whole repository."""
    of_file = folder_of_keys({KEY: items_of(front.get(KEY, ""))}, path, whole)
    folders: list[str] = []
    for statement in statements:
        folder = None
        if any(key == KEY for key, _ in statement.meta):
            folder = folder_name(statement.get(KEY))
        if folder is None:
            above = statement.parent
            if above is None:
                above = statement.under
            folder = of_file if above is None else folders[above]
        folders.append(folder)
    return folders


def faulty_scopes(statements: Sequence[Statement], front: Mapping[str, str | Sequence[str]]) -> list[tuple[int, str]]:
    """(line, value) of each scope that is ignored because it cannot be a folder. The line of the front matter is 1."""
    stated = [(1, value) for value in items_of(front.get(KEY, "")) if value]
    stated += [(statement.last, value) for statement in statements for value in values_of(statement.meta, KEY)]
    return [(line, value) for line, value in stated if folder_name(value) is None]


class FoldersInUse(NamedTuple):
    """The folders for which a context is made.

    `places`: paths of the files and folders in use. `asked`: the question, which may name a folder. `every`: whether
    statements for any folder are wanted.
    """

    places: tuple[str, ...] = ()
    asked: str = ""
    every: bool = False

    def depth(self, folder: str) -> int:
        """The number of parts of `folder` if statements for it belong in the context: a place is the folder or is below
        it, the question names it, or `every` is set. 0 for the whole repository; -1 if they do not belong in it."""
        if not folder:
            return 0
        is_used = any(place == folder or place.startswith(folder + "/") for place in self.places)
        if is_used or self.every or _is_named(folder, self.asked):
            return folder.count("/") + 1
        return -1


def _is_named(folder: str, text: str) -> bool:
    """Whether a text has the path of a folder, or its last part, as a word.

    A name that ends in another script than Latin may be followed by a particle without a space.
    """
    folded = nfc_name(text).casefold()
    for name in (folder.casefold(), folder.rpartition("/")[2].casefold()):
        takes_particle = not name[-1].isascii() and len(name) > 1
        start = folded.find(name)
        while start >= 0:
            before, after = folded[start - 1 : start], folded[start + len(name) : start + len(name) + 1]
            if not _in_word(before) and (takes_particle or not _in_word(after)):
                return True
            start = folded.find(name, start + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "-")
