"""A three-way merge by units of Markdown, for the hunks that a text merge cannot settle: an edit of one bullet and an
edit of its neighbour are one hunk for Git and two changes for a reader.

A unit is a statement with all its lines (an item without those below it, a paragraph, a table row, a heading) or a
blank line; a paragraph right below an item, which CommonMark reads as part of it, is in its unit. Changes of both sides
are taken where they touch different units; where they touch the same one, all three texts stay in a hunk. Pure; nothing
that one side wrote is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from gitmem.fences import opening
from gitmem.memory.statements import Form, read, unmarked

TOKEN = "\x1d"  # begins a line that stands for a fact
LINES = 1_000  # of all versions of a hunk, above which it stays whole: the comparison is quadratic
WRAPPED = (Form.ITEM, Form.PARAGRAPH, Form.QUOTE)
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines the three versions have at a place where they do not agree."""

    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    """What one side made of the units from `start` to before `end`: `lines`. An insertion is of no unit."""

    start: int
    end: int
    lines: tuple[str, ...]


def settled(hunk: Hunk) -> list[str | Hunk]:
    """`hunk` with the changes that touch different units taken; what is left of it are smaller hunks, or itself."""
    if sum(map(len, (hunk.ours, hunk.base, hunk.theirs))) > LINES or not any(line.strip() for line in hunk.base):
        return [hunk]
    if any(fence_of(line) for side in (hunk.ours, hunk.base, hunk.theirs) for line in side):
        return [hunk]  # where the block ends is not known here
    units = _units(hunk.base)
    parts: list[Sequence[str] | Hunk] = []
    at = 0
    for start, end, mine, yours in _groups(units, _changes(units, hunk.ours), _changes(units, hunk.theirs)):
        parts += units[at:start]
        ours, theirs = (_text(units, changes, start, end) for changes in (mine, yours))
        if not mine or not yours or ours == theirs:
            parts.append(ours if mine else theirs)
        else:
            parts.append(Hunk(ours, _lines_of(units[start:end]), theirs))
        at = end
    parts += units[at:]
    if _run_together(parts):
        return [hunk]
    out: list[str | Hunk] = []
    for part in parts:
        out += [part] if isinstance(part, Hunk) else part
    return out


def fence_of(line: str) -> str:
    """The marks with which a line, of a list too, opens a fenced block, "" where it opens none."""
    return opening(unmarked(line).lstrip(" \t"))


def _run_together(parts: Iterable[Sequence[str] | Hunk]) -> bool:
    """Whether a part would become a continuation of the one before it, which it was on neither side."""
    before = ""
    for part in parts:
        if isinstance(part, Hunk):
            before = ""
        elif part:
            if _continues(before, part[0]):
                return True
            before = part[-1]
    return False


def _units(lines: Iterable[str]) -> list[tuple[str, ...]]:
    units: list[tuple[str, ...]] = []
    for token, group in groupby(lines, key=lambda line: line.startswith(TOKEN)):
        part = list(group)
        before = Form.BLANK
        for found in read(part) if not token else ():
            own = part[found.first - 1 : found.last]
            if found.form is Form.PARAGRAPH and before in WRAPPED:
                units[-1] += tuple(own)
            else:
                units += [(line,) for line in own] if found.form is Form.BLANK else [tuple(own)]
            before = found.form
        if token:
            units += [(line,) for line in part]
    return units


def _continues(before: str, line: str) -> bool:
    """Whether `line` belongs to the unit whose last line is `before`."""
    if not line.strip() or not before.strip() or line.startswith(TOKEN) or before.startswith(TOKEN):
        return False
    return len(_units([before, line])) == 1


def _is_item(unit: Sequence[str]) -> bool:
    return unmarked(unit[0]) != unit[0]


def _lines_of(units: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(line for unit in units for line in unit)


def _changes(base: Sequence[tuple[str, ...]], side: Sequence[str]) -> list[_Change]:
    """How `side` differs from `base`, in order."""
    units = _units(side)
    changes: list[_Change] = []
    for how, start, end, first, last in SequenceMatcher(None, base, units, autojunk=False).get_opcodes():
        if how == "equal":
            continue
        old, new = base[start:end], units[first:last]
        at = _place(old, new)
        if at is None:
            changes.append(_Change(start, end, _lines_of(new)))
            continue
        if at:
            changes.append(_Change(start, start, _lines_of(new[:at])))
        changes += [_Change(start + n, start + n + 1, new[at + n]) for n in range(len(old))]
        if at + len(old) < len(new):
            changes.append(_Change(end, end, _lines_of(new[at + len(old) :])))
    return changes


def _place(old: Sequence[tuple[str, ...]], new: Sequence[tuple[str, ...]]) -> int | None:
    """Where in `new` the items of `old` stand, edited, by the words that they share; None where that is not known."""
    if not old or not all(map(_is_item, old)):
        return None
    places = [at for at in range(len(new) - len(old) + 1) if all(map(_is_item, new[at : at + len(old)]))]
    words = [set(" ".join(unit).split()) for unit in old]
    return max(
        places,
        key=lambda at: sum(len(mine & set(" ".join(new[at + n]).split())) for n, mine in enumerate(words)),
        default=None,
    )


def _groups(
    units: Sequence[tuple[str, ...]], ours: Sequence[_Change], theirs: Sequence[_Change]
) -> list[tuple[int, int, list[_Change], list[_Change]]]:
    """(start, end, changes of ours, of theirs): changes that touch the same units, or insert at the same place."""
    left = sorted(
        [(change, 0) for change in ours] + [(change, 1) for change in theirs],
        key=lambda item: (item[0].start, item[0].end),
    )
    groups: list[tuple[int, int, tuple[list[_Change], list[_Change]]]] = []
    for change, side in left:
        if groups:
            start, end, sides = groups[-1]
            inserted = change.start == change.end == end
            below = inserted and any(_drops_heading(units, other) for other in sides[1 - side])
            if change.start < end or (inserted and start == end) or below:
                sides[side].append(change)
                groups[-1] = (start, max(end, change.end), sides)
                continue
        groups.append((change.start, change.end, ([change], []) if side == 0 else ([], [change])))
    return [(start, end, *sides) for start, end, sides in groups]


def _drops_heading(units: Sequence[tuple[str, ...]], change: _Change) -> bool:
    """Whether a change takes a heading away: what the other side wrote below it would stand below another one."""
    had = any(HEADING.match(unit[0]) for unit in units[change.start : change.end])
    return had and not any(HEADING.match(line) for line in change.lines)


def _text(units: Sequence[tuple[str, ...]], changes: Sequence[_Change], start: int, end: int) -> tuple[str, ...]:
    """One side's lines of the units from `start` to before `end`."""
    out: list[str] = []
    at = start
    for change in changes:
        out += [*_lines_of(units[at : change.start]), *change.lines]
        at = change.end
    return (*out, *_lines_of(units[at:end]))
