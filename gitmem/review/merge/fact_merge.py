"""Three-way merge of memory, item by item: what Git's merge driver `gitmem` and the bringing up to date of pull
requests do. Pure; the text merge is passed in.

MEMORY.md is no program text: two list items added at one place do not contradict each other, and the order of items
says little. So an item is merged as one fact, with all that is indented below it: additions of both sides stay, a
deletion holds (`merge=union` brings it back), an edit of one side wins over no edit, comments merge key by key. The
same item edited on both sides, or edited here and deleted there, is a conflict with both texts between Git's marks.
What both sides changed below one item is merged in the same way, item by item. Everything else (headings, paragraphs,
tables) goes through the text merge. In a daily log the sections and lines both sides appended stay, by time.

How: each item of the base that survives becomes one token line, the same in all three versions; items that a side
added are taken out; the rest is merged as text; then tokens become items again and the added ones are put
behind the line they stood behind.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gitmem.memory import facts
from gitmem.memory.fact import Fact, Meta
from gitmem.memory.facts import Entry, Memory
from gitmem.memory.statements import Form
from gitmem.paths import is_daily
from gitmem.review.fact_diff import Op, pair, same_facts
from gitmem.review.merge.line_merge import MARK, Labels, Merged, TextMerge, join, merge_lines, merge_text, split
from gitmem.review.merge.unit_merge import HEADING, TOKEN, Hunk


def merge(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    path: str,
    text_merge: TextMerge,
    labels: Labels | None = None,
    daily: Sequence[str] = (),
) -> Merged:
    """Merge three versions of a memory file (`base` empty for two additions). `text_merge` marks with MARK characters.
    A daily log, by its place or by the patterns `daily`, is merged as one.

    Symmetric up to order; loses no line that one side added and neither removed.
    """
    labels = labels or Labels()
    if ours == theirs or theirs == base:
        return Merged(ours, 0)
    if ours == base:
        return Merged(theirs, 0)
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
    return Merged(join(lines), conflicts)


@dataclass(frozen=True, slots=True)
class _Version:
    """Lines of one version that are merged, `first` to `last`, and the items that they hold: a whole file's, or those
    directly below one item."""

    memory: Memory
    first: int
    last: int
    items: Sequence[Entry]

    @property
    def lines(self) -> list[str]:
        return list(self.memory.lines[self.first - 1 : self.last])

    def lines_of(self, entry: Entry) -> list[str]:
        """The lines of an item with all that is indented below it."""
        return list(self.memory.lines[entry.start - 1 : entry.end])

    def own(self, entry: Entry) -> list[str]:
        """The lines of an item alone."""
        return list(self.memory.lines[entry.start - 1 : entry.fact.end])

    def below(self, entry: Entry) -> _Version:
        """What is indented below an item."""
        entries = self.memory.entries
        at = bisect_left(entries, entry.start, key=lambda each: each.start)
        end = bisect_right(entries, entry.end, key=lambda each: each.start)
        items = [each for each in entries[at + 1 : end] if each.parent == at and each.form is Form.ITEM]
        return _Version(self.memory, entry.fact.end + 1, entry.end, items)


def _whole(memory: Memory) -> _Version:
    return _Version(memory, 1, len(memory.lines), memory.items)


NOTHING = _whole(facts.parse(b""))


@dataclass(slots=True)
class _Side:
    """One side: what became of the base's items there."""

    version: _Version
    kept: dict[int, Entry]  # number of a base item -> its entry here
    added: list[Entry]


