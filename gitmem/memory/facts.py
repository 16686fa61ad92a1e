"""Reads MEMORY.md as facts, and edits one fact at a time. `archiving` moves facts to the archive.

A fact is a statement of a memory file (`statements`): a list item with its wrapped lines, a paragraph, a table row, a
quotation or a fenced block. Lines that are indented below an item move and go with the item. Pure: the functions take
and return bytes or a `Memory`, read no file and take the date as a parameter. All lines that an edit
does not concern stay byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from io import StringIO

from gitmem.errors import GitMemError
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import Fact, fact_id, importance_of, is_true, normalise, parse_comment, render_comment
from gitmem.memory.front_matter import closing_line
from gitmem.memory.outline import BYTE_ORDER_MARK, outline
from gitmem.memory.sections import HEADINGS
from gitmem.memory.state import has_ended
from gitmem.memory.statements import Form, Statement, statements
from gitmem.paths import day_in_path, holds_instructions

# Keys of a comment whose value is the id of another fact.
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact in its file, with the lines that move with it.

    `end`: the last line (from 1) of the lines indented below the fact; the fact's own last line without such lines.
    `form`: the kind of Markdown block. `parent`: the position in `Memory.entries` of the entry that this one is
    indented below, None without one.
    """

    fact: Fact
    end: int
    form: Form = Form.ITEM
    parent: int | None = None

    @property
    def start(self) -> int:
        """The first line of the fact, from 1."""
        return self.fact.line


@dataclass(frozen=True, slots=True)
class Memory:
    """A parsed memory file.

    `lines`: the lines with their line ends. `entries`: the facts in order. `headings`: (last line, level, text) of each
    heading in order.
    """

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    headings: tuple[tuple[int, int, str], ...]

    def data(self) -> bytes:
        """The file's bytes: exactly the parsed ones."""
        return "".join(self.lines).encode("utf-8", "surrogateescape")

    @property
    def facts(self) -> list[Fact]:
        """The facts of the file, in order."""
        return [entry.fact for entry in self.entries]

    @property
    def items(self) -> list[Entry]:
        """The list items that are indented below no other entry."""
        return [entry for entry in self.entries if entry.form is Form.ITEM and entry.parent is None]

    @property
    def newline(self) -> str:
        """The line end of the file's first line; LF for an empty file."""
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    def find(self, ident: str) -> Entry | None:
        """The first entry whose fact id starts with `ident`. None without one, and for an `ident` of fewer than 4
        characters."""
        if len(ident) < 4:
            return None
        return next((entry for entry in self.entries if entry.fact.id.startswith(ident)), None)

    def below(self, entry: Entry) -> list[Fact]:
        """The facts that are indented below an entry, at any depth."""
        if entry.end == entry.fact.end:
            return []
        return [other.fact for other in self.entries if entry.start < other.start <= entry.end]

    def at(self, line: int) -> Entry | None:
        """The entry whose lines contain `line`, the innermost if entries are nested; None without one."""
        return next((entry for entry in reversed(self.entries) if entry.start <= line <= entry.end), None)


def parse(data: bytes) -> Memory:
    """Parse the bytes of a memory file into its facts. Never raises: bytes that are not UTF-8 are kept as surrogate
    escapes. The time is linear in the size."""
    return parse_lines(split_lines(data))


def parse_lines(lines: Sequence[str]) -> Memory:
    """Parse the lines of a memory file, with or without their line ends, into its facts. Every reader of a file's facts
    calls this function."""
    bare = [line.rstrip("\r\n") for line in lines]
    front = closing_line(bare)
    blocks = outline(bare, front)
    headings = tuple((heading.last, heading.level, heading.text) for heading in blocks.headings)
    return Memory(tuple(lines), tuple(_entries(statements(bare, front, blocks))), headings)


def _entries(parsed: Sequence[Statement]) -> list[Entry]:
    """The facts in order, with their last line, sub-items included, and the position of their parent among the entries
    (None without one)."""
    titles = {statement.first: statement.text for statement in parsed if statement.form is Form.HEADING}
    ends = [statement.last for statement in parsed]
    for index in range(len(parsed) - 1, -1, -1):
        if (parent := parsed[index].parent) is not None:
            ends[parent] = max(ends[parent], ends[index])
    entry_positions: dict[int | None, int] = {}  # position of a statement -> position of its entry
    entries: list[Entry] = []
    for index, statement in enumerate(parsed):
        if statement.has_content and statement.text:
            entry_positions[index] = len(entries)
            fact = fact_of(statement, titles.get(statement.heading, ""))
            entries.append(Entry(fact, ends[index], statement.form, entry_positions.get(statement.parent)))
    return entries


