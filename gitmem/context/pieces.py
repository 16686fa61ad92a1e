"""Statements of a file as a context gives them: each whole, below the headings and items that say what it is about.

Pure. What a statement stands below is said once, however many statements follow it; metadata comments are not told.
`layout` gives Markdown again: a heading is a heading, a nested item is indented below its parent, a row has its header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gitmem.context.layer_limits import Count
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import parse_comment
from gitmem.memory.statements import BOLD_LEVEL, MAX_PARENTS, Form, Statement
from gitmem.paths import file_name_words
from gitmem.text.sentences import sentences

GOES_ON = "…"  # stands where a text was cut
TAB = 4  # columns
_TABLE = (Form.ROW, Form.TABLE_HEAD)


class Line(NamedTuple):
    """One line of a layout. `number`: its first line in the file, 0 for a name in the front matter. `level`: of a
    heading, 0 for anything else. `lead`: what stands before the text (white space, the mark of an item, `> `)."""

    number: int
    form: Form
    lead: str
    text: str
    level: int = 0


class Piece(NamedTuple):
    """A statement with what it stands below. `at`: its position among those of the file that say something. `above`:
    the headings, items, table head it stands below, from the outside in."""

    at: int
    statement: Statement
    above: tuple[Line, ...]
    own: Line

    @property
    def first(self) -> int:
        return self.statement.first

    @property
    def last(self) -> int:
        return self.statement.last

    @property
    def section(self) -> int:
        """The line of the nearest heading that it stands below, 0 without one."""
        return next((line.number for line in reversed(self.above) if line.level), 0)

    @property
    def said(self) -> str:
        """What it says, below its trail, as one text."""
        trail = " - ".join(self.statement.trail)
        if trail:
            return f"{trail}: {self.own.text}"
        return self.own.text


def pieces(document: Document) -> tuple[Piece, ...]:
    """What a document says, in order."""
    return tuple(_Reader(document).read(document.statements))


def pieces_of_text(text: str, heading: str = "") -> tuple[Piece, ...]:
    """What a text without a file says; `heading` is what it is known to stand below."""
    found = pieces(parse(text.encode("utf-8", "replace")))
    if not heading:
        return found
    above = Line(0, Form.HEADING, "# ", heading, 1)
    return tuple(
        piece._replace(
            statement=piece.statement._replace(above=(heading, *piece.statement.above)), above=(above, *piece.above)
        )
        for piece in found
    )


class _Reader:
    """One pass over the statements of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = document.lines
        self.levels = {heading.line: heading.level for heading in document.headings}
        self.headings: list[Line] = []
        self.own: dict[int, Line] = {}  # position of a statement or a table's head -> its line

    def read(self, found: Sequence[Statement]) -> Iterable[Piece]:
        title = self._title(found)
        at = 0
        for position, statement in enumerate(found):
            if statement.form is Form.HEADING:
                self._enter(statement)
            elif statement.form is Form.TABLE_HEAD:
                self.own[position] = self._table_head(statement)
            elif statement.says and statement.text:
                below = self._below(statement, found)
                own = self.own[position] = self._own(statement, below)
                yield Piece(at, statement, (*title, *self.headings, *below), own)
                at += 1

    def _title(self, found: Sequence[Statement]) -> tuple[Line, ...]:
        """The name that the front matter gives the note, where neither its path nor its first heading has it."""
        name = next((str(value) for key in ("title", "name") if (value := self.document.front_matter.get(key))), "")
        name = " ".join(name.split())
        first = next((statement.text for statement in found if statement.form is Form.HEADING), "")
        known = {first.casefold(), file_name_words(self.document.path).casefold()}
        if name and name.casefold() not in known:
            return (Line(0, Form.HEADING, "# ", name, 1),)
        return ()

    def _enter(self, statement: Statement) -> None:
        level = self.levels.get(statement.first, BOLD_LEVEL)
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        text = "\n".join(map(without_metadata, self.lines[statement.first - 1 : statement.last])).strip()
        self.headings.append(Line(statement.first, Form.HEADING, "", text, level))

    def _table_head(self, statement: Statement) -> Line:
        text = without_metadata(self.lines[statement.first - 1]).strip()
        columns = max(1, text.strip("|").count("|") + 1)
        return Line(statement.first, Form.TABLE_HEAD, "", f"{text}\n|{'---|' * columns}")

    def _below(self, statement: Statement, found: Sequence[Statement]) -> tuple[Line, ...]:
        """The items, the line ending in a colon and the table's head that a statement stands below."""
        lines: list[Line] = []
        under = statement.under
        while under >= 0 and found[under].form is not Form.HEADING:
            if (line := self.own.get(under)) is not None:
                lines.append(line)
            under = found[under].under
        return tuple(reversed(lines[:MAX_PARENTS]))

    def _own(self, statement: Statement, below: Sequence[Line]) -> Line:
        items = [line for line in below if line.form is Form.ITEM]
        indent = ""
        if items:
            indent = " " * len(items[-1].lead)
        first = self.lines[statement.first - 1]
        text, lead = statement.text, indent
        if statement.form is Form.ITEM:
            lead += first.split(maxsplit=1)[0] + " "
        elif statement.form is Form.QUOTE:
            lead += "> "
        elif statement.form is Form.ROW:
            text = without_metadata(first).strip()
        elif statement.form is Form.CODE:
            lines = [line.expandtabs(TAB) for line in self.lines[statement.first - 1 : statement.last]]
            own = [line[min(_indent(lines[0]), _indent(line)) :] for line in lines]
            text, lead = "\n".join(indent + line for line in own), ""
        return Line(statement.first, statement.form, lead, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def without_metadata(line: str) -> str:
    """A line without the comment that is metadata."""
    if line.rstrip().endswith("-->"):
        return parse_comment(line)[0]
    return line


_NOTHING: Mapping[int, str] = MappingProxyType({})


def layout(
    found: Iterable[Piece], before: Mapping[int, str] = _NOTHING, after: Mapping[int, str] = _NOTHING, known: int = 0
) -> str:
    """Pieces as Markdown, in the order given: what one stands below is repeated where the piece before it stands
    elsewhere. `before` and `after`: what stands before the text of the statement of a line, and on a line after it.
    The `known` outermost lines of each are left out."""
    rows: list[str] = []
    open_: tuple[Line, ...] = ()
    for piece in found:
        way = (*piece.above, piece.own)
        same = _shared(open_, way)
        if same == len(way):
            continue  # another piece stands below it, and it was said there
        if same < len(open_) and open_[same].level and not way[same].level:
            # it leaves a section for what stands before that section's heading
            same = next((at for at in range(same - 1, -1, -1) if way[at].level), 0)
        last = None
        if open_:
            last = open_[-1]
        for line in way[max(same, known) :]:
            if last is not None and rows and _apart(last, line):
                rows.append("")
            rows.append(line.lead + before.get(line.number, "") + line.text)
            last = line
        if piece.first in after:
            rows.append(after[piece.first])
        open_ = way
    return "\n".join(rows)


def _shared(a: Sequence[Line], b: Sequence[Line]) -> int:
    """How many of the first lines are the same."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _apart(one: Line, other: Line) -> bool:
    """Whether an empty line belongs between two lines: without it Markdown would take them for one block."""
    if one.level:
        return False
    if other.level:
        return True
    if other.form is Form.ITEM:
        return one.form not in (Form.ITEM, Form.PARAGRAPH)
    return not (one.form in _TABLE and other.form in _TABLE)


def sections(found: Iterable[tuple[Piece, float]]) -> list[Piece]:
    """Pieces with how relevant each is, below one heading together and in the file's order there: what stands below
    no heading first, then the section of the most relevant one. Each piece is there once."""
    best: dict[int, float] = {}
    own: dict[int, dict[int, Piece]] = {}
    for piece, relevance in found:
        best[piece.section] = max(relevance, best.get(piece.section, relevance))
        own.setdefault(piece.section, {})[piece.at] = piece
    order = sorted(own, key=lambda section: (section != 0, -best[section], section))
    return [own[section][at] for section in order for at in sorted(own[section])]


def trail(found: Sequence[Piece]) -> tuple[str, ...]:
    """What all of the pieces are about: the beginning that their trails share."""
    if not found:
        return ()
    first, *others = (piece.statement.trail for piece in found)
    shared = len(first)
    for other in others:
        shared = next((at for at in range(min(shared, len(other))) if first[at] != other[at]), min(shared, len(other)))
    return first[:shared]


def content(found: Sequence[Piece]) -> str:
    """What the pieces say below the lines that they all stand below: of one piece its text alone, as a fact's."""
    if len(found) == 1:
        only = found[0]
        if only.own.form is Form.ROW:
            return only.statement.text
        return only.own.text
    shared = min((_shared(found[0].above, piece.above) for piece in found[1:]), default=0)
    return layout(found, known=shared)


def touched(found: Sequence[Piece], first: int, last: int) -> list[Piece]:
    """The pieces that lines belong to; of lines that are a heading what stands below it."""
    own = [piece for piece in found if piece.first <= last and piece.last >= first]
    return own or [piece for piece in found if any(first <= line.number <= last for line in piece.above)]


def within(found: Sequence[Piece], budget: int, count: Count, most: int = 0) -> list[Piece]:
    """As many pieces from the first on as the budget takes (0: all); the first one whatever it takes, but no more than
    `most` tokens (0: no bound): one larger than that, a pasted book, ends after a sentence.

    How long a text may be is a matter of what it says, not of what it costs: a syllable of Hangul, Kana or Han is one
    token here, whatever `count` fears it takes.
    """
    if not budget or not found:
        return list(found)
    text = "\n".join(piece.own.text for piece in found)
    wide = sum(1 for character in text if character >= "\u1100")
    budget += budget * wide // (2 * max(1, len(text)))
    kept: list[Piece] = []
    left = budget
    for piece in found:
        left -= count(piece.own.text)
        if kept and left < 0:
            break
        kept.append(piece)
    if most and count(kept[0].own.text) > max(most, budget):
        kept = [kept[0]._replace(own=kept[0].own._replace(text=_first_sentences(kept[0], budget, count)))]
    return kept


def _first_sentences(piece: Piece, budget: int, count: Count) -> str:
    """The beginning of what a piece says, whole sentences where the first fits, and a mark that it goes on."""
    kept = ""
    for sentence in sentences(piece.own.text[: 8 * budget]):
        if kept and count(f"{kept} {sentence}") > budget:
            break
        kept = f"{kept} {sentence}".strip()
    if count(kept) > budget:
        return cut(kept, budget, count)
    return f"{kept} {GOES_ON}"


def cut(line: str, budget: int, count: Count) -> str:
    """The beginning of a line that takes so many tokens at most, at a word where there is one, with an ellipsis."""
    end = len(line)
    while end > 1 and count(line[:end]) > max(1, budget - 3):
        end = min(end - 1, end * max(1, budget - 3) // count(line[:end]))
    head = line[:end]
    return (head.rsplit(" ", 1)[0] if " " in head[end // 2 :] else head) + " ..."
