"""Splits a document into statements, each with its exact lines and its trail: the headings and list items above it.

Pure; no input makes it raise. Every line belongs to exactly one statement, in order. A statement either has content (a
list item with its wrapped lines, a paragraph, a table row, a quotation, a fenced block) or is structure (a heading,
front matter, a comment, a rule, a table's head, blank lines). No other module looks for list markers, joins wrapped
lines or tracks headings. Headings, fences and tables are those of `outline` (CommonMark 0.31). A list item is below
another one if it is indented by at least two columns more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from gitmem.memory.fact import ABOUT, Meta, parse_comment
from gitmem.memory.front_matter import closing_line
from gitmem.memory.outline import Heading, Outline, outline, without_byte_order_mark
from gitmem.paths import file_name_words
from gitmem.text.sentences import sentences

BOLD_LEVEL = 7  # heading level of a bold line that serves as a heading: below every Markdown heading
MAX_BOLD_TITLE_CHARS = 60  # a longer bold line is a paragraph
MAX_STEP_CHARS = 300  # a step of a trail is cut to this length, as every chunk and hit below it stores a copy
MAX_PARENTS = 8  # parent items in a trail: of a deeper list the innermost ones


class Form(StrEnum):
    """The kind of Markdown block that a statement is."""

    ITEM = "item"
    PARAGRAPH = "paragraph"
    ROW = "row"
    QUOTE = "quote"
    CODE = "code"
    HEADING = "heading"
    TABLE_HEAD = "table-head"
    FRONT_MATTER = "front-matter"
    COMMENT = "comment"
    RULE = "rule"
    BLANK = "blank"


CONTENT_FORMS = frozenset(
    (Form.ITEM, Form.PARAGRAPH, Form.ROW, Form.QUOTE, Form.CODE)
)  # forms with content; the rest: structure
TEXT_FORMS = frozenset((Form.ITEM, Form.PARAGRAPH, Form.QUOTE))  # forms with running text

_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])([ \t]+|$)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r"[ \t]*(?:>[ ]?)+")
# A line without words of its own: tags of HTML, or the target of a link (`[1]: https://…`).
_MARKUP = re.compile(r"(?:</?[A-Za-z][^<>]*>[ \t]*)+$|\[[^\]]*\]:[ \t]*\S+")
# A line that is bold as a whole may serve as a heading; a bold label before a text does not.
_BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1[ \t]*[:：]?$")
_BOLD_LABEL = re.compile(r"(?:\*\*|__)[^*_]{1,40}(?:[:：](?:\*\*|__)|(?:\*\*|__)[:：])")
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[ \t]*[AaPp]\.?[Mm]\.?)?"
# A time zone behind a time. `CT scan` and `PT` alone may be another thing.
_ZONE = (
    r"(?:(?:UTC|GMT|CEST|CET|KST|JST|IST|BST|Z|[ECMP][SD]T|ET)(?:[+-]\d{1,2}(?::?\d\d)?)?(?=[ \t]*(?:[-–—:·|\])]|$))"
    r"|[CMP]T(?=[ \t]*[-–—:·|\])]))"
)
# Headings of entries of a log: a time with or without a title, a day with or without its weekday.
_TIMED = re.compile(
    rf"\[?({_CLOCK})(?=\W|Z|$)(?:[ \t]*[-–—~][ \t]*{_CLOCK}(?=\W|Z|$))?(?:[ \t]*{_ZONE})?\]?"
    r"(?=\W|$)(?:[ \t]*(?:[-–—:·|][ \t]*)?(.*))?$"
)
_DAY = re.compile(r"\d{4}[-./]\d{2}[-./]\d{2}(?:[ \t]*\(?\w{1,9}\)?)?$")
_CELL = re.compile(r"(?<!\\)\|")
_COLUMNS_PER_TAB = 4


class Statement(NamedTuple):
    """One statement of a document.

    `form`: the kind of block. `first`, `last`: its lines, counted from 1. `text`: its words as one line (no marker, no
    metadata comment, NFC, white space collapsed; of a code block all words, fences included, not normalised), "" for
    structure other than headings. `above`: the note's name and the headings above it, from the outermost in; empty for
    structure other than headings and heads of tables. `parents`: the innermost MAX_PARENTS of the steps above it: the
    paragraph ending in a colon that introduces its list (its last sentence), then the items it is below, each cut to
    MAX_STEP_CHARS. `header`: the header cells of the table, for a table row. `meta`: (key, value) pairs of its
    metadata comment. `day`, `time`: of the innermost heading that has one, for a heading its own too, "" without and
    for other structure; the date as YYYY-MM-DD, the time as written. `heading`: the line of the nearest heading, for a
    heading its own, 0 without. `parent`: the position in the document's statements of the item directly above it in
    the list, None without. `under`: the position of the statement that it is directly about, None without: its parent
    item, its table's head, the paragraph ending in a colon or the bold line above.
    """

    form: Form
    first: int
    last: int
    text: str = ""
    above: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    meta: Meta = ()
    day: str = ""
    time: str = ""
    heading: int = 0
    parent: int | None = None
    under: int | None = None

    @property
    def has_content(self) -> bool:
        """Whether the statement has content; False for structure."""
        return self.form in CONTENT_FORMS

    @property
    def trail(self) -> tuple[str, ...]:
        """The subject of the statement, from the outermost step in: note name, headings, parent items, header row of
        its table, and the key ABOUT of its comment."""
        steps = (*self.above, *self.parents)
        if self.header:
            steps = (*steps, " | ".join(self.header))
        if self.meta and (about := self.get(ABOUT)):
            steps = (*steps, about)
        return steps

    @property
    def sentences(self) -> list[str]:
        """The sentences of the statement in order. A heading, a table row and a fenced block are one sentence each."""
        if self.form in TEXT_FORMS:
            return sentences(self.text)
        return list(filter(None, [self.text]))

    def get(self, key: str, default: str = "") -> str:
        """The first value of a key of its metadata comment; `default` if the comment lacks the key."""
        return next((value for name, value in self.meta if name == key), default)


class _OpenBlock(NamedTuple):
    """An item, or a paragraph ending in a colon, that may have statements below it.

    `column`: the column of its first character. `position`: its position in the document's statements. `text`: its text
    as a step of a trail.
    """

    column: int
    position: int
    text: str


def read(lines: Sequence[str], *, name: str = "") -> tuple[Statement, ...]:
    """The statements of a file's lines, with or without line ends. `name`: the first step of trails (`note_name`)."""
    bare = [line.rstrip("\r\n") for line in lines]
    front = closing_line(bare)
    return statements(bare, front, outline(bare, front), name)


