"""MEMORY.md as facts: reading and editing one statement at a time.

A fact is a statement of a memory file (`statements`): a list item with its wrapped lines, a paragraph, a table row, a
quotation, a fenced block. The lines below an item that are indented under it go where it goes. Pure: bytes in, bytes
out; never reads a file, never knows the clock. What no longer fits goes to `memory/archive/YYYY.md`; nothing is ever
dropped, and what is not edited stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from io import StringIO

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import Fact, fact_id, normalise, parse_comment, render_comment
from gitmem.memory.front_matter import closing_line
from gitmem.memory.outline import outline
from gitmem.memory.sections import HEADINGS
from gitmem.memory.state import has_ended
from gitmem.memory.statements import Form, Statement, statements
from gitmem.paths import holds_instructions

BUDGET = 200  # lines of MEMORY.md: an agent's host loads the first 200 (docs/promotion.md, "Budget")
IMPORTANCE = 0.5  # of a fact that says nothing about it

# Keys of a comment, each with the id of another fact as its value.
SUPERSEDES, BESIDE, SUPERSEDED_BY, SAME_AS = "supersedes", "beside", "superseded-by", "same-as"
INSIGHTS = "Insights"

_MARKERS = {
    Form.ITEM: re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+"),
    Form.PARAGRAPH: re.compile(r"[ \t]*"),
    Form.ROW: re.compile(r"[ \t]*"),
    Form.QUOTE: re.compile(r"[ \t]*(?:>[ ]?)+"),
}
_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULER = lazy(r" {0,3}(?:=+|-+)[ \t]*$")
_LOG_DATE = lazy(r"(\d{4}-\d{2}-\d{2})[^/]*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact and the lines that go where it goes: `end` is the last line of what is indented below it (1-based).

    `form` is the fact's Markdown; `parent` the position of the entry it is indented below, -1 without one.
    """

    fact: Fact
    end: int
    form: Form = Form.ITEM
    parent: int = -1

    @property
    def start(self) -> int:
        return self.fact.line


@dataclass(frozen=True, slots=True)
class Memory:
    """A parsed memory file. `lines` keep their own line ends, so that `data()` is exactly what was parsed."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    headings: tuple[tuple[int, int, str], ...]  # last line, level, text

    def data(self) -> bytes:
        return "".join(self.lines).encode("utf-8", "surrogateescape")

    @property
    def facts(self) -> list[Fact]:
        return [entry.fact for entry in self.entries]

    @property
    def items(self) -> list[Entry]:
        """The list items that stand below no other: each moves, and merges, with all that is indented below it."""
        return [entry for entry in self.entries if entry.form is Form.ITEM and entry.parent < 0]

    @property
    def newline(self) -> str:
        if self.lines and self.lines[0].endswith("\r\n"):
            return "\r\n"
        return "\n"

    def find(self, ident: str) -> Entry | None:
        """The first entry whose fact has this id (or starts with it, four characters at least)."""
        if len(ident) < 4:
            return None
        return next((e for e in self.entries if e.fact.id.startswith(ident)), None)

    def below(self, entry: Entry) -> list[Fact]:
        """The facts that are indented below an entry: they go where it goes."""
        if entry.end == entry.fact.end:
            return []
        return [each.fact for each in self.entries if entry.start < each.start <= entry.end]

    def at(self, line: int) -> Entry | None:
        """The entry that occupies a line: of entries below each other the innermost."""
        return next((e for e in reversed(self.entries) if e.start <= line <= e.end), None)


def parse(data: bytes) -> Memory:
    """Any bytes: what is not UTF-8 survives as surrogate escapes. Linear in the size."""
    return parse_lines(split_lines(data))


def parse_lines(lines: Sequence[str]) -> Memory:
    """The facts of lines, with or without their ends: the one reading of a file's facts there is."""
    bare = [line.rstrip("\r\n") for line in lines]
    front = closing_line(bare)
    blocks = outline(bare, front)
    headings = tuple((heading.last, heading.level, heading.text) for heading in blocks.headings)
    return Memory(tuple(lines), tuple(_entries(statements(bare, front, blocks))), headings)