class _ItemMerge:
    def __init__(
        self, base: _Version, ours: _Version, theirs: _Version, labels: Labels, token: str, text_merge: TextMerge
    ) -> None:
        self.labels, self.token, self.text_merge = labels, token, text_merge
        self.base = base
        self.ours = self._side(ours)
        self.theirs = self._side(theirs)
        self.merged_lines: dict[int, list[str]] = {}  # base item -> its lines
        self.one_sided: set[int] = set()  # edited here, deleted there: not the base's any more
        self.conflicts = 0

    def _side(self, version: _Version) -> _Side:
        kept: dict[int, Entry] = {}
        left = list(version.items)
        old, new = ([entry.fact for entry in items] for items in (self.base.items, left))
        kept |= {number: left[place] for number, place in same_facts(old, new, comments=False).items()}
        gone = [(number, entry) for number, entry in enumerate(self.base.items) if number not in kept]
        used = {id(entry) for entry in kept.values()}
        left = [entry for entry in left if id(entry) not in used]
        numbers = {id(entry.fact): number for number, entry in gone}
        entries = {id(entry.fact): entry for entry in left}
        for change in pair("", [entry.fact for _, entry in gone], [entry.fact for entry in left]):
            assert change.op is Op.CHANGED and change.old and change.new
            kept[numbers[id(change.old)]] = entries.pop(id(change.new))
        return _Side(version, kept, [entry for entry in left if id(entry.fact) in entries])

    def merge(self) -> tuple[list[str], int]:
        """The merged lines, and how many conflicts stand among them."""
        for number, entry in enumerate(self.base.items):
            self._merge_kept(number, entry)
        ours, theirs = self._skeleton(self.ours), self._skeleton(self.theirs)
        both = {n: entry for n, entry in enumerate(self.base.items) if n not in self.one_sided}
        base = self._tokens(self.base, both, ())
        skeleton: list[str] = []
        texts = [[line for line, _ in side] for side in (base, ours, theirs)]
        for part in merge_lines(texts[0], texts[1], texts[2], self.text_merge):
            skeleton += [part] if isinstance(part, str) else self._resolve(part)
        skeleton = self._without_repeats(skeleton)
        placed = self._insert_added(skeleton, ours, theirs)
        lines: list[str] = []
        for line in placed:
            lines += self.merged_lines[int(line[len(self.token) :])] if line.startswith(self.token) else [line]
        return lines, self.conflicts

    # Which text each item of the base ends up with.

    def _merge_kept(self, number: int, entry: Entry) -> None:
        a, b = self.ours.kept.get(number), self.theirs.kept.get(number)
        base = self.base.lines_of(entry)
        if a is None and b is None:
            return
        if a is None or b is None:
            if a is None:
                side, kept = (self.theirs, b)
            else:
                side, kept = (self.ours, a)
            assert kept is not None
            now = side.version.lines_of(kept)
            if now == base:
                return  # deleted on one side, untouched on the other
            self.conflicts += 1
            self.one_sided.add(number)
            if a is None:
                self.merged_lines[number] = self.labels.block([], base, now)
            else:
                self.merged_lines[number] = self.labels.block(now, base, [])
            return
        self.merged_lines[number] = self._merged((self.base, entry), a, b)

    def _merged(self, before: tuple[_Version, Entry] | None, mine: Entry, yours: Entry) -> list[str]:
        """The lines of an item that both sides have: its own, then what is indented below it. `before` is the base's
        (None where both sides added it)."""
        ours, theirs = self.ours.version, self.theirs.version
        if before:
            base = before[0].own(before[1])
        else:
            base = []
        a, b = ours.own(mine), theirs.own(yours)
        own = _chosen(base, a, b) or _combined(base, a, b)
        if own is None:
            self.conflicts += 1
            own = self.labels.block(a, base, b)
        if before:
            below = before[0].below(before[1])
        else:
            below = NOTHING
        x, y = ours.below(mine), theirs.below(yours)
        rest = _chosen(below.lines, x.lines, y.lines)
        if rest is None:
            rest, conflicts = _ItemMerge(below, x, y, self.labels, self.token, self.text_merge).merge()
            self.conflicts += conflicts
        return own + rest

    # The versions without their additions, each line with the entries that follow it there.

    def _skeleton(self, side: _Side) -> list[tuple[str, list[Entry]]]:
        return self._tokens(side.version, side.kept, side.added)

    def _tokens(
        self, version: _Version, kept: dict[int, Entry], added: Sequence[Entry]
    ) -> list[tuple[str, list[Entry]]]:
        at_line = {entry.start: (number, entry) for number, entry in kept.items()}
        skipped = {entry.start: entry.end for entry in version.items}
        new = {entry.start: entry for entry in added}
        out: list[tuple[str, list[Entry]]] = [("", [])]  # what comes before the first line
        line = version.first
        while line <= version.last:
            if line in at_line:
                number, entry = at_line[line]
                if number in self.merged_lines:
                    out.append((f"{self.token}{number}\n", []))
                line = entry.end + 1
            elif line in new:
                out[-1][1].append(new[line])
                line = new[line].end + 1
            elif line in skipped:
                line = skipped[line] + 1
            else:
                out.append((version.memory.lines[line - 1], []))
                line += 1
        return out

    # A hunk the text merge could not settle.

    def _resolve(self, hunk: Hunk) -> list[str]:
        every = (*hunk.ours, *hunk.base, *hunk.theirs)
        if all(self._has_no_prose(line) for line in every):
            return [*hunk.ours, *(line for line in hunk.theirs if line.strip() and line not in hunk.ours)]
        plain = not any(line.strip() and not self._is_token(line) for line in hunk.base)
        if plain and all(self._has_no_prose(line) or HEADING.match(line) for line in every):
            return self._union(hunk)
        self.conflicts += 1
        shown = [[self._expanded(line) for line in side] for side in (hunk.ours, hunk.base, hunk.theirs)]
        return self.labels.block(*shown)

    def _union(self, hunk: Hunk) -> list[str]:
        """Headings that both sides added: those of theirs that ours lacks come after ours."""
        out = list(hunk.ours)
        new = [line for line in hunk.theirs if line.strip() and line not in hunk.ours]
        for line in new:
            if out and out[-1].strip() and HEADING.match(line):
                out.append("\n")
            out.append(line)
            if HEADING.match(line):
                out.append("\n")
        return out

    def _has_no_prose(self, line: str) -> bool:
        return not line.strip() or self._is_token(line)

    def _is_token(self, line: str) -> bool:
        return line.startswith(self.token)

    def _expanded(self, line: str) -> str:
        if self._is_token(line):
            return "".join(self.merged_lines[int(line[len(self.token) :])])
        return line

    def _without_repeats(self, skeleton: Sequence[str]) -> list[str]:
        """Each surviving fact once: the first place it was moved to; one that both sides moved away comes last."""
        seen: set[str] = set()
        out: list[str] = []
        for line in skeleton:
            if self._is_token(line) and line in seen:
                continue
            seen.add(line)
            out.append(line)
        text = "".join(out)
        for number, lines in self.merged_lines.items():
            token = f"{self.token}{number}\n"
            if token not in seen and "".join(lines) not in text:
                out.append(token)
        return out

    # Where the additions go.

    def _insert_added(
        self,
        skeleton: Sequence[str],
        ours: Sequence[tuple[str, list[Entry]]],
        theirs: Sequence[tuple[str, list[Entry]]],
    ) -> list[str]:
        inserted_after: dict[int, list[list[str]]] = defaultdict(list)  # line of the skeleton -> items put behind it
        known: dict[str, tuple[int, int, Entry]] = {}  # id of an item that ours added -> where it is put
        marked = _conflict_ends(skeleton, self.labels)
        for side, version in ((ours, self.ours.version), (theirs, self.theirs.version)):
            where = _line_mapping([line for line, _ in side], ["", *skeleton])
            for at, (_, entries) in enumerate(side):
                place = marked.get(where[at], where[at])
                for entry in entries:
                    earlier = known.get(entry.fact.id)
                    if earlier and side is theirs:  # the same text added on both sides stands once
                        place_of_it, index, mine = earlier
                        inserted_after[place_of_it][index] = self._merged(None, mine, entry)
                        continue
                    if side is ours:
                        known.setdefault(entry.fact.id, (place, len(inserted_after[place]), entry))
                    inserted_after[place].append(version.lines_of(entry))
        out: list[str] = []
        for number, line in enumerate(["", *skeleton]):
            if out and number - 1 in inserted_after and HEADING.match(line):
                out.append("\n")
            if line:
                out += [line]
            out += [added for lines in inserted_after.get(number, []) for added in lines]
        return out