def statements(lines: Sequence[str], front: int, blocks: Outline, name: str = "") -> tuple[Statement, ...]:
    """The statements of a file's lines, for a caller that has `front`, the last line of the front matter (0 without),
    and the outline (`blocks`) already; `read` is for all others. `name`: the first step of trails (`note_name`)."""
    return tuple(_Reader(lines, front, blocks, name).read())


def without_list_marker(line: str) -> str:
    """A line without its list marker; a line without one is returned as it is."""
    match = _ITEM.match(line)
    return line[match.end() :] if match else line


def trail_step(text: str) -> str:
    """A text as a step of a trail: cut to MAX_STEP_CHARS, with `…` at its end if it was longer."""
    if len(text) <= MAX_STEP_CHARS:
        return text
    return text[:MAX_STEP_CHARS].rstrip() + "…"


def note_name(path: str, front_matter: Mapping[str, str | tuple[str, ...]]) -> str:
    """The name of a note: the `title` or `name` of its front matter, else its file name as words.

    "" for a file name without a subject (a daily log, MEMORY.md).
    """
    for key in ("title", "name"):
        value = front_matter.get(key, "")
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return file_name_words(path)


class _Reader:
    """One pass over the lines of one document."""

    def __init__(self, lines: Sequence[str], front: int, blocks: Outline, name: str) -> None:
        self.lines = without_byte_order_mark(lines)
        self.front = front
        self.headings = {heading.line: heading for heading in blocks.headings}
        self.fences = dict(blocks.fences)
        self.tables = dict(blocks.tables)
        self.statements: list[Statement] = []
        self.items: list[_OpenBlock] = []
        self.trail = _Trail(name)
        self.lead: _OpenBlock | None = None  # the paragraph ending in a colon that introduces the next statements
        self.lead_has_list = False  # a list item came after it

    def read(self) -> list[Statement]:
        """All statements in the order of their lines. To be called once."""
        line_number, line_count = 1, len(self.lines)
        if self.front:
            self.statements.append(Statement(Form.FRONT_MATTER, 1, self.front))
            line_number = self.front + 1
        while line_number <= line_count:
            line_number = self._block(line_number) + 1
        return self.statements

    def _block(self, number: int) -> int:
        """Read the block that begins at line `number`, append its statements, return its last line."""
        line = self.lines[number - 1]
        if not line or line.isspace():
            return self._blank(number)
        if number in self.headings:
            return self._heading(self.headings[number])
        if number in self.fences:
            return self._fence(number, min(self.fences[number], len(self.lines)))
        if number in self.tables:
            return self._table(number, min(self.tables[number], len(self.lines)))
        first_char = line.lstrip()[:1]
        if first_char == "<" and line.lstrip().startswith("<!--") and not line.lstrip().startswith("<!-- mem"):
            return self._comment(number)
        if first_char in "<[" and _MARKUP.match(line.strip()):
            return self._structure(Form.COMMENT, number, number)
        if first_char in "-*_" and _RULE.match(line):
            self.items.clear()
            self.lead = None
            return self._structure(Form.RULE, number, number)
        if first_char == ">":
            return self._quote(number)
        if first_char == "|":
            return self._row(number, ())
        if first_char in "-*+•0123456789" and (match := _ITEM.match(line)):
            return self._item(number, match)
        return self._paragraph(number)

    # -- structure -------------------------------------------------------------------------------------------------

    def _structure(self, form: Form, first: int, last: int) -> int:
        """Append a statement without content; return its last line. A BLANK has no parent. Only the head of a table has
        a trail, because it may be shown for a row."""
        parent = None
        if self.items and form is not Form.BLANK:
            parent = self.items[-1].position
        above: tuple[str, ...] = ()
        parents: tuple[str, ...] = ()
        if form is Form.TABLE_HEAD:
            above, parents = self.trail.above, self._parents()
        self.statements.append(Statement(
            form, first, last, above=above, parents=parents, heading=self.trail.line, parent=parent, under=self._under()
        ))  # fmt: skip
        return last

    def _parents(self) -> tuple[str, ...]:
        """`Statement.parents` of the next statement."""
        parents = [item.text for item in self.items]
        if self.lead is not None:
            parents.insert(0, self.lead.text)
        return tuple(parents[-MAX_PARENTS:])

    def _under(self) -> int | None:
        """`Statement.under` of the next statement, unless it is a table row."""
        if self.items:
            return self.items[-1].position
        if self.lead is not None:
            return self.lead.position
        return self.trail.bold

    def _blank(self, first: int) -> int:
        """Append the BLANK of the empty lines from line `first` on; return its last line."""
        last = first
        while last < len(self.lines) and not self.lines[last].strip():
            last += 1
        return self._structure(Form.BLANK, first, last)

    def _heading(self, heading: Heading) -> int:
        """Append a heading, which ends all items; return its last line."""
        self.items.clear()
        self.lead = None
        last = min(heading.last, len(self.lines))
        self.trail.enter(heading, len(self.statements))
        text, meta = _joined([heading.text])
        self.statements.append(Statement(
            Form.HEADING, heading.line, last, text, self.trail.outside(), meta=meta,
            heading=self.trail.line, day=self.trail.day, time=self.trail.time,
        ))  # fmt: skip
        return last

    def _comment(self, first: int) -> int:
        """Append the HTML comment that begins at line `first`, up to the line with `-->` or the last line; return its
        last line."""
        self._leave_items(_indent(self.lines[first - 1]))
        last = first
        while "-->" not in self.lines[last - 1] and last < len(self.lines):
            last += 1
        return self._structure(Form.COMMENT, first, last)

    # -- content -----------------------------------------------------------------------------------------------------

    def _content(
        self, form: Form, first: int, last: int, texts: Sequence[str], header: tuple[str, ...] = (),
        under: int | None = None,
    ) -> Statement:  # fmt: skip
        """Append a statement with content. `under`: the position of the table's head, None outside a table."""
        meta: Meta = ()
        if form is Form.CODE:
            text = " ".join(" ".join(texts).split())
        else:
            text, meta = _joined(texts)
        parent = self.items[-1].position if self.items else None
        if under is None:
            under = self._under()
        statement = Statement(
            form, first, last, text, self.trail.above, self._parents(), header, meta,
            self.trail.day, self.trail.time, self.trail.line, parent, under,
        )  # fmt: skip
        self.statements.append(statement)
        return statement

    def _fence(self, first: int, last: int) -> int:
        """Append the code block of lines `first` to `last`, fences included; return `last`."""
        self._leave_items(_indent(self.lines[first - 1]))
        self._content(Form.CODE, first, last, self.lines[first - 1 : last])
        return last

    def _table(self, first: int, last: int) -> int:
        """Append the head of a table (its first two lines) and each row; return `last`."""
        self._leave_items(_indent(self.lines[first - 1]))
        header = tuple(cell for cell in _cells(self.lines[first - 1]) if cell)
        head_position = len(self.statements)
        self._structure(Form.TABLE_HEAD, first, min(first + 1, last))
        for number in range(first + 2, last + 1):
            self._row(number, header, head_position)
        return last

    def _row(self, number: int, header: tuple[str, ...], under: int | None = None) -> int:
        """Append one table row; return its line. A rule (`|---|`) outside a table is a TABLE_HEAD."""
        line = self.lines[number - 1]
        if not header and not line.strip(" \t|:-"):
            return self._structure(Form.TABLE_HEAD, number, number)
        self._leave_items(_indent(line))
        visible, _ = parse_comment(line)
        self._content(Form.ROW, number, number, [" | ".join(_cells(visible)) + line[len(visible) :]], header, under)
        return number

    def _quote(self, first: int) -> int:
        """Append the statement of the paragraph of a quotation that begins at line `first` (from 1), up to an empty
        quoted line or the next block; return its last line. An empty quoted line is a BLANK."""
        last = first
        self._leave_items(_indent(self.lines[first - 1]))
        if not _unquoted(self.lines[first - 1]):
            return self._structure(Form.BLANK, first, first)
        while last < len(self.lines) and not self._begins_block(last + 1):
            following = self.lines[last].lstrip()
            if not following.startswith(">") or not _unquoted(following):
                break
            last += 1
        texts = [_unquoted(line) for line in self.lines[first - 1 : last]]
        self._content(Form.QUOTE, first, last, texts)
        return last

    def _item(self, first: int, match: re.Match[str]) -> int:
        """Append the list item that begins at line `first` with its wrapped lines; return its last line. It ends the
        open items that are not indented at least two columns less."""
        line = self.lines[first - 1]
        column = _indent(line)
        while self.items and column < self.items[-1].column + 2:
            self.items.pop()
        if self.lead is not None and column < self.lead.column:
            self.lead = None
        last = self._last_wrapped(first, marker_column=column)
        texts = [line[match.end() :], *self.lines[first:last]]
        statement = self._content(Form.ITEM, first, last, texts)
        self.items.append(_OpenBlock(column, len(self.statements) - 1, trail_step(statement.text)))
        self.lead_has_list = True
        return last

    def _paragraph(self, first: int) -> int:
        """Append the paragraph that begins at line `first`; return its last line. A bold line outside lists is a
        heading. A paragraph that ends with a colon leads what follows."""
        line = self.lines[first - 1]
        indent = _indent(line)
        self._leave_items(indent)
        last = self._last_wrapped(first)
        self.lead = None
        if first == last and not self.items and (title := _bold_title(line)):
            return self._heading(Heading(first, first, BOLD_LEVEL, title))
        statement = self._content(Form.PARAGRAPH, first, last, self.lines[first - 1 : last])
        topic = statement.text.strip("*_ ")
        if topic.endswith((":", "：")) and not self.items and topic.strip(":：*_ "):
            last_sentence = sentences(topic)[-1].strip(":：*_ ")
            self.lead_has_list = False
            self.lead = _OpenBlock(indent, len(self.statements) - 1, trail_step(last_sentence or topic.strip(":：*_ ")))
        return last

    def _leave_items(self, indent: int) -> None:
        """Close the items that a block at column `indent` is not below: those that begin less than 2 columns before
        it."""
        while self.items and indent < self.items[-1].column + 2:
            self.items.pop()
        if not self.items and self.lead_has_list:
            self.lead = None  # its list has ended

    def _last_wrapped(self, first: int, marker_column: int | None = None) -> int:
        """The last line of the text that begins on line `first`: lines follow as long as none begins a block.

        A metadata comment ends its statement. The wrapped lines of an item must be indented by more than
        `marker_column`, the column of its marker (None: no such rule). CommonMark also adds a line at the margin to the
        item; in public memories nearly all of 170 such lines are about something else than the item.
        """
        last = first
        while (
            last < len(self.lines)
            and not self._begins_block(last + 1)
            and not _ends_with_metadata(self.lines[last - 1])
            and (marker_column is None or _indent(self.lines[last]) > marker_column)
        ):
            last += 1
        return last

    def _begins_block(self, number: int) -> bool:
        """Whether line `number`, below a line of text, begins a new block (CommonMark: it can interrupt a
        paragraph)."""
        line = self.lines[number - 1]
        stripped = line.lstrip()
        if not stripped or number in self.headings or number in self.fences or number in self.tables:
            return True
        first_char = stripped[0]
        if first_char == ">":
            return not self.lines[number - 2].lstrip().startswith(">")
        if first_char == "<":
            return stripped.startswith("<!--") and not stripped.startswith("<!-- mem")
        if first_char == "|":
            return True
        if first_char in "-*_" and (_RULE.match(line) or _BOLD_LABEL.match(stripped)):
            return True
        if first_char in "-*+•":
            return bool(_ITEM.match(line)) and bool(stripped[1:].strip())
        if first_char.isdecimal() and (match := _ITEM.match(line)):
            return match[2][:-1] == "1" or bool(self.items) or self._numbered(number - 1)
        return False

    def _numbered(self, number: int) -> bool:
        """Whether the text above and on line `number` began as a numbered item: the next number then continues its
        list."""
        while number >= 1 and self.lines[number - 1].strip():
            if match := _ITEM.match(self.lines[number - 1]):
                return match[2][0].isdecimal()
            number -= 1
        return False