def _entries(found: Sequence[Statement]) -> list[Entry]:
    titles = {statement.first: statement.text for statement in found if statement.form is Form.HEADING}
    ends = [statement.last for statement in found]
    for at in range(len(found) - 1, -1, -1):
        if (parent := found[at].parent) >= 0:
            ends[parent] = max(ends[parent], ends[at])
    position: dict[int, int] = {}  # of a statement -> of its entry
    entries: list[Entry] = []
    for at, statement in enumerate(found):
        if statement.says and statement.text:
            position[at] = len(entries)
            fact = fact_of(statement, titles.get(statement.heading, ""))
            entries.append(Entry(fact, ends[at], statement.form, position.get(statement.parent, -1)))
    return entries


def fact_of(statement: Statement, heading: str = "") -> Fact:
    """A statement as a fact; `heading` is the text of the nearest heading above it."""
    return Fact(
        statement.text, fact_id(statement.text), statement.first, heading, statement.meta, statement.last,
        statement.trail,
    )  # fmt: skip


def told_facts(path: str, memory: Memory) -> list[Fact]:
    """The facts of a file as reviews and diffs tell them: in what holds instructions (SOUL.md, a skill) the list items
    alone, since its other statements tell an agent what to do and are told line by line."""
    entries = memory.entries
    return [entry.fact for entry in entries if entry.form is Form.ITEM or not holds_instructions(path)]


def lines_of(found: Iterable[Fact]) -> set[int]:
    """The lines that facts of one file stand on."""
    return {line for fact in found for line in range(fact.line, fact.end + 1)}


def split_lines(data: bytes) -> list[str]:
    """The lines of a file with their own ends, as `parse` reads them."""
    return list(StringIO(data.decode("utf-8", "surrogateescape"), newline="\n"))


def bullet(text: str, meta: Iterable[tuple[str, str]] = (), marker: str = "- ") -> str:
    """One fact as its line, without a line end. Raises ValueError where the text is not one bullet's."""
    words = normalise(text)
    if not words or "<!--" in words or "-->" in words:
        raise ValueError("a fact is one line of text without comment marks")
    comment = render_comment(tuple(meta))
    if comment:
        return f"{marker}{words} {comment}"
    return f"{marker}{words}"


def fact_date(fact: Fact) -> str:
    """The day a fact is from, as ISO text: `from`, else the date in its source log's name, else empty."""
    since = fact.get("from")
    if since:
        return since[:10]
    for key, value in fact.meta:
        if key == "src":
            match = _LOG_DATE.search(value.split("#", 1)[0])
            if match:
                return match[1]
    return ""


def importance(fact: Fact) -> float:
    """Its stated importance within 0..1, IMPORTANCE where it has none that can be read."""
    try:
        value = float(fact.get("importance") or IMPORTANCE)
    except ValueError:
        return IMPORTANCE
    if value == value:
        return min(1.0, max(0.0, value))
    return IMPORTANCE


def pinned(fact: Fact) -> bool:
    """Whether a person asked that this fact stays."""
    return fact.get("pinned").lower() in ("true", "1", "yes")


def expired(fact: Fact, today: date) -> bool:
    """Whether `until` has passed: the fact holds on that day itself."""
    return has_ended(fact.get("until"), today)


def add(memory: Memory, text: str, meta: Iterable[tuple[str, str]] = (), heading: str = "") -> Memory:
    """The fact under the heading of its `type` (or under `heading`), newest first there."""
    pairs = tuple(meta)
    kind = dict(pairs).get("type", "fact")
    line = bullet(text, pairs) + memory.newline
    words = normalise(text)
    fact = Fact(words, fact_id(words), 0, "", pairs)
    return insert(memory, [line], fact, (heading,) if heading else HEADINGS.get(kind, HEADINGS["fact"]))


