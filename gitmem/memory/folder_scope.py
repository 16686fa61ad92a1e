"""For which folder of a repository a statement of memory holds: its own `scope`, else that of the item it stands below,
else its note's, else the folder whose `memory/` or `MEMORY.md` it stands in. Pure, and reads no folder.

"" is the whole repository. A scope that cannot be a folder of the repository (`..`, an absolute path, control
characters) counts as none; `faulty_scopes` names it, so that nobody takes it for one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from gitmem.light_typing import NamedTuple
from gitmem.memory.statements import Statement
from gitmem.paths import aside, spelling

KEY = "scope"  # of a fact's comment and of a note's front matter
LONGEST_FOLDER = 400  # characters
MEMORY_FOLDER, MEMORY_FILE = "memory", "MEMORY.md"


def folder_name(value: str) -> str | None:
    """The folder that a scope names, in Unicode's NFC and without a slash at its end, "" for the whole repository
    (`.`); None for what cannot be a folder of a repository."""
    name = spelling(value)
    if name in (".", "./"):
        return ""
    name = name.removeprefix("./").removesuffix("/")
    parts = name.split("/")
    if not name or len(name) > LONGEST_FOLDER or "\\" in name or ":" in parts[0]:
        return None
    if any(part in ("", ".", "..") or part != part.strip() or part.casefold() == ".git" for part in parts):
        return None
    if any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in name):
        return None
    return name


def folder_of_path(path: str, whole: Collection[str] = ()) -> str:
    """The folder whose memory a file is: `packages/api` of `packages/api/memory/2026-02-05.md`, of
    `packages/api/MEMORY.md` and of `packages/api/.claude/MEMORY.md`; "" for the repository's own.

    `whole`: folders whose memory is the repository's own all the same (`git mem init --in`).
    """
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts[:-1]) if part == MEMORY_FOLDER), -1)
    if at < 0:
        if parts[-1] != MEMORY_FILE:
            return ""
        at = len(parts) - 1
    if "/".join(parts[: at + 1]) in whole:
        return ""
    above = parts[:at]
    while above and above[-1].startswith("."):  # a host's own folder
        above.pop()
    return spelling("/".join(above))


def globs_of_folders(paths: Iterable[str]) -> list[str]:
    """For each folder whose memory some of these files are, the glob of `[memory] paths` that takes them:
    `packages/api/memory/*.md`, `packages/api/MEMORY.md`. Sorted, each once. Hidden folders, what others wrote
    (`node_modules`) and the README of a folder of code that is called `memory` are nobody's memory."""
    found = set()
    for path in paths:
        if aside(path) or not path.endswith(".md") or not folder_of_path(path):
            continue
        above, between, _ = path.partition(f"/{MEMORY_FOLDER}/")
        if not between:
            found.add(_as_glob(path))
        elif not path.lower().endswith("/readme.md"):
            found.add(f"{_as_glob(above)}/{MEMORY_FOLDER}/*.md")
    return sorted(found)


def _as_glob(path: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def folder_of_keys(meta: Mapping[str, Sequence[str]], path: str, whole: Collection[str] = ()) -> str:
    """The folder of some lines, by the keys of their comment and front matter, and by their file."""
    names = (folder_name(value) for value in meta.get(KEY, ()))
    return next((name for name in names if name is not None), folder_of_path(path, whole))


def folders_of(
    found: Sequence[Statement], path: str, front: Mapping[str, str | Sequence[str]], whole: Collection[str] = ()
) -> list[str]:
    """For each statement of a document the folder that it holds for. `front`: the document's front matter."""
    value = front.get(KEY, "")
    of_file = folder_of_keys({KEY: [value] if isinstance(value, str) else value}, path, whole)
    folders: list[str] = []
    for at, each in enumerate(found):
        own = None
        if any(key == KEY for key, _ in each.meta):
            own = folder_name(each.get(KEY))
        if each.parent >= 0:
            above = each.parent
        else:
            above = each.under
        if 0 <= above < at:
            inherited = folders[above]
        else:
            inherited = of_file
        folders.append(inherited if own is None else own)
    return folders


def faulty_scopes(found: Sequence[Statement], front: Mapping[str, str | Sequence[str]]) -> list[tuple[int, str]]:
    """(line, value) of each scope that is ignored, since it cannot be a folder; line 1 for the front matter."""
    value = front.get(KEY, "")
    stated = [(1, each) for each in ([value] if isinstance(value, str) else value) if each]
    stated += [(each.last, value) for each in found for key, value in each.meta if key == KEY]
    return [(line, value) for line, value in stated if folder_name(value) is None]


class FoldersInHand(NamedTuple):
    """Which folders a context is for. `places`: the files and folders in hand, as paths of the repository. `asked`: the
    words that may name a folder. `every`: whether what holds for any folder is asked for."""

    places: tuple[str, ...] = ()
    asked: str = ""
    every: bool = False

    def depth(self, folder: str) -> int:
        """How many names the folder has where what holds for it is given, 0 for the whole repository; -1 where it is
        left out."""
        if not folder:
            return 0
        at_hand = any(place == folder or place.startswith(folder + "/") for place in self.places)
        if at_hand or self.every or _is_named(folder, self.asked):
            return folder.count("/") + 1
        return -1


def _is_named(folder: str, text: str) -> bool:
    """Whether a text names a folder: its path, or its last name as a word. In a script whose particles stand right
    behind a word, the beginning of one."""
    said = spelling(text).casefold()
    for name in (folder.casefold(), folder.rpartition("/")[2].casefold()):
        at = said.find(name)
        while at >= 0:
            before, after = said[at - 1 : at], said[at + len(name) : at + len(name) + 1]
            glued = not name[-1].isascii() and len(name) > 1
            if not _in_word(before) and (glued or not _in_word(after)):
                return True
            at = said.find(name, at + 1)
    return False


def _in_word(character: str) -> bool:
    if not character:
        return False
    return character.isalnum() or character in ("_", "-")
