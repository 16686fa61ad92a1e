"""A document as a sequence of statements: what it says, piece by piece, each with its exact lines and what it is about.

Pure, and never fails. Every line belongs to exactly one statement, in order. A statement says something (a list item
with its wrapped lines, a paragraph, a table row, a quotation, a fenced block) or it is structure (a heading, front
matter, a comment, a rule, a table's head, blank lines). Nobody else in the project looks for list markers, joins
wrapped lines or walks headings. Headings, fences and tables are those of `outline` (CommonMark 0.31); a list item
stands below another where it is indented by two columns or more, as people write lists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from gitmem.memory.fact import Meta, parse_comment
from gitmem.memory.front_matter import closing_line
from gitmem.memory.outline import Heading, Outline, outline
from gitmem.paths import file_name_words
from gitmem.text.sentences import sentences

BOLD_LEVEL = 7  # of a bold line that stands for a heading: below every real one
LONGEST_BOLD_TITLE = 60  # characters
LONGEST_STEP = 300  # characters of a step of a trail: it is kept with each chunk and each hit below it
MAX_PARENTS = 8  # items that one statement stands below; deeper lists keep the innermost ones


class Form(StrEnum):
    """What a statement is in Markdown."""

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


SAYS = frozenset((Form.ITEM, Form.PARAGRAPH, Form.ROW, Form.QUOTE, Form.CODE))
_TEXT_FORMS = frozenset((Form.ITEM, Form.PARAGRAPH, Form.QUOTE))

_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])([ \t]+|$)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r"[ \t]*(?:>[ ]?)+")
_MARKUP = re.compile(r"(?:</?[A-Za-z][^<>]*>[ \t]*)+$|\[[^\]]*\]:[ \t]*\S+")
_BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1[ \t]*[:：]?$")
_BOLD_LABEL = re.compile(r"(?:\*\*|__)[^*_]{1,40}(?:[:：](?:\*\*|__)|(?:\*\*|__)[:：])")
_TIMED = re.compile(
    r"\[?(\d{1,2}:\d{2}(?::\d{2})?(?:[ \t]*[AaPp]\.?[Mm]\.?)?)\]?(?=\W|$)(?:[ \t]*(?:[-–—:·|][ \t]*)?(.*))?$"
)
_DAY = re.compile(r"\d{4}[-./]\d{2}[-./]\d{2}(?:[ \t]*\(?\w{1,9}\)?)?$")
_CELL = re.compile(r"(?<!\\)\|")
_SPACES_OF_TAB = 4


class Statement(NamedTuple):
    """One statement. Lines are counted from 1.

    `first`, `last`: its lines. `text`: what it says as one line (no marker, no metadata comment, NFC, white space
    collapsed), "" for structure other than headings. `above`: the note's name and the headings it stands under, from
    the outside in. `parents`: the texts of the items, or of the line ending in a colon, that it stands below. `header`:
    the header cells of a table row's table. `meta`: the keys of its own metadata comment. `day`, `time`: those of the
    headings it stands under, as they are written, "" without. `heading`: the line of the nearest heading, 0 without.
    `parent`: the position, in the document's statements, of the item it stands directly below, -1 without. `under`: the
    position of what it is directly about among these: that item, its table's head, the line ending in a colon or the
    bold line above, -1 without.
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
    parent: int = -1
    under: int = -1

    @property
    def says(self) -> bool:
        """Whether it says something, or is structure."""
        return self.form in SAYS

    @property
    def trail(self) -> tuple[str, ...]:
        """What it is about, from the outside in: name, headings, parent items, header cells of a table."""
        return (*self.above, *self.parents, *((" | ".join(self.header),) if self.header else ()))

    @property
    def sentences(self) -> list[str]:
        """The sentences of the statement in order; a table row or a fenced block is one sentence."""
        if self.form in _TEXT_FORMS:
            return sentences(self.text)
        if not self.text:
            return []
        return [self.text]

    def get(self, key: str, default: str = "") -> str:
        """The first value of a key of its comment, `default` where the comment lacks it."""
        return next((value for name, value in self.meta if name == key), default)


class _Open(NamedTuple):
    """What may have statements below it: the column at which it begins, its position, its text."""

    marker: int
    position: int
    text: str


def read(lines: Sequence[str], *, name: str = "") -> tuple[Statement, ...]:
    """The statements of a file's lines, with or without their ends. `name` is what the note is called (`note_name`)."""
    bare = [line.rstrip("\r\n") for line in lines]
    front = closing_line(bare)
    return statements(bare, front, outline(bare, front), name)


