"""Find the headings, fences and tables of Markdown lines, each with its exact lines.

Pure; no input makes it raise. Only block structure is parsed, nothing inside a line. Most memory files are plain enough
for one pass of `_plain`; all others go through markdown-it-py. A property test checks that both give the same result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from gitmem.fences import closes_fence, opening_fence
from gitmem.lazy_patterns import lazy

BYTE_ORDER_MARK = "\ufeff"
MAX_PARSED_CHARS = 256 << 10  # markdown-it-py parses no longer text: it would take seconds
MAX_MARKER_CHARS = 64  # `>`, `-`, `*`, `+` and white space before a line's text, for markdown-it-py to parse it


class Heading(NamedTuple):
    """A heading. `line`: its first line. `last`: its last line, for a Setext heading the underline. `level`: 1 to 6."""

    line: int
    last: int
    level: int
    text: str


class Outline(NamedTuple):
    """The blocks of a text in order; a fence or table is (first line, last line).

    `exact`: False if the text was not plain and too long or too deeply nested to be parsed; the blocks are then those
    that one pass found.
    """

    headings: tuple[Heading, ...] = ()
    fences: tuple[tuple[int, int], ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    exact: bool = True


_ATX = lazy(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_DELIMITER = lazy(r"\|[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|[ ]*$")
# An indented line that may open a block. Like quotes, HTML blocks, tabs, Setext underlines and delimiter rows without a
# pipe at their start it needs markdown-it-py.
_INDENTED = lazy(r"[ ]+(?:#|`{3}|~{3}|\||>|<|=|-+[ ]*$)")
# A quoted line of text, or a comment that ends on its own line: neither changes how the next line is read.
_PLAIN_QUOTE = lazy(r"> ?(?:[^\W\d_]|\*{1,2}[^\W_]|\[|`[^`])|<!--(?!-?>).*-->[ ]*$")
# A line of text or a list item that opens no other block: nearly every line of a memory file.
_PROSE = lazy(r"(?:[-*] )?[^\s#`~|<>=*+\-0-9][^|\t]*$")
_MARKER = lazy(r"[ ]*(?:(?:[-*+>]|\d{1,9}[.)])[ ]*)+(?:#|`{3}|~{3}|<|\|)")  # a list item that opens a block


def without_byte_order_mark(lines: Sequence[str]) -> Sequence[str]:
    """The lines of a file without the byte-order mark that some editors write before the first one; it is no part of
    Markdown, and a heading or an item behind it is one."""
    if lines and lines[0].startswith(BYTE_ORDER_MARK):
        return [lines[0].removeprefix(BYTE_ORDER_MARK), *lines[1:]]
    return lines


def outline(lines: Sequence[str], front: int = 0) -> Outline:
    """The headings, fences and tables of a file's lines. `front`: the number of the line that closes the front matter;
    blocks begin after it."""
    lines = without_byte_order_mark(lines)
    plain = _plain(lines, front)
    if plain is not None:
        return plain
    if sum(map(len, lines)) <= MAX_PARSED_CHARS and not any(_is_deeply_nested(line) for line in lines):
        return _exact(lines, front)
    return _plain(lines, front, must_be_exact=False) or Outline(exact=False)


def _is_deeply_nested(line: str) -> bool:
    """Whether a line opens more lists and quotes than a person writes: markdown-it-py is slow then (docs/threats.md,
    A23)."""
    return len(line) - len(line.lstrip("> \t-*+")) > MAX_MARKER_CHARS


def _plain(lines: Sequence[str], front: int, must_be_exact: bool = True) -> Outline | None:
    """Find the blocks in one pass without a parser. None for a document that needs one, if the result
    `must_be_exact`."""
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []
    fence_mark, fence_start = "", 0  # the mark of the open fence, "" without one, and its first line
    table_start = 0  # the first line of the open table, 0 without one
    outside_paragraph = True  # no paragraph is open
    for number, (line, following) in enumerate(zip(lines[front:], [*lines[front + 1 :], ""], strict=False), front + 1):
        if not (fence_mark or table_start) and _PROSE.match(line):
            outside_paragraph = False
            continue
        if fence_mark:
            if closes_fence(line, fence_mark) and _indent(line) < 4:
                fences.append((fence_start, number))
                fence_mark, outside_paragraph = "", True
            continue
        first_char = line[:1]
        if line.isspace():
            first_char = ""
        if not first_char and must_be_exact and line.strip(" \t"):
            return None  # white space other than spaces and tabs: CommonMark does not call the line blank
        if table_start and first_char != "|":
            if first_char and must_be_exact and not (first_char == "#" and _ATX.match(line)):
                return None
            tables.append((table_start, number - 1))
            table_start, outside_paragraph = 0, True
        if not first_char:
            outside_paragraph = True
            continue
        if first_char == "#" and (match := _ATX.match(line)):
            headings.append(Heading(number, number, len(match[1]), _heading_text(match[2])))
            outside_paragraph = True
            continue
        if first_char in "`~" and (fence_mark := opening_fence(line)):
            fence_start = number
            continue
        if first_char == "|":
            if table_start:
                continue
            if outside_paragraph and _is_table(line, following):
                table_start = number
                continue
            if must_be_exact and _may_delimit(following):
                return None
        elif must_be_exact and first_char not in "#`~" and _needs_parser(line, outside_paragraph, following):
            return None
        outside_paragraph = False
    if fence_mark:
        fences.append((fence_start, len(lines)))
    if table_start:
        tables.append((table_start, len(lines)))
    return Outline(tuple(headings), tuple(fences), tuple(tables), must_be_exact)


def _is_table(head: str, delimiter: str) -> bool:
    """Whether two lines begin a table."""
    return _may_delimit(delimiter) and bool(_DELIMITER.match(delimiter)) and _cells(head) == _cells(delimiter)


def _indent(line: str) -> int:
    """Columns of white space before a line's text."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def _needs_parser(line: str, outside_paragraph: bool, following: str) -> bool:
    """Whether a line that opens no heading, fence or table may open a block that only a parser can recognise.

    `outside_paragraph`: no paragraph is open before the line. `following`: the next line, which may make the line a
    table's head.
    """
    first_char = line[0]
    if first_char in "><" and not _PLAIN_QUOTE.match(line):
        return True
    if first_char in "\t\v\f" or ("\t" in line and not _tabs_inside(line)):
        return True
    if first_char == "=" and not outside_paragraph:
        return True
    if first_char == "-" and not outside_paragraph and not line.strip("- "):
        return True
    if first_char == " " and _INDENTED.match(line):
        return True
    if first_char in " -*+0123456789" and _MARKER.match(line):
        return True
    return "|" in line and _may_delimit(following)