def _conflict_ends(skeleton: Sequence[str], labels: Labels) -> dict[int, int]:
    """Lines within a conflict -> the line that ends it: nothing is put between its marks."""
    ends: dict[int, int] = {}
    open_at = 0
    for number, line in enumerate(skeleton, 1):
        if line == f"{'<' * labels.size} {labels.ours}\n":
            open_at = number
        elif open_at and line == f"{'>' * labels.size} {labels.theirs}\n":
            ends.update(dict.fromkeys(range(open_at, number), number))
            open_at = 0
    return ends


def _line_mapping(side: Sequence[str], merged: Sequence[str]) -> list[int]:
    """For each line of a side the line of the merge it became, or that of the nearest line before it."""
    where = [0] * len(side)
    for block in SequenceMatcher(None, side, merged, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            where[block.a + offset] = block.b + offset
    last = 0
    for at, place in enumerate(where):
        last = where[at] = max(place, last)
    return where


def _chosen(base: list[str], mine: list[str], yours: list[str]) -> list[str] | None:
    """The lines that both sides have, or those of the one that changed them; None where both did."""
    if mine == yours or yours == base:
        return mine
    if mine != base:
        return None
    return yours


def _combined(base: Sequence[str], mine: Sequence[str], yours: Sequence[str]) -> list[str] | None:
    """Two edits of one item's own lines that do not touch the same thing: one the text, the other the comment; None
    otherwise.

    Comments merge key by key; of two importances the higher, of lists all, a pin stays.
    """
    sides = [facts.parse_lines(lines) for lines in (base, mine, yours)]
    if any(len(side.entries) != 1 for side in sides[1:]) or len(sides[0].entries) > 1:
        return None
    before = None
    if sides[0].entries:
        before = sides[0].entries[0].fact
    a, b = (side.entries[0].fact for side in sides[1:])
    if a.text == b.text or (before and b.text == before.text):
        chosen = sides[1]
    elif before and a.text == before.text:
        chosen = sides[2]
    else:
        return None
    joined = _combined_meta(before.meta if before else (), a.meta, b.meta)
    if joined is None:
        return None
    return list(facts.with_comment(chosen, chosen.entries[0], joined).lines)


REPEATED = ("src", "supersedes", "beside", "code")


def _combined_meta(base: Meta, mine: Meta, yours: Meta) -> Meta | None:
    keys = list(dict.fromkeys(key for key, _ in (*mine, *yours, *base)))
    out: list[tuple[str, str]] = []
    for key in keys:
        old, a, b = ([v for k, v in meta if k == key] for meta in (base, mine, yours))
        if a == b or b == old:
            out += [(key, v) for v in a]
        elif a == old:
            out += [(key, v) for v in b]
        elif key in REPEATED:
            out += [(key, v) for v in dict.fromkeys((*a, *b)) if (v in a and v in b) or v not in old]
        elif key == "tags":
            words = dict.fromkeys(word for v in (*a, *b) for word in v.split(","))
            out.append((key, ",".join(words)))
        elif key == "importance" and a and b:
            out.append((key, max(a[0], b[0], key=lambda v: facts.importance(Fact("", "", 0, meta=((key, v),))))))
        elif key == "pinned":
            out.append((key, "true"))
        else:
            return None
    return tuple(out)