def insert(memory: Memory, block: Sequence[str], fact: Fact, names: Sequence[str]) -> Memory:
    """Ready lines of one entry below the first heading that is one of `names` (made when there is none)."""
    place = _heading(memory, names)
    if place:
        return parse_lines(_placed(memory, block, fact, place))
    lines = list(memory.lines)
    end = memory.newline
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    if lines and lines[-1].strip():
        lines.append(end)
    if not lines:
        lines += [f"# Memory{end}", end]
    return parse_lines([*lines, f"## {names[0]}{end}", end, *block])


def insert_all(memory: Memory, rows: Sequence[tuple[Sequence[str], Fact]], names: Sequence[str]) -> Memory:
    """`insert` of several entries in one pass, whatever their number: newest first, those of one day in their order."""
    *others, (block, fact) = sorted(rows, key=lambda row: fact_date(row[1]), reverse=True)
    memory = insert(memory, block, fact, names)
    if not others:
        return memory
    section = _section(memory, _heading(memory, names))[0]
    above: dict[int, list[str]] = {}  # line after which they go -> lines
    for block, fact in others:
        day = fact_date(fact)
        at = next((e.start - 1 for e in section if fact_date(e.fact) <= day), section[-1].end)
        above.setdefault(at, []).extend(block)
    lines: list[str] = []
    for number, line in enumerate(memory.lines):
        lines += [*above.get(number, ()), line]
    return parse_lines([*lines, *above.get(len(memory.lines), ())])


def _heading(memory: Memory, names: Sequence[str]) -> int:
    """The line of the first heading that is one of `names`, 0 for none."""
    wanted = {name.casefold() for name in names}
    return next((n for n, _, text in memory.headings if text.casefold().rstrip(":") in wanted), 0)


def _section(memory: Memory, place: int) -> tuple[list[Entry], int]:
    """The entries below the heading of a line, and the line of the next heading."""
    limit = next((n for n, _, _ in memory.headings if n > place), len(memory.lines) + 1)
    if limit <= len(memory.lines):
        line = memory.lines[limit - 1]
        if _RULER.match(line) and not _HEADING.match(line):
            limit -= 1  # the setext heading's text line
    return [e for e in memory.items if place < e.start < limit], limit


def _placed(memory: Memory, block: Sequence[str], fact: Fact, place: int) -> list[str]:
    lines = list(memory.lines)
    section, limit = _section(memory, place)
    day = fact_date(fact)
    older = next((e for e in section if fact_date(e.fact) <= day), None)
    if older is not None:
        at = older.start - 1
    elif section:
        at = section[-1].end
    else:
        at = place
        end = limit - 1
        while at < end and lines[at].strip():  # prose directly below the heading stays above its facts
            at += 1
        filled = next((n for n in range(end, at, -1) if lines[n - 1].strip()), 0)
        at = filled or at
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += memory.newline
        block = [memory.newline, *block]
        if at < len(lines) and lines[at].strip():
            block = [*block, memory.newline]
        return [*lines[:at], *block, *lines[at:]]
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += memory.newline
    return [*lines[:at], *block, *lines[at:]]


def update(memory: Memory, entry: Entry, text: str, meta: Iterable[tuple[str, str]]) -> Memory:
    """The same place with a new text and comment on one line; marker, line end and what is indented below stay.

    Raises ValueError where the text would not stand there as one statement (`# words` in a paragraph's place are a
    heading), and for a fenced block, which has no comment.
    """
    if entry.form is Form.CODE:
        raise ValueError("a fenced block is edited in the file itself")
    words = normalise(text)
    new = bullet(words, meta, marker=marker_of(memory, entry))
    if entry.form is Form.ROW:
        comment = render_comment(tuple(meta))
        words = words.strip("| ")
        new = f"{marker_of(memory, entry)}| {words} |" + (f" {comment}" if comment else "")
    after = parse_lines(_with_own_lines(memory, entry, [new]))
    at = memory.entries.index(entry)
    if len(after.entries) != len(memory.entries) or normalise(after.entries[at].fact.text) != words:
        raise ValueError("as Markdown the text would be more, or another thing, than the one statement it replaces")
    return after


