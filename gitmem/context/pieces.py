"""Turns the statements of a file into pieces, and pieces into Markdown, as a context shows them.

A piece is one whole statement with the headings, parent items and table header above it.

`as_markdown` shows a heading or parent item once, however many pieces follow it, indents nested items below their
parents, and puts rows below their table header. Metadata comments are left out. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gitmem.context.layer_limits import Count
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import ABOUT, parse_comment
from gitmem.memory.statements import BOLD_LEVEL, MAX_PARENTS, Form, Statement
from gitmem.paths import file_name_words
from gitmem.text.sentences import sentences

ELLIPSIS = "…"  # ends a text that was cut
TAB = 4  # columns of a tab
MAX_COMPARED = 100  # pieces among which those that fit a budget are chosen
_TABLE = (Form.ROW, Form.TABLE_HEAD)


class LayoutLine(NamedTuple):
    """One line of the Markdown of a piece. `number`: its line in the file, 0 for a name from the front matter. `form`:
    the kind of Markdown block. `lead`: white space, list marker or `> ` before `text`. `level`: of a heading, 0 for any
    other line. `about`: the key of that name in the comment of a statement, shown before its text; else ""."""

    number: int
    form: Form
    lead: str
    text: str
    level: int = 0
    about: str = ""

    @property
    def shown(self) -> str:
        """The text with `about` before it: `Falcon: the port is 8080`."""
        return f"{self.about}: {self.text}" if self.about else self.text


class Piece(NamedTuple):
    """A statement and the lines above it. `position`: its number among the pieces of the file, from 0. `above`: its
    headings, parent items and table header, outermost first. `own`: its own line."""

    position: int
    statement: Statement
    above: tuple[LayoutLine, ...]
    own: LayoutLine

    @property
    def first(self) -> int:
        return self.statement.first

    @property
    def last(self) -> int:
        return self.statement.last

    @property
    def section(self) -> int:
        """The line number of the nearest heading above; 0 without a heading."""
        return next((line.number for line in reversed(self.above) if line.level), 0)

    @property
    def text_with_trail(self) -> str:
        """The trail of the statement and its text as one text, `Deployment - Staging: The port is 8080`."""
        trail = " - ".join(self.statement.trail)
        if trail:
            return f"{trail}: {self.own.text}"
        return self.own.text


def pieces(document: Document) -> tuple[Piece, ...]:
    """The pieces of a document in order, one for each statement that is not a heading or a table header."""
    return tuple(_Reader(document).read(document.statements))


def pieces_of_text(text: str, heading: str = "") -> tuple[Piece, ...]:
    """The pieces of a text that is in no file. `heading`: a heading that is put above each of them, "" for none."""
    without_heading = pieces(parse(text.encode("utf-8", "replace")))
    if not heading:
        return without_heading
    above = LayoutLine(0, Form.HEADING, "# ", heading, 1)
    return tuple(
        piece._replace(
            statement=piece.statement._replace(above=(heading, *piece.statement.above)), above=(above, *piece.above)
        )
        for piece in without_heading
    )


class _Reader:
    """One pass over the statements of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = document.lines
        self.levels = {heading.line: heading.level for heading in document.headings}
        self.headings: list[LayoutLine] = []
        self.own: dict[int, LayoutLine] = {}  # position of a statement or a table header -> its line

    def read(self, statements: Sequence[Statement]) -> Iterable[Piece]:
        """Yield the pieces of all statements of the document, in order. Fills `self.own` on the way: position of a
        statement or a table's header -> its line."""
        title = self._title(statements)
        index = 0
        for position, statement in enumerate(statements):
            if statement.form is Form.HEADING:
                self._enter(statement)
            elif statement.form is Form.TABLE_HEAD:
                self.own[position] = self._table_head(statement)
            elif statement.has_content and statement.text:
                below = self._below(statement, statements)
                own = self.own[position] = self._own(statement, below)
                yield Piece(index, statement, (*title, *self.headings, *below), own)
                index += 1

    def _title(self, statements: Sequence[Statement]) -> tuple[LayoutLine, ...]:
        """The note's name in its front matter as a heading, () if it names none, or if its path or its first heading
        says the same."""
        front_matter = self.document.front_matter
        name = " ".join(str(front_matter.get("title") or front_matter.get("name") or "").split())
        first = next((statement.text for statement in statements if statement.form is Form.HEADING), "")
        stated_names = {first.casefold(), file_name_words(self.document.path).casefold()}
        if name and name.casefold() not in stated_names:
            return (LayoutLine(0, Form.HEADING, "# ", name, 1),)
        return ()

    def _enter(self, statement: Statement) -> None:
        """Begin the section of a heading: drop the headings of its level or below from `headings`, and add it."""
        level = self.levels.get(statement.first, BOLD_LEVEL)
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        text = "\n".join(map(without_metadata, self.lines[statement.first - 1 : statement.last])).strip()
        self.headings.append(LayoutLine(statement.first, Form.HEADING, "", text, level))

    def _table_head(self, statement: Statement) -> LayoutLine:
        """The header of a table with its delimiter row."""
        text = without_metadata(self.lines[statement.first - 1]).strip()
        columns = max(1, text.strip("|").count("|") + 1)
        return LayoutLine(statement.first, Form.TABLE_HEAD, "", f"{text}\n|{'---|' * columns}")

    def _below(self, statement: Statement, statements: Sequence[Statement]) -> tuple[LayoutLine, ...]:
        """The parent items, the introducing line that ends in a colon, and the table header of a statement, outermost
        first; headings are not among them."""
        lines: list[LayoutLine] = []
        parent = statement.under
        while parent is not None and statements[parent].form is not Form.HEADING:
            if (line := self.own.get(parent)) is not None:
                lines.append(line)
            parent = statements[parent].under
        return tuple(reversed(lines[:MAX_PARENTS]))

    def _own(self, statement: Statement, below: Sequence[LayoutLine]) -> LayoutLine:
        """The line of a statement itself, indented below its parent items in `below`."""
        items = [line for line in below if line.form is Form.ITEM]
        indent = " " * len(items[-1].lead) if items else ""
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
            dedented = [line[min(_indent(lines[0]), _indent(line)) :] for line in lines]
            text, lead = "\n".join(indent + line for line in dedented), ""
        return LayoutLine(statement.first, statement.form, lead, text, about=statement.get(ABOUT))