def statements(lines: Sequence[str], front: int, blocks: Outline, name: str = "") -> tuple[Statement, ...]:
    """`read` for one who has the front matter's last line (0 without one) and the outline of the lines already."""
    return tuple(_Reader(lines, front, blocks, name).read())


def unmarked(line: str) -> str:
    """A line without the mark of its list item; any other line as it is."""
    match = _ITEM.match(line)
    if match:
        return line[match.end() :]
    return line


def step(text: str) -> str:
    """A text as a step of a trail, cut where it is longer than any name of a thing."""
    if len(text) <= LONGEST_STEP:
        return text
    return text[:LONGEST_STEP].rstrip() + "…"


def note_name(path: str, front_matter: Mapping[str, str | tuple[str, ...]]) -> str:
    """What a note is called: its `title` or `name`, else its file's name in words; "" where the name says nothing
    (a daily log, MEMORY.md)."""
    for key in ("title", "name"):
        value = front_matter.get(key, "")
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return file_name_words(path)


class _Reader:
    """One pass over the lines of one document."""

    def __init__(self, lines: Sequence[str], front: int, blocks: Outline, name: str) -> None:
        self.lines = lines
        self.front = front
        self.headings = {heading.line: heading for heading in blocks.headings}
        self.fences = dict(blocks.fences)
        self.tables = dict(blocks.tables)
        self.out: list[Statement] = []
        self.items: list[_Open] = []
        self.trail = _Trail(name)
        self.lead: _Open | None = None  # the paragraph ending in a colon that what stands below it is about
        self.lead_has_list = False

    def read(self) -> list[Statement]:
        at, total = 1, len(self.lines)
        if self.front:
            self.out.append(Statement(Form.FRONT_MATTER, 1, self.front))
            at = self.front + 1
        while at <= total:
            at = self._block(at) + 1
        return self.out

    def _block(self, at: int) -> int:
        """Read the block that begins at a line; the block's last line."""
        line = self.lines[at - 1]
        if not line or line.isspace():
            return self._blank(at)
        if at in self.headings:
            return self._heading(self.headings[at])
        if at in self.fences:
            return self._fence(at, min(self.fences[at], len(self.lines)))
        if at in self.tables:
            return self._table(at, min(self.tables[at], len(self.lines)))
        first = line.lstrip()[:1]
        if first == "<" and line.lstrip().startswith("<!--") and not line.lstrip().startswith("<!-- mem"):
            return self._comment(at)
        if first in "<[" and _MARKUP.match(line.strip()):
            return self._structure(Form.COMMENT, at, at)
        if first in "-*_" and _RULE.match(line):
            self.items.clear()
            self.lead = None
            return self._structure(Form.RULE, at, at)
        if first == ">":
            return self._quote(at)
        if first == "|":
            return self._row(at, ())
        item = None
        if first in "-*+•0123456789":
            item = _ITEM.match(line)
        if item:
            return self._item(at, item)
        return self._paragraph(at)

    # -- structure -------------------------------------------------------------------------------------------------

    def _structure(self, form: Form, first: int, last: int) -> int:
        if self.items and form is not Form.BLANK:
            parent = self.items[-1].position
        else:
            parent = -1
        self.out.append(Statement(form, first, last, heading=self.trail.line, parent=parent, under=self._under()))
        return last

    def _under(self) -> int:
        """The position of what the next statement is directly about, -1 where that is a heading or nothing."""
        if self.items:
            return self.items[-1].position
        if self.lead is not None:
            return self.lead.position
        return self.trail.bold

    def _blank(self, at: int) -> int:
        last = at
        while last < len(self.lines) and not self.lines[last].strip():
            last += 1
        return self._structure(Form.BLANK, at, last)

    def _heading(self, heading: Heading) -> int:
        self.items.clear()
        self.lead = None
        last = min(heading.last, len(self.lines))
        self.trail.enter(heading, len(self.out))
        text, meta = _joined([heading.text])
        self.out.append(Statement(
            Form.HEADING, heading.line, last, text, self.trail.outside(heading.level), meta=meta,
            heading=self.trail.line, day=self.trail.day, time=self.trail.time,
        ))  # fmt: skip
        return last

    def _comment(self, at: int) -> int:
        self._leave_items(_indent(self.lines[at - 1]))
        last = at
        while "-->" not in self.lines[last - 1] and last < len(self.lines):
            last += 1
        return self._structure(Form.COMMENT, at, last)

    # -- what says something -----------------------------------------------------------------------------------------

    def _says(
        self, form: Form, first: int, last: int, texts: Sequence[str], header: tuple[str, ...] = (), head: int = -1
    ) -> Statement:
        text, meta = (" ".join(" ".join(texts).split()), ()) if form is Form.CODE else _joined(texts)
        parents = [item.text for item in self.items]
        if self.lead is not None:
            parents.insert(0, self.lead.text)
        if self.items:
            parent = self.items[-1].position
        else:
            parent = -1
        made = Statement(
            form, first, last, text, self.trail.above, tuple(parents[-MAX_PARENTS:]), header, meta,
            self.trail.day, self.trail.time, self.trail.line, parent, head if head >= 0 else self._under(),
        )  # fmt: skip
        self.out.append(made)
        return made

    def _fence(self, first: int, last: int) -> int:
        self._leave_items(_indent(self.lines[first - 1]))
        self._says(Form.CODE, first, last, self.lines[first - 1 : last])
        return last

    def _table(self, first: int, last: int) -> int:
        self._leave_items(_indent(self.lines[first - 1]))
        header = tuple(cell for cell in _cells(self.lines[first - 1]) if cell)
        head = len(self.out)
        self._structure(Form.TABLE_HEAD, first, min(first + 1, last))
        for number in range(first + 2, last + 1):
            self._row(number, header, head)
        return last

    def _row(self, at: int, header: tuple[str, ...], head: int = -1) -> int:
        line = self.lines[at - 1]
        if not header and not line.strip(" \t|:-"):
            return self._structure(Form.TABLE_HEAD, at, at)
        self._leave_items(_indent(line))
        visible, _ = parse_comment(line)
        self._says(Form.ROW, at, at, [" | ".join(_cells(visible)) + line[len(visible) :]], header, head)
        return at

    def _quote(self, at: int) -> int:
        """Quoted lines up to one that quotes nothing: a paragraph of the quotation."""
        last = at
        self._leave_items(_indent(self.lines[at - 1]))
        if not _unquoted(self.lines[at - 1]):
            return self._structure(Form.BLANK, at, at)
        while last < len(self.lines) and not self._begins_block(last + 1):
            following = self.lines[last].lstrip()
            if not following.startswith(">") or not _unquoted(following):
                break
            last += 1
        texts = [_unquoted(line) for line in self.lines[at - 1 : last]]
        self._says(Form.QUOTE, at, last, texts)
        return last

    def _item(self, at: int, match: re.Match[str]) -> int:
        line = self.lines[at - 1]
        marker = _indent(line)
        while self.items and marker < self.items[-1].marker + 2:
            self.items.pop()
        if self.lead is not None and marker < self.lead.marker:
            self.lead = None
        last = self._last_wrapped(at, beyond=marker)
        texts = [line[match.end() :], *self.lines[at:last]]
        made = self._says(Form.ITEM, at, last, texts)
        self.items.append(_Open(marker, len(self.out) - 1, step(made.text)))
        self.lead_has_list = True
        return last

    def _paragraph(self, at: int) -> int:
        line = self.lines[at - 1]
        indent = _indent(line)
        self._leave_items(indent)
        last = self._last_wrapped(at)
        self.lead = None
        if at == last and not self.items and (title := _bold_title(line)):
            return self._heading(Heading(at, at, BOLD_LEVEL, title))
        made = self._says(Form.PARAGRAPH, at, last, self.lines[at - 1 : last])
        topic = made.text.strip("*_ ")
        if topic.endswith((":", "：")) and not self.items and topic.strip(":：*_ "):
            last_sentence = sentences(topic)[-1].strip(":：*_ ")
            self.lead_has_list = False
            self.lead = _Open(indent, len(self.out) - 1, step(last_sentence or topic.strip(":：*_ ")))
        return last

    def _leave_items(self, indent: int) -> None:
        """What begins at a column stands below the items whose text begins there or to its left."""
        while self.items and indent < self.items[-1].marker + 2:
            self.items.pop()
        if not self.items and self.lead_has_list:
            self.lead = None  # its list has ended

    def _last_wrapped(self, at: int, beyond: int = -1) -> int:
        """The last line of the text that begins at a line: every line after it that begins no block of its own.

        A metadata comment ends its statement. The wrapped lines of an item begin right of its marker (`beyond` its
        column). CommonMark takes a line at the margin into the item too; of 170 such lines in public memories nearly
        all say something else than the item.
        """
        last = at
        while (
            last < len(self.lines)
            and not self._begins_block(last + 1)
            and not _ends_with_metadata(self.lines[last - 1])
            and (beyond < 0 or _indent(self.lines[last]) > beyond)
        ):
            last += 1
        return last

    def _begins_block(self, at: int) -> bool:
        """Whether a line, below a line of text, begins something of its own (CommonMark: may interrupt a paragraph)."""
        line = self.lines[at - 1]
        bare = line.lstrip()
        if not bare or at in self.headings or at in self.fences or at in self.tables:
            return True
        first = bare[0]
        if first == ">":
            return not self.lines[at - 2].lstrip().startswith(">")
        if first == "<":
            return bare.startswith("<!--") and not bare.startswith("<!-- mem")
        if first == "|":
            return True
        if first in "-*_" and (_RULE.match(line) or _BOLD_LABEL.match(bare)):
            return True
        if first in "-*+•":
            return bool(_ITEM.match(line)) and bool(bare[1:].strip())
        if first.isdecimal() and (match := _ITEM.match(line)):
            return match[2][:-1] == "1" or bool(self.items) or self._numbered(at - 1)
        return False

    def _numbered(self, at: int) -> bool:
        """Whether the text that a line is part of began as a numbered item: the next number goes on with its list."""
        while at >= 1 and self.lines[at - 1].strip():
            if match := _ITEM.match(self.lines[at - 1]):
                return match[2][0].isdecimal()
            at -= 1
        return False


