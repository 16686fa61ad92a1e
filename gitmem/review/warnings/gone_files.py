"""The warning that the change removes or renames a file which agents' hosts load by its name, as MEMORY.md or
AGENTS.md. Hosts no longer give its text to an agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gitmem.gate.reports.markdown import code
from gitmem.json_values import json_keys
from gitmem.paths import INSTRUCTIONS
from gitmem.review.commit_diff import renames
from gitmem.review.markup import Links, printable
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning

LOADED = ("MEMORY.md", ".claude/MEMORY.md", *INSTRUCTIONS, "CLAUDE.md")


@json_keys("path=old_path now=path?")
@dataclass(frozen=True, slots=True)
class GoneFile:
    """A removed file. `old_path`: its path at the base. `path`: its new path when it was renamed, else ""."""

    old_path: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class GoneFiles(ReviewWarning):
    """The files that hosts load by their name (LOADED) and that the change removes or renames."""

    key: ClassVar[str] = "gone"
    title: ClassVar[str] = "Files that hosts load no more"
    noun: ClassVar[str] = "file"
    place: ClassVar[Place] = Place.FIRST
    found: tuple[GoneFile, ...] = ()

    def checked(self) -> Iterator[CheckRow]:
        if self.found:
            names = ", ".join(code(printable(file.old_path)) for file in self.found)
            yield CheckRow(False, "Files that hosts load by their name", f"**gone**: {names}")

    def rows(self, links: Links) -> Iterator[Row]:
        for file in self.found:
            now = f"is {links.file(file.path)} now" if file.path else "is gone"
            yield Row(f"{code(printable(file.old_path))} {now}: agents' hosts no longer load it")

    def remarks(self) -> Iterator[Remark]:
        for file in self.found:
            yield Remark(file.old_path, 1, "gone", "the file is gone: agents' hosts no longer load it")


def check(commits: Range) -> GoneFiles:
    """Look for files of LOADED that the base has and the head lacks; empty without a base."""
    if not commits.base:
        return GoneFiles()
    files = commits.repo.changes(commits.base, commits.head)
    removed = [change.path for change in files if change.status == "D" and change.path in LOADED]
    if not removed:
        return GoneFiles()
    new_path_of = {old: new for new, old in renames(commits.repo, commits.base, commits.head, files).items()}
    return GoneFiles(found=tuple(GoneFile(path, new_path_of.get(path, "")) for path in removed))
