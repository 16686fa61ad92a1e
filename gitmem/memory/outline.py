"""The blocks of Markdown lines that must not be cut: headings, fences and tables, each with exact lines.

Pure, and never fails. Block structure only: nothing inside a line is parsed. Most memory files are plain enough for
our own pass; every other one goes through markdown-it-py, and a property test holds the two to the same answer.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from gitmem.fences import closes, opening
from gitmem.lazy_patterns import lazy

EXACT_LIMIT = 256 << 10  # characters up to which markdown-it decides what is not plain; above it would take seconds


class Heading(NamedTuple):
    """An ATX or Setext heading; `last` is its underline where it has one."""

    line: int
    last: int
    level: int
    text: str


class Outline(NamedTuple):
    """Where the blocks lie that must not be cut: (first line, last line), in order."""

    headings: tuple[Heading, ...] = ()
    fences: tuple[tuple[int, int], ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    exact: bool = True


_ATX = lazy(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_DELIMITER = lazy(r"\|[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|[ ]*$")
# What our own pass leaves to markdown-it: quotes, HTML blocks, tabs, Setext underlines, anything indented that
# could open a block, a delimiter row that does not begin with a pipe.
_INDENTED = lazy(r"[ ]+(?:#|`{3}|~{3}|\||>|<|=|-+[ ]*$)")
# A quoted line of text, or a comment that ends where it began: neither opens anything for the next line.
_PLAIN_QUOTE = lazy(r"> ?(?:[^\W\d_]|\*{1,2}[^\W_]|\[|`[^`])|<!--(?!-?>).*-->[ ]*$")
# A line of text, or of one list, which opens nothing: nearly every line there is.
_PROSE = lazy(r"(?:[-*] )?[^\s#`~|<>=*+\-0-9][^|\t]*$")
_MARKER = lazy(r"[ ]*(?:(?:[-*+>]|\d{1,9}[.)])[ ]*)+(?:#|`{3}|~{3}|<|\|)")  # a list item that opens a block


def outline(lines: list[str], front: int = 0) -> Outline:
    """Headings, fences and tables of the lines after the front matter."""
    plain = _plain(lines, front)
    if plain is not None:
        return plain
    if sum(map(len, lines)) <= EXACT_LIMIT and not any(_deep(line) for line in lines):
        return _exact(lines, front)
    return _plain(lines, front, anyway=True) or Outline(exact=False)


def _deep(line: str) -> bool:
    """More containers in one line than any person writes: markdown-it is slow over it (docs/threats.md, A23)."""
    return len(line) > 64 and len(line) - len(line.lstrip("> \t-*+")) > 64


def _plain(lines: list[str], front: int, anyway: bool = False) -> Outline | None:
    """One pass over lines that need no parser; None for a document that does (unless `anyway`)."""
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []
    fence, opened, blank = "", 0, True
    table = 0
    for number, (line, following) in enumerate(zip(lines[front:], [*lines[front + 1 :], ""], strict=False), front + 1):
        if not (fence or table) and _PROSE.match(line):
            blank = False
            continue
        if fence:
            if closes(line, fence) and _indent(line) < 4:
                fences.append((opened, number))
                fence, blank = "", True
            continue
        if not line or line.isspace():
            first = ""
        else:
            first = line[0]
        if not first and not anyway and line.strip(" \t"):
            return None  # white space that Markdown does not take for blank
        if table and first != "|":
            if first and not anyway and not (first == "#" and _ATX.match(line)):
                return None
            tables.append((table, number - 1))
            table, blank = 0, True
        if not first:
            blank = True
            continue
        if first == "#" and (match := _ATX.match(line)):
            headings.append(Heading(number, number, len(match[1]), _heading_text(match[2])))
            blank = True
            continue
        if first in "`~" and (fence := opening(line)):
            opened = number
            continue
        if first == "|":
            if table:
                continue
            if blank and _is_table(line, following):
                table = number
                continue
            if not anyway and _may_delimit(following):
                return None
        elif not anyway and first not in "#`~" and _needs_parser(line, blank, following):
            return None
        blank = False
    if fence:
        fences += [(opened, len(lines))]
    if table:
        tables += [(table, len(lines))]
    return Outline(tuple(headings), tuple(fences), tuple(tables), not anyway)


def _is_table(head: str, delimiter: str) -> bool:
    """Whether two lines begin a table."""
    return _may_delimit(delimiter) and bool(_DELIMITER.match(delimiter)) and _cells(head) == _cells(delimiter)


def _indent(line: str) -> int:
    """Columns of white space before a line's text."""
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


def _needs_parser(line: str, blank: bool, following: str) -> bool:
    """Whether a line, which opens no heading, fence or table by itself, may open a block that only a parser can judge.

    `blank` says that no paragraph is open before it; `following` is the next line, which may make it a table's head.
    """
    first = line[0]
    if first in "><" and not _PLAIN_QUOTE.match(line):
        return True
    if first in "\t\v\f" or (first == "=" and not blank) or ("\t" in line and not _tabs_inside(line)):
        return True
    if first == "-" and not blank and not line.strip("- "):
        return True
    if first == " " and _INDENTED.match(line):
        return True
    if first in " -*+0123456789" and _MARKER.match(line):
        return True
    return "|" in line and _may_delimit(following)


def _tabs_inside(line: str) -> bool:
    head = line.lstrip(" -*+0123456789.)")
    return "\t" not in line[: len(line) - len(head) + 1]


def _may_delimit(line: str) -> bool:
    return "-" in line and not line.strip(" \t|:-")


def _cells(row: str) -> int:
    """Columns of a row that begins with a pipe; an escaped pipe is none."""
    parts = re.split(r"(?<!\\)\|", row.strip())
    return len(parts) - (not parts[0]) - (len(parts) > 1 and not parts[-1])


def _heading_text(text: str | None) -> str:
    """The words of a heading; "" for a heading of `#` signs and blanks alone."""
    if text and not text.strip("# \t"):
        return text.strip().strip("#").strip()
    return (text or "").strip()


def _exact(lines: list[str], front: int) -> Outline:
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []
    level = 0
    for token in _parser().parse("\n".join(lines[front:]) + "\n"):
        if token.type == "heading_open":
            first, last = token.map[0] + front + 1, token.map[1] + front
            level = int(token.tag[1])
            headings.append(Heading(first, last, level, ""))
        elif token.type == "inline" and headings and token.map and token.map[0] + front + 1 == headings[-1].line:
            at = headings[-1]
            if not at.text:
                headings[-1] = Heading(at.line, at.last, at.level, " ".join(token.content.split("\n")).strip())
        elif token.type == "fence":
            fences.append((token.map[0] + front + 1, token.map[1] + front))
        elif token.type == "table_open":
            tables.append((token.map[0] + front + 1, token.map[1] + front))
    return Outline(tuple(headings), tuple(fences), tuple(tables))


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    made.core.ruler.enableOnly(["normalize", "block"])
    return made