class _Trail:
    """The headings above the line that is being read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: list[tuple[Heading, str, str, str]] = []  # heading, topic, day, time
        self.above: tuple[str, ...] = (name,) if name else ()
        self.day = self.time = ""
        self.line = 0
        self.bold = -1  # position of the bold line that is the innermost heading, -1 where a real one is

    def enter(self, heading: Heading, position: int) -> None:
        """A heading of a level ends those of its own and of deeper ones; `position` is that of its statement."""
        while self.open and self.open[-1][0].level >= heading.level:
            self.open.pop()
        self.open.append((heading, *_day_time_topic(step(heading.text))))
        self.line = heading.line
        if heading.level == BOLD_LEVEL:
            self.bold = position
        else:
            self.bold = -1
        self.above = self._topics(self.open)
        self.day = next((day for _, _, day, _ in reversed(self.open) if day), "")
        self.time = next((time for _, _, _, time in reversed(self.open) if time), "")

    def outside(self, level: int) -> tuple[str, ...]:
        """What a heading of this level, the newest one, itself stands under."""
        return self._topics(self.open[:-1])

    def _topics(self, above: Iterable[tuple[Heading, str, str, str]]) -> tuple[str, ...]:
        if self.name:
            topics = [self.name]
        else:
            topics = []
        for _, topic, _, _ in above:
            if topic and (not topics or topic.casefold() != topics[-1].casefold()):
                topics.append(topic)
        return tuple(topics)


def _day_time_topic(heading: str) -> tuple[str, str, str]:
    """(topic, day, time) of a heading: `09:00 - visits` is about visits, `2026-02-05` about nothing but its day."""
    text, _ = parse_comment(heading)
    text = " ".join(text.replace("**", "").split())
    if _DAY.match(text):
        return "", text[:10].replace(".", "-").replace("/", "-"), ""
    timed = _TIMED.match(text)
    if timed:
        return ((timed[2] or "").strip(), "", timed[1])
    return (text, "", "")


def _bold_title(line: str) -> str:
    """The text of a bold line that serves as a heading: it is short and no sentence. "" for any other line."""
    match = _BOLD_LINE.match(line.strip())
    title = ""
    if match:
        title = match[2].strip(" :：")
    is_sentence = title.endswith((".", "!", "?", "。", "！", "？", "다"))
    if len(title) > LONGEST_BOLD_TITLE or is_sentence or "**" in title or "__" in title:
        return ""
    return title


def _joined(texts: Iterable[str]) -> tuple[str, Meta]:
    """Lines as one text without metadata comments, and the keys of these."""
    words: list[str] = []
    meta: Meta = ()
    for line in texts:
        if line.rstrip().endswith("-->"):
            line, own = parse_comment(line)
            meta += own
        words += line.split()
    text = " ".join(words)
    return (text if text.isascii() else unicodedata.normalize("NFC", text)), meta


def _ends_with_metadata(line: str) -> bool:
    return line.rstrip().endswith("-->") and parse_comment(line)[0] != line.rstrip()


def _cells(row: str) -> list[str]:
    parts = [part.strip() for part in _CELL.split(row.strip())]
    if parts and not parts[0]:
        parts.pop(0)
    if parts and not parts[-1]:
        parts.pop()
    return parts


def _unquoted(line: str) -> str:
    """A quoted line without its marks."""
    return _QUOTE.sub("", line, count=1).strip()


def _indent(line: str) -> int:
    """Columns of white space before a line's text."""
    text = line.lstrip(" ")
    if not text.startswith("\t"):
        return len(line) - len(text)
    wide = line.expandtabs(_SPACES_OF_TAB)
    return len(wide) - len(wide.lstrip())
