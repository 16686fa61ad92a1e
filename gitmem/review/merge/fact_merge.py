"""A three-way merge of memory files, fact by fact. Pure; the text merge is passed in.

In MEMORY.md two list items added at the same place do not conflict, and the order of items matters little. So each item
merges as one fact, with everything indented below it:

* Additions of both sides are kept, and a deletion holds (`merge=union` would undo it).
* An edit of one side is taken; the keys of comments merge one by one.
* An item edited on both sides, or edited on one and deleted on the other, is a conflict between Git's marks.
* Nested items merge in the same way. Headings, paragraphs and tables go through the text merge.
* In a daily log the sections that both sides appended are kept, in order of time.

How it works: each item of the base that survives becomes one token line, the same in all three versions, and the items
that a side added are removed. The text merge runs on these skeletons. Then tokens become items again, and each added
item is inserted behind the line that it followed in its own version.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from gitmem.daily_logs import is_daily
from gitmem.memory import facts
from gitmem.memory.fact import Fact, Meta
from gitmem.memory.facts import Entry, Memory
from gitmem.memory.statements import Form
from gitmem.review.fact_diff import Op, pair_edited, same_facts
from gitmem.review.merge.line_merge import MARK, Labels, MergeResult, TextMerge, join, merge_lines, merge_text, split
from gitmem.review.merge.unit_merge import HEADING, TOKEN, Hunk


def merge_memory(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    path: str,
    text_merge: TextMerge,
    labels: Labels | None = None,
    daily: Sequence[str] = (),
) -> MergeResult:
    """Merge three versions of the memory file at `path`; `base` is b"" when both sides added the file.

    `text_merge`: a text merge whose conflict marks have MARK characters. `daily`: path patterns of daily logs, besides
    the default place. Swapping the sides changes only the order of the result. No line that a side added is lost. A
    version that has conflict marks of that length itself is merged as text, without regard to facts.
    """
    labels = labels or Labels()
    if ours == theirs or theirs == base:
        return MergeResult(ours, 0)
    if ours == base:
        return MergeResult(theirs, 0)
    joined = b"\n".join((base, ours, theirs))
    if any(mark * MARK in joined for mark in (b"<", b">", b"=", b"|")):
        return merge_text(base, ours, theirs, text_merge, labels, False)
    if is_daily(path, daily):
        return merge_text(base, ours, theirs, text_merge, labels, True)
    number = 0
    while f"{TOKEN}{number}:".encode() in joined:
        number += 1
    before, mine, yours = (_whole(facts.parse(join(split(data)))) for data in (base, ours, theirs))
    lines, conflicts = _ItemMerge(before, mine, yours, labels, f"{TOKEN}{number}:", text_merge).merge()
    return MergeResult(join(lines), conflicts)


@dataclass(frozen=True, slots=True)
class _Version:
    """The lines `first` to `last` (1-based) of one version, and their items without the nested ones: a whole file, or
    the lines below one item."""

    memory: Memory
    first: int
    last: int
    items: Sequence[Entry]

    @property
    def lines(self) -> list[str]:
        return list(self.memory.lines[self.first - 1 : self.last])

    def lines_of(self, entry: Entry) -> list[str]:
        """The lines of an item with everything indented below it."""
        return list(self.memory.lines[entry.start - 1 : entry.end])

    def own_lines(self, entry: Entry) -> list[str]:
        """The lines of an item without those below it."""
        return list(self.memory.lines[entry.start - 1 : entry.fact.end])

    def below(self, entry: Entry) -> _Version:
        """The lines indented below an item."""
        entries = self.memory.entries
        number = bisect_left(entries, entry.start, key=lambda other: other.start)
        end = bisect_right(entries, entry.end, key=lambda other: other.start)
        items = [other for other in entries[number + 1 : end] if other.parent == number and other.form is Form.ITEM]
        return _Version(self.memory, entry.fact.end + 1, entry.end, items)


def _whole(memory: Memory) -> _Version:
    return _Version(memory, 1, len(memory.lines), memory.items)


EMPTY = _whole(facts.parse(b""))


@dataclass(slots=True)
class _Side:
    """One side of the merge. `kept`: the number of a base item -> its entry in this version, edited or not. `added`:
    the entries that no base item became."""

    version: _Version
    kept: dict[int, Entry]
    added: list[Entry]


class _ItemMerge:
    """The merge of three versions. `token`: begins each token line; no version has a line that begins so."""

    def __init__(
        self, base: _Version, ours: _Version, theirs: _Version, labels: Labels, token: str, text_merge: TextMerge
    ) -> None:
        self.labels, self.token, self.text_merge = labels, token, text_merge
        self.base = base
        self.ours = self._side(ours)
        self.theirs = self._side(theirs)
        self.merged_lines: dict[int, list[str]] = {}  # number of a base item -> its merged lines
        self.one_sided: set[int] = set()  # base items that one side edited and the other deleted
        self.conflicts = 0

    def _side(self, version: _Version) -> _Side:
        """Match the items of a version with those of the base: equal texts first, then edited ones."""
        items = list(version.items)
        old, new = ([entry.fact for entry in entries] for entries in (self.base.items, items))
        kept = {number: items[place] for number, place in same_facts(old, new, comments=False).items()}
        matched = {id(entry) for entry in kept.values()}
        others = [entry for entry in items if id(entry) not in matched]
        removed = {id(fact): number for number, fact in enumerate(old) if number not in kept}
        added = {id(entry.fact): entry for entry in others}
        for change in pair_edited("", [old[number] for number in removed.values()], [entry.fact for entry in others]):
            assert change.op is Op.CHANGED and change.old and change.new
            kept[removed[id(change.old)]] = added.pop(id(change.new))
        return _Side(version, kept, list(added.values()))

    def merge(self) -> tuple[list[str], int]:
        """(the merged lines, the number of conflicts among them)."""
        for number, entry in enumerate(self.base.items):
            self._merge_base_item(number, entry)
        ours, theirs = (self._skeleton(side.version, side.kept, side.added) for side in (self.ours, self.theirs))
        kept = {number: entry for number, entry in enumerate(self.base.items) if number not in self.one_sided}
        base = self._skeleton(self.base, kept, ())
        skeleton: list[str] = []
        texts = [[line for line, _ in side] for side in (base, ours, theirs)]
        for part in merge_lines(texts[0], texts[1], texts[2], self.text_merge):
            if isinstance(part, str):
                skeleton.append(part)
            else:
                skeleton += self._resolve(part)
        skeleton = self._without_repeats(skeleton)
        lines = [part for line in self._insert_added(skeleton, ours, theirs) for part in self._expanded(line)]
        return lines, self.conflicts

    # -- the merged lines of each base item ------------------------------------------------------------------

    def _merge_base_item(self, number: int, entry: Entry) -> None:
        """Set the merged lines of a base item, unless both sides deleted it, or one side did and the other kept it
        unchanged. An item that one side edited and the other deleted becomes a conflict."""
        mine, yours = self.ours.kept.get(number), self.theirs.kept.get(number)
        if mine and yours:
            self.merged_lines[number] = self._merged_item(entry, mine, yours)
            return
        base = self.base.lines_of(entry)
        ours: list[str] = []
        theirs: list[str] = []
        if mine:
            ours = self.ours.version.lines_of(mine)
        if yours:
            theirs = self.theirs.version.lines_of(yours)
        if (mine or yours) and ours + theirs != base:  # one side is empty
            self.conflicts += 1
            self.one_sided.add(number)
            self.merged_lines[number] = self.labels.block(ours, base, theirs)

    def _merged_item(self, base_item: Entry | None, mine: Entry, yours: Entry) -> list[str]:
        """The merged lines of an item that both sides have, with everything below it. `base_item`: the item in the
        base, None when both sides added it."""
        ours, theirs = self.ours.version, self.theirs.version
        base: list[str] = []
        base_below = EMPTY
        if base_item:
            base, base_below = self.base.own_lines(base_item), self.base.below(base_item)
        our_lines, their_lines = ours.own_lines(mine), theirs.own_lines(yours)
        item_lines = _changed_side(base, our_lines, their_lines) or _combine_edits(base, our_lines, their_lines)
        if item_lines is None:
            self.conflicts += 1
            item_lines = self.labels.block(our_lines, base, their_lines)
        our_below, their_below = ours.below(mine), theirs.below(yours)
        below = _changed_side(base_below.lines, our_below.lines, their_below.lines)
        if below is None:
            nested = _ItemMerge(base_below, our_below, their_below, self.labels, self.token, self.text_merge)
            below, conflicts = nested.merge()
            self.conflicts += conflicts
        return item_lines + below

    # -- skeletons -------------------------------------------------------------------------------------------

    def _skeleton(
        self, version: _Version, kept: dict[int, Entry], added: Sequence[Entry]
    ) -> list[tuple[str, list[Entry]]]:
        """(line, added entries that follow it) of a version. A kept item is its token line, a deleted one is left out.
        The first row has the line "", for the entries before the first line."""
        number_at = {entry.start: number for number, entry in kept.items()}
        item_at = {entry.start: entry for entry in version.items}
        added_at = {entry.start for entry in added}
        rows: list[tuple[str, list[Entry]]] = [("", [])]
        line = version.first
        while line <= version.last:
            item = item_at.get(line)
            if item is None:
                rows.append((version.memory.lines[line - 1], []))
                line += 1
                continue
            if number_at.get(line) in self.merged_lines:
                rows.append((f"{self.token}{number_at[line]}\n", []))
            elif line in added_at:
                rows[-1][1].append(item)
            line = item.end + 1
        return rows

    # -- hunks that the text merge could not settle ----------------------------------------------------------

    def _resolve(self, hunk: Hunk) -> list[str]:
        """The merged lines of a hunk: the lines of both sides when they are tokens or, with nothing but tokens in the
        base, headings; else a conflict, which `self.conflicts` counts."""
        lines = (*hunk.ours, *hunk.base, *hunk.theirs)
        if all(map(self._is_token_or_blank, lines)):
            return [*hunk.ours, *(line for line in hunk.theirs if line.strip() and line not in hunk.ours)]
        if all(map(self._is_token_or_blank, hunk.base)) and all(
            self._is_token_or_blank(line) or HEADING.match(line) for line in lines
        ):
            return self._union(hunk)
        self.conflicts += 1
        sides = [["".join(self._expanded(line)) for line in side] for side in (hunk.ours, hunk.base, hunk.theirs)]
        return self.labels.block(*sides)

    def _union(self, hunk: Hunk) -> list[str]:
        """The lines of ours, then the tokens and headings of theirs that ours lacks."""
        union = list(hunk.ours)
        for line in hunk.theirs:
            if not line.strip() or line in hunk.ours:
                continue
            if union and union[-1].strip() and HEADING.match(line):
                union.append("\n")
            union.append(line)
            if HEADING.match(line):
                union.append("\n")
        return union

    def _is_token_or_blank(self, line: str) -> bool:
        return not line.strip() or line.startswith(self.token)

    def _expanded(self, line: str) -> list[str]:
        """The merged lines of an item for its token line; [line] for any other line."""
        if line.startswith(self.token):
            return self.merged_lines[int(line[len(self.token) :])]
        return [line]

    def _without_repeats(self, skeleton: Sequence[str]) -> list[str]:
        """The skeleton with each token once: at its first place, or at the end when both sides moved the item away."""
        seen_lines: set[str] = set()
        kept: list[str] = []
        for line in skeleton:
            if line.startswith(self.token) and line in seen_lines:
                continue
            seen_lines.add(line)
            kept.append(line)
        text = "".join(kept)
        for number, lines in self.merged_lines.items():
            token = f"{self.token}{number}\n"
            if token not in seen_lines and "".join(lines) not in text:
                kept.append(token)
        return kept

    # -- added items -----------------------------------------------------------------------------------------

    def _insert_added(
        self,
        skeleton: Sequence[str],
        ours: Sequence[tuple[str, list[Entry]]],
        theirs: Sequence[tuple[str, list[Entry]]],
    ) -> list[str]:
        """The skeleton with the added items of both sides, each behind the line that it followed, or at the end of its
        section where that line is elsewhere now. An item that both sides added appears once."""
        inserted: dict[int, list[list[str]]] = defaultdict(list)  # line number in the skeleton -> items behind it
        ours_added: dict[str, tuple[list[list[str]], int, Entry]] = {}  # fact id -> list in `inserted`, index, entry
        conflict_ends = _conflict_ends(skeleton, self.labels)
        for side, version in ((ours, self.ours.version), (theirs, self.theirs.version)):
            numbers = _insert_places([line for line, _ in side], ["", *skeleton])
            for number, (_, entries) in zip(numbers, side, strict=True):
                items = inserted[conflict_ends.get(number, number)]
                for entry in entries:
                    if side is theirs and entry.fact.id in ours_added:
                        earlier_items, index, mine = ours_added[entry.fact.id]
                        earlier_items[index] = self._merged_item(None, mine, entry)
                        continue
                    if side is ours:
                        ours_added.setdefault(entry.fact.id, (items, len(items), entry))
                    items.append(version.lines_of(entry))
        merged: list[str] = []
        for number, line in enumerate(["", *skeleton]):
            if merged and inserted[number - 1] and HEADING.match(line):
                merged.append("\n")
            if line:
                merged.append(line)
            merged += [item_line for item in inserted[number] for item_line in item]
        return merged


def _conflict_ends(skeleton: Sequence[str], labels: Labels) -> dict[int, int]:
    """The number of each line inside a conflict -> the number of the line that ends the conflict (both 1-based), since
    no item is inserted between the marks."""
    ends: dict[int, int] = {}
    start = 0
    for number, line in enumerate(skeleton, 1):
        if line == f"{'<' * labels.size} {labels.ours}\n":
            start = number
        elif start and line == f"{'>' * labels.size} {labels.theirs}\n":
            ends.update(dict.fromkeys(range(start, number), number))
            start = 0
    return ends


def _insert_places(side: Sequence[str], merged: Sequence[str]) -> list[int]:
    """For each line of a side, the index in `merged` behind which the items that followed it are inserted.

    The index is that of `_line_mapping`, unless it is below other headings than the line. This happens when both sides
    began the same section at different places. The index is then that of the section's last line.
    """
    section_ends: dict[tuple[str, ...], int] = {}
    merged_sections = _sections(merged)
    for index, section in enumerate(merged_sections):
        if merged[index].strip():
            section_ends[section] = index
    places: list[int] = []
    for index, section in zip(_line_mapping(side, merged), _sections(side), strict=True):
        if merged_sections[index] != section:
            index = section_ends.get(section, index)
        if HEADING.match(merged[index]) and index + 1 < len(merged) and not merged[index + 1].strip():
            index += 1
        places.append(index)
    return places


def _sections(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """The headings above each line, outermost first; a heading is in its own section."""
    sections: list[tuple[str, ...]] = []
    open_headings: list[tuple[int, str]] = []  # (level, heading)
    for line in lines:
        if HEADING.match(line):
            heading = line.strip()
            level = len(heading) - len(heading.lstrip("#"))
            open_headings = [(above, text) for above, text in open_headings if above < level]
            open_headings.append((level, heading))
        sections.append(tuple(text for _, text in open_headings))
    return sections


def _line_mapping(side: Sequence[str], merged: Sequence[str]) -> list[int]:
    """For each line of a side, the index of the same line in `merged`, or else that of the nearest line before it."""
    indices = [0] * len(side)
    for block in SequenceMatcher(None, side, merged, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            indices[block.a + offset] = block.b + offset
    return list(accumulate(indices, max))


def _changed_side(base: list[str], mine: list[str], yours: list[str]) -> list[str] | None:
    """The lines of the side that changed them, or of both when they are equal; None when the sides changed them
    differently."""
    if mine == yours or yours == base:
        return mine
    if mine == base:
        return yours
    return None


def _combine_edits(base: Sequence[str], mine: Sequence[str], yours: Sequence[str]) -> list[str] | None:
    """The lines of one item from two edits that do not conflict: at most one side changed the text, or both made it the
    same, and the comments merge (see `_combine_comments`). None when they conflict, when a side is not exactly one
    item, and when the base has several."""
    old, ours, theirs = (facts.parse_lines(lines) for lines in (base, mine, yours))
    if len(ours.entries) != 1 or len(theirs.entries) != 1 or len(old.entries) > 1:
        return None
    old_text: str | None = None
    old_meta: Meta = ()
    for entry in old.entries:
        old_text, old_meta = entry.fact.text, entry.fact.meta
    our_fact, their_fact = ours.entries[0].fact, theirs.entries[0].fact
    if their_fact.text in (our_fact.text, old_text):
        chosen = ours
    elif our_fact.text == old_text:
        chosen = theirs
    else:
        return None
    meta = _combine_comments(old_meta, our_fact.meta, their_fact.meta)
    if meta is None:
        return None
    return list(facts.with_comment(chosen, chosen.entries[0], meta).lines)


REPEATED_KEYS = ("src", "supersedes", "superseded-by", "same-as", "beside", "code")


def _combine_comments(base: Meta, mine: Meta, yours: Meta) -> Meta | None:
    """The comment merged key by key; a key that one side left alone gets the other side's values, even none.

    Of a key that both sides changed, repeated keys keep what neither side removed, tags are united, the higher
    importance wins, and `pinned` is true. None if any other key differs, or if one side removed the importance.
    """
    keys = list(dict.fromkeys(key for key, _ in (*mine, *yours, *base)))
    combined: list[tuple[str, str]] = []
    for key in keys:
        old, ours, theirs = ([v for k, v in meta if k == key] for meta in (base, mine, yours))
        if ours == theirs or theirs == old:
            values = ours
        elif ours == old:
            values = theirs
        elif key in REPEATED_KEYS:
            side_values = dict.fromkeys((*ours, *theirs))
            values = [value for value in side_values if (value in ours and value in theirs) or value not in old]
        elif key == "tags":
            values = [",".join(dict.fromkeys(tag for value in (*ours, *theirs) for tag in value.split(",")))]
        elif key == "importance" and ours and theirs:
            values = [max(ours[0], theirs[0], key=lambda v: facts.importance(Fact("", "", 0, meta=((key, v),))))]
        elif key == "pinned":
            values = ["true"]
        else:
            return None
        combined += [(key, value) for value in values]
    return tuple(combined)
