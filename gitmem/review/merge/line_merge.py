"""Three-way merge of lines: the text merge, with the hunks it could not settle taken apart.

Pure; the text merge itself is passed in. In a daily log the sections that both sides appended stay, by time of day.
Knows no fact: that is `merge`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gitmem.fences import open_after
from gitmem.review.merge.unit_merge import HEADING, Hunk, fence_of, settled

TextMerge = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]
MARK = 47  # length of the inner marks: no memory file has such a line, and `merge` looks
_TIME = re.compile(r"##[ \t]+(\d{1,2}):(\d{2})(?:[ \t]*([AaPp])\.?[Mm])?")


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged bytes; `conflicts` of them stand between marks."""

    data: bytes
    conflicts: int


@dataclass(frozen=True, slots=True)
class Labels:
    """How the sides are called in a conflict, and how long its marks are."""

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


def with_base(data: bytes, labels: Labels) -> bytes:
    """Merged bytes in which each conflict is as it was in the base: neither side's text."""
    bars, middle = f"{'|' * labels.size} {labels.base}\n", f"{'=' * labels.size}\n"
    start, end = f"{'<' * labels.size} {labels.ours}\n", f"{'>' * labels.size} {labels.theirs}\n"
    kept: list[str] = []
    keeping = True
    for line in split(data):
        if line in (start, middle):
            keeping = False
        elif line in (bars, end):
            keeping = True
        elif keeping:
            kept.append(line)
    return join(kept)


def merge_text(base: bytes, ours: bytes, theirs: bytes, text_merge: TextMerge, labels: Labels, log: bool) -> Merged:
    """Merge as text; what both sides only added to a `log` is no conflict."""
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
    return Merged(join(lines), conflicts)


def split(data: bytes) -> list[str]:
    """Lines with their ends; the last one gets one where it has none."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1] + "\n"] if lines[-1] else [])


def join(lines: Iterable[str]) -> bytes:
    """The bytes of lines as `split` gives them."""
    return "".join(lines).encode("utf-8", "surrogateescape")


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], text_merge: TextMerge
) -> list[str | Hunk]:
    """The text merge as lines and hunks in which both sides changed the same bullet, paragraph, heading or block."""
    merged, _ = text_merge(join(base), join(ours), join(theirs))
    out: list[str | Hunk] = []
    sides: list[list[str]] = []
    fence = ""
    for line in split(merged):
        if line.startswith("<" * MARK):
            sides = [[]]
        elif sides and line.startswith(("|" * MARK, "=" * MARK)):
            sides.append([])
        elif sides and line.startswith(">" * MARK):
            hunk = Hunk(tuple(sides[0]), tuple(sides[1]), tuple(sides[2]))
            out += [hunk] if fence else settled(hunk)
            for base_line in hunk.base:
                fence = _fence_after(fence, base_line)
            sides = []
        elif sides:
            sides[-1].append(line)
        else:
            out.append(line)
            fence = _fence_after(fence, line)
    return out


def _fence_after(fence: str, line: str) -> str:
    if fence:
        return open_after(fence, line)
    return fence_of(line)


def _by_time(hunk: Hunk) -> list[str]:
    """What both sides appended to a log: their sections by time of day, ours first where equal or untimed.

    The lines above the first section that both begin with (the heading with the day) are taken once.
    """
    if hunk.ours == hunk.theirs:
        return list(hunk.ours)
    same = list(takewhile(lambda line: not line.startswith("## "), _common_beginning(hunk.ours, hunk.theirs)))
    blocks = [*_sections(hunk.ours[len(same) :]), *_sections(hunk.theirs[len(same) :])]
    times = [_time(block[0]) if block else None for block in blocks]
    if all(time is not None for time in times):
        order = sorted(range(len(blocks)), key=lambda at: times[at] or 0)
        blocks = [blocks[at] for at in order]
    out: list[str] = same
    if not same and blocks and not any(side and side[0].strip() for side in (hunk.ours, hunk.theirs)):
        out = ["\n"]
    for block in blocks:
        if out and block and HEADING.match(block[0]) and out[-1].strip():
            out.append("\n")
        out += block
    return out


def _common_beginning(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    """The lines that both begin with."""
    return (mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))


def _sections(lines: Sequence[str]) -> list[list[str]]:
    """Cut before each `## `; blank lines in front of the first belong to nobody."""
    sections: list[list[str]] = []
    for line in lines:
        if not sections or line.startswith("## "):
            if not sections and not line.strip():
                continue
            sections.append([])
        sections[-1].append(line)
    return sections


def _time(line: str) -> int | None:
    match = _TIME.match(line)
    if match is None:
        return None
    hour = int(match[1])
    if match[3]:
        hour = hour % 12 + (12 if match[3] in "Pp" else 0)
    return hour * 60 + int(match[2])
