"""Three-way merge of memory, fact by fact: what Git's merge driver `gitmem` and the bringing up to date of pull
requests do. Pure; the text merge is passed in.

MEMORY.md is no program text: two facts added at one place do not contradict each other, and the order of bullets
says little. So facts are merged as facts: additions of both sides stay, a deletion holds (`merge=union` brings it
back), an edit of one side wins over no edit, comments merge key by key. The same fact edited on both sides, or
edited here and deleted there, is a conflict with both texts between Git's marks. Everything else (headings, prose,
tables) goes through the text merge. In a daily log the sections and lines both sides appended stay, by time.

How: each fact of the base that survives becomes one token line, the same in all three versions; facts that a side
added are taken out; the rest is merged as text; then tokens become facts again and the added ones are put
behind the line they stood behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gitmem.memory import facts
from gitmem.memory.fact import Fact, Meta, parse_comment, render_comment, split_bullet
from gitmem.memory.facts import Entry, Memory
from gitmem.paths import is_daily
from gitmem.review.fact_diff import Op, pair
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
    return _FactMerge(base, ours, theirs, labels).merge(text_merge)


@dataclass(slots=True)
class _Side:
    """One side: its lines with tokens for facts, and what became of the base's facts there."""

    memory: Memory
    kept: dict[int, Entry]  # number of a base fact -> its entry here
    added: list[Entry]


