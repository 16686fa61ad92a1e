"""The statements of a file as a context shows them: each whole, below its headings, parent items and table header.

A heading or parent is shown once, however many statements follow it. Metadata comments are left out. `layout` returns
Markdown: nested items are indented below their parents, and rows stand below their header. Pure.
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

GOES_ON = "…"  # stands at the end of a text that was cut
TAB = 4  # columns of a tab
_TABLE = (Form.ROW, Form.TABLE_HEAD)


class Line(NamedTuple):
    """One line of a layout. `number`: its line in the file, 0 for a name from the front matter. `lead`: white space,
    list marker or `> ` before the text. `level`: of a heading, 0 for anything else."""

    number: int
    form: Form
    lead: str
    text: str
    level: int = 0


class Piece(NamedTuple):
    """A statement and the lines above it. `at`: its position among the statements of the file. `above`: its headings,
    parent items and table header, outermost first. `own`: its own line."""

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
        """The line of its nearest heading, 0 without one."""
        return next((line.number for line in reversed(self.above) if line.level), 0)

    @property
    def said(self) -> str:
        """Its trail and its text as one text."""
        trail = " - ".join(self.statement.trail)
        if trail:
            return f"{trail}: {self.own.text}"
        return self.own.text


def pieces(document: Document) -> tuple[Piece, ...]:
    """The statements of a document, in order."""
    return tuple(_Reader(document).read(document.statements))


def pieces_of_text(text: str, heading: str = "") -> tuple[Piece, ...]:
    """The statements of a text without a file. `heading`: the heading above it, "" for none."""
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
        self.own: dict[int, Line] = {}  # position of a statement or a table header -> its line

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
        """The note's name in its front matter as a heading, unless its path or its first heading says the same."""
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
        """The parent items, the introducing line that ends in a colon, and the table header of a statement."""
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
    """A line without its metadata comment."""
    if line.rstrip().endswith("-->"):
        return parse_comment(line)[0]
    return line


_NOTHING: Mapping[int, str] = MappingProxyType({})


def layout(
    found: Iterable[Piece], before: Mapping[int, str] = _NOTHING, after: Mapping[int, str] = _NOTHING, known: int = 0
) -> str:
    """The pieces as Markdown, in the order given. Headings and parents are repeated where the piece before has others.

    `before`: line of a statement -> text before it. `after`: line of a statement -> text on a line after it. `known`:
    how many of the outermost lines above each piece are left out.
    """
    rows: list[str] = []
    open_: tuple[Line, ...] = ()
    for piece in found:
        way = (*piece.above, piece.own)
        same = _shared(open_, way)
        if same == len(way):
            continue  # it was shown already, above another piece
        if same < len(open_) and open_[same].level and not way[same].level:
            # the piece belongs to a wider section, whose heading must be shown again
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
    """The number of leading lines that both have in common."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _apart(one: Line, other: Line) -> bool:
    """Whether an empty line is needed between two lines, so that Markdown does not join them to one block."""
    if one.level:
        return False
    if other.level:
        return True
    if other.form is Form.ITEM:
        return one.form not in (Form.ITEM, Form.PARAGRAPH)
    return not (one.form in _TABLE and other.form in _TABLE)


def sections(found: Iterable[tuple[Piece, float]]) -> list[Piece]:
    """The pieces by section, each once. `found`: (piece, relevance).

    Pieces below no heading come first, then sections by their most relevant piece; in a section the order is that of
    the file.
    """
    best: dict[int, float] = {}
    own: dict[int, dict[int, Piece]] = {}
    for piece, relevance in found:
        best[piece.section] = max(relevance, best.get(piece.section, relevance))
        own.setdefault(piece.section, {})[piece.at] = piece
    order = sorted(own, key=lambda section: (section != 0, -best[section], section))
    return [own[section][at] for section in order for at in sorted(own[section])]


def trail(found: Sequence[Piece]) -> tuple[str, ...]:
    """The steps that the trails of all pieces have in common, from the outside in."""
    if not found:
        return ()
    first, *others = (piece.statement.trail for piece in found)
    shared = len(first)
    for other in others:
        shared = next((at for at in range(min(shared, len(other))) if first[at] != other[at]), min(shared, len(other)))
    return first[:shared]


def content(found: Sequence[Piece]) -> str:
    """The pieces as Markdown without the lines above that all of them share; of a single piece its text alone."""
    if len(found) == 1:
        only = found[0]
        if only.own.form is Form.ROW:
            return only.statement.text
        return only.own.text
    shared = min((_shared(found[0].above, piece.above) for piece in found[1:]), default=0)
    return layout(found, known=shared)


def touched(found: Sequence[Piece], first: int, last: int) -> list[Piece]:
    """The pieces of lines `first` to `last`; if these are a heading, the pieces below it."""
    own = [piece for piece in found if piece.first <= last and piece.last >= first]
    return own or [piece for piece in found if any(first <= line.number <= last for line in piece.above)]


def within(found: Sequence[Piece], budget: int, count: Count, most: int = 0) -> list[Piece]:
    """The first pieces that fit `budget` tokens, 0 for all; at least the first one.

    `most`: a first piece of more tokens (and more than the budget) is cut after a sentence; 0 for no limit. The budget
    grows with the share of Hangul, Kana and Han, whose syllables `count` may overestimate.
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
    """The first sentences of a piece that fit, and the mark GOES_ON; a first sentence that does not fit is cut."""
    kept = ""
    for sentence in sentences(piece.own.text[: 8 * budget]):
        if kept and count(f"{kept} {sentence}") > budget:
            break
        kept = f"{kept} {sentence}".strip()
    if count(kept) > budget:
        return cut(kept, budget, count)
    return f"{kept} {GOES_ON}"


def cut(line: str, budget: int, count: Count) -> str:
    """The beginning of a line with at most `budget` tokens, cut at a word if possible, and an ellipsis."""
    end = len(line)
    while end > 1 and count(line[:end]) > max(1, budget - 3):
        end = min(end - 1, end * max(1, budget - 3) // count(line[:end]))
    head = line[:end]
    return (head.rsplit(" ", 1)[0] if " " in head[end // 2 :] else head) + " ..."