def _indent(line: str) -> int:
    """The number of spaces at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))


def without_metadata(line: str) -> str:
    """A line without the metadata comment (`<!-- key=value -->`) at its end."""
    return parse_comment(line)[0] if line.rstrip().endswith("-->") else line


_NOTHING: Mapping[int, str] = MappingProxyType({})


def as_markdown(
    chosen: Iterable[Piece], before: Mapping[int, str] = _NOTHING, after: Mapping[int, str] = _NOTHING, omitted: int = 0
) -> str:
    """The pieces as Markdown, in the order given; "" for none, and no newline at the end. Headings and parents are
    shown again if the piece before has others. A piece that the one before it has shown as its parent is left out, with
    its text of `after`.

    `before`: line number of a statement -> text before it. `after`: line number of a statement -> text on a line after
    it. `omitted`: number of the outermost lines above each piece that are left out.
    """
    rows: list[str] = []
    open_: tuple[LayoutLine, ...] = ()
    for piece in chosen:
        path = (*piece.above, piece.own)
        shared = _shared_beginning(open_, path)
        if shared == len(path):
            continue  # it was shown already, above another piece
        if shared < len(open_) and open_[shared].level and not path[shared].level:
            # the piece belongs to a wider section, whose heading must be shown again
            shared = next((index for index in range(shared - 1, -1, -1) if path[index].level), 0)
        previous = open_[-1] if open_ else None
        for line in path[max(shared, omitted) :]:
            if previous is not None and rows and _needs_empty_line(previous, line):
                rows.append("")
            rows.append(line.lead + before.get(line.number, "") + line.shown)
            previous = line
        if piece.first in after:
            rows.append(after[piece.first])
        open_ = path
    return "\n".join(rows)


def _shared_beginning(a: Sequence[LayoutLine], b: Sequence[LayoutLine]) -> int:
    """The number of lines at the beginning that are equal in both sequences."""
    return next((index for index, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _needs_empty_line(upper: LayoutLine, lower: LayoutLine) -> bool:
    """Whether Markdown needs an empty line between two lines, so that it does not join them to one block."""
    if upper.level:
        return False
    if lower.level:
        return True
    if lower.form is Form.ITEM:
        return upper.form not in (Form.ITEM, Form.PARAGRAPH)
    return not (upper.form in _TABLE and lower.form in _TABLE)


def by_section(scored: Iterable[tuple[Piece, float]]) -> list[Piece]:
    """The pieces ordered by section, each once. `scored`: (piece, relevance).

    Pieces below no heading come first, then sections by their most relevant piece; in a section the order is that of
    the file.
    """
    best: dict[int, float] = {}
    by_position: dict[int, dict[int, Piece]] = {}
    for piece, relevance in scored:
        best[piece.section] = max(relevance, best.get(piece.section, relevance))
        by_position.setdefault(piece.section, {})[piece.position] = piece
    order = sorted(by_position, key=lambda section: (section != 0, -best[section], section))
    return [by_position[section][position] for section in order for position in sorted(by_position[section])]


def shared_trail(selected: Sequence[Piece]) -> tuple[str, ...]:
    """The beginning that the trails of all pieces have in common, outermost first; empty for no pieces."""
    if not selected:
        return ()
    trail, *other_trails = (piece.statement.trail for piece in selected)
    for other_trail in other_trails:
        while trail != other_trail[: len(trail)]:
            trail = trail[:-1]
    return trail


def short_markdown(selected: Sequence[Piece]) -> str:
    """The pieces as Markdown without the headings and parents that all of them share; for a single piece its text."""
    if len(selected) == 1:
        only = selected[0]
        if only.own.form is Form.ROW:
            return only.statement.text
        return only.own.shown
    shared = min((_shared_beginning(selected[0].above, piece.above) for piece in selected[1:]), default=0)
    return as_markdown(selected, omitted=shared)


def pieces_at(candidates: Sequence[Piece], first: int, last: int) -> list[Piece]:
    """The pieces that touch lines `first` to `last`; if there are none, the pieces with a heading or parent in these
    lines."""
    touching = [piece for piece in candidates if piece.first <= last and piece.last >= first]
    return touching or [piece for piece in candidates if any(first <= line.number <= last for line in piece.above)]


def first_fitting(
    candidates: Sequence[Piece],
    budget: int,
    count: Count,
    max_tokens: int = 0,
    weight: Callable[[str], float] | None = None,
) -> list[Piece]:
    """Pieces that follow each other and fit `budget` tokens, at least one; all pieces for a budget of 0.

    `weight`: how much a text answers; the pieces are those with the most of it among the first MAX_COMPARED, without
    `weight` the first of all. `max_tokens`: if the first of these pieces has more tokens than this and than the budget,
    only it is returned, cut to its sentences with the most weight; 0 for no cut. The budget grows with the share of
    Hangul, Kana and Han in the text, because `count` may overestimate their tokens.
    """
    if not budget or not candidates:
        return list(candidates)
    text = "\n".join(piece.own.text for piece in candidates)
    wide = sum(1 for character in text if character >= "\u1100")
    budget += budget * wide // (2 * max(1, len(text)))
    sizes: list[int] = []
    for piece in candidates[: MAX_COMPARED if weight else None]:
        if not weight and sum(sizes) > budget:
            break
        sizes.append(count(piece.own.text))
    weights = [weight(piece.own.text) for piece in candidates[: len(sizes)]] if weight and sum(sizes) > budget else []
    first, end = _best_run(sizes, budget, weights)
    if max_tokens and sizes[first] > max(max_tokens, budget):
        oversized = candidates[first]
        return [oversized._replace(own=oversized.own._replace(text=_best_sentences(oversized, budget, count, weight)))]
    return list(candidates[first:end])


def _best_run(sizes: Sequence[int], budget: int, weights: Sequence[float]) -> tuple[int, int]:
    """(first, end) of the run of texts that fits the budget and has the most weight, the first of equal ones. A run has
    at least one text. `sizes`: tokens of each text. `weights`: of each text, empty for no weights."""
    best, best_weight, end, used = (0, 0), -1.0, 0, 0
    for first in range(len(sizes)):
        while end < len(sizes) and (end <= first or used + sizes[end] <= budget):
            used += sizes[end]
            end += 1
        total = sum(weights[first:end])
        if total > best_weight:
            best, best_weight = (first, end), total
        if end == len(sizes) or not weights:
            break
        used -= sizes[first]
    return best


def _best_sentences(piece: Piece, budget: int, count: Count, weight: Callable[[str], float] | None) -> str:
    """The sentences of a piece around the one with the most weight that fit `budget` tokens, with ELLIPSIS where others
    are left out. A sentence that does not fit is cut."""
    text = piece.own.text
    if weight is None:
        text = text[: 8 * budget]
    parts = [part for sentence in sentences(text) for part in _short_parts(sentence, budget, count)]
    sizes = [count(f" {part}") for part in parts]
    best = 0
    if weight is not None:
        weights = [weight(part) for part in parts]
        sums = [sum(weights[max(0, index - 1) : index + 2]) + weights[index] for index in range(len(parts))]
        best = sums.index(max(sums))
    first, end, remaining_tokens = best, best + 1, budget - sizes[best]
    if first and sizes[first - 1] <= remaining_tokens:  # the sentence before it says of whom it speaks
        first, remaining_tokens = first - 1, remaining_tokens - sizes[first - 1]
    while end < len(parts) and sizes[end] <= remaining_tokens:
        end, remaining_tokens = end + 1, remaining_tokens - sizes[end]
    while first and sizes[first - 1] <= remaining_tokens:
        first, remaining_tokens = first - 1, remaining_tokens - sizes[first - 1]
    before = ELLIPSIS if first else ""
    after = ELLIPSIS if end < len(parts) or len(text) < len(piece.own.text) else ""
    return " ".join(filter(None, [before, *parts[first:end], after]))


def _short_parts(sentence: str, budget: int, count: Count) -> list[str]:
    """A sentence, or its parts of at most half of `budget` tokens if it has more than `budget`."""
    if len(sentence) <= budget // 2 or count(sentence) <= budget:
        return [sentence]
    parts = [""]
    width = max(1, budget // 3)  # characters: also where each is a token and a half
    for word in re.findall(r"\S+\s*", sentence):
        for start in range(0, len(word), width):
            if len(parts[-1]) + len(word[start : start + width]) > width and parts[-1]:
                parts.append("")
            parts[-1] += word[start : start + width]
    return [part.strip() for part in parts]


def shorten(line: str, budget: int, count: Count) -> str:
    """The beginning of a line with at most `budget` tokens, cut between words if possible, and ` ...`. `line` must have
    more tokens than `budget`: the last word of a shorter line is cut off too."""
    end = len(line)
    while end > 1 and count(line[:end]) > max(1, budget - 3):
        end = min(end - 1, end * max(1, budget - 3) // count(line[:end]))
    head = line[:end]
    return (head.rsplit(" ", 1)[0] if " " in head[end // 2 :] else head) + " ..."