def marker_of(memory: Memory, entry: Entry) -> str:
    """What stands before a fact's text on its first line: white space and the mark of its item or quotation."""
    line = memory.lines[entry.start - 1]
    match = None
    if entry.form in _MARKERS:
        match = _MARKERS[entry.form].match(line)
    if not match:
        return ""
    return match[0]


def _with_own_lines(memory: Memory, entry: Entry, new: Sequence[str]) -> list[str]:
    """The lines of a file with others (without their ends) in the place of the fact's own."""
    last = memory.lines[entry.fact.end - 1]
    end = last[len(last.rstrip("\r\n")) :]
    ended = [line + memory.newline for line in new[:-1]] + [new[-1] + end]
    return [*memory.lines[: entry.start - 1], *ended, *memory.lines[entry.fact.end :]]


def with_comment(memory: Memory, entry: Entry, meta: Iterable[tuple[str, str]]) -> Memory:
    """The same place with another comment, at the end of the fact's last line; every other byte stays."""
    if entry.form is Form.CODE:
        raise ValueError("a fenced block has no comment")
    bare = [line.rstrip("\r\n") for line in memory.lines[entry.start - 1 : entry.fact.end]]
    texts = [parse_comment(line)[0] if line.rstrip().endswith("-->") else line for line in bare]
    while len(texts) > 1 and not texts[-1].strip():  # a line that held nothing but the comment
        texts.pop()
    comment = render_comment(meta)
    if comment:
        texts[-1] = f"{texts[-1].rstrip()} {comment}"
    last = memory.lines[entry.fact.end - 1]
    end = last[len(last.rstrip("\r\n")) :]
    ends = [line[len(line.rstrip("\r\n")) :] for line in memory.lines[entry.start - 1 : entry.fact.end]]
    kept = [text + own for text, own in zip(texts[:-1], ends, strict=False)]
    return parse_lines([*memory.lines[: entry.start - 1], *kept, texts[-1] + end, *memory.lines[entry.fact.end :]])


def supersede(memory: Memory, entry: Entry, text: str, meta: Iterable[tuple[str, str]]) -> Memory:
    """Replace a fact by its successor, which names it in `supersedes`, under the heading of its own type."""
    pairs = tuple(meta)
    if ("supersedes", entry.fact.id) not in pairs:
        pairs += (("supersedes", entry.fact.id),)
    kind, old = dict(pairs).get("type"), entry.fact.get("type")
    if not kind or kind == old or not old:
        return update(memory, entry, text, pairs)
    return add(remove(memory, entry), text, pairs)


def remove(memory: Memory, entry: Entry) -> Memory:
    """Without this entry and the lines that belong to it; its heading stays."""
    return parse_lines([*memory.lines[: entry.start - 1], *memory.lines[entry.end :]])


@dataclass(frozen=True, slots=True)
class Moved:
    """An entry taken out for the archive: its own lines, and the file they belong in."""

    fact: Fact
    lines: tuple[str, ...]
    path: str


def archive_path(fact: Fact, today: date) -> str:
    """`memory/archive/YYYY.md` of the fact's year, of today's where it has no date."""
    year = fact_date(fact)[:4]
    return f"memory/archive/{year if year.isdigit() else today.year}.md"


def take(memory: Memory, chosen: Iterable[Entry], today: date) -> tuple[Memory, list[Moved]]:
    """Take entries out of a memory; the second value is what must be filed with `archive`."""
    gone: list[Entry] = []
    for entry in sorted(chosen, key=lambda e: e.start):
        if not gone or entry.start > gone[-1].end:  # what is indented below another goes with it
            gone.append(entry)
    lines: list[str] = []
    moved: list[Moved] = []
    at = 0
    for entry in gone:
        lines += memory.lines[at : entry.start - 1]
        block = memory.lines[entry.start - 1 : entry.end]
        ends = tuple(line if line.endswith("\n") else line + memory.newline for line in block)
        moved.append(Moved(entry.fact, ends, archive_path(entry.fact, today)))
        at = entry.end
    return (parse_lines([*lines, *memory.lines[at:]]) if moved else memory), moved


