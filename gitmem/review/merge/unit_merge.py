"""A three-way merge of Markdown units, for the hunks that a text merge cannot settle. Pure.

A text merge sees the edits of two neighbouring list items as one conflict. Here the edits merge when they touch
different units. A unit is a statement with all its lines (an item without its nested items, a paragraph, a table row, a
heading) or a blank line; a paragraph right below an item belongs to its unit, as in CommonMark. When both sides changed
the same unit, its three versions stay in a hunk, so nothing that a side wrote is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from gitmem.fences import opening_fence
from gitmem.memory.statements import TEXT_FORMS, Form, read, without_list_marker

TOKEN = "\x1d"  # begins a line that stands for a fact
MAX_HUNK_LINES = 1_000  # in all three versions; a larger hunk stays whole, since the comparison is quadratic
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Hunk:
    """The lines of the three versions at a place that is not merged."""

    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    """One side's replacement of the base's units `start` to `end` (exclusive) by `lines`. An insertion has
    `start == end`."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_hunk(hunk: Hunk) -> list[str | Hunk]:
    """The merged lines of `hunk`, with a smaller hunk for each unit that both sides changed; [hunk] when nothing can be
    merged."""
    sides = (hunk.ours, hunk.base, hunk.theirs)
    if sum(map(len, sides)) > MAX_HUNK_LINES or not any(line.strip() for line in hunk.base):
        return [hunk]
    if any(fence_of(line) for side in sides for line in side):
        return [hunk]  # the fenced block may end outside the hunk
    units = _units(hunk.base)
    parts: list[Sequence[str] | Hunk] = []
    merged_end = 0
    for start, end, our_changes, their_changes in _groups(
        units, _changes(units, hunk.ours), _changes(units, hunk.theirs)
    ):
        parts += units[merged_end:start]
        ours, theirs = (_changed_lines(units, changes, start, end) for changes in (our_changes, their_changes))
        if not their_changes or ours == theirs:
            parts.append(ours)
        elif not our_changes:
            parts.append(theirs)
        else:
            parts.append(Hunk(ours, _lines_of(units[start:end]), theirs))
        merged_end = end
    parts += units[merged_end:]
    if _joins_units(parts):
        return [hunk]
    merged: list[str | Hunk] = []
    for part in parts:
        if isinstance(part, Hunk):
            merged.append(part)
        else:
            merged += part
    return merged


def fence_of(line: str) -> str:
    """The marks with which a line opens a fenced block, in a list item too; "" when it opens none."""
    return opening_fence(without_list_marker(line).lstrip(" \t"))


def _joins_units(parts: Iterable[Sequence[str] | Hunk]) -> bool:
    """Whether Markdown would read a part as the continuation of the part before it."""
    last_line = ""
    for part in parts:
        if isinstance(part, Hunk):
            last_line = ""
        elif part:
            if _continues(last_line, part[0]):
                return True
            last_line = part[-1]
    return False


def _units(lines: Iterable[str]) -> list[tuple[str, ...]]:
    """The units of some lines, each as its lines. Each token and each blank line is a unit of its own."""
    units: list[tuple[str, ...]] = []
    for is_token, group in groupby(lines, key=lambda line: line.startswith(TOKEN)):
        part = list(group)
        if is_token:
            units += [(line,) for line in part]
            continue
        previous_form = Form.BLANK
        for statement in read(part):
            unit_lines = part[statement.first - 1 : statement.last]
            if statement.form is Form.PARAGRAPH and previous_form in TEXT_FORMS:
                units[-1] += tuple(unit_lines)
            elif statement.form is Form.BLANK:
                units += [(line,) for line in unit_lines]
            else:
                units.append(tuple(unit_lines))
            previous_form = statement.form
    return units


def _continues(previous_line: str, line: str) -> bool:
    """Whether `line` belongs to the unit whose last line is `previous_line`."""
    if not line.strip() or not previous_line.strip() or line.startswith(TOKEN) or previous_line.startswith(TOKEN):
        return False
    return len(_units([previous_line, line])) == 1


