"""Adopting a folder of notes: which of its Markdown stays searched and gated once it is a memory repository.

A folder without MEMORY.md and memory/ is taken as notes, every `*.md` of it. The first memory file ends that, so
`git mem init` either names the notes in .gitmem.toml or says that they are memory no more. Writes nothing.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gitmem.config import TRACKED
from gitmem.errors import UsageError
from gitmem.git.opening import Repository, open_repository
from gitmem.git.write import init_repository
from gitmem.memory.new_repository import Place
from gitmem.paths import PACKAGES, Kind, agents_read, aside, kind

GLOB = "*.md"  # of every folder (`paths.matches`)


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a folder, by what adopting it makes of them.

    `notes` are Markdown that only adoption keeps in memory, `others` how many files of which reason stay out. Paths are
    relative to the folder, sorted.
    """

    notes: tuple[str, ...]
    others: tuple[tuple[str, int], ...]

    @property
    def mostly_notes(self) -> bool:
        """Whether there are more notes than files of another kind: what nobody decides is decided by this."""
        return len(self.notes) > dict(self.others).get(NO_MARKDOWN, 0)


HIDDEN, INSTALLED, NO_MARKDOWN = "hidden", f"in {PACKAGES}/", "not Markdown"


def look_at_folder(repo: Repository) -> Folder:
    """The files of a work tree as Git sees them: tracked, or neither tracked nor ignored."""
    paths = {*(entry.path for entry in repo.staged()), *repo.untracked()}
    notes: list[str] = []
    others: Counter[str] = Counter()
    for path in sorted(paths):
        if kind(path) is not Kind.OTHER or agents_read(path):
            continue  # memory or scanned already, adopted or not
        if not path.endswith(".md"):
            others[NO_MARKDOWN] += not aside(path)
        elif aside(path):
            others[INSTALLED if PACKAGES in path.split("/") else HIDDEN] += 1
        else:
            notes.append(path)
    return Folder(tuple(notes), tuple((+others).items()))


@contextmanager
def opened(place: Place, environ: Mapping[str, str]) -> Iterator[Repository]:
    """The repository of a place; for one that is yet to be made an empty one elsewhere, over the files that are there,
    so that Git's own rules say what it ignores."""
    with ExitStack() as stack:
        if place.new:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="git-mem-")))
            init_repository(folder, environ)
            environ = {**environ, "GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(place.root)}
        repo = open_repository(place.root, environ)
        stack.callback(repo.close)
        yield repo


def settings_text(old: str) -> str:
    """The text of .gitmem.toml that takes every note, from the one it has ("" for none); `old` where it does already.

    Raises UsageError where a table of that name is there and has to be changed by hand.
    """
    try:
        memory = tomllib.loads(old).get("memory")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{TRACKED} is not TOML: {error}", f"mend {TRACKED}") from None
    paths = memory.get("paths") if isinstance(memory, dict) else None
    if isinstance(paths, list) and GLOB in paths:
        return old
    if memory is not None:
        raise UsageError(f"{TRACKED} has a [memory] table already", f"add '{GLOB}' to its paths by hand")
    gap = "" if not old else "\n" if old.endswith("\n") else "\n\n"
    return f'{old}{gap}[memory]\npaths = ["{GLOB}"] # every note, in any folder; nothing hidden\n'
