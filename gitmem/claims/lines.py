"""A Markdown file as lines, each with what it stands under: headings, parent list items, the fenced block it is in.

Pure. Front matter and HTML comments say nothing about the tree and are left out. Nothing inside a line is parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.fences import closes, opening

MAX_LINE_CHARACTERS = 2_000  # characters of a line that is read: a longer one is data
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)$")


class MarkedLine(NamedTuple):
    """One line. `block` counts the fenced blocks of the file, 0 outside of one; `language` is that block's."""

    number: int
    text: str
    block: int = 0
    language: str = ""
    trail: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


def marked_lines(text: str) -> Iterator[MarkedLine]:
    """The lines that say something, in order; the marks of fences and headings' own lines too, but no blank one."""
    lines = text.split("\n")
    headings: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []
    fence = language = ""
    block, comment = 0, False
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r")
        if number <= _front_matter(lines) or not line.strip() or len(line) > MAX_LINE_CHARACTERS:
            continue
        if fence:
            if closes(line, fence):
                fence = ""
            else:
                yield MarkedLine(number, line, block, language, _words(headings), _words(items))
            continue
        line, comment = without_comments(line, comment)
        bare = line.lstrip(" \t")
        item = _ITEM.match(line)
        if mark := opening(item[2] if item else bare):
            fence, block = mark, block + 1
            language = (item[2] if item else bare)[len(mark) :].strip().split(" ")[0].strip("{}").lower()
            continue
        if heading := _HEADING.match(line):
            level = len(heading[1])
            headings = [*[pair for pair in headings if pair[0] < level], (level, heading[2])]
            items = []
            yield MarkedLine(number, line, 0, "", _words(headings[:-1]))
            continue
        indent = len(line) - len(bare)
        if item or indent == 0:
            if item:
                items = [pair for pair in items if pair[0] < indent]
            else:
                items = []
        if line.strip():
            yield MarkedLine(number, line, 0, "", _words(headings), _words(items))
        if item:
            items.append((indent, item[2]))


def _words(pairs: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(words for _, words in pairs)


def _front_matter(lines: Sequence[str]) -> int:
    """The number of the line that closes the front matter, 0 where there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((at for at, line in enumerate(lines[1:60], 2) if line.rstrip() == "---"), 0)


def without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """The line with its HTML comments made blank, and whether one is open after it."""
    shown = ""
    while line:
        if inside:
            before, end, line = line.partition("-->")
            shown += " " * len(before + end)
            inside = not end
        else:
            before, begin, line = line.partition("<!--")
            shown += before + " " * len(begin)
            inside = bool(begin)
    return shown, inside