def fact_of(statement: Statement, heading: str = "") -> Fact:
    """A statement of a file as a fact. `heading`: the text of the nearest heading above it."""
    return Fact(
        statement.text, fact_id(statement.text), statement.first, heading, statement.meta, statement.last,
        statement.trail,
    )  # fmt: skip


def reviewed_facts(path: str, memory: Memory) -> list[Fact]:
    """The facts of a file that reviews and diffs show as facts.

    In an instruction file (SOUL.md, a skill) these are the list items only; reviews show its other lines line by line.
    """
    entries = memory.entries
    return [entry.fact for entry in entries if entry.form is Form.ITEM or not holds_instructions(path)]


def lines_of(facts: Iterable[Fact]) -> set[int]:
    """The line numbers that the facts of one file occupy."""
    return {line for fact in facts for line in range(fact.line, fact.end + 1)}


def split_lines(data: bytes) -> list[str]:
    """The lines of a file with their line ends, split at LF only; bytes that are not UTF-8 become surrogate escapes."""
    return list(StringIO(data.decode("utf-8", "surrogateescape"), newline="\n"))


def bullet(text: str, meta: Iterable[tuple[str, str]] = (), marker: str = "- ") -> str:
    """A fact as one line of Markdown, without a line end. `marker`: the text before it. Raises ValueError if the text
    is empty or contains a comment mark."""
    words = normalise(text)
    if not words or "<!--" in words or "-->" in words:
        raise ValueError("a fact is one line of text without comment marks")
    comment = render_comment(tuple(meta))
    if comment:
        return f"{marker}{words} {comment}"
    return f"{marker}{words}"


def fact_date(fact: Fact) -> str:
    """The day of a fact as ISO text: the first ten characters of `from`, else the date in the name of its source log,
    else ""."""
    since = fact.get("from")
    if since:
        return since[:10]
    for key, value in fact.meta:
        if key == "src":
            day = day_in_path(value.partition("#")[0])
            if day:
                return day
    return ""


def importance(fact: Fact) -> float:
    """The importance that the comment states, 0 to 1 (`importance_of`)."""
    return importance_of(fact.get("importance"))


def pinned(fact: Fact) -> bool:
    """Whether the comment has `pinned=true`: a person asked that this fact stays."""
    return is_true(fact.get("pinned"))


def by_person(fact: Fact) -> bool:
    """Whether a person pinned a fact or wrote it by hand. A fact without `src` counts as written by hand."""
    return pinned(fact) or not fact.get("src")


def expired(fact: Fact, today: date) -> bool:
    """Whether the last day of the fact (`until`) is before `today`. A fact without `until` never expires."""
    return has_ended(fact.get("until"), today)


def add(memory: Memory, text: str, meta: Iterable[tuple[str, str]] = (), heading: str = "") -> Memory:
    """The memory with one more fact, a list item below the heading of its `type` (or below `heading`).

    Newer facts come first below a heading. Raises ValueError if the text is empty or contains a comment mark, and
    GitMemError as `insert`.
    """
    pairs = tuple(meta)
    line = bullet(text, pairs) + memory.newline
    words = normalise(text)
    fact = Fact(words, fact_id(words), 0, "", pairs)
    names = HEADINGS.get(dict(pairs).get("type", "fact"), HEADINGS["fact"])
    if heading:
        names = (heading,)
    return insert(memory, [line], fact, names)