class _FactMerge:
    def __init__(self, base: bytes, ours: bytes, theirs: bytes, labels: Labels) -> None:
        self.labels = labels
        self.base = facts.parse(join(split(base)))
        self.ours = self._side(ours)
        self.theirs = self._side(theirs)
        self.merged_lines: dict[int, list[str]] = {}  # base fact -> its lines
        self.one_sided: set[int] = set()  # edited here, deleted there: not the base's any more
        self.conflicts = 0
        joined = base + ours + theirs
        number = 0
        while f"{TOKEN}{number}:".encode() in joined:
            number += 1
        self.token = f"{TOKEN}{number}:"

    def _side(self, data: bytes) -> _Side:
        memory = facts.parse(join(split(data)))
        kept: dict[int, Entry] = {}
        left = list(memory.entries)
        by_id: dict[str, list[Entry]] = defaultdict(list)
        for entry in left:
            by_id[entry.fact.id].append(entry)
        gone: list[tuple[int, Entry]] = []
        for number, entry in enumerate(self.base.entries):
            same = by_id.get(entry.fact.id)
            if same:
                kept[number] = same.pop(0)
            else:
                gone.append((number, entry))
        used = {id(entry) for entry in kept.values()}
        left = [entry for entry in left if id(entry) not in used]
        numbers = {id(entry.fact): number for number, entry in gone}
        entries = {id(entry.fact): entry for entry in left}
        for change in pair("", [entry.fact for _, entry in gone], [entry.fact for entry in left]):
            assert change.op is Op.CHANGED and change.old and change.new
            kept[numbers[id(change.old)]] = entries.pop(id(change.new))
        return _Side(memory, kept, [entry for entry in left if id(entry.fact) in entries])

    def merge(self, text_merge: TextMerge) -> Merged:
        for number, entry in enumerate(self.base.entries):
            self._merge_fact(number, entry)
        ours, theirs = self._skeleton(self.ours), self._skeleton(self.theirs)
        both = {n: entry for n, entry in enumerate(self.base.entries) if n not in self.one_sided}
        base = self._tokens(self.base, both, ())
        skeleton: list[str] = []
        for part in merge_lines([line for line, _ in base], [a for a, _ in ours], [a for a, _ in theirs], text_merge):
            skeleton += [part] if isinstance(part, str) else self._resolve(part)
        skeleton = self._without_repeats(skeleton)
        placed = self._insert_added(skeleton, ours, theirs)
        lines: list[str] = []
        for line in placed:
            lines += self.merged_lines[int(line[len(self.token) :])] if line.startswith(self.token) else [line]
        return Merged(join(lines), self.conflicts)

    # Which text each fact of the base ends up with.

    def _merge_fact(self, number: int, entry: Entry) -> None:
        a, b = self.ours.kept.get(number), self.theirs.kept.get(number)
        base = self._lines(self.base, entry)
        if a is None and b is None:
            return
        if a is None or b is None:
            side, kept = (self.theirs, b) if a is None else (self.ours, a)
            assert kept is not None
            now = self._lines(side.memory, kept)
            if now == base:
                return  # deleted on one side, untouched on the other
            self.conflicts += 1
            self.one_sided.add(number)
            self.merged_lines[number] = (
                self.labels.block([], base, now) if a is None else self.labels.block(now, base, [])
            )
            return
        mine, yours = self._lines(self.ours.memory, a), self._lines(self.theirs.memory, b)
        if mine == yours or yours == base:
            self.merged_lines[number] = mine
        elif mine == base:
            self.merged_lines[number] = yours
        else:
            both = _combined(base, mine, yours)
            self.conflicts += both is None
            self.merged_lines[number] = both if both is not None else self.labels.block(mine, base, yours)

    def _lines(self, memory: Memory, entry: Entry) -> list[str]:
        return list(memory.lines[entry.start - 1 : entry.end])

    # The versions without their additions, each line with the entries that follow it there.

    def _skeleton(self, side: _Side) -> list[tuple[str, list[Entry]]]:
        return self._tokens(side.memory, side.kept, side.added)

    def _tokens(self, memory: Memory, kept: dict[int, Entry], added: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
        at_line = {entry.start: (number, entry) for number, entry in kept.items()}
        skipped = {entry.start: entry.end for entry in memory.entries}
        new = {entry.start: entry for entry in added}
        out: list[tuple[str, list[Entry]]] = [("", [])]  # what comes before the first line
        line = 1
        while line <= len(memory.lines):
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
                out.append((memory.lines[line - 1], []))
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
        return "".join(self.merged_lines[int(line[len(self.token) :])]) if self._is_token(line) else line

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
        inserted_after: dict[int, list[str]] = defaultdict(list)  # line of the skeleton -> lines put behind it
        known: dict[str, tuple[int, int]] = {}
        marked = _conflict_ends(skeleton, self.labels)
        for side, memory in ((ours, self.ours.memory), (theirs, self.theirs.memory)):
            where = _line_mapping([line for line, _ in side], ["", *skeleton])
            for at, (_, entries) in enumerate(side):
                place = marked.get(where[at], where[at])
                for entry in entries:
                    lines = self._lines(memory, entry)
                    earlier = known.get(entry.fact.id)
                    if earlier and memory is self.theirs.memory:
                        self._merge_added(inserted_after, earlier, lines)
                        continue
                    known.setdefault(entry.fact.id, (place, len(inserted_after[place])))
                    inserted_after[place] += lines
        out: list[str] = []
        for number, line in enumerate(["", *skeleton]):
            if out and number - 1 in inserted_after and HEADING.match(line):
                out.append("\n")
            out += [line] if line else []
            out += inserted_after.get(number, [])
        return out

    def _merge_added(self, inserted_after: dict[int, list[str]], spot: tuple[int, int], lines: list[str]) -> None:
        """The same text added on both sides stands once; what one side says more about it is kept too."""
        place, index = spot
        mine = inserted_after[place][index]
        joined = _combined([], [mine], lines[:1])
        if joined is None:
            self.conflicts += 1
            inserted_after[place][index] = "".join(self.labels.block([mine], [], lines[:1]))
        else:
            inserted_after[place][index] = joined[0]
        below = [line for line in lines[1:] if line not in inserted_after[place][index + 1 :]]
        inserted_after[place][index] += "".join(below)


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


def _combined(base: Sequence[str], mine: Sequence[str], yours: Sequence[str]) -> list[str] | None:
    """Two edits of one fact that do not touch the same thing: one the text, the other the comment; None otherwise.

    Comments merge key by key; of two importances the higher, of lists all, a pin stays.
    """
    if len(mine) != 1 or len(yours) != 1 or len(base) > 1:
        return None
    (marker, text_a, meta_a), (_, text_b, meta_b) = _parts(mine[0]), _parts(yours[0])
    _, text, meta = _parts(base[0]) if base else ("", "", ())
    if text_a == text_b or (base and text_b == text):
        chosen = text_a
    elif base and text_a == text:
        chosen = text_b
    else:
        return None
    joined = _combined_meta(meta, meta_a, meta_b)
    if joined is None:
        return None
    comment = render_comment(joined)
    end = mine[0][len(mine[0].rstrip("\r\n")) :]
    return [f"{marker}{chosen}" + (f" {comment}" if comment else "") + end]


def _parts(line: str) -> tuple[str, str, Meta]:
    marker, rest = split_bullet(line) or ("- ", line)
    text, meta = parse_comment(rest)
    return marker, text.rstrip(), tuple(meta)


REPEATED = ("src", "supersedes", "code")


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
