"""The warning that MEMORY.md is above its budget, so that hosts load only a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from gitmem.gate.reports.markdown import code
from gitmem.git.objects import REGULAR
from gitmem.json_values import json_keys
from gitmem.memory.document import blob_lines
from gitmem.review.markup import Links, printable
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning

HOST_BYTES = 25_000  # bytes of MEMORY.md that an agent's host loads


@json_keys("path lines budget bytes over")
@dataclass(frozen=True, slots=True)
class Size:
    """The size of a file at the head. `budget`: the highest number of lines (`mem.memoryLines`). `over_before`: the
    file was above its budget at the base already."""

    path: str
    lines: int
    bytes: int
    budget: int
    over_before: bool = False

    @property
    def over(self) -> bool:
        return self.lines > self.budget or self.bytes > HOST_BYTES


@dataclass(frozen=True, slots=True)
class FileSizes(ReviewWarning):
    """The sizes of the MEMORY.md files at the head."""

    key: ClassVar[str] = "sizes"
    title: ClassVar[str] = "Sizes"
    noun: ClassVar[str] = "size"
    place: ClassVar[Place] = Place.LAST
    found: tuple[Size, ...] = ()

    def points(self) -> int:
        return sum(size.over and not size.over_before for size in self.found)

    def old_points(self) -> int:
        return sum(size.over and size.over_before for size in self.found)

    def checked(self) -> Iterator[CheckRow]:
        for size in self.found:
            words = f"{size.lines} of {size.budget} lines, {size.bytes:,} of {HOST_BYTES:,} bytes"
            yield CheckRow(not size.over or size.over_before, f"Size of {code(printable(size.path))}", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for size in self.found:
            if size.over:
                numbers = f"{size.lines} of {size.budget} lines, {size.bytes} of {HOST_BYTES} bytes"
                since = ", as before" if size.over_before else ""
                yield Row(f"{code(printable(size.path))}: {numbers} **over budget**{since}: hosts read less")

    def remarks(self) -> Iterator[Remark]:
        for size in self.found:
            if size.over and not size.over_before:
                words = f"{size.lines} lines of {size.budget}, {size.bytes} bytes of {HOST_BYTES}: hosts read less"
                yield Remark(size.path, 1, "over-budget", words)


def check(commits: Range) -> FileSizes:
    """Measure the MEMORY.md files; symbolic links are left out."""
    over_at_base: set[str] = set()
    if commits.base:
        over_at_base = {size.path for size in _sizes(commits, commits.base) if size.over}
    sizes = [replace(size, over_before=size.path in over_at_base) for size in _sizes(commits, commits.head)]
    return FileSizes(found=tuple(sizes))


def _sizes(commits: Range, commit: str) -> list[Size]:
    """The sizes of the MEMORY.md files at a commit."""
    sizes = []
    for entry in commits.repo.entries(commit, ["MEMORY.md", ".claude/MEMORY.md"]):
        if entry.mode == REGULAR:
            data = commits.repo.read(entry.oid)
            sizes.append(Size(entry.path, len(blob_lines(data)), len(data), commits.config.memory_lines))
    return sizes