def _is_item(unit: Sequence[str]) -> bool:
    return without_list_marker(unit[0]) != unit[0]


def _lines_of(units: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(line for unit in units for line in unit)


def _changes(base: Sequence[tuple[str, ...]], side: Sequence[str]) -> list[_Change]:
    """The changes from the units `base` to the lines `side`, in order. A replaced run of items becomes one change for
    each item and an insertion for each added run."""
    units = _units(side)
    changes: list[_Change] = []
    for op, start, end, first, last in SequenceMatcher(None, base, units, autojunk=False).get_opcodes():
        if op == "equal":
            continue
        old, new = base[start:end], units[first:last]
        offset = _edited_offset(old, new)
        if offset is None:
            changes.append(_Change(start, end, _lines_of(new)))
            continue
        if offset:
            changes.append(_Change(start, start, _lines_of(new[:offset])))
        changes += [_Change(start + n, start + n + 1, new[offset + n]) for n in range(len(old))]
        if offset + len(old) < len(new):
            changes.append(_Change(end, end, _lines_of(new[offset + len(old) :])))
    return changes


def _edited_offset(old: Sequence[tuple[str, ...]], new: Sequence[tuple[str, ...]]) -> int | None:
    """The index in `new` at which the edited items of `old` begin: where most words are equal. None when `old` is not
    all items, or `new` has no run of as many items."""
    if not old or not all(map(_is_item, old)):
        return None
    count = len(old)
    offsets = [start for start in range(len(new) - count + 1) if all(map(_is_item, new[start : start + count]))]
    words = [set(" ".join(unit).split()) for unit in old]
    return max(
        offsets,
        key=lambda offset: sum(
            len(old_words & set(" ".join(new[offset + n]).split())) for n, old_words in enumerate(words)
        ),
        default=None,
    )


def _groups(
    units: Sequence[tuple[str, ...]], ours: Sequence[_Change], theirs: Sequence[_Change]
) -> list[tuple[int, int, list[_Change], list[_Change]]]:
    """(start, end, our changes, their changes) of each group of changes that must be merged together.

    Changes belong together when they touch the same units, insert at the same place, or when one side inserts lines
    right below a heading that the other side removes.
    """
    ordered = sorted(
        [(change, 0) for change in ours] + [(change, 1) for change in theirs],
        key=lambda item: (item[0].start, item[0].end),
    )
    groups: list[tuple[int, int, tuple[list[_Change], list[_Change]]]] = []
    for change, side in ordered:
        if groups:
            start, end, sides = groups[-1]
            is_at_end = change.start == change.end == end
            is_below_removed = is_at_end and any(_removes_heading(units, other) for other in sides[1 - side])
            if change.start < end or (is_at_end and start == end) or is_below_removed:
                sides[side].append(change)
                groups[-1] = (start, max(end, change.end), sides)
                continue
        sides = ([], [])
        sides[side].append(change)
        groups.append((change.start, change.end, sides))
    return [(start, end, *sides) for start, end, sides in groups]


def _removes_heading(units: Sequence[tuple[str, ...]], change: _Change) -> bool:
    """Whether a change replaces units that have a heading by lines that have none."""
    has_heading = any(HEADING.match(unit[0]) for unit in units[change.start : change.end])
    return has_heading and not any(HEADING.match(line) for line in change.lines)


def _changed_lines(
    units: Sequence[tuple[str, ...]], changes: Sequence[_Change], start: int, end: int
) -> tuple[str, ...]:
    """The lines of the units `start` to `end` (exclusive) with one side's changes applied."""
    changed: list[str] = []
    position = start
    for change in changes:
        changed += [*_lines_of(units[position : change.start]), *change.lines]
        position = change.end
    return (*changed, *_lines_of(units[position:end]))