def expire(memory: Memory, today: date) -> tuple[Memory, list[Moved]]:
    """Without the facts whose `until` has passed; one that is pinned, or has a pinned fact below it, stays."""
    return take(memory, [e for e in memory.entries if expired(e.fact, today) and not holds_pinned(memory, e)], today)


def holds_pinned(memory: Memory, entry: Entry) -> bool:
    """Whether a fact, or one that is indented below it, is pinned."""
    return pinned(entry.fact) or any(pinned(fact) for fact in memory.below(entry))


def fit(memory: Memory, today: date, budget: int = BUDGET, keep: Iterable[str] = ()) -> tuple[Memory, list[Moved]]:
    """At most `budget` lines: the least important, then oldest facts go; pinned ones and `keep` (ids) never.

    May stay over the budget where prose, not facts, fills the file: `len(memory.lines)` tells.
    """
    over = len(memory.lines) - budget
    if over <= 0:
        return memory, []
    free = movable(memory, keep)
    free.sort(key=lambda e: (importance(e.fact), fact_date(e.fact), -e.start))
    chosen: list[Entry] = []
    for entry in free:
        if over <= 0:
            break
        chosen.append(entry)
        over -= entry.end - entry.start + 1
    return take(memory, chosen, today)


def movable(memory: Memory, keep: Iterable[str] = ()) -> list[Entry]:
    """The entries that a budget may take away: no pinned fact is one of them or stands below one, nor is one of `keep`
    (ids)."""
    kept = set(keep)
    return [e for e in memory.items if e.fact.id not in kept and not holds_pinned(memory, e)]


def superseded(fact: Fact, by: str, today: date, key: str = SUPERSEDED_BY) -> Moved:
    """A fact that another one (`by`, its id) takes the place of, as the archive keeps it: one item, with that id in
    `superseded-by`, or `same-as` where both say the same. Raises ValueError for a text that no item can hold."""
    meta = (*(pair for pair in fact.meta if pair[0] not in (SUPERSEDED_BY, SAME_AS)), (key, by))
    return Moved(fact, (bullet(fact.text, meta) + "\n",), archive_path(fact, today))


def archive(data: bytes, moved: Iterable[Moved]) -> bytes:
    """An archive file with the entries filed under the headings they came from. Nothing is filed twice. The file is
    parsed once for each heading, whatever the number of entries."""
    memory = parse(data)
    known = {fact.id for fact in memory.facts}
    groups: dict[tuple[str, ...], list[Moved]] = {}
    for item in moved:
        if not memory.lines:
            memory = parse_lines([f"# Archive {item.path[-7:-3]}\n", "\n"])
        if item.fact.id not in known:
            known |= {item.fact.id, *(fact.id for fact in parse_lines(item.lines).facts)}
            groups.setdefault((item.fact.heading or HEADINGS["fact"][0],), []).append(item)
    for names, items in groups.items():
        memory = _filed(memory, items, names)
    return memory.data()


def _filed(memory: Memory, items: Sequence[Moved], names: Sequence[str]) -> Memory:
    """The entries below one heading: newest first, of one day the one that was moved last."""
    if all(_is_one_item(item.lines) for item in items):
        return insert_all(memory, [(item.lines, item.fact) for item in reversed(items)], names)
    for item in items:  # a paragraph or a row: what stands above it decides what it is as Markdown
        memory = insert(memory, item.lines, item.fact, names)
    return memory


def _is_one_item(lines: Sequence[str]) -> bool:
    """Whether lines are one list item, with what is indented below it."""
    found = [(entry.start, entry.end, entry.form) for entry in parse_lines(lines).entries if entry.parent < 0]
    return found == [(1, len(lines), Form.ITEM)] and not lines[0].startswith((" ", "\t"))