def _tabs_inside(line: str) -> bool:
    """Whether all tabs of a line come after the first character of its text."""
    text = line.lstrip(" -*+0123456789.)")
    return "\t" not in line[: len(line) - len(text) + 1]


def _may_delimit(line: str) -> bool:
    """Whether a line may be the delimiter row of a table."""
    return "-" in line and not line.strip(" \t|:-")


def _cells(row: str) -> int:
    """The number of cells of a row that begins with a pipe; `\\|` does not separate cells."""
    parts = re.split(r"(?<!\\)\|", row.strip())
    return len(parts) - (not parts[0]) - (len(parts) > 1 and not parts[-1])


def _heading_text(text: str | None) -> str:
    """The text of an ATX heading; if it has only `#` signs and blanks, without its outer `#` signs."""
    if text and not text.strip("# \t"):
        return text.strip().strip("#").strip()
    return (text or "").strip()


def _exact(lines: Sequence[str], front: int) -> Outline:
    """The headings, fences and tables as markdown-it-py finds them, with lines of the whole file, from 1. `front`: the
    number of lines of front matter, which are left out."""
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []
    for token in _parser().parse("\n".join(lines[front:]) + "\n"):
        if token.type == "heading_open":
            headings.append(Heading(token.map[0] + front + 1, token.map[1] + front, int(token.tag[1]), ""))
        elif token.type == "inline" and headings and token.map and token.map[0] + front + 1 == headings[-1].line:
            if not headings[-1].text:
                headings[-1] = headings[-1]._replace(text=token.content.replace("\n", " ").strip())
        elif token.type == "fence":
            fences.append((token.map[0] + front + 1, token.map[1] + front))
        elif token.type == "table_open":
            tables.append((token.map[0] + front + 1, token.map[1] + front))
    return Outline(tuple(headings), tuple(fences), tuple(tables))


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