class _Trail:
    """The headings above the current line.

    `above`: the note's name and the topics of the open headings, from the outermost in. `line`: the line of the
    innermost heading, 0 without. `bold`: the position of the innermost heading's statement if it is a bold line, else
    None.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.open_headings: list[tuple[Heading, str, str, str]] = []  # heading, topic, day, time
        self.above = tuple(filter(None, [name]))
        self.day = self.time = ""
        self.line = 0
        self.bold: int | None = None

    def enter(self, heading: Heading, position: int) -> None:
        """Open a heading whose statement has this position; it closes headings of the same and of deeper levels."""
        while self.open_headings and self.open_headings[-1][0].level >= heading.level:
            self.open_headings.pop()
        self.open_headings.append((heading, *_topic_day_time(trail_step(heading.text))))
        self.line = heading.line
        self.bold = None
        if heading.level == BOLD_LEVEL:
            self.bold = position
        self.above = self._topics(self.open_headings)
        self.day = next((day for _, _, day, _ in reversed(self.open_headings) if day), "")
        self.time = next((time for _, _, _, time in reversed(self.open_headings) if time), "")

    def outside(self) -> tuple[str, ...]:
        """The trail of the innermost heading itself: `above` without its own topic."""
        return self._topics(self.open_headings[:-1])

    def _topics(self, headings: Iterable[tuple[Heading, str, str, str]]) -> tuple[str, ...]:
        """The name of the file and the topics of headings, without those that are empty or repeat the one before."""
        topics = list(filter(None, [self.name]))
        for _, topic, _, _ in headings:
            if topic and (not topics or topic.casefold() != topics[-1].casefold()):
                topics.append(topic)
        return tuple(topics)


def heading_topic(text: str) -> str:
    """What a heading is about; "" for one that only names a day or a time."""
    return _topic_day_time(trail_step(text))[0]


def _topic_day_time(heading: str) -> tuple[str, str, str]:
    """(topic, day, time) of a heading, "" for each that it lacks.

    `09:00 - visits` has a time and the topic `visits`; `2026-02-05` has a day and no topic.
    """
    text, _ = parse_comment(heading)
    text = " ".join(text.replace("**", "").split())
    if _DAY.match(text):
        return "", text[:10].replace(".", "-").replace("/", "-"), ""
    time, topic = time_and_topic(text)
    return topic, "", time


def time_and_topic(heading: str) -> tuple[str, str]:
    """(time, what is behind it) of a heading that begins with a time of day, without brackets, the end of the time's
    span, a time zone and a dash. ("", heading) for any other heading."""
    match = _TIMED.match(heading)
    if match is None:
        return "", heading
    return match[1], (match[2] or "").strip()


def _bold_title(line: str) -> str:
    """The text of a bold line that serves as a heading, because it is short and no sentence; "" for other lines."""
    match = _BOLD_LINE.match(line.strip())
    if match is None:
        return ""
    title = match[2].strip(" :：")
    is_sentence = title.endswith((".", "!", "?", "。", "！", "？", "다"))
    if len(title) > MAX_BOLD_TITLE_CHARS or is_sentence or "**" in title or "__" in title:
        return ""
    return title


def _joined(texts: Iterable[str]) -> tuple[str, Meta]:
    """Join lines into one text (NFC) without metadata comments; return it with the pairs of these comments."""
    words: list[str] = []
    meta: Meta = ()
    for line in texts:
        if line.rstrip().endswith("-->"):
            line, comment_meta = parse_comment(line)
            meta += comment_meta
        words += line.split()
    text = " ".join(words)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text, meta


def _ends_with_metadata(line: str) -> bool:
    return line.rstrip().endswith("-->") and parse_comment(line)[0] != line.rstrip()


def _cells(row: str) -> list[str]:
    """The cells of a table row, stripped; an empty first and last one are dropped."""
    parts = [part.strip() for part in _CELL.split(row.strip())]
    if parts and not parts[0]:
        parts.pop(0)
    if parts and not parts[-1]:
        parts.pop()
    return parts


def _unquoted(line: str) -> str:
    """A quoted line without its `>` marks."""
    return _QUOTE.sub("", line, count=1).strip()


def _indent(line: str) -> int:
    """The number of columns of white space before a line's text."""
    text = line.lstrip(" ")
    if not text.startswith("\t"):
        return len(line) - len(text)
    expanded = line.expandtabs(_COLUMNS_PER_TAB)
    return len(expanded) - len(expanded.lstrip())