def insert(memory: Memory, block: Sequence[str], fact: Fact, names: Sequence[str]) -> Memory:
    """The memory with `block`, the lines of `fact` with their line ends, below the first heading whose text is one of
    `names`, in any case and with or without a colon.

    It goes above the first fact of that section whose `fact_date` is not later. Without such a heading a section
    `names[0]` is added at the end of the file, in an empty file below the title `# Memory`. Raises GitMemError if the
    file has a fenced block or a comment that is not closed, and the fact would be part of it.
    """
    heading_line = _heading(memory, names)
    if heading_line:
        return _with_fact_at(*_inserted(memory, block, fact, heading_line))
    lines = list(memory.lines)
    line_end = memory.newline
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += line_end
    if lines and lines[-1].strip():
        lines.append(line_end)
    if not lines:
        lines += [f"# Memory{line_end}", line_end]
    lines += [f"## {names[0]}{line_end}", line_end]
    return _with_fact_at([*lines, *block], len(lines) + 1)


def _with_fact_at(lines: Sequence[str], first_line: int) -> Memory:
    """The parsed memory, whose line `first_line` begins a new fact. Raises GitMemError if Markdown reads no fact there,
    because a fenced block or a comment above is not closed."""
    memory = parse_lines(lines)
    entry = memory.at(first_line)
    if entry is None or (entry.form is Form.CODE and entry.start < first_line):
        raise GitMemError(
            "a fenced block or a comment in the memory file is not closed, and a fact in it is none",
            "close it in an editor",
        )
    return memory


def insert_all(memory: Memory, rows: Sequence[tuple[Sequence[str], Fact]], names: Sequence[str]) -> Memory:
    """The memory with several entries more in one section, as `insert` adds one: the newest first, entries of the same
    day in the given order. `rows`: (lines, fact) of each entry; at least one. Raises GitMemError as `insert`."""
    *others, (block, fact) = sorted(rows, key=lambda row: fact_date(row[1]), reverse=True)
    memory = insert(memory, block, fact, names)
    if not others:
        return memory
    section = _section(memory, _heading(memory, names))[0]
    additions: dict[int, list[str]] = {}  # number of a line -> new lines after it
    for block, fact in others:
        day = fact_date(fact)
        line_above = next((entry.start - 1 for entry in section if fact_date(entry.fact) <= day), section[-1].end)
        additions.setdefault(line_above, []).extend(block)
    lines: list[str] = []
    for number, line in enumerate(memory.lines):
        lines += [*additions.get(number, ()), line]
    return parse_lines([*lines, *additions.get(len(memory.lines), ())])


def _heading(memory: Memory, names: Sequence[str]) -> int:
    """The line of the first heading whose text is one of `names`, 0 without one."""
    wanted = {name.casefold() for name in names}
    return next((line for line, _, text in memory.headings if text.casefold().rstrip(":") in wanted), 0)


def _section(memory: Memory, heading_line: int) -> tuple[list[Entry], int]:
    """(the top-level list items between line `heading_line` and the next heading of any level, the number of that
    heading's first line; without such a heading, the number after the last line). `heading_line`: line of a heading; 0
    for the file's top."""
    next_heading = next((number for number, _, _ in memory.headings if number > heading_line), len(memory.lines) + 1)
    if next_heading <= len(memory.lines):
        line = memory.lines[next_heading - 1]
        if _RULER.match(line) and not _HEADING.match(line):
            next_heading -= 1  # the text line of a Setext heading
    return [entry for entry in memory.items if heading_line < entry.start < next_heading], next_heading


def _inserted(memory: Memory, block: Sequence[str], fact: Fact, heading_line: int) -> tuple[list[str], int]:
    """(the file's lines with `block` in the section whose heading is on line `heading_line`, the line number of the
    block's first line).

    The block goes above the first top-level item that is not newer than `fact`, else below the last item; in a section
    without items below its text.
    """
    lines = list(memory.lines)
    section, next_heading = _section(memory, heading_line)
    day = fact_date(fact)
    blank_above: list[str] = []
    blank_below: list[str] = []
    older = next((entry for entry in section if fact_date(entry.fact) <= day), None)
    if older is not None:
        index = older.start - 1
    elif section:
        index = section[-1].end
    else:
        index = heading_line
        last_index = next_heading - 1
        while index < last_index and lines[index].strip():  # prose directly below the heading stays above its facts
            index += 1
        index = next((number for number in range(last_index, index, -1) if lines[number - 1].strip()), index)
        blank_above = [memory.newline]
        if index < len(lines) and lines[index].strip():
            blank_below = [memory.newline]
    if index and not lines[index - 1].endswith("\n"):
        lines[index - 1] += memory.newline
    above = [*lines[:index], *blank_above]
    return [*above, *block, *blank_below, *lines[index:]], len(above) + 1


