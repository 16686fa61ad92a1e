"""A three-way merge of lines: a text merge whose conflicts are split into smaller hunks. Pure; the text merge is passed
in.

In a daily log the sections that both sides appended are kept, in order of their time of day. Facts are merged by
`fact_merge`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gitmem.fences import open_fence_after
from gitmem.review.merge.unit_merge import HEADING, Hunk, fence_of, merge_hunk
from gitmem.sequences import equal_at_start

TextMerge = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]  # (base, ours, theirs) -> (merged, is clean)
# Length of the text merge's conflict marks; `fact_merge.merge_memory` makes sure that no file has such a line.
MARK = 47
_TIME = re.compile(r"##[ \t]+(\d{1,2}):(\d{2})(?:[ \t]*([AaPp])\.?[Mm])?")


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged bytes. `conflicts`: how many conflicts stand in them between marks."""

    data: bytes
    conflicts: int


@dataclass(frozen=True, slots=True)
class Labels:
    """The names of the three versions in a conflict. `size`: the length of the conflict's marks."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    size: int = 7

    def block(self, ours: Iterable[str], base: Iterable[str], theirs: Iterable[str]) -> list[str]:
        """The lines of one conflict, in Git's diff3 style."""
        return [
            f"{'<' * self.size} {self.ours}\n", *ours, f"{'|' * self.size} {self.base}\n", *base,
            f"{'=' * self.size}\n", *theirs, f"{'>' * self.size} {self.theirs}\n",
        ]  # fmt: skip


def resolve_to_base(data: bytes, labels: Labels) -> bytes:
    """The merged bytes with each conflict replaced by the text of the base; the last line gets a line end. `labels`:
    those that marked the conflicts.

    A line equal to a mark counts only where that mark is due: outside a conflict only the first mark does, so that
    the underline of a heading stays. The text of the base ends at its first line that is equal to the middle mark.
    """
    marks = [
        f"{'<' * labels.size} {labels.ours}", f"{'|' * labels.size} {labels.base}",
        "=" * labels.size, f"{'>' * labels.size} {labels.theirs}",
    ]  # fmt: skip
    kept: list[str] = []
    next_mark = 0  # place of the next mark in `marks`: 0 outside a conflict, 2 in the text of the base
    for line in split(data):
        if line.rstrip("\r\n") == marks[next_mark]:  # Git ends the marks like the lines of the file
            next_mark = (next_mark + 1) % len(marks)
        elif next_mark in (0, 2):
            kept.append(line)
    return join(kept)


def merge_text(
    base: bytes, ours: bytes, theirs: bytes, text_merge: TextMerge, labels: Labels, log: bool
) -> MergeResult:
    """Merge the files as text. `text_merge`: a text merge whose conflict marks have MARK characters. `log`: where both
    sides inserted lines at the same place, keep both insertions in order of time instead of a conflict."""
    lines: list[str] = []
    conflicts = 0
    for part in merge_lines(split(base), split(ours), split(theirs), text_merge):
        if isinstance(part, str):
            lines.append(part)
        elif log and not any(line.strip() for line in part.base):
            lines += _by_time(part)
        else:
            conflicts += 1
            lines += labels.block(part.ours, part.base, part.theirs)
    return MergeResult(join(lines), conflicts)


def split(data: bytes) -> list[str]:
    """The lines of a file, each with its line end; the last line gets one too."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line + "\n" for line in lines]


def join(lines: Iterable[str]) -> bytes:
    """The bytes of lines that `split` returned."""
    return "".join(lines).encode("utf-8", "surrogateescape")


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], text_merge: TextMerge
) -> list[str | Hunk]:
    """The result of the text merge: merged lines, and a `Hunk` wherever both sides changed the same item, paragraph,
    heading or fenced block. `text_merge`: a text merge whose conflict marks have MARK characters."""
    merged, _ = text_merge(join(base), join(ours), join(theirs))
    result: list[str | Hunk] = []
    fence = ""
    for part in split_at_marks(split(merged), [sign * MARK for sign in "<|=>"]):
        if isinstance(part, str):
            result.append(part)
            fence = _fence_after(fence, part)
        else:
            result += [part] if fence else merge_hunk(part)
            for line in part.base:
                fence = _fence_after(fence, line)
    return result


def split_at_marks(lines: Iterable[str], marks: Sequence[str]) -> Iterator[str | Hunk]:
    """The lines of a text, with a `Hunk` in place of each conflict in diff3 style. `marks`: the beginnings of the four
    lines that mark a conflict, in order."""
    start, bars, middle, end = marks
    sides: list[list[str]] = []
    for line in lines:
        if line.startswith(start):
            sides = [[]]
        elif sides and line.startswith((bars, middle)):
            sides.append([])
        elif sides and line.startswith(end):
            yield Hunk(tuple(sides[0]), tuple(sides[1]), tuple(sides[2]))
            sides = []
        elif sides:
            sides[-1].append(line)
        else:
            yield line


def _fence_after(fence: str, line: str) -> str:
    """The marks of the fenced block that is open after `line`, "" for none. `fence`: those that are open before it."""
    if fence:
        return open_fence_after(fence, line)
    return fence_of(line)


def _by_time(hunk: Hunk) -> list[str]:
    """The lines that both sides appended to a log: the sections in order of their time of day, ours first when two
    times are equal. When a section has no time, all of ours come before all of theirs.

    Lines above the first section with which both sides begin (the heading with the day) appear once.
    """
    if hunk.ours == hunk.theirs:
        return list(hunk.ours)
    common = hunk.ours[: equal_at_start(hunk.ours, hunk.theirs)]
    merged = list(takewhile(lambda line: not line.startswith("## "), common))
    sections = [*_sections(hunk.ours[len(merged) :]), *_sections(hunk.theirs[len(merged) :])]
    times = [_time(section[0]) for section in sections]
    if None not in times:
        order = sorted(range(len(sections)), key=lambda number: times[number] or 0)
        sections = [sections[number] for number in order]
    if not merged and sections and not any(side and side[0].strip() for side in (hunk.ours, hunk.theirs)):
        merged = ["\n"]
    for section in sections:
        if merged and HEADING.match(section[0]) and merged[-1].strip():
            merged.append("\n")
        merged += section
    return merged


def _sections(lines: Sequence[str]) -> list[list[str]]:
    """The lines split before each `## `, without the blank lines at the beginning. No section is empty."""
    sections: list[list[str]] = []
    for line in lines:
        if not sections or line.startswith("## "):
            if not sections and not line.strip():
                continue
            sections.append([])
        sections[-1].append(line)
    return sections


def _time(line: str) -> int | None:
    """The time of day with which a `## ` heading begins (`## 14:30`, `## 2:30 pm`), in minutes since midnight; None for
    any other line. The range is not checked: `## 25:99` is 1599."""
    match = _TIME.match(line)
    if match is None:
        return None
    hour = int(match[1])
    if match[3]:
        hour %= 12
        if match[3] in "Pp":
            hour += 12
    return hour * 60 + int(match[2])