def update(memory: Memory, entry: Entry, text: str, meta: Iterable[tuple[str, str]]) -> Memory:
    """The memory with a new text and comment for `entry`, on one line in the same place.

    The marker, the line end and the lines indented below the entry stay. Raises ValueError if the text is empty,
    contains a comment mark or would not be one statement there (`# words` in the place of a paragraph is a heading),
    and for a fenced block.
    """
    if entry.form is Form.CODE:
        raise ValueError("a fenced block is edited in the file itself")
    words = normalise(text)
    replacement = bullet(words, meta, marker=marker_of(memory, entry))
    if entry.form is Form.ROW:
        comment = render_comment(tuple(meta))
        words = words.strip("| ")
        replacement = f"{marker_of(memory, entry)}| {words} | {comment}".rstrip()
    last_line = memory.lines[entry.fact.end - 1]
    line = replacement + _line_end(last_line)
    updated = parse_lines([*memory.lines[: entry.start - 1], line, *memory.lines[entry.fact.end :]])
    position = memory.entries.index(entry)
    if len(updated.entries) != len(memory.entries) or normalise(updated.entries[position].fact.text) != words:
        raise ValueError("as Markdown the text would be more, or another thing, than the one statement it replaces")
    return updated


def marker_of(memory: Memory, entry: Entry) -> str:
    """The text before a fact's words on its first line: the file's byte-order mark, white space and the marker of its
    list item or quotation; of a fenced block the mark alone."""
    pattern = _MARKERS.get(entry.form)
    line = memory.lines[entry.start - 1]
    byte_order_mark = BYTE_ORDER_MARK if entry.start == 1 and line.startswith(BYTE_ORDER_MARK) else ""
    match = pattern and pattern.match(line.removeprefix(byte_order_mark))
    return byte_order_mark + (match[0] if match else "")


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def with_comment(memory: Memory, entry: Entry, meta: Iterable[tuple[str, str]]) -> Memory:
    """The memory with another comment at the end of the fact's last line, or with none if `meta` is empty; every other
    byte stays. A line that had only the old comment goes.

    Raises ValueError for a fenced block, which has no comment.
    """
    if entry.form is Form.CODE:
        raise ValueError("a fenced block has no comment")
    old_lines = memory.lines[entry.start - 1 : entry.fact.end]
    bare = [line.rstrip("\r\n") for line in old_lines]
    texts = [parse_comment(line)[0] if line.rstrip().endswith("-->") else line for line in bare]
    while len(texts) > 1 and not texts[-1].strip():  # the line had only the comment
        texts.pop()
    comment = render_comment(meta)
    if comment:
        texts[-1] = f"{texts[-1].rstrip()} {comment}"
    line_ends = [*map(_line_end, old_lines[: len(texts) - 1]), _line_end(old_lines[-1])]
    lines = [text + end for text, end in zip(texts, line_ends, strict=True)]
    return parse_lines([*memory.lines[: entry.start - 1], *lines, *memory.lines[entry.fact.end :]])


def supersede(memory: Memory, entry: Entry, text: str, meta: Iterable[tuple[str, str]]) -> Memory:
    """The memory with `entry` replaced by a new fact whose comment names the old one in `supersedes`. The old fact is
    gone: the caller archives it.

    The new fact keeps the place and the lines indented below it. If its type is another one and no lines are indented
    below the old fact, it goes below the heading of that type. Raises ValueError for a text or an entry that `update`
    refuses.
    """
    pairs = tuple(meta)
    if (SUPERSEDES, entry.fact.id) not in pairs:
        pairs += ((SUPERSEDES, entry.fact.id),)
    new_type, old_type = dict(pairs).get("type"), entry.fact.get("type")
    has_lines_below = entry.end > entry.fact.end
    if not new_type or new_type == old_type or not old_type or has_lines_below:
        return update(memory, entry, text, pairs)
    return add(remove(memory, entry), text, pairs)


def remove(memory: Memory, entry: Entry) -> Memory:
    """The memory without an entry and the lines indented below it; its heading stays."""
    return parse_lines([*memory.lines[: entry.start - 1], *memory.lines[entry.end :]])
